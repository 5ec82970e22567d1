"""Steps of tenants, pools, names, templates and minors: each illegal one, and the legal one beside it."""

from pathlib import Path

import pytest

from dracfg.diff.pair import Transition
from dracfg.diff.transitions import (
    minor_steps,
    name_steps,
    pool_steps,
    template_steps,
    tenant_steps,
)
from tests.unit.diff.pairs import (
    CLUSTERS,
    DRIVERS,
    NIC_UNUSED,
    POOLS,
    SEARCH,
    TIERS,
    VISION,
    Case,
    Edit,
    hold_steps,
)
from tests.unit.diff.test_minors import ACCEPTED, ALIKE, minor_from, minor_to
from tests.unit.diff.test_templates import FOUR, SECOND, THIRD


def _tenant(state: str) -> Edit:
    return SEARCH, "spec:\n", f"spec:\n  state: {state}\n"


def _tenant_to(before: str, after: str) -> Edit:
    return SEARCH, f"state: {before}", f"state: {after}"


_HAMI = "nodeSelector: {node.example.com/pool: hami-east}\n"


def _pool(state: str) -> Edit:
    return POOLS, _HAMI, f"{_HAMI}  state: {state}\n"


def _pool_to(before: str, after: str) -> Edit:
    return POOLS, f"state: {before}", f"state: {after}"


_NIC = "nic.example.com: dra}"
_PLUGIN: Edit = (POOLS, _NIC, "nic.example.com: devicePlugin}")
_DRA: Edit = (POOLS, "nic.example.com: devicePlugin}", _NIC)
_QUIET: Edit = (POOLS, "spare: {nodes: 1}", "spare: {nodes: 1}\n  state: frozen")

TENANTS = (
    Case(
        "active to removed",
        (_tenant("removed"),),
        told=(("DIF001", "active -> removed"),),
        says=("go by frozen, then draining, then removed", "no new claims are let in before"),
    ),
    Case(
        "active to draining",
        (_tenant("draining"),),
        told=(("DIF001", "active -> draining"),),
        says=("go by frozen, then draining",),
    ),
    Case("active to frozen", (_tenant("frozen"),)),
    Case("draining to removed", (_tenant_to("draining", "removed"),), (_tenant("draining"),)),
    Case("removed to active", (_tenant_to("removed", "active"),), (_tenant("removed"),)),
    Case(
        "the file of an active tenant is deleted",
        removed=(SEARCH,),
        told=(("DIF002", "active -> no document"),),
        says=("then take the document out",),
    ),
    Case(
        "the file of a removed tenant is deleted", before=(_tenant("removed"),), removed=(SEARCH,)
    ),
    Case(
        "a tenant that is no longer understood",
        ((SEARCH, "kind: Tenant", "kind: Tenant\nunknown: key"),),
    ),
)
OWNERS = (
    Case(
        "open to disabled",
        (_pool("disabled"),),
        told=(("DIF003", "open -> disabled"),),
        says=("go by frozen, then draining, then disabled",),
    ),
    Case(
        "frozen to disabled",
        (_pool_to("frozen", "disabled"),),
        (_pool("frozen"),),
        told=(("DIF003", "frozen -> disabled"),),
    ),
    Case("open to frozen", (_pool("frozen"),)),
    Case("disabled to open", (_pool_to("disabled", "open"),), (_pool("disabled"),)),
    Case(
        "plugin to DRA on an open pool",
        (_DRA,),
        (*NIC_UNUSED, _PLUGIN),
        told=(("DIF004", "devicePlugin -> dra on a pool that is open"),),
        says=("set the pool to frozen, then draining", "A Rollout does the same"),
    ),
    Case(
        "DRA to plugin on an open pool",
        (_PLUGIN,),
        NIC_UNUSED,
        told=(("DIF004", "dra -> devicePlugin on a pool that is open"),),
    ),
    Case("plugin to DRA on a frozen pool", (_DRA,), (*NIC_UNUSED, _PLUGIN, _QUIET)),
    Case(
        "plugin to DRA on a pool that is frozen by the same commit",
        (_DRA, _QUIET),
        (*NIC_UNUSED, _PLUGIN),
        told=(("DIF004", "devicePlugin -> dra on a pool that is open"),),
    ),
)
_NVIDIA: Edit = (
    DRIVERS,
    "featureGates: {DynamicMIG: true}",
    "featureGates: {DynamicMIG: true}\n  values: {resourceApiVersion: resource.k8s.io/v1beta1}",
)
_OTHER: Edit = (
    DRIVERS,
    "spec: {sharesOneAllocation: true, ",
    "spec: {values: {resourceApiVersion: resource.k8s.io/v1beta1}, sharesOneAllocation: true, ",
)
_LEGACY = "legacyResource: nvidia.com/gpu"
_TAKEN: Edit = (TIERS, _LEGACY, f"{_LEGACY}\n  takesOverLegacyName: true")
_LEFT: Edit = (TIERS, f"{_LEGACY}\n  takesOverLegacyName: true", _LEGACY)
NAMES = (
    Case(
        "from the chart to the repository",
        (_NVIDIA, _OTHER, _TAKEN),
        told=(("DIF008", "the chart of gpu.nvidia.com -> class a100-40g"),),
        says=("free the name first",),
    ),
    Case("from the chart to nobody", (_NVIDIA, _OTHER)),
    Case("from nobody to the repository", (_TAKEN,), (_NVIDIA, _OTHER)),
    Case("from the repository to nobody", (_LEFT,), (_NVIDIA, _OTHER, _TAKEN)),
)

_MIG = "nodeSelector: {node.example.com/pool: mig-east}\n"
_DISABLED: Edit = (POOLS, _MIG, f"{_MIG}  state: disabled\n")
_NO_COUNTERS: Edit = (DRIVERS, "  featureGates: {DynamicMIG: true}\n", "")
MINORS = (
    Case(
        "a minor is left out",
        (minor_to("1.35", "1.37"),),
        (minor_from("1.35"), ACCEPTED),
        told=(("DIF011", "1.35 -> 1.37"),),
        says=("go by 1.36, then 1.37",),
    ),
    Case(
        "a minor goes back",
        (minor_to("1.37", "1.36"),),
        (minor_from("1.37"),),
        told=(("DIF011", "1.37 -> 1.36"),),
        says=("no way back by a minor",),
    ),
    Case("the next minor", (minor_to("1.36", "1.37"),)),
    Case(
        "partitions from 1.34 to 1.35",
        (minor_to("1.34", "1.35"),),
        (minor_from("1.34"), ACCEPTED, ALIKE),
        told=(("DIF012", "1.34 -> 1.35"),),
        says=("set mig-east to frozen, then draining, then disabled", "delete the slices"),
    ),
    Case(
        "partitions that are out of use",
        (minor_to("1.34", "1.35"),),
        (minor_from("1.34"), ACCEPTED, ALIKE, _DISABLED),
    ),
    Case(
        "partitions without counters",
        (minor_to("1.34", "1.35"),),
        (minor_from("1.34"), ACCEPTED, ALIKE, _NO_COUNTERS),
    ),
)
TEMPLATES = (
    Case(
        "a revision goes back",
        ((VISION, "revision: 3", "revision: 2"),),
        (THIRD,),
        told=(("DIF009", "3 -> 2"),),
        says=("write that under revision 4",),
    ),
    Case("a revision goes on", (SECOND,)),
    Case(
        "a template changes under its name",
        FOUR,
        told=(("DIF010", "train-x8, changed"),),
        says=("raise `revision`",),
    ),
    Case("the same with a new revision", (*FOUR, SECOND)),
    Case("told by OBJ004 where it stands", FOUR, compiled=True),
    Case(
        "digests have names of their own",
        FOUR,
        ((CLUSTERS, "engine: argocd", "engine: argocd\n    templateNames: digest"),),
    ),
)
TABLES: tuple[tuple[Transition, tuple[Case, ...]], ...] = (
    (tenant_steps, TENANTS),
    (pool_steps, OWNERS),
    (name_steps, NAMES),
    (minor_steps, MINORS),
    (template_steps, TEMPLATES),
)
ROWS = [pytest.param(judge, case, id=str(case)) for judge, table in TABLES for case in table]


@pytest.mark.parametrize(("judge", "case"), ROWS)
def test_steps(judge: Transition, case: Case, tmp_path: Path) -> None:
    hold_steps(case, judge(case.pair(tmp_path)))
