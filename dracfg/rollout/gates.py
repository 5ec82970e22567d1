"""What was measured → whether the next step may be taken, and whether the rollout must be halted.

A gate without data does not hold: silence is no pass. Knows nothing of where answers come from.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from typing import Literal

from dracfg.model.rollout import Direction, Gate, Reading
from dracfg.source.times import parse_length

Verdict = Literal["passed", "failed", "missing"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a source said about one gate: values in the unit of the query, or why there are none."""

    values: tuple[float, ...] = ()
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """One gate against what was measured. `halts` says that its outer limit is crossed."""

    gate: Gate
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
            limit=str(self.gate.max),
            passed=self.holds,
        )

    @property
    def says(self) -> str:
        """`0.042 above 0.01 by 0.032`, `12s within 30s`, `no data: …`."""
        if self.worst is None:
            return f"no data: {self.answer.trouble or 'the query gave no sample'}"
        value = shown(self.worst, self.gate)
        if self.holds:
            return f"{value} within {self.gate.max}"
        over = shown(self.worst - float(limit(self.gate.max)), self.gate)
        return f"{value} above {self.gate.max} by {over}"


def asked(gates: Iterable[Gate], direction: Direction) -> tuple[Gate, ...]:
    """The gates of a way; a halted rollout goes on forward."""
    way = "rollback" if direction == "rollback" else "forward"
    return tuple(gate for gate in gates if way in gate.directions)


def judge_gates(gates: Iterable[Gate], answers: Mapping[str, Answer]) -> tuple[Judged, ...]:
    """Every gate with what was measured; one that nobody answered has no data."""
    return tuple(
        _judge(gate, answers.get(gate.name, Answer(trouble="not asked"))) for gate in gates
    )


def verdict_of(judged: Iterable[Judged]) -> Verdict:
    """failed where a gate does not hold, missing where one has no data, else passed."""
    verdicts = {one.verdict for one in judged}
    return next((word for word in ("failed", "missing") if word in verdicts), "passed")


def limit(threshold: object) -> Fraction:
    """A threshold as a number in the unit of its query: seconds for a length of time."""
    if isinstance(threshold, str):
        length: timedelta = parse_length(threshold)
        return Fraction(length // timedelta(microseconds=1), 1_000_000)
    return Fraction(threshold.nano, 10**9)  # type: ignore[attr-defined]  # a quantity


def shown(value: float, gate: Gate) -> str:
    """A value as its limit is written: with an s for seconds, at most four digits that matter."""
    number = f"{value:.4g}"
    return f"{number}s" if isinstance(gate.max, str) else number


def _judge(gate: Gate, answer: Answer) -> Judged:
    values = [value for value in answer.values if not math.isnan(value)]
    if answer.trouble is not None or not values or len(values) < len(answer.values):
        trouble = answer.trouble or (None if not answer.values else "a sample is not a number")
        return Judged(gate, Answer(answer.values, trouble), None, holds=False, halts=False)
    worst = max(values)
    beyond = gate.halt is not None and worst > float(limit(gate.halt))
    return Judged(gate, answer, worst, holds=worst <= float(limit(gate.max)), halts=beyond)
