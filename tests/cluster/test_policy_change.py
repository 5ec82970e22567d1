"""A policy's least size raised while claims of that size run, on a real control plane."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from tests.cluster.processes import wait_for
from tests.cluster.yard import CARDS, HOUR, PATIENCE, TENANT, Yard, about, cards

NODE = CARDS[0]
NEXT = [(f"name: {name}, ", f"name: {name}, revision: 2, ") for name in ("medium", "large")]


@pytest.fixture
def policy_change(yard: Yard) -> Iterator[None]:
    """The files of the repository, back in force afterwards."""
    kept = yard.repository.with_name("kept")
    shutil.copytree(yard.repository, kept)
    yield
    shutil.rmtree(yard.repository)
    kept.rename(yard.repository)
    yard.clear()
    yard.apply(yard.compile())


@pytest.mark.usefixtures("policy_change")
def test_least_size_raised_under_live_claims(yard: Yard) -> None:
    """From 5Gi to 10Gi: old claims keep what they have under their version, new ones have the new."""
    small, medium = (yard.running(yard.pod(name, name, NODE)) for name in ("small", "medium"))
    claims = [yard.claim_of(one) for one in (small, medium)]
    before = yard.audit()
    old = {one["policyVersion"] for one in before.card(NODE)["holders"]}
    raise_least_size(yard)
    yard.apply(yard.compile())
    yard.drivers[NODE].change(cards(NODE, least=10))
    said = yard.audit()
    assert said.codes == {"LIV038", "LIV039", "LIV063"}
    assert said.about("LIV038", about(claims[1]))["found"] in old
    assert "its sizes are 10Gi or 20Gi" in said.about("LIV039", about(claims[0]))["message"]
    assert all(map(yard.is_held, claims))
    late = yard.running(yard.pod("late", "medium-v2", NODE))
    card = yard.audit().card(NODE)
    versions = {one["claim"]: one["policyVersion"] for one in card["holders"]}
    new = versions.pop(f"{TENANT}/{yard.claim_of(late)['metadata']['name']}")
    assert set(versions.values()) == old
    assert new not in old
    assert card["capacity"]["memory"]["used"] == "25Gi"
    yard.end(small)
    again = yard.pod("small-again", "small", NODE)
    wait_for(lambda: yard.audit().cause(f"{TENANT}/small-again")["cause"], "the cause", PATIENCE)
    refused = yard.audit(HOUR)
    assert refused.codes == {"LIV038", "LIV056"}
    assert refused.only("LIV056")["label"] == "policy"
    yard.end(again, medium)
    yard.settled()
    assert yard.is_held(yard.claim_of(late))


def raise_least_size(yard: Yard) -> None:
    """The sizes of 5Gi go from the policy, and from the tenant who had them.

    Templates and shared claims keep their numbers, so that those of the new version get new names.
    """
    changes = {
        "catalog/policies.yaml": [
            ("min: 5Gi", "min: 10Gi"),
            ("[5Gi, 10Gi, 20Gi]", "[10Gi, 20Gi]"),
            ("maxShares: 8", "maxShares: 4"),
        ],
        "tenants/search.yaml": [*[("5Gi: 4, ", "")] * 2, *NEXT, ("shared,", "shared-v2,")],
        "tenants/vision.yaml": NEXT[:1],
    }
    for name, pairs in changes.items():
        file = yard.repository / name
        text = file.read_text(encoding="utf-8")
        for before, after in pairs:
            assert before in text
            text = text.replace(before, after, 1)
        lines = [line for line in text.split("\n") if "name: small," not in line]
        file.write_text("\n".join(lines), encoding="utf-8")
