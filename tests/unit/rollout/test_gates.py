"""Gates: what holds, what blocks and by how much, what halts, and that silence is no pass."""

from __future__ import annotations

import math

import pytest

from dracfg.kube.quantity import Quantity
from dracfg.model.rollout import Gate
from dracfg.rollout.gates import Answer, asked, judge_gates, verdict_of
from dracfg.rollout.recorded import NotEvidence, answers_of


def gate(limit: str = "0.01", halt: str | None = None, **more: object) -> Gate:
    def threshold(text: str) -> Quantity | str:
        return text if text[-1] in "smhd" else Quantity.parse(text)

    return Gate.model_validate(
        {
            "name": "errors",
            "promql": "sum(errors)",
            "max": threshold(limit),
            "halt": None if halt is None else threshold(halt),
        }
        | more
    )


@pytest.mark.parametrize(
    ("limit", "values", "verdict", "says"),
    [
        ("0.01", (0.01,), "passed", "0.01 within 0.01"),
        ("0.01", (0.0, 0.042), "failed", "0.042 above 10m by 0.032"),
        ("30s", (12.0,), "passed", "12s within 30s"),
        ("30s", (42.5,), "failed", "42.5s above 30s by 12.5s"),
        ("1m30s", (90.0,), "passed", "90s within 1m30s"),
        ("0", (), "missing", "no data: the query gave no sample"),
        ("0", (0.0, math.nan), "missing", "no data: a sample is not a number"),
        ("0", (math.inf,), "failed", "inf above 0 by inf"),
    ],
)
def test_a_gate(limit: str, values: tuple[float, ...], verdict: str, says: str) -> None:
    (judged,) = judge_gates([gate(limit)], {"errors": Answer(values)})
    assert judged.verdict == verdict
    assert judged.says.replace("10m", "0.01") == says.replace("10m", "0.01")


def test_a_gate_that_nobody_answered_blocks() -> None:
    (judged,) = judge_gates([gate()], {})
    assert not judged.holds
    assert verdict_of([judged]) == "missing"


@pytest.mark.parametrize(("value", "halts"), [(0.05, False), (0.06, True), (0.0, False)])
def test_the_outer_limit_halts(value: float, halts: bool) -> None:
    (judged,) = judge_gates([gate("0.01", "0.05")], {"errors": Answer((value,))})
    assert judged.halts is halts


def test_ways_have_gates_of_their_own() -> None:
    forward, back = gate(), gate(name="drained", directions=("rollback",))
    assert asked([forward, back], "forward") == (forward,)
    assert asked([forward, back], "halted") == (forward,)
    assert asked([forward, back], "rollback") == (back,)


@pytest.mark.parametrize(
    ("value", "values", "trouble"),
    [
        (0.5, (0.5,), None),
        ("12s", (12.0,), None),
        ([1, 2], (1.0, 2.0), None),
        (None, (), None),
        ("soon", (), "'soon' is neither a number nor a length of time"),
        (True, (), "True is neither a number nor a length of time"),
        ("0s", (0.0,), None),
    ],
)
def test_answers_from_a_file(value: object, values: tuple[float, ...], trouble: str | None) -> None:
    found = answers_of({"at": "2026-11-29T22:00:00Z", "gates": {"errors": value}}, b"", "e.yaml")
    assert found.by_gate["errors"] == Answer(values, trouble)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ([], "no map `gates`"),
        ({"gates": {}}, "doesn't say when"),
        ({"gates": {}, "at": "yesterday"}, "doesn't say when"),
        ({"gates": {1: 2}, "at": "2026-11-29T22:00:00Z"}, "not text"),
    ],
)
def test_what_is_no_evidence(data: object, says: str) -> None:
    with pytest.raises(NotEvidence, match=says):
        answers_of(data, b"", "e.yaml")
