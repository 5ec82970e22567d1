"""The ledger: who holds what, what is left, what of it is too small, and what nobody can tell."""

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from dracfg.audit.report import audit, audit_document
from dracfg.kube.quantity import Quantity
from dracfg.link.catalog import Catalog

Audited = Callable[..., Any]


def amounts(done: Any, tier: str) -> dict[str, str]:
    amount = next(total for total in done.ledger.totals if total.name == tier).capacity["memory"]
    return {
        name: str(getattr(amount, name))
        for name in ("total", "used", "free", "fragmented", "unknown")
    }


def test_whole_devices(world: Any, audited: Audited) -> None:
    world.held("a", ["gpu-0"])
    done = audited(world)
    total = next(total for total in done.ledger.totals if total.name == "big")
    assert (total.devices, dict(total.states)) == (2, {"allocated": 1, "idle": 1})
    assert amounts(done, "big") == {
        "total": "160Gi", "used": "80Gi", "free": "80Gi", "fragmented": "0", "unknown": "0",
    }  # fmt: skip


@pytest.mark.parametrize("kinds", [(), ("ResourceSlice", "Node")])
def test_without_claims_nobody_knows_what_is_free(
    world: Any, platform: Catalog, kinds: tuple[str, ...]
) -> None:
    """A list of claims that is empty is another thing than one that could not be read."""
    where = platform.clusters["east"]
    unread = audit(platform, where, [world.record()], kinds=kinds)
    assert {(one.state, one.reason) for one in unread.ledger.entries} == {
        ("unknown", "no claims are recorded")
    }
    assert amounts(unread, "cut") == {
        "total": "40Gi", "used": "40Gi", "free": "0", "fragmented": "0", "unknown": "40Gi",
    }  # fmt: skip
    empty = audit(platform, where, [world.record()], kinds=(*kinds, "ResourceClaim"))
    assert {one.state for one in empty.ledger.entries} == {"idle"}
    assert amounts(empty, "cut")["free"] == "40Gi"


def test_shares(world: Any, audited: Audited) -> None:
    for number in range(2):
        pod = world.pod(f"n{number}", "cuts-1")
        world.share(f"n{number}", "10Gi", pods=[pod])
    done = audited(world)
    entry = next(entry for entry in done.ledger.entries if entry.id[2] == "cut-0")
    assert entry.state == "shared"
    assert [(s.claim, s.tenant, s.pods, s.version) for s in entry.shares] == [
        ("vision/n0", "vision", ("n0",), world.version),
        ("vision/n1", "vision", ("n1",), world.version),
    ]
    assert amounts(done, "cut")["free"] == "20Gi"
    assert amounts(done, "cut")["fragmented"] == "0"


def test_what_is_left_is_less_than_the_smallest_size(
    world: Any, audited: Audited, changed: Callable[..., Any]
) -> None:
    large = changed({"sizes: [5Gi, 10Gi, 20Gi]": "sizes: [10Gi, 20Gi]"})
    for number, size in enumerate(("20Gi", "10Gi")):
        pod = world.pod(f"n{number}", "cuts-1")
        world.share(f"n{number}", size, pods=[pod])
    assert amounts(audited(world, large), "cut")["fragmented"] == "0"
    pod = world.pod("n2", "cuts-1")
    world.share("n2", "5Gi", pods=[pod])
    assert amounts(audited(world, large), "cut") == {
        "total": "40Gi", "used": "35Gi", "free": "5Gi", "fragmented": "5Gi", "unknown": "0",
    }  # fmt: skip
    assert amounts(audited(world), "cut")["fragmented"] == "0"


def test_without_a_catalog_the_request_policy_says_what_is_small(
    world: Any, audited: Audited
) -> None:
    device = world.find("ResourceSlice", "cuts-1-shared.example.org")["spec"]["devices"][0]
    device["capacity"]["memory"]["requestPolicy"]["validRange"] |= {"min": "10Gi"}
    device["capacity"]["memory"]["requestPolicy"] |= {"default": "10Gi"}
    pod = world.pod("n", "cuts-1")
    made = world.share("n", "10Gi", pods=[pod])
    made["status"]["allocation"]["devices"]["results"][0]["consumedCapacity"] = {"memory": "35Gi"}
    assert amounts(audited(world, None), "shared.example.org")["fragmented"] == "5Gi"


def test_a_device_that_no_slice_tells_of(world: Any, audited: Audited) -> None:
    world.held("a", ["gpu-9"])
    entry = next(entry for entry in audited(world).ledger.entries if entry.id[2] == "gpu-9")
    assert (entry.state, entry.tier) == ("unpublished", "big")


def test_a_watcher_takes_nothing(world: Any, audited: Audited) -> None:
    _, claim = world.held("monitor", ["gpu-0"])
    claim["status"]["allocation"]["devices"]["results"][0]["adminAccess"] = True
    entry = next(entry for entry in audited(world).ledger.entries if entry.id[2] == "gpu-0")
    assert (entry.state, len(entry.shares)) == ("idle", 1)
    assert amounts(audited(world), "big")["used"] == "0"


def test_the_document(world: Any, audited: Audited) -> None:
    world.held("a", ["gpu-0"])
    document = audit_document(audited(world))
    assert list(document) == [
        "schemaVersion", "kind", "verdict", "cluster", "at", "findings", "ledger", "causes", "trials",
        "offers", "totals",
    ]  # fmt: skip
    assert (document["kind"], document["verdict"], document["at"]) == (
        "AuditReport",
        "proven",
        "2026-11-29T12:00:00Z",
    )
    held = next(entry for entry in document["ledger"] if entry["device"] == "gpu-0")
    assert held["holders"][0]["claim"] == "vision/a"
    assert held["capacity"]["memory"]["used"] == "80Gi"


def test_findings_say_whose_turn_it_is(world: Any, audited: Audited) -> None:
    world.held("a", ["gpu-0"])
    world.held("b", ["gpu-0"])
    (finding,) = audit_document(audited(world))["findings"]
    assert (finding["code"], finding["handling"]) == ("LIV031", "needsPerson")
    assert finding["help"]
    assert "ResourceClaim/vision/b" in finding["objects"]


def test_sums_agree_with_a_plain_count(world: Any, audited: Audited) -> None:
    chosen = random.Random(5)
    taken = Fraction(0)
    for number in range(7):
        size = chosen.choice(("5Gi", "10Gi", "20Gi"))
        taken += Quantity.parse(size).exact
        pod = world.pod(f"n{number}", "cuts-1")
        world.share(f"n{number}", size, pods=[pod])
    done = audited(world)
    amount = next(total for total in done.ledger.totals if total.name == "cut").capacity["memory"]
    whole = Quantity.parse("40Gi").exact
    assert amount.used.exact == taken
    assert amount.free.exact == max(whole - taken, Fraction(0))
    assert ("LIV030" in [finding.code for finding in done.diagnostics]) == (taken > whole)
