"""What the last run read of a repository, for whoever reads it again."""

from __future__ import annotations

from pathlib import Path

from dracfg.cache.documents import Documents
from dracfg.cache.states import States
from dracfg.source.seen import Seen


def recall(root: Path) -> Seen:
    """What tenants' files said, and the objects of the tree that was left; nothing where none is kept."""
    return Seen(kept=dict(Documents(root).recall().kept), recorded=States(root).recall())
