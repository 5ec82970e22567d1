"""A tenant on its way out, state by state: what stands in its unit and in its namespaces after each sync."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from dracfg.lower.artifact import Unit
from dracfg.lower.sync import is_retained
from dracfg.lower.units import lower
from dracfg.source.standing import Standing

SPACE, UNIT = "vision-train", "east/tenants/vision"
SHARED = "  sharedClaims: [{name: warm, profile: train, namespace: vision-train, pods: 4}]\n"
WAY = ("active", "frozen", "draining", "removed")

RIGHTS = frozenset({"a100", "l40s-slices-10gi"})
USED = frozenset(
    {
        ("ResourceClaim", "warm", "claims.yaml"),
        ("ResourceClaimTemplate", "either", "claim-templates.yaml"),
        ("ResourceClaimTemplate", "train", "claim-templates.yaml"),
    }
)
LEFT = frozenset((kind, name, f"retired/{file}") for kind, name, file in USED)


@dataclass(frozen=True)
class Row:
    """After the sync of a state: classes by right, devices of each class by quota, and so on."""

    rights: frozenset[str]
    devices: Mapping[str, int]
    objects: frozenset[tuple[str, str, str]]
    """(kind, name, file) of claims and templates."""
    people: bool
    """Whether its people have roles there."""


OPEN = Row(RIGHTS, {"a100": 18, "l40s-slices-10gi": 8}, USED, people=True)
EMITTED: Mapping[str, Row] = {
    "active": OPEN,
    "frozen": OPEN,
    "draining": OPEN,
    "removed": Row(frozenset(), {"a100": 0, "l40s-slices-10gi": 0}, LEFT, people=False),
}
"""Frozen and draining take nothing away: admission alone refuses what is new, by the state."""


@pytest.fixture
def syncs(catalog_of: Any, platform: str, vision: str) -> dict[str, tuple[Unit, ...]]:
    """State → every unit, each compiled upon the one before; the last without the tenant."""
    standing, found = Standing(), {}
    for state in (*WAY, "gone"):
        text = vision.replace("spec:\n", f"spec:\n  state: {state}\n", 1) + SHARED
        catalog = catalog_of(platform, *((text,) if state in WAY else ()))
        found[state] = lower(catalog, standing)
        standing = standing_of(found[state])
    return found


def standing_of(units: Iterable[Unit]) -> Standing:
    files: dict[str, list[dict[str, Any]]] = {}
    for unit in units:
        for artifact in unit.artifacts:
            files.setdefault(f"{unit.path}/{artifact.file}", []).append(artifact.object)
    return Standing({path: tuple(objects) for path, objects in files.items()})


def objects(units: Iterable[Unit], kind: str, namespace: str = "") -> list[dict[str, Any]]:
    return [
        artifact.object
        for unit in units
        for artifact in unit.artifacts
        if artifact.object.get("kind") == kind
        and artifact.object["metadata"].get("namespace", "") == namespace
    ]


@pytest.mark.parametrize("state", WAY)
def test_what_is_emitted(state: str, syncs: dict[str, tuple[Unit, ...]]) -> None:
    units, row = syncs[state], EMITTED[state]
    (space,) = [one for one in objects(units, "Namespace") if one["metadata"]["name"] == SPACE]
    notes = space["metadata"]["annotations"]
    assert notes["dracfg.dev/state"] == state
    prefix = "classes.dracfg.dev/"
    assert {key.removeprefix(prefix) for key in notes if key.startswith(prefix)} == row.rights
    (quota,) = objects(units, "ResourceQuota", SPACE)
    hard = quota["spec"]["hard"]
    suffix = ".deviceclass.resource.k8s.io/devices"
    assert {name: int(hard[name + suffix]) for name in row.devices} == row.devices
    assert (hard["count/resourceclaims.resource.k8s.io"] == "0") == (not row.rights)
    made = {
        (artifact.object["kind"], artifact.object["metadata"]["name"], artifact.file)
        for unit in units
        if unit.path == UNIT
        for artifact in unit.artifacts
        if artifact.object["kind"].startswith("ResourceClaim")
        and artifact.object["metadata"]["namespace"] == SPACE
    }
    assert made == row.objects
    assert bool(objects(units, "RoleBinding", SPACE)) == row.people


def test_claims_that_are_left_are_retained(syncs: dict[str, tuple[Unit, ...]]) -> None:
    kept = [
        is_retained(artifact.object)
        for unit in syncs["removed"]
        if unit.path == UNIT
        for artifact in unit.artifacts
        if artifact.file.startswith("retired/")
    ]
    assert kept
    assert all(kept)


def test_the_document_is_taken_out_at_last(syncs: dict[str, tuple[Unit, ...]]) -> None:
    """Its unit goes, and nothing of anybody else."""
    before, after = ({unit.path for unit in syncs[state]} for state in ("removed", "gone"))
    assert before - after == {UNIT}
    assert not [
        one for one in objects(syncs["gone"], "Namespace") if "vision" in one["metadata"]["name"]
    ]


def test_back_to_active_from_anywhere(
    catalog_of: Any, platform: str, vision: str, syncs: dict[str, tuple[Unit, ...]]
) -> None:
    """What was retired is in use again, and the tree is that of the beginning."""
    catalog = catalog_of(platform, vision + SHARED)
    for state in WAY[1:]:
        assert lower(catalog, standing_of(syncs[state])) == lower(catalog, Standing())
