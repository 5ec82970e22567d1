"""matchAttribute and distinctAttribute over the devices that a search has picked.

Follows the constraints of kubernetes/dynamic-resource-allocation@v0.34.4 to @v0.37.2
(structured/internal/*/allocator_*.go and constraint.go). Knows no pool and no order of search.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from dracfg.allocate.claims import ClaimConstraint
from dracfg.allocate.devices import Attribute
from dracfg.allocate.structured.behaviour import Behaviour
from dracfg.allocate.structured.candidates import Candidate
from dracfg.allocate.structured.features import Features
from dracfg.allocate.structured.requests import Ask

Lookup: TypeAlias = Callable[[Ask, Candidate, str], "Attribute | None"]
"""The attribute of a device as a request sees it: derived, else published."""

_SCALARS = frozenset({"int", "bool", "string", "version"})


class _Seen(NamedTuple):
    """The attribute of one device for one request."""

    request: str
    candidate: Candidate
    attribute: Attribute


class Constraint(ABC):
    """A constraint of one claim; every successful `add` is undone by one `remove`."""

    def __init__(self, wanted: ClaimConstraint, name: str, lookup: Lookup) -> None:
        self._requests = frozenset(wanted.requests)
        self._name, self._lookup = name, lookup

    def covers(self, ask: Ask) -> bool:
        """Whether the constraint is about this request, or about the one it is an alternative of."""
        named = self._requests
        return not named or ask.request in named or ask.result_name in named

    def add(self, ask: Ask, candidate: Candidate) -> bool:
        """Whether the device fits in; if so it counts from now on."""
        if not self.covers(ask):
            return True
        attribute = self._lookup(ask, candidate, self._name)
        return attribute is not None and self._admit(_Seen(ask.request, candidate, attribute))

    @abstractmethod
    def remove(self, ask: Ask) -> None:
        """Forgets the device that was added last for this request."""

    @abstractmethod
    def _admit(self, seen: _Seen) -> bool: ...


class SameValue(Constraint):
    """matchAttribute on attributes of one value. The first device is taken whatever it has."""

    def __init__(self, wanted: ClaimConstraint, name: str, lookup: Lookup) -> None:
        super().__init__(wanted, name, lookup)
        self._value: Attribute | None = None
        self._number = 0

    def remove(self, ask: Ask) -> None:
        if self.covers(ask):
            self._number -= 1

    def _admit(self, seen: _Seen) -> bool:
        if not self._number:
            self._value = seen.attribute
        elif seen.attribute.type not in _SCALARS or seen.attribute != self._value:
            return False
        self._number += 1
        return True


Elements = tuple[str, frozenset[object]]
"""The type of an attribute, as a list or not, and its values."""


class CommonElement(Constraint):
    """matchAttribute with lists: all devices have an element in common.

    1.36 does not restore what was common when it takes a device back.
    """

    def __init__(self, wanted: ClaimConstraint, name: str, lookup: Lookup, restores: bool) -> None:
        super().__init__(wanted, name, lookup)
        self._restores = restores
        self._common: list[Elements] = []
        self._number = 0

    def remove(self, ask: Ask) -> None:
        if not self.covers(ask):
            return
        self._number -= 1
        if self._restores:
            self._common.pop()

    def _admit(self, seen: _Seen) -> bool:
        elements = _elements(seen.attribute)
        if elements is None:
            return False
        if self._number:
            kind, values = self._common[-1]
            shared = values & elements[1]
            if kind != elements[0] or not shared:
                return False
            elements = kind, shared
        if self._restores:
            self._common.append(elements)
        else:
            self._common = [elements]
        self._number += 1
        return True


class Distinct(Constraint):
    """distinctAttribute: what one device has, no other may have.

    `memory` is that of `Behaviour.distinct`: 1.35 and 1.36 keep one value for each request, so that
    several devices of one request may slip through; 1.34 compares where values are kept, so that
    only one device taken twice is refused.
    """

    def __init__(
        self, wanted: ClaimConstraint, name: str, lookup: Lookup, memory: str, lists: bool
    ) -> None:
        super().__init__(wanted, name, lookup)
        self._memory, self._lists = memory, lists
        self._kept: list[_Seen] = []
        self._number = 0

    def remove(self, ask: Ask) -> None:
        if not self.covers(ask):
            return
        self._number -= 1
        if self._memory == "device":
            self._kept.pop()
        else:
            self._drop(ask.request)

    def _admit(self, seen: _Seen) -> bool:
        # Before 1.37 the first device is taken whatever it has.
        if self._memory == "device" or self._number:
            if self._lists and _elements(seen.attribute) is None:
                return False
            if any(self._collides(seen, other) for other in self._kept):
                return False
        if self._memory != "device":
            self._drop(seen.request)
        self._kept.append(seen)
        self._number += 1
        return True

    def _collides(self, seen: _Seen, other: _Seen) -> bool:
        if self._lists:
            mine, its = _elements(seen.attribute), _elements(other.attribute)
            if mine is None or its is None:
                return False
            return mine[0] == its[0] and bool(mine[1] & its[1])
        if seen.attribute.type not in _SCALARS:
            return True
        if self._memory == "identity":
            return seen.candidate is other.candidate
        return seen.attribute == other.attribute

    def _drop(self, request: str) -> None:
        self._kept = [kept for kept in self._kept if kept.request != request]


def _elements(attribute: Attribute) -> Elements | None:
    """The values of an attribute as a set; None for an empty list."""
    value = attribute.value
    values = frozenset(value if isinstance(value, tuple) else (value,))
    return (attribute.type.removesuffix("s"), values) if values else None


def build_constraint(
    wanted: ClaimConstraint, features: Features, behaviour: Behaviour, lookup: Lookup
) -> Constraint | None:
    """The constraint as the minor's allocator reads it; None where it knows no such constraint."""
    lists = features.list_type_attributes
    if wanted.match_attribute is not None:
        if lists:
            restores = behaviour.restores_intersection
            return CommonElement(wanted, wanted.match_attribute, lookup, restores)
        return SameValue(wanted, wanted.match_attribute, lookup)
    if wanted.distinct_attribute is not None and behaviour.knows_distinct:
        return Distinct(wanted, wanted.distinct_attribute, lookup, behaviour.distinct, lists)
    return None
