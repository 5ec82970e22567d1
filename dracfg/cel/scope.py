"""What an expression may use: the libraries and the variables of one environment.

A plain value, so that engines can keep what they make of it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import Protocol

from dracfg.cel.devices import DeviceFacts, Read
from dracfg.cel.outcomes import CompileFailure, Cost, EvaluationError, Undecided
from dracfg.cel.signatures import Library, Type, libraries
from dracfg.cel.syntax import Expression
from dracfg.dataclass import dataclass

__all__ = ["Compiled", "Engine", "Inputs", "Scope", "Value"]

_EVERYWHERE = 33
"""What came with this minor or before is in all environments: 1.34 is the first that is known."""
_WORD = re.compile(r"\w+")
Value = object
Inputs = dict[str, Value]


@dataclass(frozen=True, slots=True)
class Scope:
    """`variables` are pairs of a full name (`device.driver`) and a type.

    `results` are the names of the types an expression may have, () for any. `iterable_attributes`
    says whether an attribute may be looped over (list attributes, KEP-5491).
    """

    libraries: frozenset[str]
    variables: tuple[tuple[str, Type], ...]
    results: tuple[str, ...] = ()
    iterable_attributes: bool = True

    def enabled(self) -> tuple[Library, ...]:
        """The libraries themselves, in the order of the data file."""
        return tuple(library for library in libraries() if library.name in self.libraries)

    def narrowed(self, expression: str) -> Scope:
        """The scope without those libraries of some minors and gates that the text has no name of.

        What the text comes to hangs on the names in it alone, so that minors come to the same.
        """
        words = frozenset(_WORD.findall(expression))
        unnamed = {name for name, words_of in _varying() if words.isdisjoint(words_of)}
        if self.libraries.isdisjoint(unnamed):
            return self
        return replace(self, libraries=self.libraries - unnamed)

    @property
    def objects(self) -> frozenset[str]:
        """The names before the dot of variables that stand for a field: `device`."""
        names = {name for name, _ in self.variables}
        return frozenset(name.partition(".")[0] for name in names if "." in name) - names


@cache
def _varying() -> tuple[tuple[str, frozenset[str]], ...]:
    """Libraries that some environment of a known minor lacks, with the last words of their names."""
    return tuple(
        (library.name, frozenset(name.rpartition(".")[2] for name in library.names))
        for library in libraries()
        if library.gate or library.introduced > _EVERYWHERE
    )


class Compiled(Protocol):
    """A compiled expression of either engine."""

    @property
    def reads(self) -> frozenset[Read] | None:
        """What of a device it may read; None where the engine can't tell."""

    @property
    def tree(self) -> Expression | None:
        """The checked expression with places and types; None where the engine has no such tree."""

    @property
    def variables(self) -> frozenset[str] | None:
        """The names under `variables.` that it uses; None where the engine can't tell."""

    @property
    def type(self) -> Type:
        """The type of the result, `dyn` where unknown."""

    @property
    def cost(self) -> Cost | Undecided:
        """What it costs at least and at most."""

    def evaluate(self, inputs: Inputs) -> Value | EvaluationError | Undecided:
        """The value for the variables; a variable that is not given is an error where it is used."""

    def evaluate_device(self, device: DeviceFacts) -> Value | EvaluationError | Undecided:
        """The value for a device."""


class Engine(Protocol):
    """One implementation of CEL."""

    @property
    def name(self) -> str:
        """The name of the distribution on PyPI."""

    def compile(self, expression: str, scope: Scope) -> Compiled | CompileFailure | Undecided:
        """Parse, and check where the engine can."""
