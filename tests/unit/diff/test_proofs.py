"""Proofs that come out otherwise than before."""

from pathlib import Path

import pytest

from dracfg.diff.proofs import proof_changes
from tests.unit.diff.pairs import CLUSTERS, DRIVERS, POLICIES, POOLS, SEARCH, Case, Edit, hold

_TOGETHER = "proof of card-40g: all guarantees together"
_NON_BLOCKING = "proof of card-40g: non-blocking"
_FEWER: Edit = (POOLS, "nodes: 4", "nodes: 2")
_MORE: Edit = (POOLS, "nodes: 2", "nodes: 4")
_GREEDY: Edit = (SEARCH, "limit: {5Gi: 8}", "limit: {5Gi: 40}")
_UNTRIED: Edit = (DRIVERS, "version: 1.2.0\n          date", "version: 1.1.0\n          date")
_ACCEPTED: Edit = (
    POLICIES,
    "isolation: driver",
    "isolation: driver\n  acceptsDeclared: seen to hold on one node",
)

CASES = (
    Case(
        "nodes are taken away",
        (_FEWER,),
        base="proofs",
        told=(("proof-lost", _TOGETHER, "proven", "refuted"),),
        says=("guarantee of notebooks slice 10Gi", "search slice 5Gi", "mended by: guarantee 2"),
        impact="restrictive",
    ),
    Case(
        "nodes come",
        (_MORE,),
        (_FEWER,),
        base="proofs",
        told=(("proof-gained", _TOGETHER, "refuted", "proven"),),
        impact="additive",
    ),
    Case(
        "another tenant may hold more",
        (_GREEDY,),
        base="proofs",
        told=(
            ("proof-lost", "proof of card-40g: fits", "proven", "refuted"),
            ("proof-lost", _NON_BLOCKING, "proven", "refuted"),
        ),
        says=("guarantee of notebooks slice 10Gi", "CAP042", "5Gi for search"),
    ),
    Case(
        "a release that was never tried",
        ((DRIVERS, "spec:\n  version: 1.2.0", "spec:\n  version: 1.3.0"),),
        (_ACCEPTED,),
        base="proofs",
        told=(
            ("proof-lost", "proof of card-40g: fits", "proven", "conditional"),
            ("proof-lost", _NON_BLOCKING, "proven", "conditional"),
        ),
        says=("guarantee of notebooks slice 10Gi",),
    ),
    Case(
        "a first guarantee without a proof",
        ((CLUSTERS, "exemptNamespaces", "unmanagedNamespaces: warn\n  exemptNamespaces"),),
        (
            ("tenants/notebooks.yaml", "guaranteed: {10Gi: 4, 20Gi: 2}", "guaranteed: {10Gi: 0}"),
            (SEARCH, "guaranteed: {5Gi: 4}", "guaranteed: {5Gi: 0}"),
        ),
        base="proofs",
    ),
    Case(
        "a new guarantee without a proof",
        ((SEARCH, "guaranteed: {5Gi: 0}", "guaranteed: {5Gi: 4}"),),
        (
            (CLUSTERS, "exemptNamespaces", "unmanagedNamespaces: warn\n  exemptNamespaces"),
            ("tenants/notebooks.yaml", "guaranteed: {10Gi: 4, 20Gi: 2}", "guaranteed: {10Gi: 0}"),
            (SEARCH, "guaranteed: {5Gi: 4}", "guaranteed: {5Gi: 0}"),
        ),
        base="proofs",
        told=(("proof-missing", _TOGETHER, None, "unknown"),),
        says=("guarantee of search slice 5Gi", "unmanagedNamespaces: deny"),
        impact="none",
    ),
    Case(
        "other limits, all proven", ((SEARCH, "limit: {5Gi: 8}", "limit: {5Gi: 7}"),), base="proofs"
    ),
)
FUNCTIONS = (proof_changes,)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_proofs(case: Case, tmp_path: Path) -> None:
    hold(case, proof_changes(case.pair(tmp_path)))
