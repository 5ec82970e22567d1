"""Gates: what holds, what blocks and by how much, what halts, and that silence is no pass."""

from __future__ import annotations

import math

import pytest

from dracfg.kube.quantity import Quantity
from dracfg.link.gates import AskedGate, asked_gates
from dracfg.link.measures import Limit, Way
from dracfg.rollout.gates import Answer, both, judge_gates, verdict_of
from dracfg.rollout.recorded import EvidenceFile, NotEvidence, read_evidence


def gate(
    limit: str = "0.01",
    halt: str | None = None,
    name: str = "errors",
    directions: tuple[Way, ...] = ("forward",),
) -> AskedGate:
    def threshold(text: str) -> Limit:
        return text if text[-1] in "smhd" else Quantity.parse(text)

    outer = None if halt is None else threshold(halt)
    return AskedGate(name, "sum(errors)", None, threshold(limit), outer, None, directions, 0)


@pytest.mark.parametrize(
    ("limit", "values", "verdict", "says"),
    [
        ("0.01", (0.01,), "passed", "0.01 within 0.01"),
        ("0.01", (0.0, 0.042), "failed", "0.042 above 0.01 by 0.032"),
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
    assert judged.says == says


def test_a_gate_that_nobody_answered_blocks() -> None:
    (judged,) = judge_gates([gate()], {})
    assert not judged.holds
    assert verdict_of([judged]) == "missing"


@pytest.mark.parametrize(("value", "halts"), [(0.05, False), (0.06, True), (0.0, False)])
def test_the_outer_limit_halts(value: float, halts: bool) -> None:
    (judged,) = judge_gates([gate("0.01", "0.05")], {"errors": Answer((value,))})
    assert judged.halts is halts


def test_beyond_the_outer_limit_halts_though_another_value_is_missing() -> None:
    answer = both(Answer((0.06,)), Answer(trouble="no sample on east"))
    (judged,) = judge_gates([gate("0.01", "0.05")], {"errors": answer})
    assert (judged.verdict, judged.halts) == ("missing", True)


def test_what_was_counted_is_told_where_it_fails() -> None:
    answer = both(Answer((0.0,), note="on east"), Answer((3.0,), note="on west"))
    (judged,) = judge_gates([gate("0")], {"errors": answer})
    assert judged.says == "3 above 0 by 3 (on east; on west)"


def test_ways_have_gates_of_their_own() -> None:
    forward, back = gate(), gate(name="drained", directions=("rollback",))
    assert asked_gates((forward, back), "forward") == (forward,)
    assert asked_gates((forward, back), "halted") == (forward,)
    assert asked_gates((forward, back), "rollback") == (back,)


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
    data = {"at": "2026-11-29T22:00:00Z", "gates": {"errors": value}}
    found = read_evidence([EvidenceFile("e.yaml", b"", data)])
    assert found.by_gate["errors"] == Answer(values, trouble)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ([], "no map `gates`"),
        ({"gates": {}}, "doesn't say when"),
        ({"gates": {}, "at": "yesterday"}, "doesn't say when"),
        ({"gates": {1: 2}, "at": "2026-11-29T22:00:00Z"}, "not text"),
        ({"gates": {}, "at": "2026-11-29T22:00:00Z", "source": 1}, "not text"),
        ({"kind": "AuditReport", "findings": []}, "AuditReport in e.yaml has no `ledger`"),
        ({"kind": "TestReport", "results": []}, "TestReport in e.yaml has no `verdict`"),
        ({"kind": "CheckReport", "findings": []}, "no report of dracfg audit or test"),
        ({"trials": []}, "doesn't say when"),
        ({"trials": [{"capacity": "memory"}], "at": "2026-11-29T22:00:00Z"}, "lacks capacity"),
        ({"trials": [], "driver": 1, "at": "2026-11-29T22:00:00Z"}, "not text"),
    ],
)
def test_what_is_no_evidence(data: object, says: str) -> None:
    with pytest.raises(NotEvidence, match=says):
        read_evidence([EvidenceFile("e.yaml", b"", data)])


def test_files_are_as_old_as_the_oldest_of_them() -> None:
    """A report of tests is of the catalog and has no moment."""
    files = [
        EvidenceFile(f"{i}.json", b"", {"at": f"2026-11-29T{hour}:00:00Z", "gates": {}})
        for i, hour in enumerate(("22", "21", "23"))
    ]
    report = EvidenceFile("t.json", b"", {"kind": "TestReport", "verdict": "proven", "results": []})
    found = read_evidence([*files, report])
    assert found.at == "2026-11-29T21:00:00Z"
    assert found.source == "0.json, 1.json, 2.json, t.json"
    assert read_evidence([report]).at is None
