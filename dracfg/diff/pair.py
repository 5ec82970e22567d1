"""Two states that are compared, and what every comparison is given.

Knows judgements; nothing of where they were read from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic
from dracfg.diff.change import Change
from dracfg.pipeline import Judgement
from dracfg.source.tree import Tree


@dataclass(frozen=True, slots=True)
class Side:
    """One state: what it is called (`HEAD~1`, `work tree`, a folder) and how it was judged.

    `commit` is the id of a revision's commit, None for folders. `tree` are its files, None where
    they are not to be looked at.
    """

    name: str
    judgement: Judgement
    commit: str | None = None
    tree: Tree | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """Both states. `blocked` tells by a unit's path whether a side could not compile it.

    Comparisons leave blocked units and what lowers to them out: what can't be understood on one
    side has neither come nor gone. Recorded pods and claims are those of the later side
    (`head.judgement.records`).
    """

    base: Side
    head: Side
    blocked: Callable[[str], bool]


Comparison = Callable[[Pair], Iterator[Change]]
"""Finds changes of its kinds in a pair; each change in meaning is found by one comparison only."""

Transition = Callable[[Pair], Iterator[Diagnostic]]
"""Finds steps that may not follow on each other, each with the legal sequence as its help."""
