"""Drift: live objects that are not as they stand under `out/`.

Each object is read by itself and compared in what dracfg manages; a finding says which fields
differ and who wrote them. Nothing is repaired.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, diagnose
from dracfg.kube.objects import ObjectKey, object_key
from dracfg.link.catalog import Cluster
from dracfg.live.comparison import ABSENT, Difference, differences
from dracfg.live.discovery import Discovery, Refused, Resource
from dracfg.live.dryrun import live_object
from dracfg.live.dryrunfindings import MOST_FIELDS
from dracfg.live.fieldpaths import written
from dracfg.live.managers import managers_of
from dracfg.live.outcomes import cluster_place, rights_finding
from dracfg.live.places import Places
from dracfg.live.reading import list_objects
from dracfg.live.refusals import Right, read_refusal, read_right
from dracfg.live.tree import Manifest
from dracfg.lower.artifact import MANAGED_BY

_MOST_TEXT = 80


@dataclass(frozen=True, slots=True)
class Drift:
    """How many objects were compared, how many differ or are missing, and every finding."""

    compared: int
    drifted: int
    findings: tuple[Diagnostic, ...]


def find_drift(
    discovery: Discovery, cluster: Cluster, manifests: Sequence[Manifest], places: Places
) -> Drift:
    """Compares each object with its live form. Raises Unanswered.

    Kinds that are not served are passed over: the dry run tells of them.
    """
    findings: list[Diagnostic] = []
    lacking: dict[Right, int] = {}
    compared = drifted = 0
    for manifest in manifests:
        key = manifest.key
        try:
            resource = discovery.resource(key.api_version, key.kind)
            if resource is None:
                continue
            live = live_object(discovery.connection, resource, key)
        except Refused as refused:
            right = read_right(refused.answer)
            if right is None:
                findings.append(_unread(manifest, refused, places))
            else:
                lacking[right] = lacking.get(right, 0) + 1
            continue
        compared += 1
        if live is None:
            drifted += 1
            findings.append(_missing(manifest, cluster, places))
        elif found := differences(manifest.object, live):
            drifted += 1
            findings.append(_changed(manifest, cluster, live, found, places))
    findings += [rights_finding(cluster, right, count) for right, count in lacking.items()]
    return Drift(compared, drifted, tuple(findings))


def find_leftovers(
    discovery: Discovery,
    cluster: Cluster,
    manifests: Sequence[Manifest],
    handed_out: Iterable[ObjectKey],
) -> tuple[Diagnostic, ...]:
    """LIV022: objects of the kinds in the tree that dracfg once wrote and `out/` no longer has.

    Meant for a whole tree: objects of units that were left out would be taken for leftovers.
    `handed_out` are objects outside of synced units, which operators apply themselves.
    """
    known = {manifest.key for manifest in manifests} | set(handed_out)
    kinds = dict.fromkeys((key.api_version, key.kind) for key in (m.key for m in manifests))
    findings: list[Diagnostic] = []
    for api_version, kind in kinds:
        try:
            resource = discovery.resource(api_version, kind)
            if resource is None:
                continue
            query = {"labelSelector": f"{MANAGED_BY}=dracfg"}
            listed = list_objects(discovery.connection, resource, query)
        except Refused:
            # That objects of the kind can't be read was told when each of them was compared.
            continue
        findings += _leftovers(resource, listed, known, cluster)
    return tuple(findings)


def _leftovers(
    resource: Resource,
    listed: Sequence[dict[str, Any]],
    known: set[ObjectKey],
    cluster: Cluster,
) -> Iterator[Diagnostic]:
    for live in listed:
        key = object_key(live)
        if key in known:
            continue
        where = f" in {key.namespace}" if key.namespace else ""
        yield diagnose(
            "LIV022",
            cluster_place(cluster),
            f"{key.kind} {key.name}{where} is on {cluster.name} and no longer in out/",
            help=f"what is retained stays on purpose; delete it when nothing uses it: "
            f"kubectl delete {resource.plural} {key.name}"
            + (f" -n {key.namespace}" if key.namespace else ""),
        )


def _missing(manifest: Manifest, cluster: Cluster, places: Places) -> Diagnostic:
    return diagnose(
        "LIV021",
        places.place(manifest),
        f"{manifest.name} is not on {cluster.name}",
        related=places.related(manifest),
        help="sync it, or see why the engine does not",
    )


def _changed(
    manifest: Manifest,
    cluster: Cluster,
    live: Mapping[str, Any],
    found: Sequence[Difference],
    places: Places,
) -> Diagnostic:
    first = found[0].steps
    shown = found[:MOST_FIELDS]
    more = len(found) - len(shown)
    ending = f" and {more:,} more" if more else ""
    names = ", ".join(written(one.steps) for one in shown) + ending
    return diagnose(
        "LIV020",
        places.place(manifest, first),
        f"{manifest.name} on {cluster.name} differs from out/: {names}",
        related=places.related(manifest, first),
        found="; ".join(f"{_shown(one.live)}{_by(live, one)}" for one in shown) + ending,
        expected="; ".join(_shown(one.wanted) for one in shown) + ending,
        help="sync it to undo the change, or make the change in the catalog",
    )


def _by(live: Mapping[str, Any], difference: Difference) -> str:
    """` by kubectl-edit (Update)`: the last one who wrote the field; nothing where it is gone."""
    managers = managers_of(live, difference.steps)
    if not managers or difference.live is ABSENT:
        return ""
    return f" by {managers[0].name} ({managers[0].operation})"


def _shown(value: Any) -> str:
    if value is ABSENT:
        return "nothing"
    text = value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT - 1]}…"


def _unread(manifest: Manifest, refused: Refused, places: Places) -> Diagnostic:
    return diagnose(
        "LIV019",
        places.place(manifest),
        f"{manifest.name} could not be read: {read_refusal(refused.answer).message}",
        related=places.related(manifest),
        help="try again; the server's log says more",
    )
