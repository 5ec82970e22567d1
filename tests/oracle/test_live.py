"""dracfg's allocator against Kubernetes' own on generated cases; needs go, and its modules."""

import os
from pathlib import Path

import pytest

from tests.oracle.compare import Tally, compare_many, write
from tests.oracle.draw import MINORS
from tests.oracle.upstream import BUILT, Unavailable, build

CASES = int(os.environ.get("DRACFG_ORACLE_CASES", "300"))
SEED = 20_261_129


@pytest.mark.parametrize("minor", MINORS)
def test_both_allocators_answer_the_same(minor: str) -> None:
    try:
        build(minor)
    except Unavailable as reason:
        pytest.skip(str(reason))
    tally = Tally()
    for part in compare_many(minor, SEED, range(CASES), os.cpu_count() or 1):
        tally.add(part)
    print(tally.summary)
    directory: Path = BUILT / "differences"
    files = [str(write(one, minor, SEED, directory)) for one in tally.differences]
    assert not files, f"{tally.summary}; made small, with both answers: {', '.join(files)}"
    assert tally.outcomes["allocated"] > CASES / 5
    assert tally.outcomes["open"] < CASES / 4
