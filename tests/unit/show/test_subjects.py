"""References: what they name, short forms, and what is said of wrong ones."""

from collections.abc import Callable

import pytest

from dracfg.pipeline import Judgement
from dracfg.show.subjects import AmbiguousSubject, FaultySubject, Named, UnknownSubject, find

Repository = Callable[..., Judgement]


@pytest.mark.parametrize(
    ("ref", "found"),
    [
        ("cluster/east", "cluster/east"),
        ("Cluster/east", "cluster/east"),
        ("HardwareTier/a100", "tier/a100"),
        ("vision", "tenant/vision"),
        ("gpu.nvidia.com", "driver/gpu.nvidia.com"),
        ("policy/whole", "policy/whole"),
        ("east/DeviceClass/a100", "east/DeviceClass/a100"),
        ("DeviceClass/a100", "east/DeviceClass/a100"),
        (
            "east/ResourceClaimTemplate/vision-dev/small-v2",
            "east/ResourceClaimTemplate/vision-dev/small-v2",
        ),
        ("shared", "east/ResourceClaim/vision-dev/shared"),
        ("out/east/nodes/notebooks/taints.yaml", "east/nodes/notebooks/taints.yaml"),
        ("east/nodes/notebooks/taints.yaml", "east/nodes/notebooks/taints.yaml"),
        (
            "gitops/snippets/applier-east.yaml#ClusterRole/dracfg-applier",
            "gitops/snippets/applier-east.yaml#ClusterRole/dracfg-applier",
        ),
        ("AppProject/argocd/dracfg-east-platform", "gitops/AppProject/argocd/dracfg-east-platform"),
    ],
)
def test_found(judged: Judgement, ref: str, found: str) -> None:
    assert find(judged.catalog, judged.units, ref).ref == found


def test_ambiguous(judged: Judgement) -> None:
    with pytest.raises(AmbiguousSubject) as raised:
        find(judged.catalog, judged.units, "small-v2")
    assert raised.value.candidates == (
        "east/ResourceClaimTemplate/vision-train/small-v2",
        "east/ResourceClaimTemplate/vision-dev/small-v2",
    )


def test_documents_come_before_objects(judged: Judgement) -> None:
    """The namespace `lab` has the tenant's name."""
    assert find(judged.catalog, judged.units, "lab") == Named("tenant", "lab")


@pytest.mark.parametrize(
    ("ref", "near"),
    [
        ("tenant/visoin", "tenant/vision"),
        ("visoin", "tenant/vision"),
        ("a10", "tier/a100"),
        ("east/DeviceClass/a10", "east/DeviceClass/a100"),
        ("cluster/nowhere", None),
        ("", None),
    ],
)
def test_unknown(judged: Judgement, ref: str, near: str | None) -> None:
    with pytest.raises(UnknownSubject) as raised:
        find(judged.catalog, judged.units, ref)
    assert raised.value.near == near


def test_short_names_of_two_documents(repository: Repository) -> None:
    judged = repository(("metadata: {name: training}", "metadata: {name: a100}"))
    with pytest.raises(AmbiguousSubject, match=r"^a100 may be pool/a100, tier/a100$"):
        find(judged.catalog, judged.units, "a100")


def test_faulty_documents(repository: Repository) -> None:
    judged = repository(("tier: a100, guaranteed: 16", "tier: a10, guaranteed: 16"))
    with pytest.raises(FaultySubject, match="tenant/vision has faults"):
        find(judged.catalog, judged.units, "tenant/vision")
