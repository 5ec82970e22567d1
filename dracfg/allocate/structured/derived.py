"""Derived attributes of a request: CEL over one device, giving a value that constraints compare.

Follows EvaluateDerivedAttribute of kubernetes/dynamic-resource-allocation@v0.37.2 (cel/compile.go).
Knows no constraint.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from dracfg.allocate.devices import Attribute, AttributeType
from dracfg.allocate.structured.candidates import Candidate
from dracfg.allocate.structured.outcomes import Failed, Stop, Undecided
from dracfg.allocate.structured.requests import Ask
from dracfg.cel import CelEnvironment, CompileFailure, EvaluationError, Program, Semver
from dracfg.cel import Undecided as Doubt

_SCALARS = ("bool", "int", "string", "kubernetes.Semver", "any", "dyn")
_RESULTS = frozenset((*_SCALARS, *(f"list({name})" for name in _SCALARS)))
"""The types that an expression may have."""

_TYPES: Mapping[AttributeType, tuple[type, ...]] = {
    "string": (str,),
    "bool": (bool,),
    "int": (int,),
    "version": (Semver,),
}
_LISTS: Mapping[AttributeType, AttributeType] = {
    "string": "strings",
    "bool": "bools",
    "int": "ints",
    "version": "versions",
}

_Value: TypeAlias = "Attribute | EvaluationError | Doubt"


class DerivedAttributes:
    """Compiles derived attributes and keeps their values by device and expression."""

    def __init__(self, environment: CelEnvironment) -> None:
        self._environment = environment
        self._programs: dict[str, Program | CompileFailure | Doubt] = {}
        self._values: dict[tuple[Candidate, str], _Value] = {}

    def value(self, ask: Ask, name: str, expression: str, candidate: Candidate) -> Attribute:
        """The attribute of one device. Raises Stop on an error or a doubt."""
        place = f"claim {ask.claim}, request {ask.wanted.name}: derived attribute {name}"
        if expression not in self._programs:
            self._programs[expression] = self._environment.compile(
                expression, stored=True, results=()
            )
        program = self._programs[expression]
        reason = None
        if isinstance(program, CompileFailure):
            reason = f"does not compile: {program.message}"
        elif isinstance(program, Program) and str(program.type) not in _RESULTS:
            reason = f"has the type {program.type}, which is none of an attribute's"
        if reason is not None or isinstance(program, CompileFailure):
            message = f"{place} {reason}"
            raise Stop(Failed("derived-attribute", message, ask.claim, ask.wanted.name))
        key = candidate, expression
        if key not in self._values:
            self._values[key] = (
                _attribute(program.compiled.evaluate_device(candidate.facts))
                if isinstance(program, Program)
                else program
            )
        value = self._values[key]
        if isinstance(value, Attribute):
            return value
        if isinstance(value, EvaluationError):
            device = "/".join(candidate.id)
            message = f"{place} ends in an error on device {device}: {value.message}"
            raise Stop(Failed("derived-attribute", message, ask.claim, ask.wanted.name))
        raise Stop(Undecided(f"{place}: {value.reason}"))


def _attribute(value: object) -> _Value:
    """A value of CEL as an attribute; an empty list counts as one of strings."""
    if isinstance(value, (EvaluationError, Doubt)):
        return value
    listed = isinstance(value, (list, tuple))
    items: list[object] = [*value] if isinstance(value, (list, tuple)) else [value]
    for kind, types in _TYPES.items():
        if all(type(item) in types for item in items):
            found: Any = [str(item) if isinstance(item, Semver) else item for item in items]
            return Attribute(_LISTS[kind], tuple(found)) if listed else Attribute(kind, found[0])
    return EvaluationError("the value has none of the types of an attribute")
