"""The example's profiles on kube-scheduler: each pod gets the devices that dracfg's allocator names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
import yaml

from tests.cluster.client import Object
from tests.cluster.controlplane import ControlPlane, account_of, built_minors, start
from tests.cluster.drivers import FakeDriver
from tests.cluster.emitted import ROOT, Emitted, emitted_trees
from tests.cluster.kubelet import FakeKubelet
from tests.cluster.objects import pod
from tests.cluster.processes import wait_for
from tests.cluster.scheduling import Scheduling, gates_on

ROUNDS = 2
"""Pods of each profile; in the second round of prod-east the A100 run out."""
LEFT_OUT = "ResourceQuota"
"""Quota would hold the pods back before the devices do; it has tests of its own."""


@dataclass(frozen=True)
class Example:
    """A cluster of the example with its objects applied and its recorded slices published."""

    tree: Emitted
    scheduling: Scheduling

    def pods(self, number: int) -> Iterator[Object]:
        """One of each profile and namespace, and one of each shared claim."""
        kinds = {"ResourceClaimTemplate": "template", "ResourceClaim": "claim"}
        for one in self.tree.objects():
            if one["kind"] in kinds:
                name = one["metadata"]["name"]
                used = {kinds[one["kind"]]: name}
                yield pod(one["metadata"]["namespace"], f"{name}-{number}", **used)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(
            tree,
            id=str(tree),
            marks=()
            if tree.minor in built_minors()
            else pytest.mark.skip(f"{tree.minor} is not built"),
        )
        for tree in emitted_trees()
        if tree.repository == ROOT
    ],
)
def example(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Example]:
    tree: Emitted = request.param
    plane = start(tree.minor, tmp_path_factory.mktemp(f"scheduling-{tree}"), tree.flags())
    try:
        apply(plane, tree)
        drivers = [driver_of(plane, part) for part in recorded_slices(tree.cluster)]
        kubelet = FakeKubelet(plane.admin, sorted({one.node for one in drivers})).start()
        for one in drivers:
            one.publish()
        taint(plane, tree)
        yield Example(tree, Scheduling(plane.admin, tree.minor, gates_on(tree.minor, tree.flags())))
        kubelet.kill()
    finally:
        plane.stop()


def apply(plane: ControlPlane, tree: Emitted) -> None:
    """In the name of the cluster's applier, whom the admission policies let."""
    applier = tree.entered(plane.admin)
    for one in tree.objects():
        if one["kind"] != LEFT_OUT:
            applier.apply(one)
    for one in tree.objects():
        if one["kind"] == "Namespace":
            account = account_of(one["metadata"]["name"])
            wait_for(partial(plane.admin.find, account), "the namespace's account")


def taint(plane: ControlPlane, tree: Emitted) -> None:
    """What the quarantined nodes are to be tainted with."""
    for file in tree.folder.glob("nodes/*/taints.yaml"):
        for one in documents(file)["nodes"]:
            node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": one["node"]}}
            plane.admin.patch(node, {"spec": {"taints": one["taints"]}})


def driver_of(plane: ControlPlane, part: Object) -> FakeDriver:
    """Publishes what one recorded slice holds, each of which is a pool by itself."""
    spec = part["spec"]
    assert spec["pool"]["resourceSliceCount"] == 1
    return FakeDriver(
        plane.admin, spec["driver"], spec["nodeName"], spec["devices"], pool=spec["pool"]["name"]
    )


def recorded_slices(cluster: str) -> list[Object]:
    """The catalog's record of a cluster."""
    found: list[Object] = documents(ROOT / "catalog" / "inventory" / f"{cluster}.yaml")["items"]
    return found


def documents(file: Path) -> Object:
    with file.open(encoding="utf-8") as text:
        found: Object = yaml.load(text, yaml.CSafeLoader)
    return found


def test_profiles_get_what_the_allocator_says(example: Example) -> None:
    """Round by round; pods that fit nowhere are refused, and leave."""
    scheduling = example.scheduling
    outcomes: dict[str, int] = {"bound": 0, "refused": 0}
    for number in range(ROUNDS):
        for one in example.pods(number):
            forecast = scheduling.forecast(one)
            made = scheduling.client.create(one)
            if forecast.fitting:
                scheduling.holds(made, forecast)
                outcomes["bound"] += 1
            else:
                assert "cannot allocate all claims" in scheduling.said(made)
                scheduling.remove(made)
                outcomes["refused"] += 1
    expected = {"prod-east": True, "prod-west": False}
    assert outcomes["bound"]
    assert bool(outcomes["refused"]) is expected[example.tree.cluster], outcomes
