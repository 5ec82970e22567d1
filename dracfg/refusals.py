"""What keeps a repository from being read at all, or a scope from meaning anything.

Knows names and paths; how a person is told is for the command line.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


class NoRepository(Exception):
    """There is neither `catalog/` nor `tenants/` here; `near` names a folder that has them."""

    def __init__(self, root: Path, near: Path | None) -> None:
        super().__init__(f"no catalog/ in {root}")
        self.root = root
        self.near = near


class NothingRead(Exception):
    """`catalog/` and `tenants/` hold no document: to go on would empty the tree."""

    def __init__(self, root: Path) -> None:
        super().__init__(f"no document below catalog/ and tenants/ in {root}")
        self.root = root


class OutOfScope(Exception):
    """A scope names what is neither described nor stands; `unmatched` holds (option, glob)."""

    def __init__(self, unmatched: Sequence[tuple[str, str]]) -> None:
        super().__init__(", ".join(" ".join(pair) for pair in unmatched))
        self.unmatched = tuple(unmatched)
