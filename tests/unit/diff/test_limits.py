"""Limits that move though no field of the tenant says so, and quota keys that start or stop to count."""

from pathlib import Path

import pytest

from dracfg.diff.limits import effective_limits
from tests.unit.diff.pairs import CLUSTERS, NIC_UNUSED, POOLS, SEARCH, VISION, Case, Edit, hold

_LENT = "offers: [{entitlement: slice, size: 10Gi, count: 2, to: search}]"
_TAKEN = "acceptedOffers: [{from: vision, entitlement: slice, size: 10Gi, count: 2}]"
_FOUR: tuple[Edit, ...] = (
    (VISION, _LENT, _LENT.replace("count: 2", "count: 6")),
    (SEARCH, _TAKEN, _TAKEN.replace("count: 2", "count: 6")),
)
_KUBEADM = "distribution: kubeadm"
_ON_1_35: tuple[Edit, ...] = (
    (CLUSTERS, '"1.36"', '"1.35"'),
    (
        CLUSTERS,
        "allowAlpha:\n",
        "allowAlpha:\n    DRAConsumableCapacity: asked for\n    DRAPartitionableDevices: asked for\n",
    ),
)
_QUERY = """\
    - name: query
      requests: [{name: gpu, entitlement: vision-slice, size: 10Gi}]
"""

CASES = (
    Case(
        "more is lent",
        _FOUR,
        told=(("limit-lent", "entitlement slice 10Gi", "limit 12", "limit 8"),),
        says=("6 of it lent to search",),
        impact="restrictive",
    ),
    Case(
        "what was lent comes back",
        (
            (VISION, _LENT.replace("count: 2", "count: 6"), _LENT),
            (SEARCH, _TAKEN.replace("count: 2", "count: 6"), _TAKEN),
        ),
        _FOUR,
        told=(("limit-returned", "entitlement slice 10Gi", "limit 8", "limit 12"),),
        impact="additive",
    ),
    Case(
        "a giver that is gone",
        ((VISION, "spec:\n  access", "spec:\n  state: removed\n  access"),),
        ((SEARCH, _QUERY, ""),),
        told=(("limit-withdrawn", "borrowed vision-slice", "limit 2 10Gi", None),),
        says=("vision has nothing left to lend",),
        impact="restrictive",
    ),
    Case(
        "a limit is raised by its own field",
        ((VISION, "guaranteed: 16, limit: 24", "guaranteed: 16, limit: 32"),),
    ),
    Case(
        "namespaces share otherwise",
        ((VISION, "share: 3", "share: 1"),),
        told=(
            (
                "quota-shared-otherwise",
                "quota of its namespaces",
                "vision-notebooks 1, vision-train 3",
                "vision-notebooks 1, vision-train 1",
            ),
        ),
        says=("a100-40g: vision-notebooks 6 -> 12, vision-train 18 -> 12",),
        impact="restrictive",
    ),
    Case(
        "shares of the same ratio",
        ((VISION, "share: 3}", "share: 6}"), (VISION, "share: 1}", "share: 2}")),
    ),
    Case(
        "names of classes count from 1.36 on",
        ((CLUSTERS, '"1.35"', '"1.36"'),),
        _ON_1_35,
        told=(
            (
                "quota-keys-started",
                "quota key requests.deviceclass.resource.kubernetes.io/<class>",
                "not counted",
                "counted",
            ),
        ),
        says=("because of Kubernetes 1.35 -> 1.36", "reaches search, vision"),
        impact="restrictive",
    ),
    Case(
        "and no longer where the gate is off",
        (
            (
                CLUSTERS,
                "distribution: kubeadm",
                "distribution: kubeadm\n  featureGates: {DRAExtendedResource: false}",
            ),
        ),
        told=(
            (
                "quota-keys-stopped",
                "quota key requests.deviceclass.resource.kubernetes.io/<class>",
                "counted",
                "not counted",
            ),
        ),
        says=("because of DRAExtendedResource on -> off",),
    ),
    Case(
        "a tier goes over from its plugin",
        ((POOLS, "nic.example.com: devicePlugin}", "nic.example.com: dra}"),),
        (
            (POOLS, "nic.example.com: dra}", "nic.example.com: devicePlugin}"),
            *NIC_UNUSED,
        ),
        told=(("limits-moved", "limits of cx7-400g", "24 by example.com/nic", "24 by claims"),),
        says=("concerns vision",),
        impact="new-claims",
    ),
)
FUNCTIONS = (effective_limits,)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_limits(case: Case, tmp_path: Path) -> None:
    hold(case, effective_limits(case.pair(tmp_path)))
