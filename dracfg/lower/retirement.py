"""Templates and claims that are no longer wanted but may still be in use: which stay, which go.

A template leaves in steps, so that an engine never deletes one that it was told to retain: the
newest `retain` of a profile stay retained, the next one stands without the retention mark, and
what is older drops. A claim that several pods share is never let go of: it may hold devices, and a
person takes it out. The list is a function of the standing files, newest first; compiling twice
changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.lower.artifact import Artifact, K8sObject
from dracfg.lower.sync import is_retained, without_engine
from dracfg.lower.templates import PROFILE


@dataclass(frozen=True, slots=True)
class Retired:
    """An object that left the active file; `retained` says whether engines must keep it."""

    object: K8sObject
    retained: bool


def retire(
    active: Iterable[K8sObject],
    retired: Iterable[K8sObject],
    wanted: Iterable[Artifact],
    retain: int,
) -> tuple[Retired, ...]:
    """What stands under `retired/` after this compile, in the order of the groups, newest first.

    `active` and `retired` are the standing objects, `wanted` what is emitted now.
    """
    standing = (*active, *retired)
    if not standing:
        return ()
    groups: dict[tuple[str, str], list[K8sObject]] = {}
    seen = {identity(artifact.object) for artifact in wanted}
    for thing in standing:
        key = identity(thing)
        if key not in seen:
            seen.add(key)
            groups.setdefault(_group(thing), []).append(thing)
    return tuple(kept for group in sorted(groups) for kept in _keep(groups[group], retain))


def _keep(newest_first: Sequence[K8sObject], retain: int) -> list[Retired]:
    kept = []
    for position, thing in enumerate(newest_first):
        bare = without_engine(thing)
        if position < retain or thing["kind"] == "ResourceClaim":
            kept.append(Retired(bare, retained=True))
        elif position == retain or is_retained(thing):
            kept.append(Retired(bare, retained=False))
    return kept


def identity(thing: Mapping[str, Any]) -> tuple[str, str, str]:
    """(kind, namespace, name): what a standing and an emitted template or claim are paired by."""
    metadata = thing["metadata"]
    return thing["kind"], metadata.get("namespace", ""), metadata["name"]


def _group(thing: K8sObject) -> tuple[str, str]:
    metadata = thing["metadata"]
    labels = metadata.get("labels") or {}
    return metadata.get("namespace", ""), labels.get(PROFILE, metadata["name"])
