"""What a rule over the catalog is, and the words that rules have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from dracfg.diagnostics import Diagnostic, did_you_mean
from dracfg.link.catalog import Catalog

Rule = Callable[[Catalog], Iterator[Diagnostic]]

_MOST_NAMES = 7


def listed(names: Iterable[str], joint: str = "and", most: int | None = None) -> str:
    """`a`, `a and b`, `a, b and c`; of more than `most` the first: `a, b, c and 2 more`."""
    words = list(names)
    if most is not None and len(words) > most:
        words = [*words[:most], f"{len(words) - most} more"]
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {joint} {words[-1]}"


def suggestion(name: str, known: Iterable[str]) -> tuple[str | None, str | None]:
    """(help, fix) for a name that leads nowhere: the near one, or the known ones where they are few."""
    names = sorted(set(known))
    near = did_you_mean(name, names)
    if near is not None:
        return f"did you mean {near}?", near
    if 0 < len(names) <= _MOST_NAMES:
        return f"known: {', '.join(names)}", None
    return None, None
