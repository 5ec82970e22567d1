"""Compares dracfg's allocator with Kubernetes' own on generated cases.

Run: python -m tests.oracle.compare --minor 1.36 --seed 7 --cases 200000 --jobs 2. Prints what came
out, and writes each difference, made small, as a file. Ends with 1 where there was one.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.oracle import ours
from tests.oracle.answers import Answer, of_upstream
from tests.oracle.cases import make_case
from tests.oracle.draw import MINORS, Object
from tests.oracle.shrinking import shrink
from tests.oracle.upstream import BUILT, Unavailable, Upstream, build

CHUNK = 100
UNDECIDED = "dracfg undecided"
MOST_SHRUNK = 5
"""Differences that are made small in one chunk; all are counted."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A case on which the two answer differently, and what they say."""

    number: int
    case: Object
    upstream: Answer
    dracfg: Answer


@dataclass(slots=True)
class Tally:
    """What came of some cases: how often which outcome of upstream, and the differences."""

    outcomes: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.outcomes += other.outcomes
        self.differences += other.differences

    @property
    def summary(self) -> str:
        """One line: the share of each outcome, and the number of differences."""
        cases = sum(n for name, n in self.outcomes.items() if name != UNDECIDED)
        shares = [f"{name} {100 * n / cases:.1f} %" for name, n in self.outcomes.most_common()]
        return f"{cases:,} cases: {', '.join(shares)}; {len(self.differences)} differences"


def compare(minor: str, seed: int, numbers: range) -> Tally:
    """Puts the cases of these numbers to both allocators."""
    tally = Tally()
    with Upstream(minor) as upstream:
        for number in numbers:
            case = make_case(minor, seed, number)
            expected, found = of_upstream(upstream.ask(case)), ours.ask(case)
            tally.outcomes[expected.outcome] += 1
            tally.outcomes[UNDECIDED] += found.outcome == "open"
            if not expected.agrees(found):
                difference = Difference(number, case, expected, found)
                if len(tally.differences) < MOST_SHRUNK:
                    difference = _smallest(upstream, difference)
                tally.differences.append(difference)
    return tally


def compare_many(minor: str, seed: int, numbers: range, jobs: int) -> Iterator[Tally]:
    """Cases of one seed, by several processes; one tally for each part of them."""
    parts = [numbers[start : start + CHUNK] for start in range(0, len(numbers), CHUNK)]
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(partial(compare, minor, seed), parts)


def write(difference: Difference, minor: str, seed: int, directory: Path) -> Path:
    """The difference as a file: the case, and both answers."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{minor}-{seed}-{difference.number}.json"
    said = {
        name: {"outcome": answer.outcome, "detail": answer.detail}
        for name, answer in (("upstream", difference.upstream), ("dracfg", difference.dracfg))
    }
    path.write_text(json.dumps({**said, "case": difference.case}, indent=1) + "\n")
    return path


def _smallest(upstream: Upstream, difference: Difference) -> Difference:
    """A part of the case on which both still say other things, of the same sort as at first."""
    wanted = _sort(difference.upstream), _sort(difference.dracfg)

    def differs(case: Object) -> bool:
        try:
            found = ours.ask(case)
        except (ours.Refused, KeyError):
            return False
        expected = of_upstream(upstream.ask(case))
        return not expected.agrees(found) and (_sort(expected), _sort(found)) == wanted

    case = shrink(difference.case, differs)
    return Difference(difference.number, case, of_upstream(upstream.ask(case)), ours.ask(case))


def _sort(answer: Answer) -> str:
    return answer.outcome if answer.outcome == "allocated" else f"{answer.outcome} {answer.detail}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.compare")
    parser.add_argument("--minor", choices=MINORS, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--differences", type=Path, default=BUILT / "differences")
    asked = parser.parse_args()
    try:
        build(asked.minor)
    except Unavailable as reason:
        sys.exit(str(reason))
    tally = Tally()
    numbers = range(asked.first, asked.first + asked.cases)
    for part in compare_many(asked.minor, asked.seed, numbers, asked.jobs):
        tally.add(part)
        for difference in part.differences:
            print(write(difference, asked.minor, asked.seed, asked.differences), flush=True)
    print(f"{asked.minor}, seed {asked.seed}, from {asked.first}: {tally.summary}")
    return 1 if tally.differences else 0


if __name__ == "__main__":
    sys.exit(main())
