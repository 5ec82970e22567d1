"""What is linked after another state comes out as if it were linked alone, and what stays is the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dracfg.link.index import index
from dracfg.link.linker import Linked, link
from dracfg.model.base import Spec
from dracfg.model.parse import Parsed, parse
from dracfg.source.composer import compose

HEAD = "apiVersion: dracfg.dev/v1alpha1\n"
WORLD: Mapping[str, str] = {
    "catalog/east.yaml": """kind: Cluster
metadata: {name: east}
spec: {kubernetes: "1.36", distribution: kubeadm, gitops: {engine: plain}}
""",
    "catalog/west.yaml": """kind: Cluster
metadata: {name: west}
spec: {kubernetes: "1.36", distribution: kubeadm, gitops: {engine: plain}}
""",
    "catalog/driver.yaml": """kind: Driver
metadata: {name: card.example.com}
spec: {attributes: {type: string}, capacity: [memory], enforces: {memory: driver}, shareable: true}
""",
    "catalog/tier.yaml": """kind: HardwareTier
metadata: {name: card}
spec:
  driver: card.example.com
  match: {attributes: {type: card}}
  device: {capacity: {memory: 40Gi}}
  legacyResource: example.com/card
""",
    "catalog/twin.yaml": """kind: HardwareTier
metadata: {name: twin}
spec:
  driver: card.example.com
  match: {attributes: {type: card}}
  device: {capacity: {memory: 40Gi}}
""",
    "catalog/slices.yaml": """kind: SharingPolicy
metadata: {name: slices}
spec:
  mode: consumable
  capacity: {memory: {min: 5Gi, step: 5Gi, max: 40Gi}}
  sizes: [5Gi, 10Gi]
  tenancy: sameTenant
""",
    "catalog/cards-east.yaml": """kind: NodePool
metadata: {name: cards-east}
spec:
  cluster: east
  nodes: 4
  nodeSelector: {pool: cards}
  devices: [{tier: card, perNode: 4}, {tier: twin, perNode: 1, sharing: [whole]}]
  sharing: [slices, whole]
  owner: {card.example.com: dra}
""",
    "catalog/cards-west.yaml": """kind: NodePool
metadata: {name: cards-west}
spec:
  cluster: west
  nodes: 4
  nodeSelector: {pool: cards}
  devices: [{tier: card, perNode: 4}]
  owner: {card.example.com: devicePlugin}
""",
    "catalog/rollout.yaml": """kind: Rollout
metadata: {name: cards-to-dra}
spec:
  tier: card
  stage: first
  stages:
    - {name: first, pools: [cards-west], tenants: [other], workloads: retryable}
""",
    "tenants/giver.yaml": """kind: Tenant
metadata: {name: giver}
spec:
  namespaces: [{name: giver, clusters: [east, west]}]
  entitlements:
    - {name: slice, tier: card, sharing: slices, guaranteed: {5Gi: 4}, limit: {5Gi: 8, 10Gi: 2}}
    - {name: card, tier: card, guaranteed: 1, limit: 2}
  offers: [{entitlement: slice, size: 5Gi, count: 2, to: taker}]
""",
    "tenants/taker.yaml": """kind: Tenant
metadata: {name: taker}
spec:
  namespaces: [{name: taker, clusters: [east]}]
  acceptedOffers: [{from: giver, entitlement: slice, size: 5Gi, count: 2}]
  offers: [{entitlement: own, count: 1, to: other}]
  entitlements: [{name: own, tier: card, guaranteed: 0, limit: 3}]
""",
    "tenants/other.yaml": """kind: Tenant
metadata: {name: other}
spec:
  namespaces: [{name: other, clusters: [west, east]}]
  acceptedOffers: [{from: taker, entitlement: own, count: 1}]
  entitlements:
    - {name: card, tier: card, guaranteed: 1, limit: 2}
    - {name: twin, tier: twin, guaranteed: 1, limit: 3}
  profiles:
    - {name: both, requests: [{name: card, entitlement: card}, {name: twin, entitlement: twin}]}
""",
    "tenants/watcher.yaml": """kind: Tenant
metadata: {name: watcher}
spec:
  namespaces: [{name: watcher, clusters: [east]}]
  adminAccess: [{namespace: watcher, tiers: [card], reason: it looks after the cards}]
""",
    "tenants/more.yaml": """kind: Tenant
metadata: {name: more}
spec:
  namespaces: [{name: more, clusters: [east]}]
""",
}
GIVER, TAKER, OTHER = (f"tenants/{name}.yaml" for name in ("giver", "taker", "other"))
WATCHER = "tenants/watcher.yaml"
GONE = ""

EDITS: Mapping[str, tuple[str, str, str]] = {
    "a comment": (OTHER, "kind: Tenant", "# by hand\nkind: Tenant"),
    "the giver has more": (GIVER, "5Gi: 8", "5Gi: 9"),
    "the giver offers more": (GIVER, "count: 2", "count: 3"),
    "the giver is removed": (GIVER, "spec:\n", "spec:\n  state: removed\n"),
    "the giver leaves": (GIVER, "kind", GONE),
    "the giver is not found on east": (GIVER, "clusters: [east, west]", "clusters: [west]"),
    "the giver names a tier that is not there": (GIVER, "tier: card", "tier: cart"),
    "the giver can't be understood": (GIVER, "offers:", "offer:"),
    "the taker leaves": (TAKER, "kind", GONE),
    "the taker takes nothing": (
        TAKER,
        "  acceptedOffers: [{from: giver, entitlement: slice, size: 5Gi, count: 2}]\n",
        "",
    ),
    "the taker takes of nobody": (TAKER, "from: giver", "from: given"),
    "somebody offers to nobody": (TAKER, "to: other", "to: others"),
    "the other leaves": (OTHER, "kind", GONE),
    "the other has more": (OTHER, "limit: 3", "limit: 4"),
    "the other has none of the twin": (OTHER, "guaranteed: 1, limit: 3", "guaranteed: 0, limit: 0"),
    "the other asks for two": (OTHER, "entitlement: card}", "entitlement: card, count: 2}"),
    "the other writes claims of its own": (OTHER, "spec:\n", "spec:\n  ownClaims: true\n"),
    "the other is in one place": (OTHER, "[west, east]", "[west]"),
    "the watcher leaves": (WATCHER, "kind", GONE),
    "the watcher watches what is not there": (WATCHER, "tiers: [card]", "tiers: [cart]"),
    "there is another one that can't be understood": (
        "tenants/more.yaml",
        "{name: more}\nspec:",
        "{name: other}\nspec:\n  offer: []",
    ),
    "a cluster's minor": ("catalog/east.yaml", "1.36", "1.35"),
    "a cluster leaves": ("catalog/west.yaml", "kind", GONE),
    "another tier": ("catalog/tier.yaml", "40Gi", "80Gi"),
    "a tier without driver": ("catalog/tier.yaml", "driver: card", "driver: cart"),
    "another size": ("catalog/slices.yaml", "[5Gi, 10Gi]", "[5Gi, 20Gi]"),
    "a policy of the built-in name": ("catalog/slices.yaml", "name: slices", "name: whole"),
    "more nodes": ("catalog/cards-east.yaml", "nodes: 4", "nodes: 5"),
    "another owner": ("catalog/cards-west.yaml", ": devicePlugin", ": dra"),
    "a comment in the catalog": ("catalog/driver.yaml", "kind", "# by hand\nkind"),
    "a rollout at its start": ("catalog/rollout.yaml", "stage: first", "stage: start"),
    "a rollout of nobody": ("catalog/rollout.yaml", "[other]", "[others]"),
    "no rollout": ("catalog/rollout.yaml", "kind", GONE),
}


@pytest.mark.parametrize("edit", EDITS)
def test_it_comes_out_as_if_it_were_linked_alone(edit: str) -> None:
    """Either way: what the edit makes of the world, and what is left when it is taken back."""
    hold([], [edit])
    hold([edit], [])


FEW = st.sets(st.sampled_from(sorted(EDITS)), max_size=3)


@given(FEW, FEW)
def test_any_state_may_follow_on_any(before: set[str], after: set[str]) -> None:
    hold(before, after)


def hold(before: Iterable[str], after: Iterable[str]) -> None:
    earlier = linked(before).catalog
    alone, found = linked(after), linked(after, since=earlier)
    assert form(found.catalog, {}) == form(alone.catalog, {})
    assert [*found.catalog.tenants] == [*alone.catalog.tenants]
    assert found.poisoned == alone.poisoned
    assert found.faults == alone.faults
    for tenant in found.catalog.tenants.values():
        for grant in tenant.grants:
            assert grant.cluster is found.catalog.clusters[grant.cluster.name]
            assert grant.tier is found.catalog.tiers[grant.tier.name]
            assert grant.policy is found.catalog.policies[grant.policy.name]


@pytest.mark.parametrize(
    ("edit", "stay"),
    [
        ("a comment", {"giver", "taker", "watcher", "more"}),
        ("the giver has more", {"other", "watcher", "more"}),
        ("the giver leaves", {"other", "watcher", "more"}),
        ("the taker takes nothing", {"giver", "watcher", "more"}),
        ("the taker leaves", {"watcher", "more"}),
        ("the watcher leaves", {"giver", "taker", "other", "more"}),
        ("more nodes", set()),
        ("a comment in the catalog", set()),
        ("the giver can't be understood", set()),
    ],
)
def test_who_stays(edit: str, stay: set[str]) -> None:
    earlier = linked([]).catalog
    found = linked([edit], since=earlier).catalog
    same = {name for name, one in found.tenants.items() if one is earlier.tenants.get(name)}
    assert same == stay
    assert (found.clusters is earlier.clusters) is bool(stay)


def test_who_names_what_is_not_there_is_told_again() -> None:
    """Nobody is poisoned by it, so that a tenant of another state may have such a fault."""
    edits = ["the watcher watches what is not there", "somebody offers to nobody"]
    earlier = linked(edits)
    found = linked([*edits, "a comment"], since=earlier.catalog)
    assert [fault.code for fault in found.faults] == ["REF001", "REF001"]
    assert found.faults == earlier.faults


def linked(edits: Iterable[str], since: Any = None) -> Linked:
    files = {path: HEAD + text for path, text in WORLD.items()}
    for path, old, new in (EDITS[edit] for edit in sorted(edits)):
        files[path] = files[path].replace(old, new, 1) if new or old != "kind" else ""
    documents = [parsed(path, text) for path, text in sorted(files.items()) if text]
    named, twice = index(document for one in documents for document in one.documents)
    assert not twice
    return link(named, frozenset().union(*(one.poisoned for one in documents)), since)


@cache
def parsed(path: str, text: str) -> Parsed:
    """The documents of a file, made once."""
    documents, faults = compose(path, text)
    assert not faults
    return parse(documents)


def form(value: Any, known: dict[int, Any]) -> Any:
    """All that a catalog holds, as lists, down to the documents."""
    if isinstance(value, Spec):
        return value
    if isinstance(value, Mapping):
        return [[key, form(one, known)] for key, one in value.items()]
    if isinstance(value, tuple | list):
        return [form(one, known) for one in value]
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if not is_dataclass(value):
        return value
    if id(value) not in known:
        known[id(value)] = [
            type(value).__name__,
            *(form(getattr(value, field.name), known) for field in fields(value)),
        ]
    return known[id(value)]
