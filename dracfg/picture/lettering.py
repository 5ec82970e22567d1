"""How much room letters take, before any browser has seen them.

Widths are those of wide faces, a little generous, so that what fits here fits in every reader's font.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

TEXT = 12
"""Height of plain letters in a drawing's units."""
NOTE = 11
"""Height of small ones."""
TINY = 9.5
"""Height of those inside a device."""
MIDDLE = 0.36
"""How far below the middle of a line letters stand, of their height."""

_BOLD, _WIDEST = 1.12, 1.05
_MOST_KEPT = 120
_SLACK = 0.01
"""For room that was worked out by adding up."""
_PARTS = re.compile(r"(?<=[-./_])(?=.)|(?<=[a-z])(?=[A-Z])")
_NARROW = frozenset("fijlrtIJ|.,:;'!()[]/ ")
_WIDE = frozenset("mwMW@%#&+<>=^~")


def width(text: str, *classes: str) -> float:
    """The room of a line of text in a drawing's units, as `Drawing.label` sets it."""
    return sum(map(_letter, text)) * height(classes) * (_BOLD if "strong" in classes else 1)


def height(classes: Collection[str]) -> float:
    """The height of its letters."""
    return NOTE if "small" in classes else TINY if "tiny" in classes else TEXT


def fitted(text: str, room: float, *classes: str) -> str:
    """The text, or as much of both its ends as there is room for: `gpu-worker…-017`."""
    if width(text, *classes) <= room + _SLACK:
        return text
    for kept in range(min(len(text) - 1, _MOST_KEPT), 0, -1):
        tail = kept // 2
        short = f"{text[: kept - tail]}…{text[len(text) - tail :]}"
        if width(short, *classes) <= room:
            return short
    return "…" if room >= width("…", *classes) else ""


def wrapped(text: str, room: float, *classes: str) -> tuple[str, ...]:
    """The text in lines that have room, broken between words.

    A word too long for a line is broken where its parts meet, as in `memory-slices` or
    `egressBandwidth`; a part too long for one is cut.
    """
    lines: list[str] = []
    for word in text.split():
        is_long = width(word, *classes) > room
        gap = " "
        for part in _PARTS.split(word) if is_long else [word]:
            longer = f"{lines[-1]}{gap}{part}" if lines else part
            if lines and width(longer, *classes) <= room:
                lines[-1] = longer
            else:
                lines.append(fitted(part, room, *classes))
            gap = ""
    return tuple(lines)


def _letter(letter: str) -> float:
    if letter in _NARROW:
        return 0.44
    if letter in _WIDE or not letter.isascii():
        return _WIDEST if unicodedata.east_asian_width(letter) in ("W", "F") else 1.0
    return 0.79 if letter.isupper() else 0.64
