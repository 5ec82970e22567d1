"""A compile that builds on the last one, on a day that stays."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from dracfg.amending.remembered import compile_remembered
from dracfg.building import build_all
from dracfg.cache.outcome import Outcome
from dracfg.cache.questions import AskedTree
from dracfg.cache.store import Store
from dracfg.passes import Timings
from dracfg.source.tree import DiskTree

TODAY = date(2026, 11, 29)


def run(root: Path, *, check: bool = False) -> Outcome:
    return compile_remembered(
        AskedTree(DiskTree(root), aside="out"),
        Store(root, "out", (str(TODAY),)),
        check=check,
        jobs=1,
        timings=Timings(),
        today=TODAY,
        builder=build_all,
    )[0]
