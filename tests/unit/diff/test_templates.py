"""Templates with another version, those that leave, and shared claims that would be made anew."""

from pathlib import Path

import pytest

from dracfg.diff.templates import revision_of, template_changes
from tests.unit.diff.pairs import CLUSTERS, VISION, Case, Edit, hold

_PLACED = "namespaces: [vision-train]"
SECOND: Edit = (VISION, _PLACED, f"{_PLACED}\n      revision: 2")
THIRD: Edit = (VISION, _PLACED, f"{_PLACED}\n      revision: 3")
FOUR: tuple[Edit, ...] = tuple(
    (VISION, f"entitlement: {name}, count: 8}}", f"entitlement: {name}, count: 4}}")
    for name in ("gpu", "nic")
)
EIGHT_EACH, FOUR_EACH = "8 of a100-40g, 8 of cx7-400g", "4 of a100-40g, 4 of cx7-400g"
_RETIRED = "out/prod-east/tenants/vision/retired/claim-templates.yaml"
_OLD = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata:
  name: train-x8-v{number}
  namespace: vision-train
  labels: {{dracfg.dev/profile: train-x8, dracfg.dev/tenant: vision}}
spec: {{spec: {{devices: {{requests: []}}}}}}
"""
_TWO_OLD = f"{_OLD.format(number=8)}---\n{_OLD.format(number=7)}"
_PODS = """
apiVersion: v1
kind: Pod
metadata: {name: run-0, namespace: vision-train, uid: a}
spec:
  resourceClaims: [{name: devices, resourceClaimTemplateName: train-x8}]
status: {phase: Running}
---
apiVersion: v1
kind: Pod
metadata: {name: over, namespace: vision-train, uid: b}
spec:
  resourceClaims: [{name: devices, resourceClaimTemplateName: train-x8}]
status: {phase: Succeeded}
---
apiVersion: v1
kind: Pod
metadata: {name: embed-0, namespace: vision-train, uid: c}
spec:
  resourceClaims: [{name: devices, resourceClaimName: embeddings}]
status: {phase: Running}
"""
_SLICE = "entitlement: slice, size: 10Gi}]\n    - name"
_TWO = "- name: two\n      requests: [{name: gpu, entitlement: gpu, count: 2}]"
_SHARED = "shared claim vision-train/embeddings"
_REVISED = "template of profile train-x8"

CASES = (
    Case(
        "fewer devices under a new revision",
        (*FOUR, SECOND),
        compiled=True,
        recorded=_PODS,
        told=(
            ("template-revised", _REVISED, f"train-x8: {EIGHT_EACH}", f"train-x8-v2: {FOUR_EACH}"),
        ),
        says=("the old one stays for workloads that name it, 1 pod of the record among them",),
        impact="new-claims",
        workloads=("vision-train/run-0",),
    ),
    Case(
        "a revision is left out",
        (THIRD,),
        told=(("template-revised", _REVISED, "train-x8", "train-x8-v3"),),
        says=("the claims that it makes are the same", "revision 2 is left out", "not kept"),
    ),
    Case(
        "another constraint",
        (SECOND, (VISION, "nic.example.com/subnet", "nic.example.com/firmware")),
        told=(("template-revised", _REVISED, "train-x8", "train-x8-v2"),),
        says=("nic.example.com/subnet → nic.example.com/firmware",),
    ),
    Case(
        "digests name templates",
        FOUR,
        ((CLUSTERS, "engine: argocd", "engine: argocd\n    templateNames: digest"),),
        told=(
            (
                "template-revised",
                _REVISED,
                f"train-x8-6dfc3ab6: {EIGHT_EACH}",
                f"train-x8-243afccd: {FOUR_EACH}",
            ),
        ),
    ),
    Case(
        "retired templates leave",
        ((CLUSTERS, "engine: argocd", "engine: argocd\n    retainTemplates: 0"),),
        files={_RETIRED: _TWO_OLD},
        recorded=_PODS.replace("Name: train-x8", "Name: train-x8-v7"),
        told=(("template-gone", "retired template train-x8-v7", "retired", None),),
        impact="restrictive",
        workloads=("vision-train/run-0",),
    ),
    Case(
        "a shared claim of another size",
        ((VISION, _SLICE, _SLICE.replace("10Gi", "20Gi")),),
        recorded=_PODS,
        told=(
            (
                "shared-claim-recreated",
                _SHARED,
                "l40s-hami-memory-slices-10gi",
                "l40s-hami-memory-slices-20gi",
            ),
        ),
        says=("at devices.requests[0].exactly.deviceClassName",),
        impact="destructive",
        workloads=("vision-train/embed-0",),
    ),
    Case(
        "a profile leaves a namespace",
        ((VISION, "- name: anything", "- name: anything\n      namespaces: [vision-notebooks]"),),
    ),
    Case("a new profile", ((VISION, "- name: anything", f"{_TWO}\n    - name: anything"),)),
)
FUNCTIONS = (template_changes,)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_templates(case: Case, tmp_path: Path) -> None:
    hold(case, template_changes(case.pair(tmp_path)))


@pytest.mark.parametrize(
    ("name", "revision"),
    [
        ("train", 1),
        ("train-v2", 2),
        ("train-v12", 12),
        ("train-0badf00d", None),
        ("train-vx", None),
    ],
)
def test_the_revision_of_a_name(name: str, revision: int | None) -> None:
    assert revision_of(name, "train") == revision
