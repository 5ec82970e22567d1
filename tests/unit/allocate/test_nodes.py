"""Which nodes a slice or device is reachable from."""

import json
from typing import Any

import pytest

from dracfg.allocate import load_inventory
from dracfg.allocate.nodes import Node, NodeSelection, NodeSelector, Requirement, read_node
from dracfg.source.records import parse_record

NODE = Node("node-a", {"zone": "a", "cores": "64", "empty": ""})


@pytest.mark.parametrize(
    ("key", "operator", "values", "expected"),
    [
        ("zone", "In", ("a", "b"), True),
        ("zone", "In", ("b",), False),
        ("gone", "In", ("a",), False),
        ("zone", "NotIn", ("b",), True),
        ("zone", "NotIn", ("a",), False),
        ("gone", "NotIn", ("a",), True),
        ("empty", "Exists", (), True),
        ("gone", "Exists", (), False),
        ("gone", "DoesNotExist", (), True),
        ("empty", "DoesNotExist", (), False),
        ("cores", "Gt", ("63",), True),
        ("cores", "Gt", ("64",), False),
        ("cores", "Lt", ("65",), True),
        ("cores", "Lt", ("64",), False),
        ("zone", "Gt", ("1",), False),
        ("gone", "Lt", ("1",), False),
    ],
)
def test_requirements_on_labels(
    key: str, operator: str, values: tuple[str, ...], expected: bool
) -> None:
    assert NodeSelector((Requirement(key, operator, values),)).selects(NODE) is expected


BY_NAME = Requirement("metadata.name", "In", ("node-a",))
BY_ZONE = Requirement("zone", "In", ("a",))


@pytest.mark.parametrize(
    ("selector", "node", "expected"),
    [
        (NodeSelector(), NODE, False),
        (NodeSelector(fields=(BY_NAME,)), NODE, True),
        (NodeSelector(fields=(BY_NAME,)), Node("node-a"), True),
        (NodeSelector(fields=(BY_NAME,)), Node("node-b"), False),
        (NodeSelector((BY_ZONE,), (BY_NAME,)), NODE, True),
        (NodeSelector((BY_ZONE,), (BY_NAME,)), Node("node-b", {"zone": "a"}), False),
        (NodeSelector((BY_ZONE,)), Node("node-a"), None),
        (NodeSelector((BY_ZONE,), (BY_NAME,)), Node("node-b"), False),
        (NodeSelector((BY_ZONE, Requirement("cores", "Lt", ("1",)))), NODE, False),
    ],
)
def test_one_term_needs_all_of_its_requirements(
    selector: NodeSelector, node: Node, expected: bool | None
) -> None:
    assert NodeSelection(selector=selector).reaches(node) is expected


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (NodeSelection(node_name="node-a"), True),
        (NodeSelection(node_name="node-b"), False),
        (NodeSelection(all_nodes=True), True),
        (NodeSelection(), False),
    ],
)
def test_names_and_all_nodes(selection: NodeSelection, expected: bool) -> None:
    assert selection.reaches(NODE) is expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"metadata": {"name": "a", "labels": {"x": "1", "y": 2}}}, Node("a", {"x": "1"})),
        ({"metadata": {"name": "a"}}, Node("a", {})),
        ({"metadata": {}}, None),
        ({"metadata": "a"}, None),
        ({}, None),
    ],
)
def test_a_recorded_node(data: dict[str, Any], expected: Node | None) -> None:
    assert read_node(data) == expected


def test_devices_of_a_node_by_recorded_labels() -> None:
    def published(name: str, **spec: Any) -> dict[str, Any]:
        pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
        devices = spec.pop("devices", [{"name": name}])
        return {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": name},
            "spec": {"driver": "d.example.com", "pool": pool, "devices": devices, **spec},
        }

    def node(name: str, zone: str) -> dict[str, Any]:
        metadata = {"name": name, "labels": {"zone": zone}}
        return {"apiVersion": "v1", "kind": "Node", "metadata": metadata}

    term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
    objects = [
        node("node-a", "a"),
        node("node-b", "b"),
        published("by-name", nodeName="node-b"),
        published("by-zone", nodeSelector={"nodeSelectorTerms": [term]}),
        published("everywhere", allNodes=True),
        published(
            "each",
            perDeviceNodeSelection=True,
            devices=[{"name": "x", "nodeName": "node-a"}, {"name": "y", "nodeName": "node-b"}],
        ),
    ]
    record, _ = parse_record("d", json.dumps({"kind": "List", "items": objects}))
    inventory, faults = load_inventory([record])
    assert faults == ()
    assert [d.name for d in inventory.devices_on("node-a")] == ["by-zone", "x", "everywhere"]
    assert [d.name for d in inventory.devices_on("node-b")] == ["by-name", "y", "everywhere"]
    assert [d.name for d in inventory.devices_on("node-c")] == ["everywhere"]
    by_zone = inventory.device("d.example.com", "by-zone", "by-zone")
    assert by_zone is not None
    assert inventory.reaches(by_zone, "node-c") is None
    assert [pool.node for pool in inventory.pools] == ["node-b", None, None, None]
