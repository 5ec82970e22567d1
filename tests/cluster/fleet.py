"""Five nodes whose devices go from device plugin to DRA and back, as the emitted files say.

The repository is tests/golden/rollout/repository. The plugin is what a node has allocatable; the driver
is a fake one. Who works on the nodes reads `nodes/<pool>/` and nothing else. What runs is remembered:
nobody but its owner may end it, and no node may ever be of two owners.
"""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from dracfg.cli.main import invoke
from dracfg.rollout.runbook import RECORD
from tests.cluster.client import Client, Object, unless_away
from tests.cluster.controlplane import ControlPlane, account_of, start
from tests.cluster.drivers import RESOURCE, FakeDriver
from tests.cluster.emitted import ROOT, Emitted
from tests.cluster.engine import Engine
from tests.cluster.kubelet import CAPACITY, FakeKubelet, claims_of
from tests.cluster.moved import moved
from tests.cluster.objects import pod
from tests.cluster.processes import wait_for
from tests.cluster.yard import Audit, read_audit, results_of

ROLLOUT = Emitted(ROOT / "tests" / "golden" / "rollout" / "repository", "lab", "1.36")
NAME, DOCUMENT = "a100-to-claims", "catalog/rollout.yaml"
TENANTS = ("sandbox", "vision", "search")
DRIVER, LEGACY, FENCE = "gpu.nvidia.com", "nvidia.com/gpu", "dracfg.dev/pool"
POOLS = {"canary": ("canary-1",), "east": ("east-1", "east-2"), "west": ("west-1", "west-2")}
NODES = {node: pool for pool, nodes in POOLS.items() for node in nodes}
GPUS = 4
LABEL = "node.example.com/pool"
USER = "ann"
PATIENCE = 120
WATCH_SECONDS = 0.2


@dataclass(frozen=True)
class Kept:
    """A pod that runs, and what its claim holds; nothing where it has its devices by plugin."""

    pod: Object
    claim: Object | None

    @property
    def results(self) -> list[Object]:
        return list(results_of(self.claim)) if self.claim is not None else []


@dataclass
class Fleet:
    """The cluster, its repository, and everybody who works on it."""

    plane: ControlPlane
    repository: Path
    engine: Engine
    kubelet: FakeKubelet
    drivers: dict[str, FakeDriver]
    kept: dict[str, Kept] = field(default_factory=dict)
    double: list[str] = field(default_factory=list)
    _ended: threading.Event = field(default_factory=threading.Event)
    _watch: threading.Thread | None = None

    @property
    def client(self) -> Client:
        return self.plane.admin

    def tenant(self, name: str) -> Client:
        """Somebody of a tenant, with the rights that dracfg gives."""
        return self.client.as_user(USER, f"{name}-eng")

    # The repository

    def rollout(self, *arguments: str) -> int:
        command, *more = arguments
        with contextlib.redirect_stdout(io.StringIO()):
            return invoke(["rollout", command, NAME, "-C", str(self.repository), *more])

    def advance(self) -> int:
        """Takes the next step with what is measured now; exit code 1 where a gate does not hold."""
        file = self.repository.parent / "evidence.json"
        gates = {
            "claim to ready p99": "12s",
            "podsOnFencedNodes": len(self.on_fenced_nodes()),
            "driverErrors": 0,
        }
        now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        file.write_text(json.dumps({"at": now, "gates": gates}), encoding="utf-8")
        return self.rollout("advance", "--evidence", str(file))

    def turn(self, command: str) -> None:
        """Halts or rolls back, with the record that the page tells people to take."""
        words, _, name = RECORD.partition(" > ")
        file = self.repository.parent / name
        program, *arguments = words.split()
        assert program == "kubectl"
        line = [str(self.plane.kubectl), f"--kubeconfig={self.plane.kubeconfig()}", *arguments]
        file.write_bytes(subprocess.run(line, check=True, stdout=subprocess.PIPE).stdout)
        assert self.rollout(command, "--record", str(file)) == 0

    def edit(self, file: str, *pairs: tuple[str, str]) -> None:
        path = self.repository / file
        text = path.read_text(encoding="utf-8")
        for before, after in pairs:
            assert text.count(before) == 1, before
            text = text.replace(before, after)
        path.write_text(text, encoding="utf-8")

    def inputs(self) -> list[Path]:
        """What people write."""
        return [
            path
            for name in ("catalog", "tenants")
            for path in (self.repository / name).glob("*.yaml")
        ]

    def compile(self) -> Emitted:
        assert invoke(["compile", "-q", "-C", str(self.repository)]) == 0
        return Emitted(self.repository, ROLLOUT.cluster, self.plane.minor)

    def settle(self) -> None:
        """Compiles, syncs, and does on the nodes what their files say; all that ran still does."""
        tree = self.compile()
        self.engine.sync(tree)
        for name in POOLS:
            self.follow(tree, name)
        self.steady()

    def audit(self) -> Audit:
        return read_audit(self.plane, self.repository, ROLLOUT.cluster)

    # The nodes

    def follow(self, tree: Emitted, name: str) -> None:
        """One pool: the fence first, then the owner, and work is let in last."""
        folder = tree.folder / "nodes" / name
        taints = _document(folder / "taints.yaml") if (folder / "taints.yaml").exists() else {}
        values = _document(folder / f"values-{DRIVER}.yaml")
        wanted = [taint for entry in taints.get("nodes", ()) for taint in entry["taints"]]
        by_dra: bool = values["resources"]["gpus"]["enabled"]
        for node in POOLS[name]:
            if wanted:
                self.client.patch(_node(node), {"spec": {"taints": wanted}})
            if by_dra != (node in self.drivers):
                self.hand_over(node, by_dra)
            if not wanted:
                self.client.patch(_node(node), {"spec": {"taints": None}})

    def hand_over(self, node: str, by_dra: bool) -> None:
        """The one owner goes before the other comes, and only from a node without devices in use."""
        assert not [one for one in self.with_devices() if one["spec"]["nodeName"] == node]
        if by_dra:
            self.advertise(node, 0)
            self.drivers[node] = FakeDriver(self.client, DRIVER, node, gpus(node)).start()
        else:
            self.drivers.pop(node).stop()
            self.advertise(node, GPUS)

    def advertise(self, node: str, number: int) -> None:
        """What a device plugin does by way of the kubelet."""
        amounts = CAPACITY | {LEGACY: str(number)}
        self.client.patch(
            _node(node), {"status": {"capacity": amounts, "allocatable": amounts}}, "status"
        )

    def owners(self) -> dict[str, set[str]]:
        """Node → who hands out its devices. What is published counts that is so before and after."""
        before = self.published()
        nodes = self.client.list("v1", "Node")
        published = before & self.published()
        return {
            node["metadata"]["name"]: ({"plugin"} if advertises(node) else set())
            | ({"dra"} if node["metadata"]["name"] in published else set())
            for node in nodes
        }

    def published(self) -> set[str]:
        """The nodes of which there are slices."""
        return {one["spec"]["nodeName"] for one in self.client.list(RESOURCE, "ResourceSlice")}

    def with_devices(self) -> list[Object]:
        """Pods on nodes that have devices by claim or by name, and have not ended."""
        return [
            one
            for one in self.client.list("v1", "Pod")
            if one["spec"].get("nodeName")
            and one["status"]["phase"] in ("Pending", "Running")
            and (one["spec"].get("resourceClaims") or LEGACY in _limits(one))
        ]

    def on_fenced_nodes(self) -> list[Object]:
        fenced = {
            node["metadata"]["name"]
            for node in self.client.list("v1", "Node")
            if any(taint["key"] == FENCE for taint in node["spec"].get("taints", ()))
        }
        return [one for one in self.with_devices() if one["spec"]["nodeName"] in fenced]

    def claims(self) -> list[Object]:
        return self.client.list(RESOURCE, "ResourceClaim")

    # The tenants

    def by_plugin(self, tenant: str, name: str, pool: str = "") -> Object:
        """A pod with one device by its old name; kept to a pool where one is named."""
        wanted = pod(tenant, name)
        wanted["spec"]["containers"][0]["resources"] = {"limits": {LEGACY: "1"}}
        return self.create(wanted, pool)

    def by_claim(self, tenant: str, name: str, pool: str = "", **claim: str) -> Object:
        """A pod with one device by the tenant's template, or by a claim that it shares."""
        return self.create(pod(tenant, name, **(claim or {"template": "one"})), pool)

    def create(self, wanted: Object, pool: str) -> Object:
        if pool:
            wanted["spec"]["nodeSelector"] = {LABEL: pool}
        wanted["spec"]["terminationGracePeriodSeconds"] = 1
        return self.tenant(wanted["metadata"]["namespace"]).create(wanted)

    def runs(self, one: Object) -> str:
        """The pool that a pod runs in; from now on it is remembered."""

        def look() -> Object | None:
            found = self.client.read(one)
            return found if found["status"]["phase"] == "Running" else None

        found = wait_for(look, f"{one['metadata']['name']} runs", PATIENCE)
        claims = claims_of(found)
        space = found["metadata"]["namespace"]
        claim = self.client.get(RESOURCE, "ResourceClaim", claims[0], space) if claims else None
        self.kept[found["metadata"]["uid"]] = Kept(found, claim)
        return NODES[found["spec"]["nodeName"]]

    def end(self, *pods: Object) -> None:
        """Their owners end them."""
        for one in pods:
            self.kept.pop(one["metadata"]["uid"], None)
            self.tenant(one["metadata"]["namespace"]).delete(one)
        for one in pods:
            wait_for(partial(self._is_gone, one), f"{one['metadata']['name']} is gone", PATIENCE)

    def _is_gone(self, one: Object) -> bool:
        """With its claim, so that its device is free."""
        space, owner = one["metadata"]["namespace"], one["metadata"]["uid"]
        claims = self.client.list(RESOURCE, "ResourceClaim", space)
        mine = [
            c
            for c in claims
            if owner in {o["uid"] for o in c["metadata"].get("ownerReferences", ())}
        ]
        return self.client.find(one) is None and not mine

    def on(self, pool: str) -> list[Object]:
        """The pods that are remembered of a pool."""
        return [one.pod for one in self.kept.values() if NODES[one.pod["spec"]["nodeName"]] == pool]

    def told(self, one: Object) -> str:
        """Why a pod does not get its claim, by the events about it."""
        uid = one["metadata"]["uid"]

        def look() -> str | None:
            events = self.client.list("v1", "Event", one["metadata"]["namespace"])
            said = [e["message"] for e in events if e["involvedObject"].get("uid") == uid]
            return next((text for text in said if "TEN" in text), None)

        return wait_for(look, f"{one['metadata']['name']} is told", PATIENCE)

    def waits(self, one: Object) -> bool:
        """Until the scheduler finds no node for a pod."""

        def look() -> bool:
            conditions = self.client.read(one)["status"].get("conditions", ())
            return any(c.get("reason") == "Unschedulable" for c in conditions)

        return wait_for(look, f"{one['metadata']['name']} waits", PATIENCE)

    def steady(self) -> None:
        """Nobody touched what runs: same pods, same claims, same devices; nowhere two owners."""
        for uid, kept in self.kept.items():
            found = self.client.read(kept.pod)
            assert (found["metadata"]["uid"], found["status"]["phase"]) == (uid, "Running")
            if kept.claim is not None:
                claim = self.client.read(kept.claim)
                assert list(results_of(claim)) == kept.results
                assert "deletionTimestamp" not in claim["metadata"]
        assert self.double == []

    # Its life

    def watch(self) -> None:
        """Looks for nodes with two owners, again and again."""
        self._watch = threading.Thread(target=self._look_on, name="watch", daemon=True)
        self._watch.start()

    def _look_on(self) -> None:
        while not self._ended.wait(WATCH_SECONDS):
            with unless_away():
                self.double += [node for node, found in self.owners().items() if len(found) > 1]

    def clear(self) -> None:
        """No pod of a tenant, and no device in use."""
        self.kept.clear()
        for space in TENANTS:
            for one in self.client.list("v1", "Pod", space):
                self.client.delete(one, grace=0)
        wait_for(lambda: not any(map(results_of, self.claims())), "no device is in use", PATIENCE)

    def close(self) -> None:
        self._ended.set()
        if self._watch is not None:
            self._watch.join()
        for driver in self.drivers.values():
            driver.kill()
        self.kubelet.kill()
        self.plane.stop()


@contextlib.contextmanager
def open_fleet(minor: str, folder: Path) -> Iterator[Fleet]:
    """The repository applied where its rollout starts, every node with its device plugin."""
    tree = moved(ROLLOUT, minor, folder / "repository")
    plane = start(minor, folder / "plane", tree.flags(), tree.audit_policy())
    kubelet = FakeKubelet(plane.admin, tuple(NODES), waits_for=frozenset({DRIVER}))
    fleet = Fleet(plane, tree.repository, Engine(plane.admin), kubelet, {})
    try:
        kubelet.start()
        for node, pool in NODES.items():
            plane.admin.patch(_node(node), {"metadata": {"labels": {LABEL: pool}}})
            fleet.advertise(node, GPUS)
        fleet.settle()
        for space in TENANTS:
            wait_for(partial(plane.admin.find, account_of(space)), f"the account of {space}")
        fleet.watch()
        yield fleet
    finally:
        fleet.close()


def gpus(node: str) -> list[Object]:
    """The devices of a node as its driver publishes them."""
    return [
        {
            "name": f"gpu-{number}",
            "attributes": {
                "type": {"string": "gpu"},
                "uuid": {"string": f"{node}-{number}"},
                "productName": {"string": "NVIDIA A100-SXM4-40GB"},
            },
            "capacity": {"memory": {"value": "40Gi"}},
        }
        for number in range(GPUS)
    ]


def advertises(node: Object) -> bool:
    """Whether a device plugin has devices on a node."""
    return int(node["status"]["allocatable"].get(LEGACY, "0")) > 0


def _limits(one: Object) -> Mapping[str, str]:
    found: Mapping[str, str] = one["spec"]["containers"][0].get("resources", {}).get("limits", {})
    return found


def _node(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}


def _document(file: Path) -> Any:
    return yaml.safe_load(file.read_text(encoding="utf-8"))
