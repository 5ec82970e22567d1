"""What rules that add tenants up, or hold one against another, see of a tenant: plain data, worked out once.

An outline is a pure function of a linked tenant. Of a tenant that stays as it is, a run can leave its
answers to the next one, which need not link the tenant then (`link.recalled`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import field
from functools import wraps
from typing import Any, Protocol, TypeVar

from dracfg.dataclass import dataclass


class Outlined(Protocol):
    """A tenant, as far as it is known here."""

    @property
    def name(self) -> str: ...

    @property
    def outlines(self) -> dict[str, Any]: ...


_T = TypeVar("_T", bound=Outlined)
_R = TypeVar("_R", bound=Hashable)


def outline(function: Callable[[_T], _R]) -> Callable[[_T], _R]:
    """Remember with the tenant what a function says of it, which has to be values and tuples of values."""
    key = key_of(function)

    @wraps(function)
    def remembered(tenant: _T) -> _R:
        return outlined(tenant, key, lambda: function(tenant))

    return remembered


def key_of(function: Callable[..., object]) -> str:
    """What the answers of an outline are known by."""
    return f"{function.__module__}.{function.__qualname__}"


def outlined(tenant: Outlined, key: str, work: Callable[[], _R]) -> _R:
    """The answer that a tenant has under a key, which names everything that it depends on beside it."""
    known = tenant.outlines
    if key not in known:
        known[key] = work()
    answer: _R = known[key]
    return answer


@dataclass(frozen=True, slots=True)
class Outlines:
    """All answers that are known of some tenants; of many tenants few differ in most of them.

    `columns` has by each answer's key its values, and which of them is each tenant's: 0 for none, 1 for
    the first.
    """

    names: tuple[str, ...] = ()
    columns: Mapping[str, tuple[tuple[Hashable, ...], tuple[int, ...]]] = field(
        default_factory=dict
    )

    @classmethod
    def of(cls, tenants: Iterable[Outlined]) -> Outlines:
        listed = {tenant.name: tenant.outlines for tenant in tenants}
        keys = dict.fromkeys(key for known in listed.values() for key in known)
        return cls(tuple(listed), {key: _column(key, listed.values()) for key in keys})

    def by_name(self) -> dict[str, dict[str, Any]]:
        """The answers by their key, for each tenant."""
        found: dict[str, dict[str, Any]] = {name: {} for name in self.names}
        for key, (values, numbers) in self.columns.items():
            for known, number in zip(found.values(), numbers, strict=True):
                if number:
                    known[key] = values[number - 1]
        return found


NOTHING_OUTLINED = Outlines()


def _column(
    key: str, known: Iterable[Mapping[str, Hashable]]
) -> tuple[tuple[Hashable, ...], tuple[int, ...]]:
    found: dict[Hashable, int] = {}
    seen: dict[int, int] = {}
    numbers: list[int] = []
    for one in known:
        if key not in one:
            numbers.append(0)
            continue
        value = one[key]
        number = seen.get(id(value))
        if number is None:  # what the last run left is the same object for all of whom it is said
            number = seen[id(value)] = found.setdefault(value, len(found) + 1)
        numbers.append(number)
    return tuple(found), tuple(numbers)
