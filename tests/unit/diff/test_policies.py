"""Policies with other numbers, and whom the new version refuses."""

from pathlib import Path

import pytest

from dracfg.diff.policies import policy_changes
from tests.unit.diff.pairs import POLICIES, Case, Edit, hold

_OBJECT = "SharingPolicy memory-slices"
_OLD, _NEW = "version 90ae14fe", "version 580fbbaa"
_STEPS: tuple[Edit, ...] = (
    (POLICIES, "{min: 5Gi, step: 5Gi, max: 45Gi", "{min: 10Gi, step: 10Gi, max: 40Gi"),
    (POLICIES, "sizes: [5Gi, 10Gi, 20Gi]", "sizes: [10Gi, 20Gi]"),
)
_CONSUMABLE = """\
  mode: consumable
  capacity:
    memory: {min: 5Gi, step: 5Gi, max: 45Gi, reserve: 0}
    cores: {min: 0, max: 100, default: 10}
  sizedBy: memory
  maxShares: 9
  tenancy: {any: approved 2026-10}
  isolation: driver
  acceptsDeclared: the limiter was seen to hold
  sizes: [5Gi, 10Gi, 20Gi]
"""
_TURNS = """\
  mode: timeSliced
  tenancy: {any: approved 2026-10}
  replicas: 4
  guarantee: none
  config: {apiVersion: example.com/v1, kind: Turns}
"""
_CLAIMS = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: small
  namespace: vision-notebooks
  annotations: {dracfg.dev/requests: gpu=slice/l40s-hami/memory-slices/5Gi/90ae14fe}
spec: {devices: {requests: []}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: middle
  namespace: vision-notebooks
  annotations: {dracfg.dev/requests: gpu=slice/l40s-hami/memory-slices/10Gi/90ae14fe}
spec: {devices: {requests: []}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: older
  namespace: vision-notebooks
  annotations: {dracfg.dev/requests: gpu=slice/l40s-hami/memory-slices/5Gi/00000000}
spec: {devices: {requests: []}}
"""

CASES = (
    Case(
        "the least is raised",
        _STEPS,
        recorded=_CLAIMS,
        told=(("policy-version", _OBJECT, _OLD, _NEW),),
        says=(
            "refuses 5Gi: the least is 10Gi of memory",
            "1 live claim would be refused if made again",
            "live claims stay under version 90ae14fe until they end (2 claims of the record)",
        ),
        impact="restrictive",
        workloads=("vision-notebooks/small",),
    ),
    Case(
        "a size is no longer listed",
        ((POLICIES, "sizes: [5Gi, 10Gi, 20Gi]", "sizes: [5Gi, 20Gi]"),),
        recorded=_CLAIMS,
        told=(("policy-version", _OBJECT, _OLD, "version 419a7103"),),
        says=(
            "refuses 10Gi: sizes are 5Gi or 20Gi",
            "templates of search/query, vision/notebook are refused",
            "entitled to what is refused: search, vision",
        ),
        impact="restrictive",
        workloads=("vision-notebooks/middle",),
    ),
    Case(
        "more shares, and nothing is refused",
        ((POLICIES, "maxShares: 9", "maxShares: 8"),),
        told=(("policy-version", _OBJECT, _OLD, "version 7f498f4f"),),
        says=("every size that could be asked for still can",),
        impact="new-claims",
    ),
    Case(
        "a size takes more than it took",
        ((POLICIES, "default: 10}", "default: 20}"),),
        told=(("policy-version", _OBJECT, _OLD, "version 640c3531"),),
        says=("refuses 5Gi: it is 20 of cores now, and was 10",),
        impact="restrictive",
    ),
    Case(
        "slices become partitions",
        ((POLICIES, _CONSUMABLE, _TURNS),),
        told=(("policy-version", _OBJECT, _OLD, "version d717f1c5"),),
        says=("refuses 5Gi: the policy is timeSliced now and has no sizes",),
        impact="restrictive",
    ),
    Case("who approved it", ((POLICIES, "approved 2026-10", "approved 2026-11"),)),
    Case(
        "equal amounts in another notation",
        ((POLICIES, "sizes: [5Gi, 10Gi, 20Gi]", "sizes: [5120Mi, 10Gi, 20Gi]"),),
    ),
)
FUNCTIONS = (policy_changes,)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_policies(case: Case, tmp_path: Path) -> None:
    hold(case, policy_changes(case.pair(tmp_path)))
