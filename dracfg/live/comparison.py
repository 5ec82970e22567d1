"""An object under `out/` and its live form → the fields in which they differ.

What the server sets and status are no differences, equal quantities are equal however written, and
an empty map or list is the same as none. The facts lie in data/comparison.yaml.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.kube.pointers import escape
from dracfg.kube.quantity import Quantity
from dracfg.live.fieldpaths import Steps
from dracfg.packaged import read_data

_HEAD = ("apiVersion", "kind", "metadata", "status")
_MARKS = ("labels", "annotations")


class _Absent:
    """Stands for a value that is not there."""


ABSENT: Any = _Absent()


@dataclass(frozen=True, slots=True)
class Difference:
    """One field; `wanted` or `live` is ABSENT where it stands on one side only."""

    steps: Steps
    wanted: Any
    live: Any


@dataclass(frozen=True, slots=True)
class _Facts:
    server_set: Mapping[tuple[str, str], frozenset[str]]
    quantities: frozenset[str]
    whole_groups: frozenset[str]
    own_keys: tuple[str, ...]


def differences(wanted: Mapping[str, Any], live: Mapping[str, Any]) -> tuple[Difference, ...]:
    """The fields of the same object that are not as wanted, in the order of `wanted`."""
    facts = _facts()
    group = str(wanted["apiVersion"]).rpartition("/")[0]
    found = list(_marks(wanted, live, facts.own_keys))
    body, other = (
        {key: value for key, value in thing.items() if key not in _HEAD} for thing in (wanted, live)
    )
    found += _compared(body, other, (), whole=group in facts.whole_groups)
    ignored = facts.server_set.get((group, str(wanted["kind"])), frozenset())
    return tuple(
        one for one in found if one.wanted is not ABSENT or _pointer(one.steps) not in ignored
    )


def _marks(
    wanted: Mapping[str, Any], live: Mapping[str, Any], own: tuple[str, ...]
) -> Iterator[Difference]:
    """Labels and annotations: those that are wanted, and others in domains that are dracfg's."""
    for mark in _MARKS:
        ours, theirs = ((thing["metadata"].get(mark) or {}) for thing in (wanted, live))
        for key in (*ours, *(key for key in theirs if key not in ours and _is_own(key, own))):
            before, after = ours.get(key, ABSENT), theirs.get(key, ABSENT)
            if before != after:
                yield Difference(("metadata", mark, key), before, after)


def _is_own(key: str, own: tuple[str, ...]) -> bool:
    domain, slash, _ = key.partition("/")
    return bool(slash) and any(domain == end or domain.endswith(f".{end}") for end in own)


def _compared(wanted: Any, live: Any, steps: Steps, *, whole: bool) -> Iterator[Difference]:
    if wanted is ABSENT and isinstance(live, dict):
        wanted = {}
    if isinstance(wanted, dict) and isinstance(live, dict):
        extra = [key for key in live if whole and key not in wanted]
        for key in (*wanted, *extra):
            before, after = wanted.get(key, ABSENT), live.get(key, ABSENT)
            yield from _compared(before, after, (*steps, key), whole=whole)
    elif isinstance(wanted, list) and isinstance(live, list) and len(wanted) == len(live):
        for i, (before, after) in enumerate(zip(wanted, live, strict=True)):
            yield from _compared(before, after, (*steps, i), whole=whole)
    elif not (_is_nothing(wanted) and _is_nothing(live)) and not _same(wanted, live, steps):
        yield Difference(steps, wanted, live)


def _is_nothing(value: Any) -> bool:
    return value is ABSENT or value in ({}, [])


def _same(wanted: Any, live: Any, steps: Steps) -> bool:
    if wanted == live and isinstance(wanted, bool) == isinstance(live, bool):
        return True
    if not all(isinstance(one, str | int) and not isinstance(one, bool) for one in (wanted, live)):
        return False
    if not _facts().quantities & {str(step) for step in steps[-2:]}:
        return False
    try:
        return Quantity.parse(wanted) == Quantity.parse(live)
    except ValueError:
        return False


def _pointer(steps: Steps) -> str:
    """A JSON pointer in which `*` stands for each place of a list."""
    return "".join("/*" if isinstance(step, int) else f"/{escape(step)}" for step in steps)


@cache
def _facts() -> _Facts:
    data = read_data("dracfg.live", "data/comparison.yaml")
    return _Facts(
        {
            (group, kind): frozenset(pointers)
            for group, kinds in data["serverSet"].items()
            for kind, pointers in kinds.items()
        },
        frozenset(data["quantities"]),
        frozenset(data["wholeGroups"]),
        tuple(data["ownKeys"]),
    )
