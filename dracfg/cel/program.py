"""A compiled expression as callers use it, with the memo over devices."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import field

from dracfg.cel.devices import DeviceFacts, Read
from dracfg.cel.outcomes import Cost, EvaluationError, Undecided
from dracfg.cel.scope import Compiled, Inputs, Value
from dracfg.cel.signatures import Type
from dracfg.cel.syntax import Expression
from dracfg.dataclass import dataclass

__all__ = ["Program"]

MAPS = ("attributes", "capacity")


@dataclass(slots=True)
class Program:
    """An expression that compiled.

    Devices of one model differ in a few values only, so `matches` evaluates once for each
    combination of the values that the expression can read and keeps the outcomes.
    """

    expression: str
    compiled: Compiled
    composed: Mapping[str, Program] = field(default_factory=dict)
    _outcomes: dict[Hashable, bool | EvaluationError | Undecided] = field(
        default_factory=dict, init=False, repr=False
    )
    _reads: tuple[Read, ...] | None = field(init=False, repr=False)
    _whole: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        reads = self.compiled.reads
        self._reads = None if reads is None else tuple(sorted(reads))
        self._whole = any(read.field in MAPS and not read.id for read in reads or ())

    @property
    def reads(self) -> frozenset[Read] | None:
        """What of a device the expression may read; None where the engine can't tell."""
        return self.compiled.reads

    @property
    def tree(self) -> Expression | None:
        """The checked expression with places and types; None where the engine has no such tree."""
        return self.compiled.tree

    @property
    def type(self) -> Type:
        """The type of the value, `dyn` where only evaluation tells."""
        return self.compiled.type

    @property
    def cost(self) -> Cost | Undecided:
        """The static estimate."""
        return self.compiled.cost

    def matches(self, device: DeviceFacts) -> bool | EvaluationError | Undecided:
        """Whether a device selector takes the device; equal projections are evaluated once."""
        if self._reads is None:
            return self.matches_afresh(device)
        project = device.project_whole if self._whole else device.project
        key = project(self._reads)
        outcome = self._outcomes.get(key)
        if outcome is None:
            outcome = self._outcomes[key] = self.matches_afresh(device)
        return outcome

    def matches_afresh(self, device: DeviceFacts) -> bool | EvaluationError | Undecided:
        """The same without the memo."""
        value = self.compiled.evaluate_device(device)
        if isinstance(value, (bool, EvaluationError, Undecided)):
            return value
        return EvaluationError(f"a value of type {type(value).__name__} is no bool")

    def evaluate(self, inputs: Mapping[str, Value]) -> Value | EvaluationError | Undecided:
        """The value for the variables of the environment.

        Composed variables (`variables.<name>`) are evaluated as far as they are used; one that ends
        in an error makes the expression an error only where its value is needed.
        """
        given: Inputs = dict(inputs)
        failed = self._compose(given)
        if isinstance(failed, Undecided):
            return failed
        value = self.compiled.evaluate(given)
        if isinstance(value, EvaluationError):
            return next((error for name, error in failed.items() if name in value.message), value)
        return value

    def _compose(self, given: Inputs) -> dict[str, EvaluationError] | Undecided:
        """Add the composed variables to the inputs; returns those that ended in an error."""
        failed: dict[str, EvaluationError] = {}
        used = self.compiled.variables
        for name, program in self.composed.items():
            key = f"variables.{name}"
            if key in given or (used is not None and name not in used):
                continue
            value = program.evaluate(given)
            if isinstance(value, Undecided):
                return value
            if isinstance(value, EvaluationError):
                message = f"composited variable {name!r} fails to evaluate: {value.message}"
                failed[key] = EvaluationError(message)
            else:
                given[key] = value
        return failed
