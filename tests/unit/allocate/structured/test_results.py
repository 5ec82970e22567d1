"""What stands in the result beside the devices: configuration and node selector."""

import pytest

from dracfg.allocate.claims import DeviceRequest, OpaqueConfig, Request
from dracfg.allocate.nodes import NodeSelector, Requirement
from dracfg.allocate.structured import Allocation
from tests.unit.allocate.structured.cluster import Cluster, claim, device, wants


def config(*requests: str) -> OpaqueConfig:
    return OpaqueConfig("gpu.example.com", {"mode": "claim"}, requests)


def entries(minor: str, *requests: Request, asked: tuple[OpaqueConfig, ...]) -> list[object]:
    cluster = Cluster(minor).add("s", [device(f"d{n}") for n in range(3)])
    outcome = cluster.ask(claim(*requests, config=asked))
    assert isinstance(outcome, Allocation)
    return [(one.source, one.requests) for one in outcome.results[0].config]


@pytest.mark.parametrize(
    ("minor", "found"),
    [
        (
            "1.36",
            [
                ("FromClass", ("a", "b")),
                ("FromClaim", ("a", "b")),
                ("FromClaim", ("a", "b")),
                ("FromClaim", ("b",)),
                ("FromClaim", ()),
            ],
        ),
        (
            "1.37",
            [("FromClass", ()), ("FromClaim", ()), ("FromClaim", ("b",)), ("FromClaim", ())],
        ),
    ],
)
def test_an_entry_of_several_requests_was_repeated_before_1_37(
    minor: str, found: list[object]
) -> None:
    asked = (config("a", "b"), config("b"), config())
    assert entries(minor, wants("a"), wants("b"), asked=asked) == found


def test_entries_of_alternatives_that_were_not_taken_are_left_out() -> None:
    ways = (DeviceRequest("many", "gpu", count=9), DeviceRequest("few", "gpu"))
    request = Request("r", first_available=ways)
    asked = (config("r/many"), config("r/few"), config("r"))
    assert entries("1.36", request, asked=asked) == [
        ("FromClass", ("r/few",)),
        ("FromClaim", ("r/few",)),
        ("FromClaim", ("r",)),
    ]


@pytest.mark.parametrize(
    ("where", "bound"),
    [({"nodeName": "node-1"}, True), ({"allNodes": True}, False)],
)
def test_a_device_of_one_node_binds_the_claim_to_it(where: dict[str, object], bound: bool) -> None:
    outcome = Cluster().add("s", [device("d")], where=where).ask(claim(wants()))
    assert isinstance(outcome, Allocation)
    own = NodeSelector(fields=(Requirement("metadata.name", "In", ("node-1",)),))
    assert outcome.results[0].node_selector == (own if bound else None)


def test_a_device_that_binds_to_a_node_does_so_from_everywhere() -> None:
    found = [device("d", bindsToNode=True)]
    cluster = Cluster().add("s", found, where={"allNodes": True})
    outcome = cluster.ask(claim(wants()))
    assert isinstance(outcome, Allocation)
    assert outcome.results[0].node_selector is not None
