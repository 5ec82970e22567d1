"""What was measured → whether the next step may be taken, and whether the rollout must be halted.

A gate without data does not hold: silence is no pass. Knows nothing of where answers come from.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Literal

from dracfg.dataclass import dataclass
from dracfg.link.gates import AskedGate, in_units
from dracfg.link.measures import Limit
from dracfg.model.rollout import Reading

Verdict = Literal["passed", "failed", "missing"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What sources said about one gate: values in the unit of the gate, or why there are none.

    `note` says what a value is made of, such as the names of what was counted.
    """

    values: tuple[float, ...] = ()
    trouble: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """One gate against what was measured. `halts` says that its outer limit is crossed."""

    gate: AskedGate
    answer: Answer
    worst: float | None
    holds: bool
    halts: bool

    @property
    def verdict(self) -> Verdict:
        if self.worst is None:
            return "missing"
        return "passed" if self.holds else "failed"

    @property
    def reading(self) -> Reading:
        """As it is written into the Rollout."""
        return Reading(
            gate=self.gate.name,
            value=None if self.worst is None else shown(self.worst, self.gate),
            limit=written(self.gate.max),
            passed=self.holds,
        )

    @property
    def says(self) -> str:
        """`0.042 above 0.01 by 0.032`, `12s within 30s`, `no data: …`; what was counted stands behind."""
        if self.worst is None:
            return f"no data: {self.answer.trouble or 'the query gave no sample'}"
        value, most = shown(self.worst, self.gate), written(self.gate.max)
        note = f" ({self.answer.note})" if self.answer.note else ""
        if self.holds:
            return f"{value} within {most}"
        over = shown(self.worst - in_units(self.gate.max), self.gate)
        return f"{value} above {most} by {over}{note}"


def both(first: Answer | None, second: Answer) -> Answer:
    """Two answers about one gate as one: values beside each other, trouble of either."""
    if first is None:
        return second
    notes = [answer.note for answer in (first, second) if answer.note]
    return Answer(
        (*first.values, *second.values), first.trouble or second.trouble, "; ".join(notes) or None
    )


def judge_gates(gates: Iterable[AskedGate], answers: Mapping[str, Answer]) -> tuple[Judged, ...]:
    """Every gate with what was measured; one that nobody answered has no data."""
    return tuple(
        _judge(gate, answers.get(gate.name, Answer(trouble="not asked"))) for gate in gates
    )


def verdict_of(judged: Iterable[Judged]) -> Verdict:
    """failed where a gate does not hold, missing where one has no data, else passed."""
    verdicts = {one.verdict for one in judged}
    return next((word for word in ("failed", "missing") if word in verdicts), "passed")


def written(threshold: Limit) -> str:
    """A threshold as people write it: `30s`, `0.01`."""
    if isinstance(threshold, str):
        return threshold
    whole, rest = divmod(threshold.nano, 10**9)
    return f"{whole}.{rest:09}".rstrip("0") if rest else str(whole)


def shown(value: float, gate: AskedGate) -> str:
    """A value as its limit is written: with an s for seconds, at most four digits that matter."""
    number = f"{value:.4g}"
    return f"{number}s" if gate.in_seconds else number


def _judge(gate: AskedGate, answer: Answer) -> Judged:
    values = [value for value in answer.values if not math.isnan(value)]
    if answer.trouble is not None or not values or len(values) < len(answer.values):
        trouble = answer.trouble or (None if not answer.values else "a sample is not a number")
        silent = Answer(answer.values, trouble, answer.note)
        return Judged(gate, silent, None, holds=False, halts=_is_beyond(gate, values))
    worst = max(values)
    holds = worst <= in_units(gate.max)
    return Judged(gate, answer, worst, holds=holds, halts=_is_beyond(gate, values))


def _is_beyond(gate: AskedGate, values: list[float]) -> bool:
    """Whether a value crosses the outer limit, whatever is missing beside it."""
    return gate.halt is not None and any(value > in_units(gate.halt) for value in values)
