"""Capacity before and after, as the cells of a table."""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.diff.render.folding import NOTHING, Document

HEADINGS = ("", "usable", "promiseable", "guaranteed", "spare", "limit", "limit/usable")
_FIGURES = ("usable", "promiseable", "guaranteed", "spare", "limit", "overcommit")


def capacity_cells(document: Document) -> Iterator[tuple[str, ...]]:
    """A row for each tier whose numbers moved, `before -> after` where a cell did."""
    for row in document["capacity"]:
        name = f"{row['tier']} on {row['cluster']}"
        if row["key"] != "devices":
            name = f"{name}, {row['key']}"
        before, after = row["before"] or {}, row["after"] or {}
        yield (name, *(_moved(before.get(key), after.get(key)) for key in _FIGURES))


def _moved(before: str | None, after: str | None) -> str:
    if before == after:
        return before or NOTHING
    return f"{before or NOTHING} -> {after or NOTHING}"
