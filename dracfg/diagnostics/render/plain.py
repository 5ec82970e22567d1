"""Text of a repository on its way to a terminal."""

from __future__ import annotations


def plain(text: str) -> str:
    """Text that a terminal takes for nothing but text: control characters as escapes."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
