"""Allocators that differ from Kubernetes' in one thing, and which cases tell them apart.

A flip is one field of `Behaviour` at a value that an implementation does not have. Recorded cases
are worth as much as the flips that they notice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, cast, get_args, get_type_hints

from dracfg.allocate.structured.behaviour import Behaviour, behaviour_of
from dracfg.allocate.structured.features import Features
from tests.oracle.answers import Answer
from tests.oracle.draw import known_gates
from tests.oracle.ours import Question


@dataclass(frozen=True, slots=True, order=True)
class Flip:
    """A field of `Behaviour`, and the value that it is set to, as text."""

    field: str
    value: str

    def __str__(self) -> str:
        return f"{self.field}={self.value}"

    def of(self, behaviour: Behaviour) -> Behaviour | None:
        """The behaviour with this field flipped; None where it has that value already."""
        value = next(one for one in VALUES[self.field] if str(one) == self.value)
        changed: dict[str, Any] = {self.field: value}
        return None if getattr(behaviour, self.field) == value else replace(behaviour, **changed)


def _values() -> Mapping[str, tuple[Any, ...]]:
    hints = get_type_hints(Behaviour)
    return {
        one.name: (False, True) if hints[one.name] is bool else get_args(hints[one.name])
        for one in fields(Behaviour)
    }


VALUES = _values()
"""Field of `Behaviour` → the values that it takes."""


def flips() -> Iterator[Flip]:
    """Every field at every value."""
    for field, values in VALUES.items():
        for value in values:
            yield Flip(field, str(value))


def flips_of(minor: str) -> tuple[Flip, ...]:
    """The flips that change some implementation of a minor."""
    behaviours = [behaviour_of(features) for features in _implementations(minor)]
    return tuple(
        flip for flip in flips() if any(flip.of(behaviour) is not None for behaviour in behaviours)
    )


def _implementations(minor: str) -> Iterator[Features]:
    """Features that pick each implementation of a minor: none, each alone, and all gates."""
    gates = known_gates(minor)
    yield Features.of(minor, frozenset())
    for gate in gates:
        yield Features.of(minor, frozenset({gate}))
    yield Features.of(minor, frozenset(gates))


def tells(question: Question, flip: Flip, right: Answer) -> bool:
    """Whether the flip changes the answer; an allocator that runs out of time changes nothing."""
    flipped = flip.of(behaviour_of(question.features))
    return flipped is not None and not right.agrees(question.answer(flipped))


def told(question: Question, wanted: Iterable[Flip]) -> tuple[Answer, tuple[Flip, ...]]:
    """dracfg's answer, and which of the flips change it.

    A field that the allocator did not look at can't have decided anything, so it is not flipped.
    """
    watched = _Watched(behaviour_of(question.features))
    right = question.answer(cast("Behaviour", watched))
    return right, tuple(
        flip for flip in wanted if flip.field in watched.seen and tells(question, flip, right)
    )


class _Watched:
    """A behaviour that remembers which of its fields were looked at."""

    def __init__(self, behaviour: Behaviour) -> None:
        self.seen: set[str] = set()
        self._behaviour = behaviour

    def __getattr__(self, name: str) -> Any:
        self.seen.add(name)
        return getattr(self._behaviour, name)
