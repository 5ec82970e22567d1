"""Where words stand: in the pages of rules, in what fields are for, in kinds of change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dracfg.dataclass import dataclass
from dracfg.diagnostics.pages import page
from dracfg.diagnostics.registry import Rule, rules
from dracfg.diff.change import ChangeKind, change_kinds
from dracfg.model.fields import Field, fields_of, kinds


@dataclass(frozen=True, slots=True)
class Found:
    """What holds all of the words; `rules` that have them in their title come first."""

    words: tuple[str, ...]
    rules: tuple[Rule, ...]
    fields: tuple[tuple[str, Field], ...]
    changes: tuple[ChangeKind, ...]

    def __bool__(self) -> bool:
        return bool(self.rules or self.fields or self.changes)


def search(text: str) -> Found:
    """All that holds every word of a text, whatever the case of its letters."""
    words = tuple(text.lower().split())
    in_title = [rule for rule in rules().values() if _holds(words, rule.title)]
    in_page = [
        rule
        for rule in rules().values()
        if rule not in in_title and _holds(words, f"{rule.title} {page(rule.code) or ''}")
    ]
    return Found(
        words,
        (*in_title, *in_page),
        tuple(_fields(words)),
        tuple(
            kind
            for kind in change_kinds().values()
            if _holds(words, f"{kind.name} {kind.title} {kind.means}")
        ),
    )


def _fields(words: Sequence[str]) -> Iterable[tuple[str, Field]]:
    """Fields whose own name or description has the words; their way alone is not enough."""
    for kind in kinds():
        for path, field in fields_of(kind):
            own = f"{field.name} {field.description}"
            if _holds(words, f"{path} {own}") and any(word in own.lower() for word in words):
                yield path, field


def _holds(words: Sequence[str], text: str) -> bool:
    text = text.lower()
    return all(word in text for word in words)
