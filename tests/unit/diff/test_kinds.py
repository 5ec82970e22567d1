"""Every kind of change that follows from the catalog or runs beneath is told by some case."""

from typing import get_args

import pytest

from dracfg.diagnostics.registry import rules
from dracfg.diff.change import Effect, Flag, Impact, change_kinds
from dracfg.packaged import read_data
from tests.unit.diff import (
    test_classes,
    test_drivers,
    test_gates,
    test_guards,
    test_limits,
    test_matches,
    test_metadata,
    test_minors,
    test_policies,
    test_proofs,
    test_rolloutsteps,
    test_templates,
    test_transitions,
)
from tests.unit.diff.pairs import kinds_of

CHANGES = (
    test_classes.CASES,
    test_limits.CASES,
    test_matches.CASES,
    test_proofs.CASES,
    test_templates.CASES,
    test_policies.CASES,
    test_drivers.CASES,
    test_minors.CASES,
    test_gates.CASES,
    test_metadata.CASES,
    test_guards.KUEUE,
    test_guards.HANDOVERS,
    test_guards.PROTECTION,
    test_guards.ROLES,
)
STEPS = (
    *(table for _, table in test_transitions.TABLES),
    test_rolloutsteps.STAGES,
    test_rolloutsteps.COMPANIONS,
    test_metadata.STEPS,
)
_OF_OBJECTS = ("object-", "objects-")
"""Kinds of single objects, as comparisons without a catalog tell them."""
FILES = ("language", "effects", "platform")


def _kinds(file: str) -> dict[str, dict[str, object]]:
    kinds: dict[str, dict[str, object]] = read_data("dracfg.diff", f"data/changes/{file}.yaml")
    return kinds


@pytest.mark.parametrize("file", ["effects", "platform"])
def test_every_kind_is_told_by_some_case(file: str) -> None:
    known = {name for name in _kinds(file) if not name.startswith(_OF_OBJECTS)}
    assert known - set(kinds_of(CHANGES)) == set()


def test_every_step_is_told_by_some_case() -> None:
    codes = {code for code in rules() if code.startswith("DIF") and code < "DIF030"}
    assert codes - set(kinds_of(STEPS)) == set()


def test_no_kind_stands_in_two_files() -> None:
    assert sum(len(_kinds(file)) for file in FILES) == len(change_kinds())


@pytest.mark.parametrize("file", ["effects", "platform"])
def test_the_words_of_a_kind(file: str) -> None:
    for name, facts in _kinds(file).items():
        assert facts["impact"] in {impact.word for impact in Impact}, name
        assert facts["effect"] in get_args(Effect), name
        assert set(facts.get("flags", ())) <= set(get_args(Flag)), name  # type: ignore[call-overload]
        assert str(facts["means"]).endswith("."), name
        assert not str(facts["wayBack"]).endswith("."), name
        assert "—" not in str(facts), name
