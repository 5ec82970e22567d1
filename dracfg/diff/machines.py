"""The state machines of `data/transitions.yaml`: which step may follow, and the way to where one wants.

Knows no document.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cache
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.packaged import read_data


@dataclass(frozen=True, slots=True)
class Machine:
    """States with the steps that one commit may take from each."""

    steps: Mapping[str, tuple[str, ...]]
    reasons: Mapping[str, str] = field(default_factory=dict)

    def allows(self, before: str, after: str) -> bool:
        """Whether a commit may lead from one state to another; staying is always allowed."""
        return before == after or after in self.steps.get(before, ())

    def way(self, before: str, after: str) -> tuple[str, ...]:
        """The states of the shortest legal way, without the first; empty where none leads there."""
        found: dict[str, tuple[str, ...]] = {before: ()}
        queue = deque([before])
        while queue:
            state = queue.popleft()
            if state == after:
                return found[state]
            for following in self.steps.get(state, ()):
                if following not in found:
                    found[following] = (*found[state], following)
                    queue.append(following)
        return ()

    def why(self, states: Sequence[str]) -> str:
        """Why the states on a way may not be left out; empty where nothing is said of them."""
        return "; ".join(self.reasons[state] for state in states if state in self.reasons)


def machine(name: str) -> Machine:
    """The machine of that name; KeyError for any other."""
    entry = transition_data()[name]
    steps = {state: tuple(following) for state, following in entry["steps"].items()}
    return Machine(steps, entry.get("reasons", {}))


@cache
def transition_data() -> Mapping[str, Any]:
    """The data file, read once."""
    data: Mapping[str, Any] = read_data("dracfg.diff", "data/transitions.yaml")
    return data


def in_turn(states: Sequence[str]) -> str:
    """`frozen, then draining, then removed`."""
    return ", then ".join(states)
