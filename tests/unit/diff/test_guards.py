"""Kueue's Configuration, legacy names, admission policies and roles."""

from pathlib import Path

import pytest

from dracfg.diff.handovers import handovers
from dracfg.diff.kueue import kueue_changes
from dracfg.diff.protection import protection_changes
from dracfg.diff.roles import role_changes
from tests.unit.diff.pairs import (
    CLUSTERS,
    DRIVERS,
    NIC_UNUSED,
    POOLS,
    TIERS,
    VISION,
    Case,
    Edit,
    hold,
)

_EXEMPT = "exemptNamespaces:"
_QUEUED: Edit = (CLUSTERS, _EXEMPT, f'addons: {{kueue: "0.17"}}\n  {_EXEMPT}')
_WARN: Edit = (CLUSTERS, _EXEMPT, f"unmanagedNamespaces: warn\n  {_EXEMPT}")
_DENY: Edit = (CLUSTERS, f"unmanagedNamespaces: warn\n  {_EXEMPT}", _EXEMPT)
_NIC_NAME = "legacyResource: example.com/nic"
_TAKEN: Edit = (TIERS, _NIC_NAME, f"{_NIC_NAME}\n  takesOverLegacyName: true")
_LESS, _MORE = ("as before", "less is refused"), ("as before", "more is refused")
_UNMANAGED = tuple(
    f"admission policy dracfg-unmanaged-{what}" for what in ("namespaces", "workloads")
)
_WRITES = (
    "create, delete, patch, update, watch clusterqueues, cohorts, localqueues and resourceflavors "
    "(kueue.x-k8s.io)"
)
_PODS = """
  podTemplateKinds:
    - apiGroup: jobs.example.com
      versions: [v1]
      resource: batches
      podSpecs: [spec.template.spec]
"""
_OPERATOR = """
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: fast-nic, labels: {}}
spec: {extendedResourceName: example.com/nic}
"""
_ACCOUNT = "  capacity: [bandwidth]"
_NAMED: Edit = (
    DRIVERS,
    _ACCOUNT,
    f"{_ACCOUNT}\n  serviceAccount: {{namespace: nics, name: nic-driver}}",
)
_UNNAMED: Edit = (DRIVERS, _NAMED[2], _ACCOUNT)
_DRIVERS = tuple(f"admission policy dracfg-driver-{what}" for what in ("slices", "status"))
_JOBS: Edit = (CLUSTERS, "  exemptNamespaces:", f"{_PODS[1:]}  exemptNamespaces:")

KUEUE = (
    Case(
        "a size more is counted",
        ((VISION, "guaranteed: {10Gi: 10, 20Gi: 4}", "guaranteed: {5Gi: 4, 10Gi: 10, 20Gi: 4}"),),
        (_QUEUED,),
        told=(("kueue-restart", "Kueue's Configuration", "counts 5 classes", "counts 6 classes"),),
        says=("now also: l40s-hami-memory-slices-5gi",),
        impact="disruptive",
    ),
    Case("other numbers of the same classes", ((VISION, "limit: 24", "limit: 32"),), (_QUEUED,)),
    Case("without Kueue", ((VISION, "guaranteed: {10Gi: 10", "guaranteed: {5Gi: 4, 10Gi: 10"),)),
)
HANDOVERS = (
    Case(
        "the repository's class takes a free name",
        (_TAKEN,),
        told=(
            ("name-handed-over", "extended resource example.com/nic", "nobody", "class cx7-400g"),
        ),
        impact="disruptive",
    ),
    Case(
        "a plugin's pool goes over",
        ((POOLS, "nic.example.com: devicePlugin", "nic.example.com: dra"),),
        (*NIC_UNUSED, (POOLS, "nic.example.com: dra", "nic.example.com: devicePlugin")),
        told=(
            (
                "name-handed-over",
                "extended resource example.com/nic",
                "the device plugin on a100-east",
                "nobody",
            ),
        ),
    ),
    Case(
        "a release whose chart sets the name",
        ((DRIVERS, "version: 25.8.1", "version: 25.12.0"),),
        ((DRIVERS, "version: 0.5.0\n  featureGates: {DynamicMIG: true}", "version: 25.8.1"),),
        told=(
            (
                "name-handed-over",
                "extended resource nvidia.com/gpu",
                "the chart of hami-core-gpu.project-hami.io",
                "the chart of gpu.nvidia.com",
            ),
        ),
    ),
    Case(
        "an operator's class is recorded",
        ((POOLS, "nodes: 12", "nodes: 13"),),
        recorded=_OPERATOR,
        told=(
            (
                "name-handed-over",
                "extended resource example.com/nic",
                "nobody",
                "class fast-nic, which an operator installed",
            ),
        ),
    ),
    Case(
        "the repository's own class is recorded",
        ((POOLS, "nodes: 12", "nodes: 13"),),
        recorded=_OPERATOR.replace("labels: {}", "labels: {app.kubernetes.io/managed-by: dracfg}"),
    ),
    Case("a number of nodes", ((POOLS, "nodes: 12", "nodes: 13"),)),
)
PROTECTION = (
    Case(
        "namespaces of no tenant are warned",
        (_WARN,),
        told=tuple(("protection-loosened", name, *_LESS) for name in _UNMANAGED),
        says=("Deny -> Warn",),
        impact="additive",
    ),
    Case(
        "and refused again",
        (_DENY,),
        (_WARN,),
        told=tuple(("protection-tightened", name, *_MORE) for name in _UNMANAGED),
        says=("Warn -> Deny",),
        impact="restrictive",
    ),
    Case(
        "a new owner of pods",
        (_JOBS,),
        told=(
            ("protection-tightened", "admission policy dracfg-workloads", *_MORE),
            ("protection-tightened", "admission policy dracfg-unmanaged-workloads", *_MORE),
        ),
        says=("judges CREATE batches.jobs.example.com, UPDATE batches.jobs.example.com as well",),
    ),
    Case(
        "a driver's account is known",
        (_NAMED,),
        told=tuple(
            ("protection-tightened", name, "there is no such policy", "the policy is there")
            for name in _DRIVERS
        ),
    ),
    Case(
        "a driver's account is not known any more",
        (_UNNAMED,),
        (_NAMED,),
        told=tuple(
            ("protection-loosened", name, "the policy is there", "there is no such policy")
            for name in _DRIVERS
        ),
    ),
    Case(
        "who may be asked",
        (
            (
                CLUSTERS,
                "  exemptNamespaces:",
                "  contact: platform@example.com\n  exemptNamespaces:",
            ),
        ),
    ),
)
ROLES = (
    Case(
        "the applier writes kinds of an addon",
        (_QUEUED,),
        told=(
            (
                "role-widened",
                "ClusterRole dracfg-applier",
                None,
                _WRITES,
            ),
        ),
        says=("stands in gitops/snippets/applier-prod-east.yaml",),
        impact="additive",
    ),
    Case(
        "and no longer",
        ((CLUSTERS, 'addons: {kueue: "0.17"}\n  ', ""),),
        (_QUEUED,),
        told=(
            (
                "role-narrowed",
                "ClusterRole dracfg-applier",
                _WRITES,
                None,
            ),
        ),
        impact="restrictive",
    ),
    Case("other people", ((VISION, "group: vision-eng", "group: vision-team"),)),
)


@pytest.mark.parametrize("case", KUEUE, ids=str)
def test_kueue(case: Case, tmp_path: Path) -> None:
    hold(case, kueue_changes(case.pair(tmp_path)))


@pytest.mark.parametrize("case", HANDOVERS, ids=str)
def test_handovers(case: Case, tmp_path: Path) -> None:
    hold(case, handovers(case.pair(tmp_path)))


@pytest.mark.parametrize("case", PROTECTION, ids=str)
def test_protection(case: Case, tmp_path: Path) -> None:
    hold(case, protection_changes(case.pair(tmp_path)))


@pytest.mark.parametrize("case", ROLES, ids=str)
def test_roles(case: Case, tmp_path: Path) -> None:
    hold(case, role_changes(case.pair(tmp_path)))


def test_wider_roles_and_looser_policies_are_privileges(tmp_path: Path) -> None:
    (widened,) = role_changes(ROLES[0].pair(tmp_path / "roles"))
    loosened = list(protection_changes(PROTECTION[0].pair(tmp_path / "protection")))
    assert {change.flags for change in (widened, *loosened)} == {("privilege",)}
