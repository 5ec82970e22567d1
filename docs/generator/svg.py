"""Rows of boxes as SVG that reads well in light and dark. Knows nothing of dracfg."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

SIDE, WIDE, LINE, PAD, ACROSS = 106, 164, 14, 7, 4
CHARACTERS, SMALL = 18, 24
_PIECE = re.compile(r"[A-Z]?[^A-Z.]*\.?")
OPENED = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"
  aria-labelledby="title described">
<title id="title">{title}</title>
<desc id="described">{described}</desc>
<style>
.page {{ fill: #ffffff }}
{style}
@media (prefers-color-scheme: dark) {{
  .page {{ fill: #131416 }}
{dark}
}}
</style>
<rect class="page" width="{width}" height="{height}"/>"""
STYLE = """\
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.head, .stage { font-weight: 600 }
.small { fill: #57606a; font-size: 11px }
.row { fill: none; stroke: #d0d7de }
.box { fill: #eef4fb; stroke: #7aa5d6 }"""
DARK = """\
  text { fill: #e6edf3 } .small { fill: #9da7b3 }
  .row { stroke: #3d444d } .box { fill: #17283d; stroke: #4f7fb5 }"""


@dataclass(frozen=True, slots=True)
class Box:
    """A box with a title and smaller lines below it."""

    title: str
    lines: tuple[str, ...]


def rows(title: str, described: str, listed: Sequence[tuple[str, Sequence[Box]]]) -> str:
    """A row for each name with its boxes beside it, some to a line; a row without boxes keeps its place.

    The words are text, so that they can be found, and the picture has a title and a description.
    """
    drawn: list[str] = []
    top = PAD
    for name, boxes in listed:
        drawn.append(f'<path class="row" d="M0 {top}H{SIDE + WIDE * ACROSS}"/>')
        drawn += [
            _text(PAD, top + PAD + LINE * (i + 1), line, "stage")
            for i, line in enumerate(textwrap.wrap(name, 13))
        ]
        top += PAD
        for first in range(0, max(len(boxes), 1), ACROSS):
            line = [_words(box) for box in boxes[first : first + ACROSS]]
            height = max([len(words) for words in line], default=1) * LINE + 2 * PAD
            for i, words in enumerate(line):
                drawn += _box(words, SIDE + WIDE * i, top, height)
            top += height + PAD
    head = opened(title, described, SIDE + WIDE * ACROSS, top, STYLE, DARK)
    return "\n".join([head, *drawn, "</svg>"]) + "\n"


def opened(title: str, described: str, width: int, height: int, style: str, dark: str) -> str:
    """How a picture begins: its size, its words for those who don't see it, its style and ground."""
    return OPENED.format(
        width=width,
        height=height,
        title=escape(title),
        described=escape(described),
        style=style,
        dark=dark,
    )


def _words(box: Box) -> list[tuple[str, str]]:
    """(class, words) of each line of a box."""
    titles = [("head", line) for line in _wrapped(box.title, CHARACTERS)]
    return [*titles, *(("small", line) for text in box.lines for line in _wrapped(text, SMALL))]


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of at most so many characters; a name that is longer is broken between its words."""
    lines = [""]
    for word in text.split():
        pieces = _PIECE.findall(word) if len(word) > width else [word]
        for i, piece in enumerate(pieces):
            glue = " " if lines[-1] and i == 0 else ""
            if len(lines[-1] + glue + piece) <= width:
                lines[-1] += glue + piece
            else:
                lines.append(piece)
    return [line for line in lines if line]


def _box(words: Sequence[tuple[str, str]], left: int, top: int, height: int) -> Iterator[str]:
    yield (
        f'<rect class="box" x="{left}" y="{top}" width="{WIDE - PAD}" height="{height}" rx="3"/>'
    )
    for i, (kind, line) in enumerate(words):
        yield _text(left + PAD, top + PAD + LINE * (i + 1) - 3, line, kind)


def _text(x: int, y: int, words: str, kind: str) -> str:
    return f'<text x="{x}" y="{y}" class="{kind}">{escape(words)}</text>'
