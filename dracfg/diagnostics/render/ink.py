"""Colour for words on a terminal: by what they say, never by what they are called."""

from __future__ import annotations

from typing import Literal

Tone = Literal["good", "bad", "open", "strong"]
"""What is well, what is not, what nobody knows yet, and what a reader looks for first."""
_CODES: dict[Tone, str] = {"good": "32", "bad": "31", "open": "35", "strong": "1"}
VERDICTS: dict[str, Tone] = {"proven": "good", "refuted": "bad", "unknown": "open"}


def ink(text: str, tone: Tone | None, *, colour: bool) -> str:
    """The text in its tone; as it is where there is no colour, no tone or no text."""
    if not (colour and tone and text):
        return text
    return f"\x1b[{_CODES[tone]}m{text}\x1b[0m"
