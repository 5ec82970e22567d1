"""What a person must decide: a question with its reason, and where it was seen."""

from __future__ import annotations

from dracfg.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Decision:
    """One question. `seen` are places of the record, as `path:line:column` or a live object's name."""

    question: str
    reason: str
    seen: tuple[str, ...] = ()
