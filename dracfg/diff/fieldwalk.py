"""Walks two states of a document field by field, as the table of fields says.

Lists whose order means nothing are compared by what identifies their entries. Knows nothing of
which documents there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.diff.change import Change
from dracfg.diff.counterparts import alike
from dracfg.diff.fieldamounts import amounts, nodes
from dracfg.diff.fielddefaults import meant
from dracfg.diff.fieldplace import Place, Side
from dracfg.diff.fieldtable import ELSE, ITSELF, Row, When, field_table
from dracfg.diff.fieldvalues import (
    attribute_meaning,
    bare,
    label,
    meaning,
    shown,
    step,
    value_at,
    words,
)
from dracfg.model.base import Spec


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of two models, with both of its values and the models that hold them."""

    place: Place
    row: Row
    name: str
    before: Any
    after: Any
    holders: tuple[Spec, Spec]

    @property
    def differs(self) -> bool:
        old = meaning(self.before, self.row.form, self.place.base)
        return old != meaning(self.after, self.row.form, self.place.head)


def differences(place: Place, before: Spec, after: Spec) -> list[Change]:
    """Every change of the fields of what stands at a place.

    Fields that decide what the others mean are told alone; folded ones are a detail of the others.
    """
    fields = list(_fields(place, before, after))
    deciding = [field for field in fields if field.row.decides and field.differs]
    told = [(field, found) for field in deciding or fields for found in _field(field)]
    folded = [(field, found) for field, found in told if field.row.folded]
    others = [found for field, found in told if not field.row.folded]
    if not others or not folded:
        return [found for _, found in told]
    details = [
        f"{field.name} {one.before or 'none'} -> {one.after or 'none'}" for field, one in folded
    ]
    return [replace(found, details=(*found.details, *details)) for found in others]


def kind_at(chosen: Mapping[str, str], entry: Any) -> str:
    """The kind whose condition (`spec.state=removed`) an entry meets, or the one of all others."""
    for condition, kind in chosen.items():
        path, _, wanted = condition.partition("=")
        if condition != ELSE and words(value_at(entry, path)) == wanted:
            return kind
    return chosen[ELSE]


def _fields(place: Place, before: Spec, after: Spec) -> Iterator[_Field]:
    rows = field_table().rows
    for name, field in {**type(before).model_fields, **type(after).model_fields}.items():
        old, new = getattr(before, name, None), getattr(after, name, None)
        if alike(old, new):
            continue
        alias = field.alias or name
        here = place.field(alias)
        yield _Field(here, rows[here.path], alias, old, new, (before, after))


def _field(field: _Field) -> Iterator[Change]:
    place, row = field.place, field.row
    old, new = field.before, field.after
    if row.role in ("identity", "holder"):
        return
    if row.form == "amounts":
        yield from amounts(place, row, field.holders)
        return
    if old is None and new is not None:
        old = meant(row, field.holders[0], field.name, place.base, new)
    elif new is None and old is not None:
        new = meant(row, field.holders[1], field.name, place.head, old)
    if row.form == "tree":
        yield from _tree(place, row, old, new)
    elif isinstance(old, Mapping) or isinstance(new, Mapping):
        yield from _map(field, old or {}, new or {})
    elif row.by and not isinstance(old, str) and not isinstance(new, str):
        yield from _list(place, row, old or (), new or ())
    elif isinstance(old, Spec) and isinstance(new, Spec) and not row.is_whole:
        yield from differences(place, old, new)
    elif meaning(old, row.form, place.base) != meaning(new, row.form, place.head):
        yield from _value(place, row, old, new)


def _value(place: Place, row: Row, old: Any, new: Any) -> Iterator[Change]:
    """A value that differs; models of one rank may still differ in their fields."""
    if row.rank and isinstance(old, Spec) and isinstance(new, Spec):
        yield from differences(place, old, new)
        return
    before, after = _shown(place, row, old, new)
    yield place.tell(_kind(place, row, old, new), before, after)


def _kind(place: Place, row: Row, old: Any, new: Any) -> str:
    if (kind := row.to.get(words(new))) is not None:
        return kind
    when: When = "changed"
    if old is None and "set" in row.kinds:
        when = "set"
    elif new is None and "unset" in row.kinds:
        when = "unset"
    elif old is not None and new is not None and "raised" in row.kinds:
        way = step(old, new, row, place)
        when = "raised" if way > 0 else "lowered" if way < 0 else "changed"
    return kind_at(row.kinds[when], old if new is None else new)


def _shown(place: Place, row: Row, old: Any, new: Any) -> tuple[str, str]:
    if row.form == "nodes":
        return nodes(place.base, old), nodes(place.head, new)
    return words(old, row.unit), words(new, row.unit)


# -- maps ----------------------------------------------------------------------------------------


def _map(field: _Field, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Entries by their keys; `x` and `<driver>/x` are one."""
    place, row = field.place, field.row
    had = {bare(key, place.base): (key, value) for key, value in old.items()}
    has = {bare(key, place.head): (key, value) for key, value in new.items()}
    for key in sorted(had.keys() | has.keys()):
        was, before = had.get(key, (None, None))
        now, after = has.get(key, (None, None))
        here = place.entry(key, was, now)
        if before is None:
            before = meant(row, field.holders[0], key, place.base, after)
        elif after is None:
            after = meant(row, field.holders[1], key, place.head, before)
        yield from _entry(here, row, key, before, after)


def _entry(place: Place, row: Row, key: str, before: Any, after: Any) -> Iterator[Change]:
    if isinstance(before, Spec) and type(before) is type(after) and row.form != "match":
        yield from differences(place, before, after)
        return
    old, new = _entry_meanings(place, row, key, before, after)
    if old == new:
        return
    texts = words(before), words(after)
    if before is None and "added" in row.kinds:
        yield place.tell(kind_at(row.kinds["added"], after), *texts)
    elif after is None and "removed" in row.kinds:
        yield place.tell(kind_at(row.kinds["removed"], before), *texts, gone=True)
    else:
        yield place.tell(_kind(place, row, before, after), *texts)


def _entry_meanings(
    place: Place, row: Row, key: str, before: Any, after: Any
) -> tuple[Hashable, Hashable]:
    if row.form != "match":
        return meaning(before, row.form, place.base), meaning(after, row.form, place.head)
    types = {side.attribute_type(key) for side in (place.base, place.head)}
    is_version = "version" in types
    return (
        attribute_meaning(before, is_version=is_version),
        attribute_meaning(after, is_version=is_version),
    )


def _tree(place: Place, row: Row, old: Any, new: Any) -> Iterator[Change]:
    """Free-form data, leaf by leaf."""
    had, has = dict(_leaves(old)), dict(_leaves(new))
    for path in sorted(had.keys() | has.keys()):
        before, after = had.get(path), has.get(path)
        if before == after and type(before) is type(after):
            continue
        was, now = (path if path in leaves else None for leaves in (had, has))
        steps = path.split(".")
        here = place.entry(path, was, now)
        here = replace(here, before=(*place.before, *steps), after=(*place.after, *steps))
        yield here.tell(row.kinds["changed"][ELSE], words(before), words(after))


def _leaves(value: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{above}.{key}" if above else str(key))
    elif value is not None and (above or not isinstance(value, Mapping)):
        yield above, value


# -- lists ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Item:
    position: int
    value: Any


def _list(place: Place, row: Row, old: Sequence[Any], new: Sequence[Any]) -> Iterator[Change]:
    """Entries by what identifies them, whatever their order."""
    had, has = _items(row, old, place.base), _items(row, new, place.head)
    for identity in [*had, *(identity for identity in has if identity not in had)]:
        was, now = had.get(identity), has.get(identity)
        if was is None and now is not None:
            yield from _came(place, row, now)
        elif now is None and was is not None:
            yield from _went(place, row, was)
        elif was is not None and now is not None and isinstance(now.value, Spec):
            here = place.item(label(now.value), was.position, now.position, now.value)
            yield from differences(here, was.value, now.value)
    if "reordered" in row.kinds and (had.keys() == has.keys()) and list(had) != list(has):
        yield place.tell(row.kinds["reordered"][ELSE], words(old), words(new))


def _items(row: Row, entries: Sequence[Any], side: Side) -> dict[Hashable, _Item]:
    """Entries by identity; further ones of the same are numbered."""
    seen: Counter[Hashable] = Counter()
    found: dict[Hashable, _Item] = {}
    for position, entry in enumerate(entries):
        identity = _identity(row, entry, side)
        found[identity, seen[identity]] = _Item(position, entry)
        seen[identity] += 1
    return found


def _identity(row: Row, entry: Any, side: Side) -> Hashable:
    if row.by == ITSELF or not isinstance(entry, Spec):
        return meaning(entry, row.form, side)
    return tuple(_part(key, value_at(entry, key), side) for key in row.by)


def _part(key: str, value: Any, side: Side) -> Hashable:
    """A field that identifies; which requests are meant has no order."""
    if isinstance(value, tuple):
        return frozenset(value)
    return meaning(value, "size" if key == "size" and value is not None else "", side)


def _came(place: Place, row: Row, item: _Item) -> Iterator[Change]:
    kind = kind_at(row.kinds["added"], item.value)
    yield from _whole(place, row, kind, item, gone=False)


def _went(place: Place, row: Row, item: _Item) -> Iterator[Change]:
    kind = kind_at(row.kinds["removed"], item.value)
    yield from _whole(place, row, kind, item, gone=True)


def _whole(place: Place, row: Row, kind: str, item: _Item, *, gone: bool) -> Iterator[Change]:
    was, now = (item.position, None) if gone else (None, item.position)
    place = place.as_before() if gone else place
    if row.by == ITSELF or not isinstance(item.value, Spec):
        here, text = place.entry("", was, now), label(item.value)
        here = replace(here, thing=place.thing)
        if place.path == "Tenant.spec.namespaces.clusters":
            here = here.on(str(item.value))
    else:
        here, text = place.item(label(item.value), was, now, item.value), shown(item.value)
    before, after = (text, "") if gone else ("", text)
    yield here.tell(kind, before, after, gone=gone)
