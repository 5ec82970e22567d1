"""What compiling and evaluating an expression can come to.

Values only; nothing here knows an engine. Positions count code points: `offset` from 0 in the whole
text, `line` from 1, `column` from 1, as cel-go prints them.
"""

from __future__ import annotations

import math

from dracfg.dataclass import dataclass

__all__ = [
    "UNBOUNDED",
    "CompileFailure",
    "Cost",
    "EvaluationError",
    "Undecided",
    "Unmodelled",
    "place",
]


@dataclass(frozen=True, slots=True)
class CompileFailure:
    """The API server refuses the expression; `message` is without the position."""

    message: str
    offset: int
    line: int
    column: int

    def caret(self, expression: str) -> str:
        """The line of the expression and a caret below the place, as cel-go shows them."""
        line = expression.split("\n")[self.line - 1]
        return f"{line}\n{'.' * (self.column - 1)}^"


@dataclass(frozen=True, slots=True)
class Undecided:
    """What Kubernetes would say is not known here; no finding may be built on it."""

    reason: str


@dataclass(frozen=True, slots=True)
class EvaluationError:
    """The expression ends in a run-time error; for a device selector that aborts the allocation."""

    message: str


@dataclass(frozen=True, slots=True)
class Cost:
    """A range of cost units, or of sizes; `UNBOUNDED` as maximum means that there is none.

    The arithmetic is that of cel-go's checker: on 64 unsigned bits, and where it would run over it
    stays at the largest number.
    """

    min: int
    max: int

    @classmethod
    def fixed(cls, amount: int) -> Cost:
        """Exactly that much."""
        return cls(amount, amount)

    def __add__(self, other: Cost) -> Cost:
        return Cost(_clip(self.min + other.min), _clip(self.max + other.max))

    def __mul__(self, other: Cost) -> Cost:
        return Cost(_clip(self.min * other.min), _clip(self.max * other.max))

    def scaled(self, factor: float) -> Cost:
        """Times a factor, rounded up."""
        return Cost(_clip(math.ceil(self.min * factor)), _clip(math.ceil(self.max * factor)))

    def __or__(self, other: Cost) -> Cost:
        """The range that covers both."""
        return Cost(min(self.min, other.min), max(self.max, other.max))


UNBOUNDED = 2**64 - 1


def _clip(amount: int) -> int:
    return min(amount, UNBOUNDED)


class Unmodelled(Exception):
    """Raised where an implementation can't follow Kubernetes; the outcome is then Undecided."""


def place(message: str, expression: str, offset: int) -> CompileFailure:
    """A failure at an offset of the expression."""
    before = expression[:offset]
    line_start = before.rfind("\n") + 1
    return CompileFailure(message, offset, before.count("\n") + 1, offset - line_start + 1)
