"""Where fields of emitted objects come from: the words at the places that are told."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dracfg.pipeline import Judgement
from dracfg.show.objects import UnknownField, object_document, provenance_document
from dracfg.show.subjects import Emitted

Get = Callable[[str], Emitted]
QUOTA = "east/ResourceQuota/vision-train/dracfg-devices"
TRAIN = "east/ResourceClaimTemplate/vision-train/train"
EITHER = "east/ResourceClaimTemplate/vision-dev/either"
SMALL = "east/ResourceClaimTemplate/vision-dev/small-v2"


def quota(name: str) -> str:
    return f"spec/hard/{name}.deviceclass.resource.k8s.io/devices"


def test_object(emitted: Get) -> None:
    found = object_document(emitted("east/DeviceClass/a100"))
    assert found["file"] == "out/east/platform/device-classes.yaml"
    assert found["object"]["kind"] == "DeviceClass"


@pytest.mark.parametrize(
    ("ref", "pointer", "origins"),
    [
        (
            "east/DeviceClass/a100",
            "spec/selectors/0",
            [
                "HardwareTier/a100/spec/driver",
                "HardwareTier/a100/spec/match/attributes/type",
                "HardwareTier/a100/spec/match/attributes/productName",
                "HardwareTier/a100/spec/match/capacity/memory",
            ],
        ),
        (
            "east/DeviceClass/a100-mig-1g-5gb",
            "/spec/selectors/0/cel/expression",
            [
                "HardwareTier/a100/spec/driver",
                "HardwareTier/a100/spec/match/attributes/productName",
                "SharingPolicy/mig/spec/partitions/0/match/attributes/type",
                "SharingPolicy/mig/spec/partitions/0/match/attributes/profile",
            ],
        ),
        (
            "east/DeviceClass/l40s-slices-20gi",
            "spec/selectors/0",
            [
                "HardwareTier/l40s/spec/driver",
                "SharingPolicy/slices/spec/mode",
                "HardwareTier/l40s/spec/match/attributes/model",
            ],
        ),
        (
            "east/DeviceClass/l40s-slices-20gi",
            "spec/selectors/1",
            ["HardwareTier/l40s/spec/match/cel/0"],
        ),
        (
            "east/DeviceClass/l40s-slices-20gi",
            "metadata/name",
            ["HardwareTier/l40s/metadata/name", "SharingPolicy/slices/spec/sizes/1"],
        ),
        (
            QUOTA,
            quota("a100"),
            [
                "Tenant/vision/spec/entitlements/0/limit",
                "Tenant/vision/spec/namespaces/0/share",
                "Tenant/vision/spec/namespaces/1/share",
            ],
        ),
        (
            QUOTA,
            quota("l40s-slices-10gi"),
            [
                "Tenant/vision/spec/entitlements/1/guaranteed/10Gi",
                "Tenant/vision/spec/offers/0/count",
                "Tenant/vision/spec/namespaces/0/share",
                "Tenant/vision/spec/namespaces/1/share",
            ],
        ),
        (
            QUOTA,
            quota("l40s-slices-20gi").replace("/devices", "~1devices"),
            [
                "Tenant/vision/spec/entitlements/1/limit/20Gi",
                "Tenant/vision/spec/namespaces/0/share",
                "Tenant/vision/spec/namespaces/1/share",
            ],
        ),
        (
            "east/ResourceQuota/lab/dracfg-devices",
            quota("l40s-slices-10gi"),
            ["Tenant/lab/spec/acceptedOffers/0/count", "Tenant/vision/spec/offers/0/count"],
        ),
        (
            "east/ResourceQuota/lab/dracfg-devices",
            quota("a100"),
            ["Tenant/lab/spec/entitlements"],
        ),
        (
            TRAIN,
            "spec/spec/devices/requests/3/exactly/count",
            ["Tenant/vision/spec/profiles/0/requests/1/count"],
        ),
        (
            TRAIN,
            "spec/spec/devices/constraints/1/matchAttribute",
            ["Tenant/vision/spec/profiles/0/align/0"],
        ),
        (
            EITHER,
            "spec/spec/devices/requests/0/firstAvailable/1/deviceClassName",
            [
                "Tenant/vision/spec/profiles/1/requests/0/anyOf/1/entitlement",
                "Tenant/vision/spec/profiles/1/requests/0/anyOf/1/size",
                "Tenant/vision/spec/entitlements/1",
                "HardwareTier/l40s/metadata/name",
                "SharingPolicy/slices/spec/sizes/0",
            ],
        ),
        (
            SMALL,
            "spec/spec/devices/requests/0/exactly/capacity/requests/memory",
            [
                "Tenant/vision/spec/profiles/2/requests/0/size",
                "Tenant/vision/spec/entitlements/1",
                "HardwareTier/l40s/metadata/name",
                "SharingPolicy/slices/spec/sizes/0",
            ],
        ),
        (
            SMALL,
            "metadata/name",
            ["Tenant/vision/spec/profiles/2/name", "Tenant/vision/spec/profiles/2/revision"],
        ),
        (
            SMALL,
            "metadata/namespace",
            ["Tenant/vision/spec/namespaces/1/name"],
        ),
        (
            "east/ResourceClaim/vision-dev/shared",
            "metadata/name",
            ["Tenant/vision/spec/sharedClaims/0/name"],
        ),
        (
            "east/ResourceClaim/vision-dev/shared",
            "spec/devices/requests/0/exactly/count",
            ["Tenant/vision/spec/profiles/2/requests/0/count"],
        ),
        (
            "east/ResourceClaimTemplate/vision-dev/a100-admin",
            "spec/spec/devices/requests/0/exactly/deviceClassName",
            ["Tenant/vision/spec/adminAccess/0/tiers/0"],
        ),
        (
            "east/Namespace/vision-train",
            "metadata/annotations/classes.dracfg.dev/a100",
            ["Tenant/vision/spec/entitlements/0/limit"],
        ),
        (
            "east/Namespace/vision-train",
            "metadata/labels/team",
            ["Tenant/vision/spec/namespaces/0/labels/team"],
        ),
        (
            "east/Namespace/vision-dev",
            "metadata/labels/resource.kubernetes.io/admin-access",
            ["Tenant/vision/spec/adminAccess/0"],
        ),
        (
            "east/RoleBinding/vision-dev/dracfg-tenant-use",
            "subjects/1",
            ["Tenant/vision/spec/access/use/1"],
        ),
        (
            "east/DeviceClass/a100",
            "metadata/annotations/argocd.argoproj.io/sync-wave",
            ["Cluster/east/spec/gitops/engine"],
        ),
        (
            "east/nodes/notebooks/taints.yaml",
            "nodes/0",
            ["NodePool/notebooks/spec", "Cluster/east/spec"],
        ),
        (
            "gitops/AppProject/argocd/dracfg-east-applications",
            "spec/sourceRepos/0",
            ["Cluster/east/spec/gitops"],
        ),
    ],
)
def test_origins(
    judged: Judgement, emitted: Get, ref: str, pointer: str, origins: list[str]
) -> None:
    found = provenance_document(judged.catalog, emitted(ref), pointer)
    assert [entry["document"] + entry["pointer"] for entry in found["origins"]] == origins


def test_places_are_exact(judged: Judgement, emitted: Get) -> None:
    found = provenance_document(judged.catalog, emitted(QUOTA), quota("a100"))
    limit, _, share = found["origins"]
    assert found["value"] == "24"
    assert _word_at(judged.root, limit) == "32}"
    assert limit["written"] is True
    assert share["written"] is False
    assert _word_at(judged.root, share) == "vision-dev,"


def _word_at(root: Path, origin: dict[str, Any]) -> str:
    lines = (root / origin["file"]).read_text(encoding="utf-8").splitlines()
    return lines[origin["line"] - 1][origin["column"] - 1 :].split()[0]


def test_every_field_has_an_origin(judged: Judgement) -> None:
    """Whatever is emitted, down to its last scalar, leads to a line of a document."""
    pointers = 0
    for unit in judged.units:
        for artifact in unit.artifacts:
            thing = Emitted("-", unit, artifact, judged.catalog.clusters.get("east"))
            for pointer in _pointers(artifact.object):
                found = provenance_document(judged.catalog, thing, pointer)
                assert found["pointer"] == pointer
                assert found["origins"]
                assert all((judged.root / entry["file"]).is_file() for entry in found["origins"])
                pointers += 1
    assert pointers > 500


def _pointers(value: Any, above: str = "") -> list[str]:
    if isinstance(value, dict):
        steps = {key.replace("~", "~0").replace("/", "~1"): part for key, part in value.items()}
    elif isinstance(value, list):
        steps = {str(i): part for i, part in enumerate(value)}
    else:
        return [above]
    return [above, *(p for step, part in steps.items() for p in _pointers(part, f"{above}/{step}"))]


@pytest.mark.parametrize(
    ("pointer", "near"),
    [
        ("spec/selector/0", "/spec/selectors"),
        ("spec/selectors/9", None),
        ("spec/selectors/0/cel/expression/more", None),
    ],
)
def test_unknown_field(judged: Judgement, emitted: Get, pointer: str, near: str | None) -> None:
    with pytest.raises(UnknownField) as raised:
        provenance_document(judged.catalog, emitted("east/DeviceClass/a100"), pointer)
    assert raised.value.near == near
