"""Classes that come, go, open and close."""

from pathlib import Path

import pytest

from dracfg.diff.classes import class_changes
from tests.unit.diff.pairs import POLICIES, POOLS, Case, Edit, hold

_SIZES: Edit = (POLICIES, "sizes: [5Gi, 10Gi, 20Gi]", "sizes: [10Gi, 20Gi]")
_MORE: Edit = (POLICIES, "sizes: [5Gi, 10Gi, 20Gi]", "sizes: [5Gi, 10Gi, 15Gi, 20Gi, 25Gi]")
_HAMI = "nodeSelector: {node.example.com/pool: hami-east}"
_FROZEN: Edit = (POOLS, _HAMI, f"{_HAMI}\n  state: frozen")
_OPEN: Edit = (POOLS, "  state: frozen\n", "")
_ALL = "classes l40s-hami, l40s-hami-memory-slices-10gi, l40s-hami-memory-slices-20gi and 1 more"
_CLAIM = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: small, namespace: vision-notebooks}
spec:
  devices:
    requests:
    - name: gpu
      exactly: {deviceClassName: l40s-hami-memory-slices-5gi, allocationMode: ExactCount, count: 1}
"""

CASES = (
    Case(
        "two new sizes are one change",
        (_MORE,),
        told=(
            (
                "class-added",
                "classes l40s-hami-memory-slices-15gi, l40s-hami-memory-slices-25gi",
                None,
                "2 classes of l40s-hami",
            ),
        ),
        says=("no tenant is entitled to it", "quota is 0 in 3 namespaces of other tenants"),
        impact="additive",
    ),
    Case(
        "a size that goes",
        (_SIZES,),
        told=(
            (
                "class-removed",
                "class l40s-hami-memory-slices-5gi",
                "1 class of l40s-hami",
                None,
            ),
        ),
        impact="restrictive",
    ),
    Case(
        "a class that goes while a claim names it",
        (_SIZES,),
        recorded=_CLAIM,
        told=(
            (
                "class-removed",
                "class l40s-hami-memory-slices-5gi",
                "1 class of l40s-hami",
                None,
            ),
        ),
        says=("1 live claim",),
        impact="destructive",
        workloads=("vision-notebooks/small",),
    ),
    Case(
        "the only pool of a tier is frozen",
        (_FROZEN,),
        told=(
            (
                "class-closed",
                _ALL,
                "new claims are let in",
                "new claims are refused",
            ),
        ),
        says=("hami-east frozen", "concerns search, vision"),
        impact="restrictive",
    ),
    Case(
        "and opened again",
        (_OPEN,),
        (_FROZEN,),
        told=(
            (
                "class-reopened",
                _ALL,
                "new claims are refused",
                "new claims are let in",
            ),
        ),
        impact="additive",
    ),
    Case("nothing but an order", ((POLICIES, "[5Gi, 10Gi, 20Gi]", "[20Gi, 10Gi, 5Gi]"),)),
    Case(
        "one of two pools of a tier is frozen",
        ((POOLS, "nodes: 2\n", "nodes: 2\n  state: frozen\n"),),
    ),
)
FUNCTIONS = (class_changes,)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_classes(case: Case, tmp_path: Path) -> None:
    hold(case, class_changes(case.pair(tmp_path)))
