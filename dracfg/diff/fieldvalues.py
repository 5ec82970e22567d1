"""Values of fields: what makes two of them equal, which one is greater, and how people read them.

Quantities, sizes, lengths of time, versions and attribute names are compared by what they mean.
Knows nothing of kinds of change.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from dracfg.diff.fieldplace import Place, Side
from dracfg.diff.fieldtable import Row, field_table, filled
from dracfg.diff.words import few, plural
from dracfg.kube.quantity import Quantity
from dracfg.lower.selectors import normalised_version
from dracfg.model.base import Spec
from dracfg.source.times import parse_length

LONGEST = 120
"""Characters of a value that are shown; the rest is cut."""


def bare(key: str, side: Side) -> str:
    """An attribute or capacity without the driver's own domain: `x` and `<driver>/x` are one name."""
    domain, slash, name = key.rpartition("/")
    return name if slash and domain in side.drivers else key


def meaning(value: Any, form: str, side: Side) -> Hashable:
    """A value that is equal for values that mean the same."""
    if isinstance(value, Spec):
        return (
            type(value).__name__,
            tuple(
                (name, meaning(getattr(value, name), _form_within(form, name), side))
                for name in type(value).model_fields
            ),
        )
    if isinstance(value, Mapping):
        return frozenset((bare(key, side), meaning(one, form, side)) for key, one in value.items())
    if isinstance(value, tuple | list):
        return tuple(meaning(one, form, side) for one in value)
    if isinstance(value, bool) or value is None:
        return (value,)
    match form:
        case "attribute":
            return bare(value, side) if isinstance(value, str) else value
        case "size" | "amounts":
            return size(value)
        case "duration":
            return parse_length(value).total_seconds() if isinstance(value, str) else value
        case "version":
            return tuple(map(int, value.split(".")))
        case _:
            return value  # type: ignore[no-any-return]  # a scalar of the language


def size(text: Any) -> Hashable:
    """A size as an amount, so that 10240Mi is 10Gi; names of partitions stand for themselves."""
    try:
        return Quantity.parse(str(text))
    except ValueError:
        return str(text)


def attribute_meaning(value: Any, *, is_version: bool) -> Hashable:
    """A condition on an attribute; of several values any one will do, whatever their order."""
    if isinstance(value, Spec):
        return tuple(
            frozenset(attribute_meaning(one, is_version=is_version) for one in part)
            if isinstance(part := getattr(value, name), tuple)
            else attribute_meaning(part, is_version=is_version)
            for name in type(value).model_fields
        )
    if isinstance(value, tuple):
        return tuple(attribute_meaning(one, is_version=is_version) for one in value)
    if isinstance(value, bool) or value is None:
        return (value,)
    try:
        return normalised_version(value) if is_version else value
    except ValueError:
        return str(value)


def step(before: Any, after: Any, row: Row, place: Place) -> int:
    """Above 0 where a value was raised, below where it was lowered, 0 where there is no order."""
    if row.rank:
        ranks = [row.rank.index(words(value)) for value in (before, after)]
        return ranks[1] - ranks[0]
    old, new = meaning(before, row.form, place.base), meaning(after, row.form, place.head)
    if type(old) is not type(new) or isinstance(old, str):
        return 0
    return 1 if new > old else -1  # type: ignore[operator]  # of one type, and that has an order


def words(value: Any, unit: str = "") -> str:
    """A value as people read it; empty for nothing."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case int() if unit:
            return plural(value, unit)
        case Spec():
            return shown(value)
        case Mapping():
            return few(f"{key}: {words(one)}" for key, one in sorted(value.items()))
        case tuple() | list():
            return few(map(label, value))
        case _:
            text = str(value)
            return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def label(value: Any) -> str:
    """What an entry of a list is called."""
    template = field_table().called.get(type(value).__name__) if isinstance(value, Spec) else None
    return words(value) if template is None else filled(template, _texts(value))


def shown(value: Spec) -> str:
    """What is told of a thing that came or went."""
    table, name = field_table(), type(value).__name__
    templates = (table.shown.get(name, ""), table.called.get(name, ""))
    texts = (filled(template, _texts(value)) for template in templates)
    return next(filter(None, texts), name)


def value_at(value: Any, path: str) -> Any:
    """The value at the end of keys as they are written, separated by dots; None where it leads nowhere."""
    for key in path.split("."):
        fields = type(value).model_fields if isinstance(value, Spec) else {}
        name = next((name for name, field in fields.items() if (field.alias or name) == key), None)
        value = None if name is None else getattr(value, name)
    return value


def _texts(value: Spec) -> Callable[[str], str]:
    return lambda path: words(value_at(value, path))


def _form_within(form: str, name: str) -> str:
    """The form of a field that is told with its holder."""
    return "size" if name == "size" else form
