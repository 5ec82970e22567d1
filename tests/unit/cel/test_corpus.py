"""Every expression of the corpus comes to what it says there, on both engines."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from dracfg.cel import (
    CompileFailure,
    DeviceFacts,
    EvaluationError,
    Program,
    Undecided,
    device_environment,
)
from dracfg.cel.engines import checking_engine, interpreting_engine

CORPUS = yaml.safe_load(Path(__file__).with_name("corpus.yaml").read_text("utf-8"))
DEVICES = {
    name: DeviceFacts.from_device(entry["driver"], entry["device"])
    for name, entry in CORPUS["devices"].items()
}


def name_of(case: dict[str, Any]) -> str:
    return f"{case['expression'][:60]} {case.get('minor', '')}{case.get('gates', '')}"


def outcome(case: dict[str, Any], engine: Any) -> dict[str, Any]:
    environment = device_environment(
        case.get("minor", "1.36"), frozenset(case.get("gates", ())), engine
    )
    program = environment.compile(case["expression"], stored=case.get("stored", False))
    if isinstance(program, CompileFailure):
        return {"refused": program.column}
    if isinstance(program, Undecided):
        return {"undecided": "compile"}
    match = program.matches(DEVICES[case.get("device", "gpu")])
    if isinstance(match, Undecided):
        return {"undecided": "evaluate"}
    return {"error": match.message} if isinstance(match, EvaluationError) else {"value": match}


def check(got: dict[str, Any], wanted: dict[str, Any]) -> None:
    wanted = {key: value for key, value in wanted.items() if key != "because"}
    if "error" in wanted and "error" in got:
        assert wanted["error"] in got["error"]
    else:
        assert got == wanted


@pytest.mark.parametrize("case", CORPUS["cases"], ids=name_of)
def test_checking_engine(case: dict[str, Any]) -> None:
    check(outcome(case, checking_engine()), case["expect"])


@pytest.mark.parametrize("case", CORPUS["cases"], ids=name_of)
def test_interpreting_engine(case: dict[str, Any]) -> None:
    check(outcome(case, interpreting_engine()), case.get("cel-python", case["expect"]))


def test_differences_have_a_reason_and_never_contradict() -> None:
    """Without types the second engine may say less, but it refuses nothing that is right."""
    for case in CORPUS["cases"]:
        other = case.get("cel-python")
        if other is None:
            continue
        assert other["because"], case["expression"]
        assert "refused" not in other or "refused" in case["expect"], case["expression"]
        if "value" in other:
            assert "value" not in case["expect"], case["expression"]


def test_the_corpus_is_broad() -> None:
    kinds = [next(iter(case["expect"])) for case in CORPUS["cases"]]
    assert len(kinds) >= 250
    assert {kind: kinds.count(kind) >= 5 for kind in set(kinds)} == dict.fromkeys(
        ("value", "error", "refused", "undecided"), True
    ) | {"undecided": kinds.count("undecided") >= 5}


def test_a_program_is_reused() -> None:
    program = device_environment("1.36", frozenset()).compile('device.driver == "gpu.example.com"')
    assert isinstance(program, Program)
    assert [program.matches(DEVICES[name]) for name in ("gpu", "nic", "gpu")] == [True, False, True]
