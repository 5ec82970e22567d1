"""What a proof comes to. A verdict carries what convinces a reader who trusts none of the search."""

from __future__ import annotations

from typing import Generic, Literal, TypeVar

from dracfg.dataclass import dataclass

C = TypeVar("C")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Proven(Generic[C]):
    """`certificate` can be checked without repeating the search."""

    certificate: C

    @property
    def word(self) -> Literal["proven"]:
        return "proven"


@dataclass(frozen=True, slots=True)
class Refuted(Generic[R]):
    """`reason` is a counter-example, or the bound that rules every arrangement out."""

    reason: R

    @property
    def word(self) -> Literal["refuted"]:
        return "refuted"


@dataclass(frozen=True, slots=True)
class Unknown:
    """Not decided. `why` is a sentence for people; `budget` is how many states were looked
    at, 0 where no search could tell; `mend` is what would let it be proven.
    """

    why: str
    budget: int
    mend: str = ""

    @property
    def word(self) -> Literal["unknown"]:
        return "unknown"


class OutOfBudget(Exception):
    """A search that gave up."""


class Budget:
    """Counts states of one search. Raises OutOfBudget when they are spent."""

    __slots__ = ("most", "spent")

    def __init__(self, most: int) -> None:
        self.most = most
        self.spent = 0

    def spend(self, states: int = 1) -> None:
        self.spent += states
        if self.spent > self.most:
            raise OutOfBudget
