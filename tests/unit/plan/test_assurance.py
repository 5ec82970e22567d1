"""What promises may count on, what bounds the others, and what a proof is said to rest on."""

from pathlib import Path

import pytest
import yaml

from dracfg.link.catalog import Catalog
from dracfg.link.index import index
from dracfg.link.linker import link
from dracfg.model.parse import parse
from dracfg.plan.assurance import assurances, markets
from dracfg.source import read_repository

BASE = Path(__file__).parents[2] / "cases" / "_base" / "proofs.yaml"


def catalog(root: Path, *changes: tuple[str, str]) -> Catalog:
    for path, text in yaml.safe_load(BASE.read_text())["files"].items():
        for old, new in changes:
            text = text.replace(old, new)
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    parsed = parse(read_repository(root).documents)
    named, _ = index(parsed.documents)
    return link(named, parsed.poisoned).catalog


def quarantine(*nodes: str) -> tuple[str, str]:
    entries = "".join(f"\n    - {{node: {n}, reason: parts, since: 2026-11-01}}" for n in nodes)
    return "spare: {nodes: 1}", f"spare: {{nodes: 1}}\n  quarantine:{entries}"


@pytest.mark.parametrize(
    ("changes", "nodes"),
    [
        ((), 3),
        ((("spare: {nodes: 1}", "spare: {nodes: 0}"),), 4),
        ((quarantine("cards-1"),), 3),
        ((quarantine("cards-1", "cards-2"),), 2),
        ((("spare: {nodes: 1}", "state: frozen"),), 0),
    ],
)
def test_nodes_that_promises_count_on(
    tmp_path: Path, changes: tuple[tuple[str, str], ...], nodes: int
) -> None:
    """Quarantine takes of the spare nodes first; a pool that is not open counts for nothing."""
    (market,) = markets(catalog(tmp_path, *changes))
    assert sum(group.nodes for group in market.supply.pool.groups) == nodes


def verdicts(found: Catalog) -> set[tuple[str, str, str]]:
    return {(a.holding.what, a.question, a.verdict.word) for a in assurances(found)}


def test_devices_of_exempt_namespaces_count_as_held(tmp_path: Path) -> None:
    held = catalog(tmp_path, ("devices: 0", "devices: 3"))
    assert ("slice 20Gi", "nonBlocking", "refuted") in verdicts(held)


def test_a_share_for_the_tenants_own_next_claim_is_not_held_against_it(tmp_path: Path) -> None:
    """One device and one share of 40Gi: the tenant asks for the one that it is promised."""
    alone = catalog(
        tmp_path,
        ("nodes: 4", "nodes: 1"),
        ("perNode: 2", "perNode: 1"),
        ("spare: {nodes: 1}", "spare: {nodes: 0}"),
        ("[5Gi, 10Gi, 15Gi, 20Gi, 25Gi]", "[40Gi]"),
        ("maxShares: 8", "maxShares: 1"),
        ("guaranteed: {10Gi: 4, 20Gi: 2}", "guaranteed: {40Gi: 1}"),
        ("limit: {10Gi: 5}", "limit: {40Gi: 1}"),
        ("guaranteed: {5Gi: 4}", "guaranteed: {40Gi: 0}"),
        ("limit: {5Gi: 8}", "limit: {40Gi: 0}"),
    )
    assert verdicts(alone) == {("slice 40Gi", q, "proven") for q in ("fits", "nonBlocking")}


def test_what_is_advisory_is_in_no_proof(tmp_path: Path) -> None:
    assert verdicts(catalog(tmp_path, ("isolation: driver", "isolation: none"))) == set()


def test_limits_count_where_nothing_takes_devices_back(tmp_path: Path) -> None:
    found = assurances(catalog(tmp_path, ("limit: {5Gi: 8}", "limit: {5Gi: 30}")))
    assert {a.verdict.word for a in found if a.question == "nonBlocking"} == {"proven", "refuted"}
    assert not any(a.reclaimed for a in found)


def test_guarantees_count_after_reclaim(tmp_path: Path) -> None:
    found = assurances(
        catalog(
            tmp_path,
            ("limit: {5Gi: 8}", "limit: {5Gi: 30}"),
            ("addons: {prometheusOperator: false}", "addons: {kueue: 0.19.2}"),
        )
    )
    assert {a.verdict.word for a in found} == {"proven"}
    reclaimed = [a for a in found if a.reclaimed]
    assert {a.holding.tenant.name for a in reclaimed} == {"notebooks"}
    assert all(any("Kueue" in ground.what for ground in a.basis) for a in reclaimed)


def test_claims_by_hand_are_not_taken_back(tmp_path: Path) -> None:
    found = assurances(
        catalog(
            tmp_path,
            ("limit: {5Gi: 8}", "limit: {5Gi: 30}"),
            ("addons: {prometheusOperator: false}", "addons: {kueue: 0.19.2}"),
            ("  profiles:\n    - name: query", "  ownClaims: true\n  profiles:\n    - name: query"),
        )
    )
    assert "refuted" in {a.verdict.word for a in found}


@pytest.mark.parametrize(
    ("changes", "conditional"),
    [
        ((), False),
        ((("      version: 1.2.0\n      date", "      version: 1.1.0\n      date"),), True),
        ((('kubernetes: "1.36"', 'kubernetes: "1.35"'),), True),
    ],
)
def test_alpha_and_declarations_make_a_proof_conditional(
    tmp_path: Path, changes: tuple[tuple[str, str], ...], conditional: bool
) -> None:
    found = assurances(catalog(tmp_path, *changes))
    assert {a.is_conditional for a in found} == {conditional}


@pytest.mark.parametrize(
    ("minor", "per_node", "found"),
    [("1.34", 2, "unknown"), ("1.34", 1, "proven"), ("1.35", 2, "proven")],
)
def test_shares_of_the_first_device_alone(
    tmp_path: Path, minor: str, per_node: int, found: str
) -> None:
    """1.34 gives shares of one device of a slice; nothing is proven where a node has more."""
    changes = ('"1.36"', f'"{minor}"'), ("perNode: 2", f"perNode: {per_node}")
    (first, *_) = assurances(catalog(tmp_path, *changes))
    assert first.verdict.word == found


OTHER_TIER = """\
apiVersion: dracfg.dev/v1alpha1
kind: HardwareTier
metadata: {name: card-any}
spec:
  driver: card.example.com
  match: {attributes: MATCH}
  device: {attributes: {type: card}, capacity: {memory: 40Gi}}
  reclaim: {timeout: 15m}
---
apiVersion: dracfg.dev/v1alpha1
kind: NodePool
metadata: {name: others}
spec:
  cluster: prod-east
  nodes: 1
  nodeSelector: {node.example.com/pool: others}
  devices: [{tier: card-any, perNode: 1}]
  sharing: [slices]
  owner: {card.example.com: dra}
"""
OTHER_TENANT = """\
apiVersion: dracfg.dev/v1alpha1
kind: Tenant
metadata: {name: stray}
spec:
  access: {use: [{group: stray}], view: [{group: support}]}
  namespaces: [{name: stray, clusters: [prod-east]}]
  entitlements: [{name: any, tier: card-any, sharing: slices, guaranteed: {5Gi: NUMBER}}]
  profiles: [{name: any, requests: [{name: card, entitlement: any, size: 5Gi}]}]
"""


def overlapping(root: Path, match: str, number: int) -> Catalog:
    for folder, text in (
        ("catalog", OTHER_TIER.replace("MATCH", match)),
        ("tenants", OTHER_TENANT.replace("NUMBER", str(number))),
    ):
        (root / folder).mkdir(exist_ok=True)
        (root / folder / "other.yaml").write_text(text)
    return catalog(root)


def of_tier(found: Catalog, tier: str) -> set[str]:
    return {a.verdict.word for a in assurances(found) if a.market.supply.tier.name == tier}


@pytest.mark.parametrize(
    ("match", "number", "words"),
    [
        ("{type: other}", 30, {"proven"}),
        ("{type: card}", 1, {"proven"}),
        ("{type: card}", 30, {"unknown"}),
    ],
)
def test_claims_of_a_tier_that_is_not_told_apart_count(
    tmp_path: Path, match: str, number: int, words: set[str]
) -> None:
    """One share more than fits beside it leaves nothing proven, and nothing refuted either."""
    found = overlapping(tmp_path, match, number)
    assert of_tier(found, "card-40g") == words
    grounds = {
        ground.what
        for answer in assurances(found)
        if answer.market.supply.tier.name == "card-40g"
        for ground in answer.basis
    }
    counted = "claims of card-any counted as holding devices of this tier"
    assert (counted in grounds) == (match == "{type: card}" and number == 1)


def test_what_fails_by_itself_is_refuted_beside_another_tier(tmp_path: Path) -> None:
    overlapping(tmp_path, "{type: card}", 1)
    found = catalog(tmp_path, ("guaranteed: {10Gi: 4, 20Gi: 2}", "guaranteed: {10Gi: 40, 20Gi: 2}"))
    assert of_tier(found, "card-40g") == {"refuted"}
