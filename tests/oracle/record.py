"""Records cases with the answers of Kubernetes' own allocator, for where there is no Go.

Run: python -m tests.oracle.record [MINOR ...]. Writes tests/oracle/recorded/<minor>.json.gz anew.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.oracle import ours
from tests.oracle.answers import Answer
from tests.oracle.cases import make_case
from tests.oracle.draw import MINORS, Object
from tests.oracle.flips import Flip, flips_of, told
from tests.oracle.upstream import Upstream

RECORDED = Path(__file__).parent / "recorded"
SEED = 0
GENERATED = 3_000
"""Cases of a minor that are looked through."""
WANTED = {"allocated": 65, "none": 30, "error": 30}
WITNESSES = 3
"""Cases of a minor that notice a flip, where so many were generated."""
MOST_OF_A_KIND = 5
"""Errors of one kind in one minor, besides the witnesses."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A generated case by its number, dracfg's answer to it, and the flips that change the answer.

    Flips that earlier cases notice often enough are not looked at, and not named.
    """

    number: int
    answer: Answer
    told: tuple[Flip, ...]

    @property
    def kind(self) -> str:
        outcome, detail = self.answer.outcome, self.answer.detail
        return f"{outcome} {detail}" if outcome == "error" else outcome


def recorded(minor: str) -> list[Object]:
    """The recorded cases of a minor: `case`, the `answer` of the Go program, and the flips `told`."""
    text = gzip.decompress((RECORDED / f"{minor}.json.gz").read_bytes())
    found: list[Object] = json.loads(text)
    return found


def _candidates(minor: str) -> list[_Candidate]:
    """The cases that dracfg decides within its budget; others would decide nothing."""
    missing = Counter(dict.fromkeys(flips_of(minor), WITNESSES))
    found = []
    for number in range(GENERATED):
        wanted = [flip for flip, left in missing.items() if left > 0]
        answer, changed = told(ours.question(make_case(minor, SEED, number)), wanted)
        if answer.outcome != "open":
            missing.subtract(changed)
            found.append(_Candidate(number, answer, changed))
    print(f"{minor}: not told by {WITNESSES} cases: {', '.join(map(str, +missing)) or 'none'}")
    return found


def _choose(candidates: list[_Candidate]) -> list[_Candidate]:
    """The witnesses, and the first others that give the wanted outcomes, and errors of many kinds."""
    chosen = [one for one in candidates if one.told]
    left, kinds = Counter(WANTED), Counter[str]()
    left.subtract(one.answer.outcome for one in chosen)
    for one in candidates:
        if len(chosen) == sum(WANTED.values()):
            break
        outcome = one.answer.outcome
        if not one.told and left[outcome] > 0 and kinds[one.kind] < MOST_OF_A_KIND:
            left[outcome] -= 1
            kinds[one.kind] += outcome == "error"
            chosen.append(one)
    return sorted(chosen, key=lambda one: one.number)


def _record(minor: str) -> list[Object]:
    chosen = _choose(_candidates(minor))
    with Upstream(minor) as upstream:
        return [
            {
                "case": (case := make_case(minor, SEED, one.number)),
                "answer": upstream.ask(case),
                "told": sorted(map(str, one.told)),
            }
            for one in chosen
        ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.record")
    parser.add_argument("minors", nargs="*", choices=MINORS)
    RECORDED.mkdir(exist_ok=True)
    for minor in parser.parse_args().minors or MINORS:
        made = _record(minor)
        text = json.dumps(made, separators=(",", ":"), sort_keys=True).encode()
        path = RECORDED / f"{minor}.json.gz"
        path.write_bytes(gzip.compress(text, mtime=0))
        print(f"{path.name}: {len(made)} cases, {path.stat().st_size:,} bytes", flush=True)


if __name__ == "__main__":
    main()
