"""dracfg's allocator against recorded answers of Kubernetes' own, of every supported minor."""

from pathlib import Path

import pytest
import yaml

from tests.oracle import ours
from tests.oracle.answers import of_upstream
from tests.oracle.draw import MINORS, Object
from tests.oracle.flips import flips_of, tells
from tests.oracle.record import recorded


@pytest.mark.parametrize(
    ("case", "answer"),
    [
        pytest.param(one["case"], one["answer"], id=f"{minor}-{number}")
        for minor in MINORS
        for number, one in enumerate(recorded(minor))
    ],
)
def test_the_recorded_answer_is_given(case: Object, answer: Object) -> None:
    found = ours.ask(case)
    assert found.outcome != "open"
    assert found == of_upstream(answer)


def test_recorded_cases_are_many_and_different() -> None:
    found = [(minor, one) for minor in MINORS for one in recorded(minor)]
    assert len(found) >= 500
    outcomes = {(minor, of_upstream(one["answer"]).outcome) for minor, one in found}
    assert outcomes == {(m, o) for m in MINORS for o in ("allocated", "none", "error")}


UNTOLD = yaml.safe_load((Path(__file__).parent / "untold.yaml").read_text("utf-8"))


@pytest.mark.parametrize("minor", UNTOLD)
def test_recorded_cases_notice_what_may_go_wrong(minor: str) -> None:
    """An allocator that differs in one thing gives another answer to some case of the minor."""
    witnesses = {flip: one for one in recorded(minor) for flip in one["told"]}
    for flip in flips_of(minor):
        one = witnesses.get(str(flip))
        assert (one is None) == (str(flip) in UNTOLD[minor]), flip
        if one is not None:
            assert tells(ours.question(one["case"]), flip, of_upstream(one["answer"])), flip
