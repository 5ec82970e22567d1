"""A compile that builds on the last one, on a day that stays."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from dracfg.amending.remembered import compile_remembered
from dracfg.cache.outcome import Outcome
from dracfg.cache.questions import AskedTree
from dracfg.cache.store import Store
from dracfg.passes import Timings
from dracfg.source.tree import DiskTree
from dracfg.terms import TO_FILES

TODAY = date(2026, 11, 29)


def run(root: Path, *, check: bool = False, today: date | None = TODAY) -> Outcome:
    return compile_remembered(
        AskedTree(DiskTree(root), aside="out"),
        Store(root, "out", (str(today),)),
        check=check,
        timings=Timings(),
        today=today,
        by=TO_FILES,
    )[0]
