"""The allocator over several nodes."""

from dracfg.allocate.claims import DeviceRequest, Request
from dracfg.allocate.nodes import Node
from dracfg.allocate.structured import AllocatedState, Allocator, Failed, Unsatisfiable
from tests.unit.allocate.structured.cluster import CLASSES, DRIVER, Cluster, claim, device, wants

NODES = [Node(f"node-{n}", {}) for n in (1, 2, 3)]


def allocator(minor: str = "1.37") -> Allocator:
    cluster = Cluster(minor)
    for number, count in ((1, 1), (2, 3), (3, 3)):
        found = [device(f"d{n}") for n in range(count)]
        node = f"node-{number}"
        cluster.add(f"s{number}", found, pool=node, where={"nodeName": node})
    return Allocator(cluster.inventory(), CLASSES, cluster.features())


def test_the_first_node_with_the_devices_is_chosen() -> None:
    choice = allocator().allocate_on_nodes([claim(wants(count=2))], NODES, AllocatedState())
    assert choice.node == "node-2"
    assert isinstance(choice.nodes["node-1"], Unsatisfiable)
    assert "node-3" not in choice.nodes


def test_the_best_alternative_decides_between_nodes_from_1_35_on() -> None:
    ways = (DeviceRequest("many", "gpu", count=3), DeviceRequest("few", "gpu"))
    asked = [claim(Request("r", first_available=ways))]
    choice = allocator().allocate_on_nodes(asked, NODES, AllocatedState())
    assert (choice.node, choice.score) == ("node-2", 8)
    first = allocator("1.34").allocate_on_nodes(asked, NODES, AllocatedState())
    assert (first.node, first.score) == ("node-1", 0)


def test_an_error_ends_the_trial() -> None:
    choice = allocator().allocate_on_nodes(
        [claim(wants(device_class="gone"))], NODES, AllocatedState()
    )
    assert choice.node is None
    assert isinstance(choice.outcome, Failed)
    assert not choice.nodes


def test_no_node_fits() -> None:
    choice = allocator().allocate_on_nodes([claim(wants(count=4))], NODES, AllocatedState())
    assert choice.node is None
    assert list(choice.nodes) == ["node-1", "node-2", "node-3"]


def test_what_was_found_on_a_node_does_not_outlive_the_state() -> None:
    one = allocator()
    held = AllocatedState(frozenset({(DRIVER, "node-1", "d0")}))
    asked = [claim(wants())]
    assert one.allocate_on_nodes(asked, NODES, held).node == "node-2"
    assert one.allocate_on_nodes(asked, NODES, AllocatedState()).node == "node-1"
