"""What an allocation can come to. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal, TypeAlias

from dracfg.allocate.claims import ClaimAllocation
from dracfg.dataclass import dataclass

FailureKind: TypeAlias = Literal[
    "feature-disabled",
    "missing-class",
    "too-many-devices",
    "pool-incomplete",
    "pool-invalid",
    "cel-compile",
    "cel-runtime",
    "unknown-constraint",
    "constraint-unsatisfied",
    "capacity",
    "derived-attribute",
    "panic",
]
"""The errors of the allocator by their cause, so that wording may differ between minors."""


@dataclass(frozen=True, slots=True)
class Allocation:
    """The node can have all claims: one result for each pending claim, in their order."""

    results: tuple[ClaimAllocation, ...]


@dataclass(frozen=True, slots=True)
class Unsatisfiable:
    """The node can't have the claims.

    `invalid_pools`: an invalid pool was passed over, which the scheduler tells of if no node fits.
    """

    reason: str
    invalid_pools: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """An error: the scheduler gives the pod up for this round without trying further nodes."""

    kind: FailureKind
    message: str
    claim: str = ""
    request: str = ""


@dataclass(frozen=True, slots=True)
class Undecided:
    """What Kubernetes would do is not known: the budget ended after `steps`, or a fact is missing."""

    reason: str
    steps: int = 0


Outcome: TypeAlias = "Allocation | Unsatisfiable | Failed | Undecided"


@dataclass(frozen=True, slots=True)
class NodeChoice:
    """What came of trying nodes.

    `outcome` is that of the chosen `node`, or an error or doubt that ended the trial; `nodes`
    says for each node that was tried and not chosen why it does not fit, or its score where it
    does.
    """

    node: str | None
    outcome: Outcome
    score: int = 0
    nodes: Mapping[str, Outcome] = field(default_factory=dict)


class Stop(Exception):
    """Carries an outcome that ends a search from within it."""

    def __init__(self, outcome: Failed | Undecided) -> None:
        super().__init__(outcome)
        self.outcome = outcome
