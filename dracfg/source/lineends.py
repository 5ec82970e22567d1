"""Where lines end: at a line feed, at a carriage return, or at both as one (YAML 1.2.2, section 5.4).

Texts are kept with line feeds alone, so that all who count lines count the same ones.
"""

from __future__ import annotations

import re

_END = re.compile("\r\n?|\n")


def with_line_feeds(text: str) -> str:
    """The text with a line feed at the end of each line."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def line_starts(text: str) -> list[int]:
    """Where each line of a text begins, whatever its lines end in."""
    return [0, *(match.end() for match in _END.finditer(text))]
