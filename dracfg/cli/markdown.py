"""Markdown on a terminal: in colour and wrapped to its width."""

from __future__ import annotations

from io import StringIO
from itertools import pairwise
from typing import ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Heading, Markdown, MarkdownElement
from rich.text import Text
from rich.theme import Theme


class _LeftHeading(Heading):
    """A heading where the text begins; rich would set it in the middle."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        if self.tag != "h1":
            yield Text("")
        yield self.text


class _Page(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _LeftHeading,
    }


_THEME = Theme(
    {"markdown.h1": "bold underline", "markdown.h2": "bold magenta", "markdown.code": "cyan"}
)


def coloured(text: str, width: int) -> str:
    """A page in the colours of a terminal; lines end without space, one empty line parts blocks."""
    made = StringIO()
    console = Console(
        file=made, width=width, force_terminal=True, color_system="standard",
        legacy_windows=False, theme=_THEME,
    )  # fmt: skip
    console.print(_Page(text, code_theme="ansi_dark", hyperlinks=False))
    rows = [row.rstrip() for row in made.getvalue().strip().split("\n")]
    kept = [row for row, next_row in pairwise([*rows, ""]) if row or next_row]
    return "\n".join(kept) + "\n"
