"""What profiles ask for: the same as the claims that are made of them, summed without making any."""

from dataclasses import replace
from pathlib import Path

import pytest

from dracfg.plan.asks import asks, charges, unserved
from dracfg.plan.holdings import holdings
from dracfg.plan.promises import claim_plans
from tests.unit.plan.test_assurance import catalog

REQUESTS = "requests: [{name: card, entitlement: slice, size: 5Gi}]"
WORDS = {
    "SMALL": "entitlement: slice, size: 5Gi",
    "LARGE": "entitlement: slice, size: 10240Mi",
    "BY": "card.example.com/type",
    "SECOND": "{name: slice, tier: card-40g, guaranteed: 1}",
    "LENT": "{from: notebooks, entitlement: slice, size: 10Gi, count: 1}",
}


@pytest.mark.parametrize(
    ("requests", "held_together", "combined"),
    [
        ("{name: a, SMALL}", "", False),
        ("{name: a, count: 3, SMALL}, {name: b, LARGE}", "", True),
        ("{name: a, count: 3, SMALL}, {name: b, count: 2, SMALL}", "", True),
        ("{name: a, anyOf: [{count: 2, SMALL}, {count: 3, SMALL}, {LARGE}]}", "", False),
        ("{name: a, anyOf: [{SMALL}, {entitlement: unknown}]}", "", False),
        ("{name: a, SMALL}, {name: b, entitlement: unknown}", "", None),
        ("{name: a, entitlement: slice, size: 6Gi}", "", None),
        ("{name: a, count: 2, SMALL}", "align: [{requests: [a], by: BY}]", True),
        ("{name: a, count: 2, SMALL}", "distinct: [{requests: [a], by: BY}]", True),
        (
            "{name: a, count: 2, SMALL}, {name: b, count: 2, LARGE}",
            "align: [{requests: [a, b], by: BY}]",
            True,
        ),
        (
            "{name: a, count: 2, anyOf: [{count: 4, SMALL}, {LARGE}]}, {name: b, count: 2, LARGE}",
            "align: [{requests: [a, b], by: BY}]",
            True,
        ),
    ],
)
def test_charges_are_those_of_the_claims(
    tmp_path: Path, requests: str, held_together: str, combined: bool | None
) -> None:
    for word, meant in WORDS.items():
        requests, held_together = requests.replace(word, meant), held_together.replace(word, meant)
    found = catalog(tmp_path, (REQUESTS, f"requests: [{requests}]\n      {held_together}"))
    cluster, tenant = found.clusters["prod-east"], found.tenants["search"]
    made = [one for one in claim_plans(found) if one.tenant is tenant]
    known = asks(found, tenant, cluster)
    assert {one.position: charges(one.plan) for one in made} == known.charged
    assert bool(known.charged) is (combined is not None)
    for one in made:
        several = len({request.origin for request in one.plan.requests}) > 1
        assert (several or bool(one.plan.constraints)) is combined
        taken = charges(one.plan)
        assert known.combined == (taken.keys() if combined else set())
        assert known.sizes == {name: (devices,) for name, devices in taken.items()}


def test_claims_that_pods_share_are_known(tmp_path: Path) -> None:
    access = "access: {use: [{group: search-eng}], view: [{group: support}]}"
    shared = "sharedClaims: [{name: all, profile: query, namespace: search, pods: 2}]"
    found = catalog(tmp_path, (access, f"{access}\n  {shared}"))
    known = asks(found, found.tenants["search"], found.clusters["prod-east"])
    assert known.shared == {"card-40g-slices-5gi"}


def test_a_tenant_of_two_catalogs_is_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it holds is the same where devices are, and worked out again where they are not."""
    first = catalog(tmp_path)
    (held,) = holdings(first).values()
    assert [one.what for one in held] == ["slice 10Gi", "slice 20Gi", "slice 5Gi"]
    with monkeypatch.context() as patched:
        patched.setattr("dracfg.plan.holdings.asks", None)
        (again,) = holdings(replace(first)).values()
    assert [(one.tenant, one.sort) for one in again] == [(one.tenant, one.sort) for one in held]
    unserved = replace(first.clusters["prod-east"], pools=())
    assert not holdings(replace(first, clusters={"prod-east": unserved}))
    (back,) = holdings(replace(first)).values()
    assert [one.sort for one in back] == [one.sort for one in held]


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ((REQUESTS, REQUESTS), []),
        (("entitlement: slice, size: 5Gi", "entitlement: unknown, size: 5Gi"), ["search"]),
        (("entitlement: slice, size: 5Gi", "entitlement: slice, size: 6Gi"), ["search"]),
        (("entitlement: slice, size: 5Gi", "entitlement: slice"), ["search"]),
        (("entitlement: slice, size: 5Gi", "size: 5Gi"), ["search"]),
        (("entitlement: slice, size: 5Gi", "anyOf: [{SMALL}, {LARGE}]"), ["search"]),
        (("limit: {5Gi: 8}\n", "limit: {5Gi: 8}\n    - SECOND\n"), ["search"]),
        (("limit: {5Gi: 8}\n", "limit: {5Gi: 8}\n  acceptedOffers: [LENT]\n"), ["search"]),
        (("sharing: [slices]", "sharing: [whole]"), ["notebooks", "search"]),
    ],
)
def test_whoever_is_served_asks_for_what_is_there(
    tmp_path: Path, change: tuple[str, str], names: list[str]
) -> None:
    old, new = change
    for word, meant in WORDS.items():
        new = new.replace(word, meant)
    found = unserved(catalog(tmp_path, (old, new)))
    assert [tenant.name for tenant in found] == names
