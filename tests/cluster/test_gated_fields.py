"""What becomes of fields whose gate is off, as dracfg's data says it and as API servers do it."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from dracfg.kube.features import closure
from dracfg.kube.gates import GateUse, derive
from dracfg.packaged import read_data
from tests.cluster.client import Object, Refused
from tests.cluster.conftest import MINORS
from tests.cluster.controlplane import ControlPlane, account_of, start
from tests.cluster.emitted import Emitted, emitted_trees
from tests.cluster.gates import GATES, api_server_flags

SAMPLES = Path(__file__).parent / "data" / "gated-objects.yaml"
REFUSED = {"rejected", "dropped-then-rejected"}
DECLARED = ["DRANodeAllocatableResources"]
"""What 1.37 asks of the Node that a slice names whose devices take from what the node can allocate."""


@cache
def samples(minor: str) -> list[Mapping[str, Any]]:
    with SAMPLES.open(encoding="utf-8") as file:
        return [one for one in yaml.safe_load(file) if minor in one.get("minors", MINORS)]


def whole(sample: Mapping[str, Any]) -> Object:
    obj: Object = copy.deepcopy(sample["object"])
    return obj | {"status": sample["status"]} if "status" in sample else obj


def settable(uses: tuple[GateUse, ...], minor: str) -> list[GateUse]:
    return [use for use in uses if GATES[use.gate].settable(minor)]


def plane_with(minor: str, folder: Path, value: bool) -> ControlPlane:
    """An API server with every gate of the samples at one value; it serves all their versions."""
    objects = [whole(one) for one in samples(minor)]
    wanted = {use.gate: value for use in settable(derive(objects, minor), minor)}
    versions = {one["apiVersion"] for one in objects if not one["apiVersion"].endswith("v1")}
    flags = api_server_flags(minor, wanted, versions)
    plane = start(minor, folder, flags, components=())
    plane.admin.create(account_of("default"))
    label = {"resource.kubernetes.io/admin-access": "true"}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
    plane.admin.patch(namespace, {"metadata": {"labels": label}})
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}}
    plane.admin.create(node)
    plane.admin.patch(node, {"status": {"declaredFeatures": DECLARED}}, "status")
    return plane


@pytest.fixture(scope="module", params=MINORS or ["none"])
def with_gates(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    plane = plane_with(request.param, tmp_path_factory.mktemp("on"), True)
    yield plane
    plane.stop()


@pytest.fixture(scope="module", params=MINORS or ["none"])
def without_gates(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    plane = plane_with(request.param, tmp_path_factory.mktemp("off"), False)
    yield plane
    plane.stop()


def test_samples_try_every_use() -> None:
    """No line of the data stays untried, in the minors that are built."""
    uses = read_data("dracfg.kube", "data/gated-fields.yaml")["uses"]
    for minor in MINORS:
        due = {
            (use["what"], gate)
            for use in uses
            if (gate := use["gate"] if isinstance(use["gate"], str) else use["gate"].get(minor))
            and GATES[gate].at(minor).stage != "absent"
        }
        found = derive([whole(one) for one in samples(minor)], minor)
        tried = {(use.reason.partition(" needs ")[0], use.gate) for use in found}
        assert due <= tried, minor


def test_gates_on_keep_everything(with_gates: ControlPlane) -> None:
    lost = {}
    for sample in samples(with_gates.minor):
        sent = whole(sample)
        try:
            kept = send(with_gates, sample)
        except Refused as refused:
            lost[name_of(sent)] = str(refused)
        else:
            uses = derive([sent], with_gates.minor)
            gone = [use.pointer for use in uses if look(kept, use.pointer) is None]
            if gone:
                lost[name_of(sent)] = ", ".join(gone)
    assert not lost, as_lines(lost)


def test_gates_off_do_what_the_data_says(without_gates: ControlPlane) -> None:
    wrong: dict[str, str] = {}
    for sample in samples(without_gates.minor):
        sent = whole(sample)
        uses = settable(derive([sent], without_gates.minor), without_gates.minor)
        try:
            kept = send(without_gates, sample)
        except Refused as refused:
            wrong |= judge(sent, uses, None, str(refused))
        else:
            wrong |= judge(sent, uses, kept, "accepted")
    assert not wrong, as_lines(wrong)


def _derived() -> list[object]:
    """(tree, gate): the gates that objects of a tree use and that a flag could switch off."""
    return [
        pytest.param(tree, gate, id=f"{tree}-{gate}")
        for tree in emitted_trees()
        if tree.minor in MINORS
        for gate in sorted(
            {use.gate for use in settable(derive(tree.objects(), tree.minor), tree.minor)}
        )
    ] or [pytest.param(None, "", marks=pytest.mark.skip("no tree of a built minor"))]


@pytest.mark.parametrize(("tree", "gate"), _derived())
def test_tree_without_one_gate(tree: Emitted, gate: str, tmp_path: Path) -> None:
    """The rest of the tree is taken as it is. Its own policies, which see what is left, stay out."""
    minor = tree.minor
    # What needs the gate goes with it.
    wanted = {name: gate not in closure([name], minor) for name in _wanted(tree)}
    flags = api_server_flags(minor, wanted | {gate: False}, _served(tree))
    plane = start(minor, tmp_path, flags, components=())
    wrong: dict[str, str] = {}
    try:
        for namespace in tree.external_namespaces():
            plane.admin.apply(namespace)
        for obj in tree.objects():
            if obj["kind"].startswith("ValidatingAdmissionPolicy"):
                continue
            found = derive([obj], minor)
            uses = [use for use in found if gate in closure([use.gate], minor)]
            try:
                kept = plane.admin.apply(obj).body
            except Refused as refused:
                wrong |= judge(obj, uses, None, str(refused))
            else:
                wrong |= judge(obj, uses, kept, "accepted")
    finally:
        plane.stop()
    assert not wrong, as_lines(wrong)


def _wanted(tree: Emitted) -> set[str]:
    return {use.gate for use in settable(derive(tree.objects(), tree.minor), tree.minor)}


def _served(tree: Emitted) -> set[str]:
    return {one["apiVersion"] for one in tree.objects() if not one["apiVersion"].endswith("v1")}


def judge(sent: Object, uses: list[GateUse], kept: Object | None, said: str) -> dict[str, str]:
    """Place → what differs from the data; `kept` is None where the server refused the object."""
    expected = {use.when_off for use in uses}
    if (kept is None) is not bool(expected & REFUSED):
        return {name_of(sent): f"the data says {sorted(expected)}; the server: {said}"}
    if kept is None:
        return {}
    return {
        f"{name_of(sent)}{use.pointer}": f"the data says {use.when_off}, and it {stands=}"
        for use in uses
        if (stands := look(kept, use.pointer) is not None) is (use.when_off == "dropped")
    }


def send(plane: ControlPlane, sample: Mapping[str, Any]) -> Object:
    """The object as the server has it, status included; it is gone again afterwards."""
    made = plane.admin.create(sample["object"])
    try:
        if "status" in sample:
            made = plane.admin.patch(made, {"status": sample["status"]}, "status")
    finally:
        plane.admin.delete(made, grace=0)
    return made


def look(obj: Any, pointer: str) -> Any:
    """What a JSON pointer finds; None where there is nothing."""
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        try:
            obj = obj[int(key)] if isinstance(obj, list) else obj[key]
        except (KeyError, IndexError):
            return None
    return obj


def name_of(obj: Object) -> str:
    return f"{obj['kind']}/{obj['metadata']['name']}"


def as_lines(found: Mapping[str, str]) -> str:
    return "\n".join(f"{place}: {said}" for place, said in found.items())
