"""The tree under `out/` against what a cluster has, recorded or asked: what a sync would change.

The cluster is the earlier state and the tree the later one. Compared is what dracfg manages; what
servers fill in is no difference. Knows nothing of how a server is reached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic
from dracfg.diff.change import Change, Impact, change
from dracfg.diff.objects import FieldDifference, How, impact_of
from dracfg.kube.objects import ObjectKey, object_key
from dracfg.link.catalog import Cluster
from dracfg.live.comparison import ABSENT, Difference, differences
from dracfg.live.connection import Unanswered
from dracfg.live.discovery import Discovery, Refused
from dracfg.live.dryrun import live_object
from dracfg.live.fieldpaths import written
from dracfg.live.outcomes import rights_finding, unanswered_finding
from dracfg.live.refusals import Right, read_right
from dracfg.live.tree import Manifest
from dracfg.lower.artifact import MANAGED_BY
from dracfg.lower.sync import is_retained
from dracfg.scope import tenant_of
from dracfg.source.records import Record

_IN_TREE, _ON_CLUSTER = "as in out/", "on the cluster"


class Untold(Exception):
    """The state does not tell whether it has an object."""


Find = Callable[[ObjectKey], Mapping[str, Any] | None]
"""The object of a cluster, None where it has none; raises Untold."""


@dataclass(frozen=True, slots=True)
class ClusterDiff:
    """What a sync would change. `untold` counts objects that the state says nothing of."""

    changes: tuple[Change, ...]
    untold: int
    findings: tuple[Diagnostic, ...] = ()


def recorded_diff(
    cluster: Cluster, manifests: Sequence[Manifest], records: Iterable[Record]
) -> ClusterDiff:
    """Against a dump: of a kind that it has nothing of, it tells nothing.

    What is recorded as dracfg's own and no longer stands in the tree is told as well.
    """
    recorded = {object_key(one.data): one.data for record in records for one in record.objects}
    kinds = {(key.api_version, key.kind) for key in recorded}

    def find(key: ObjectKey) -> Mapping[str, Any] | None:
        if (key.api_version, key.kind) not in kinds:
            raise Untold
        return recorded.get(key)

    changes, untold = _compared(cluster, manifests, find)
    known = {manifest.key for manifest in manifests}
    left = (thing for key, thing in sorted(recorded.items()) if key not in known)
    return ClusterDiff((*changes, *_leftovers(cluster, left)), untold)


def live_diff(cluster: Cluster, manifests: Sequence[Manifest], discovery: Discovery) -> ClusterDiff:
    """Against an API server, object by object; what it does not let us read is a finding."""
    lacking: dict[Right, int] = {}

    def find(key: ObjectKey) -> Mapping[str, Any] | None:
        try:
            resource = discovery.resource(key.api_version, key.kind)
            if resource is None:
                raise Untold
            return live_object(discovery.connection, resource, key)
        except Refused as refused:
            right = read_right(refused.answer)
            if right is not None:
                lacking[right] = lacking.get(right, 0) + 1
            raise Untold from None

    findings: list[Diagnostic] = []
    changes: list[Change] = []
    untold = 0
    try:
        changes, untold = _compared(cluster, manifests, find)
    except Unanswered as fault:
        findings.append(unanswered_finding(cluster, discovery.connection.address, fault))
    findings += [rights_finding(cluster, right, count) for right, count in lacking.items()]
    return ClusterDiff(tuple(changes), untold, tuple(findings))


def _compared(
    cluster: Cluster, manifests: Iterable[Manifest], find: Find
) -> tuple[list[Change], int]:
    changes: list[Change] = []
    untold = 0
    for manifest in manifests:
        try:
            live = find(manifest.key)
        except Untold:
            untold += 1
            continue
        if live is None:
            changes.append(_change(cluster, manifest, "added", None, _IN_TREE))
        elif found := differences(manifest.object, live):
            changes.append(_change(cluster, manifest, "changed", None, None, found))
    return changes, untold


def _change(
    cluster: Cluster,
    manifest: Manifest,
    how: How,
    before: str | None,
    after: str | None,
    found: Sequence[Difference] = (),
) -> Change:
    impact, flags = impact_of(manifest.key.kind, how)
    return change(
        f"object-{how}",
        manifest.name,
        before,
        after,
        impact=impact,
        flags=flags,
        cluster=cluster.name,
        tenant=tenant_of(manifest.unit.partition("/")[2]) or None,
        namespaces=[manifest.key.namespace] if manifest.key.namespace else (),
        span=manifest.span(*(found[0].steps if found else ())),
        details=[str(_field(one)) for one in found],
    )


def _field(one: Difference) -> FieldDifference:
    before, after = (None if side is ABSENT else side for side in (one.live, one.wanted))
    return FieldDifference(written(one.steps), before, after)


def _leftovers(cluster: Cluster, things: Iterable[Mapping[str, Any]]) -> Iterator[Change]:
    """What dracfg once wrote and the tree no longer has; an engine keeps what is marked so."""
    for thing in things:
        if not _is_own(thing):
            continue
        key = object_key(thing)
        impact, flags = impact_of(key.kind, "removed")
        kept = is_retained(dict(thing))
        yield change(
            "object-removed",
            f"{key.kind} {key.name}" + (f" in {key.namespace}" if key.namespace else ""),
            _ON_CLUSTER,
            None,
            impact=Impact.NONE if kept else impact,
            flags=() if kept else flags,
            cluster=cluster.name,
            namespaces=[key.namespace] if key.namespace else (),
            details=["marked to be kept: an engine leaves it where it is"] if kept else (),
        )


def _is_own(thing: Mapping[str, Any]) -> bool:
    metadata = thing.get("metadata")
    if not isinstance(metadata, dict):
        return False
    labels, annotations = (metadata.get(key) or {} for key in ("labels", "annotations"))
    marked = isinstance(labels, dict) and labels.get(MANAGED_BY) == "dracfg"
    return marked and isinstance(annotations, dict)
