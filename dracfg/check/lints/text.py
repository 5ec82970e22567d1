"""The text of an expression: tokens at the places of its tree, and edits of it.

Knows how CEL is written, not what it means.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from dracfg.dataclass import dataclass

_STRING = r"""[rR]?(?:\"\"\".*?\"\"\"|'''.*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
_TOKEN = re.compile(rf"{_STRING}|[A-Za-z_]\w*|[0-9][\w.]*|[=!<>]=|&&|\|\||\S", re.DOTALL)
_MEMBER = re.compile(r"\s*\.\s*\??\s*([A-Za-z_]\w*)")
_CALLED = re.compile(r"([A-Za-z_]\w*)\s*$")
_BRACKET = re.compile(r"\s*\]")
_LINE_BREAK = re.compile(r"\s*\n\s*")


@dataclass(frozen=True, slots=True, order=True)
class Token:
    """A word of the text; the end is exclusive."""

    start: int
    end: int
    text: str

    @property
    def length(self) -> int:
        return self.end - self.start

    def quoted(self, text: str) -> str:
        """The text as a literal with the quotes that this one has."""
        return f"'{text}'" if self.text.startswith("'") else f'"{text}"'


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Text that takes the place of a range; an empty range is an insertion."""

    start: int
    end: int
    text: str


def token_at(text: str, offset: int) -> Token:
    """The token that begins at an offset; at the end of the text the last character."""
    match = _TOKEN.match(text, offset)
    if match is None:
        start = max(0, min(offset, len(text.rstrip()) - 1))
        return Token(start, min(start + 1, len(text)), text[start : start + 1])
    return Token(match.start(), match.end(), match[0])


def member_at(text: str, offset: int) -> Token | None:
    """The name behind the dot at an offset."""
    match = _MEMBER.match(text, offset)
    return Token(match.start(1), match.end(1), match[1]) if match else None


def called_at(text: str, offset: int) -> Token | None:
    """The name of the function whose parenthesis opens at an offset."""
    match = _CALLED.search(text, 0, offset)
    return Token(match.start(1), match.end(1), match[1]) if match else None


def end_before(text: str, offset: int) -> int:
    """Where the text before an offset ends, blanks left out."""
    return len(text[:offset].rstrip())


def closing(text: str, offset: int, count: int) -> int | None:
    """Where `count` closing parentheses that follow an offset end; None for any other text."""
    match = re.compile(r"\s*\)" * count).match(text, offset)
    return match.end() if match else None


def bracket_after(text: str, offset: int) -> int | None:
    """Where the closing bracket that follows an offset ends."""
    match = _BRACKET.match(text, offset)
    return match.end() if match else None


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text with the edits made, on one line; of edits that overlap the first one counts."""
    done: list[str] = []
    at = 0
    for edit in sorted(dict.fromkeys(edits)):
        if edit.start < at:
            continue
        done += [text[at : edit.start], edit.text]
        at = edit.end
    whole = "".join([*done, text[at:]]).strip()
    return whole if "//" in whole or '"""' in whole else _LINE_BREAK.sub(" ", whole)
