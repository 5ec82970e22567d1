"""Records cases with the answers of Kubernetes' own allocator, for where there is no Go.

Run: python -m tests.oracle.record. Writes tests/oracle/recorded/<minor>.json.gz anew.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.oracle import ours
from tests.oracle.answers import Answer, of_upstream
from tests.oracle.cases import make_case
from tests.oracle.draw import MINORS, Object
from tests.oracle.upstream import Upstream

RECORDED = Path(__file__).parent / "recorded"
SEED = 0
WANTED = {"allocated": 65, "none": 30, "error": 30}
MOST_OF_A_KIND = 5
"""Errors of one kind in one minor."""


def recorded(minor: str) -> list[Object]:
    """The recorded cases of a minor: `case`, and the `answer` of the Go program to it."""
    text = gzip.decompress((RECORDED / f"{minor}.json.gz").read_bytes())
    found: list[Object] = json.loads(text)
    return found


def _choose(minor: str) -> Iterator[Object]:
    """The first cases of the seed that give the wanted outcomes, and errors of many kinds.

    Those that take dracfg longer than its budget are left out: they would decide nothing.
    """
    left, kinds = Counter(WANTED), Counter[str]()
    number = 0
    with Upstream(minor) as upstream:
        while left.total() and number < 20_000:
            case = make_case(minor, SEED, number)
            number += 1
            said = upstream.ask(case)
            answer = of_upstream(said)
            if (
                left[answer.outcome]
                and kinds[_kind(answer)] < MOST_OF_A_KIND
                and ours.ask(case).outcome != "open"
            ):
                left[answer.outcome] -= 1
                kinds[_kind(answer)] += answer.outcome == "error"
                yield {"case": case, "answer": said}


def _kind(answer: Answer) -> str:
    return f"{answer.outcome} {answer.detail}" if answer.outcome == "error" else answer.outcome


def main() -> None:
    RECORDED.mkdir(exist_ok=True)
    for minor in MINORS:
        chosen = list(_choose(minor))
        text = json.dumps(chosen, separators=(",", ":"), sort_keys=True).encode()
        path = RECORDED / f"{minor}.json.gz"
        path.write_bytes(gzip.compress(text, mtime=0))
        print(f"{path.name}: {len(chosen)} cases, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
