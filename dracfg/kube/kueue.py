"""Kueue's own feature gates around DRA, by the version of the add-on.

The facts lie in data/kueue.yaml with their sources. It may not know what runs on a cluster, nor
where gates are written.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

from dracfg.dataclass import dataclass
from dracfg.packaged import read_data

__all__ = ["KueueGate", "KueuePurpose", "kueue_gate", "kueue_gates", "kueue_versions"]

KueueStage = Literal["alpha", "beta", "ga", "deprecated"]
KueuePurpose = Literal["claims", "extendedResources", "counters", "capacity", "refusal"]
"""`claims`: quota for claims by class mapping; `extendedResources`: quota by the legacy name;
`counters` and `capacity`: quota by shared counters and by consumed capacity; `refusal`: workloads
with claims are turned away while quota for claims is off."""


@dataclass(frozen=True, slots=True)
class KueueGate:
    """A gate as one minor has it; `locked`: Kueue does not start with the other value."""

    name: str
    purpose: KueuePurpose
    stage: KueueStage
    default: bool
    locked: bool
    requires: tuple[str, ...]


def kueue_versions() -> tuple[str, ...]:
    """The minors that the data covers, oldest first."""
    return tuple(_document()["versions"])


def kueue_gates(version: str) -> Mapping[str, KueueGate] | None:
    """The gates by name that Kueue "0.17" or "0.17.3" knows; None for a minor that was not read."""
    versions = kueue_versions()
    minor = ".".join(version.split(".")[:2])
    if minor not in versions:
        return None
    return _gates(minor)


def kueue_gate(purpose: KueuePurpose, version: str) -> KueueGate | None:
    """The gate to set for a purpose; None where that version has none, or was not read.

    A name that is deprecated there is not the one to set.
    """
    for gate in (kueue_gates(version) or {}).values():
        if gate.purpose == purpose and gate.stage != "deprecated":
            return gate
    return None


@cache
def _gates(minor: str) -> Mapping[str, KueueGate]:
    found = {}
    for name, entry in _document()["gates"].items():
        gate = _at(name, entry, minor)
        if gate is not None:
            found[name] = gate
    return found


def _at(name: str, entry: Mapping[str, Any], minor: str) -> KueueGate | None:
    versions = kueue_versions()
    here = versions.index(minor)
    if "until" in entry and versions.index(entry["until"]) <= here:
        return None
    reached = [state for since, state in entry["stages"].items() if versions.index(since) <= here]
    if not reached:
        return None
    state = reached[-1]
    return KueueGate(
        name=name,
        purpose=entry["purpose"],
        stage=state["stage"],
        default=state["default"],
        locked=state.get("locked", False),
        requires=tuple(entry.get("requires", ())),
    )


@cache
def _document() -> Mapping[str, Any]:
    document: Mapping[str, Any] = read_data("dracfg.kube", "data/kueue.yaml")
    return document
