"""What the last run read of a repository, for whoever reads it again."""

from __future__ import annotations

from pathlib import Path

from dracfg.cache.documents import KnownFiles
from dracfg.cache.states import KnownStates
from dracfg.source.seen import Seen


def recall(root: Path) -> Seen:
    """What tenants' files said, and the objects of the tree that was left; nothing where none is kept."""
    return Seen(kept=KnownFiles.recall(root).kept, recorded=KnownStates.recall(root).pieces)
