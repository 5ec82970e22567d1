"""Markdown as the generated pages use it: a head, tables, code in cells. Knows nothing of dracfg."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

MADE = "<!-- Made by `make reference`; edit its source instead: "


def page(title: str, source: str, *parts: str) -> str:
    """A page with its title, what it is made from, and its parts, an empty line between them."""
    head = (f"{MADE}{source}. -->", f"# {title}")
    return "\n\n".join([*head, *(part.rstrip("\n") for part in parts if part)]) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; columns that are empty in every row are left out. No rows, no table."""
    listed = [tuple(map(_cell, row)) for row in rows]
    kept = [i for i in range(len(head)) if any(row[i] for row in listed)]
    if not kept:
        return ""
    lines = [
        [head[i] for i in kept],
        ["---"] * len(kept),
        *([row[i] for i in kept] for row in listed),
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def code(text: str) -> str:
    """Text as code; longer fences where it has backticks of its own. Nothing for nothing."""
    if not text:
        return ""
    fence = "``" if "`" in text else "`"
    return f"{fence} {text} {fence}" if len(fence) > 1 else f"{fence}{text}{fence}"


def fenced(language: str, text: str) -> str:
    """A block of code."""
    return f"```{language}\n{text.rstrip()}\n```"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
