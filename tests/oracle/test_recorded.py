"""dracfg's allocator against recorded answers of Kubernetes' own, of every supported minor."""

import pytest

from tests.oracle import ours
from tests.oracle.answers import of_upstream
from tests.oracle.draw import MINORS, Object
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
