"""Objects of two sides, compared one by one in what they mean.

Used as a guard: objects that differ though no comparison tells of a change, and the other way
round, are a gap in the comparisons or another release of dracfg. Also the plain answer where a
side has no catalog.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal

from dracfg.dataclass import dataclass
from dracfg.diff.change import Change, Flag, Impact, change
from dracfg.diff.meaning import K8sObject, drivers_of, meaning_of
from dracfg.diff.pair import Pair
from dracfg.kube.objects import ObjectKey, object_key
from dracfg.live.fieldpaths import written
from dracfg.lower.artifact import Unit
from dracfg.packaged import read_data
from dracfg.scope import tenant_of

How = Literal["added", "changed", "removed"]
ClusterObjects = Mapping[str, Mapping[ObjectKey, "PlacedObject"]]
"""Objects by the cluster that they are for, `gitops` for those of the engine's own."""

_MOST_NAMED = 5
_MOST_FIELDS = 3
_MOST_TEXT = 80


@dataclass(frozen=True, slots=True)
class PlacedObject:
    """An object and the unit that it stands in."""

    unit: str
    data: K8sObject

    @property
    def tenant(self) -> str | None:
        return tenant_of(self.unit.partition("/")[2]) or None


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """A field by its path (`spec.hard[requests.x]`); a side is None where it has no such field."""

    path: str
    before: Any
    after: Any

    def __str__(self) -> str:
        return f"{self.path}: {_shown(self.before)} -> {_shown(self.after)}"


@dataclass(frozen=True, slots=True)
class ObjectDifference:
    """An object that is not the same on both sides, in its plain form; None where it is not there."""

    cluster: str
    key: ObjectKey
    unit: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None

    @property
    def how(self) -> How:
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"

    @property
    def tenant(self) -> str | None:
        return tenant_of(self.unit.partition("/")[2]) or None

    @property
    def name(self) -> str:
        """`ResourceQuota dracfg-devices in course-ml`."""
        where = f" in {self.key.namespace}" if self.key.namespace else ""
        return f"{self.key.kind} {self.key.name}{where}"

    def fields(self) -> tuple[FieldDifference, ...]:
        """The fields that differ; none where the object is only on one side."""
        if self.before is None or self.after is None:
            return ()
        return field_differences(self.before, self.after)


def objects_of(units: Iterable[Unit]) -> ClusterObjects:
    """What units hold, by cluster and identity."""
    found: dict[str, dict[ObjectKey, PlacedObject]] = {}
    for unit in units:
        of_cluster = found.setdefault(unit.path.partition("/")[0], {})
        for artifact in unit.artifacts:
            key = _key(unit.path, artifact.file, artifact.object)
            of_cluster[key] = PlacedObject(unit.path, artifact.object)
    return found


def _key(unit: str, file: str, thing: K8sObject) -> ObjectKey:
    """What makes an object one of its kind; the file where it is none of the API's."""
    key = object_key(thing)
    return key if key.name else key._replace(kind=key.kind or "file", name=f"{unit}/{file}")


def object_differences(before: ClusterObjects, after: ClusterObjects) -> Iterator[ObjectDifference]:
    """Objects whose meaning differs, by cluster and identity. What is equal as written costs little."""
    for cluster in sorted({*before, *after}):
        old, new = before.get(cluster, {}), after.get(cluster, {})
        moved = sorted(
            key
            for key in {*old, *new}
            if key not in old or key not in new or old[key].data != new[key].data
        )
        drivers = [_drivers(side.values()) for side in (old, new)] if moved else [{}, {}]
        for key in moved:
            first, second = (
                None if key not in side else meaning_of(side[key].data, known)
                for side, known in zip((old, new), drivers, strict=True)
            )
            if first != second:
                place = new[key] if key in new else old[key]
                yield ObjectDifference(cluster, key, place.unit, first, second)


def unit_differences(pair: Pair) -> Iterator[ObjectDifference]:
    """Objects that differ between what both sides lower to; units that one can't compile left out."""
    before, after = (
        objects_of(unit for unit in side.judgement.units if not pair.blocked(unit.path))
        for side in (pair.base, pair.head)
    )
    yield from object_differences(before, after)


def unexplained(
    found: Iterable[ObjectDifference], changes: Iterable[Change]
) -> Iterator[ObjectDifference]:
    """Objects that differ where no change says why.

    A change explains every object of its tenant, or of its cluster where it is about no tenant.
    """
    known = {(one.cluster, one.tenant) for one in changes}
    return (one for one in found if not _is_explained(one, known))


def changed_objects(found: Iterable[ObjectDifference]) -> Iterator[Change]:
    """One change of kind `objects-changed` for the objects of a kind in a cluster and of a tenant."""
    groups: dict[tuple[str, str, str, How], list[ObjectDifference]] = {}
    for one in found:
        groups.setdefault((one.cluster, one.tenant or "", one.key.kind, one.how), []).append(one)
    for (cluster, tenant, kind, how), listed in sorted(groups.items()):
        impact, flags = impact_of(kind, how)
        yield change(
            "objects-changed",
            f"{kind} ({len(listed):,} {how})",
            None,
            None,
            impact=impact,
            flags=flags,
            cluster=None if cluster == "gitops" else cluster,
            tenant=tenant or None,
            namespaces=sorted({one.key.namespace for one in listed if one.key.namespace}),
            details=_details(listed),
        )


def impact_of(kind: str, how: How) -> tuple[Impact, tuple[Flag, ...]]:
    """How bad it is when an object of a kind comes, changes or goes."""
    facts = _impacts().get(kind, _impacts()["other"])
    return Impact.of(facts[how]), tuple(facts.get("flags", ()))


def field_differences(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> tuple[FieldDifference, ...]:
    """The fields in which two objects in their plain form differ, by path."""
    # Imported here: it costs more than most comparisons, and few of them need it.
    from deepdiff import DeepDiff

    found = DeepDiff(before, after, view="tree", verbose_level=2, threshold_to_diff_deeper=0)
    listed = [
        FieldDifference(
            written(tuple(level.path(output_format="list"))), _side(level.t1), _side(level.t2)
        )
        for levels in found.values()
        for level in levels
    ]
    return tuple(sorted(listed, key=lambda one: one.path))


def _side(value: Any) -> Any:
    """DeepDiff's word for a value that is not there as None."""
    return None if str(value) == "not present" and not isinstance(value, str) else value


def _drivers(placed: Iterable[PlacedObject]) -> dict[str, str]:
    return drivers_of(one.data for one in placed if one.data.get("kind") == "DeviceClass")


def _is_explained(one: ObjectDifference, known: set[tuple[str | None, str | None]]) -> bool:
    """Whether any change is about the object's cluster, and its tenant where it has one.

    What tenants share, and the engine's own objects, change with any tenant of the cluster.
    """
    of_cluster = {
        tenant for cluster, tenant in known if cluster is None or one.cluster in (cluster, "gitops")
    }
    return bool(of_cluster) and (
        one.tenant is None or None in of_cluster or one.tenant in of_cluster
    )


def _details(listed: Sequence[ObjectDifference]) -> Iterator[str]:
    for one in listed[:_MOST_NAMED]:
        fields = one.fields()
        words = [str(field) for field in fields[:_MOST_FIELDS]]
        if len(fields) > _MOST_FIELDS:
            words.append(f"{len(fields) - _MOST_FIELDS:,} more")
        yield f"{one.name}: {'; '.join(words)}" if words else one.name
    if len(listed) > _MOST_NAMED:
        yield f"and {len(listed) - _MOST_NAMED:,} more"


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT - 1]}…"


@cache
def _impacts() -> Mapping[str, Mapping[str, Any]]:
    impacts: Mapping[str, Mapping[str, Any]] = read_data("dracfg.diff", "data/objects.yaml")[
        "impacts"
    ]
    return impacts
