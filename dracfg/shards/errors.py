"""What keeps parts from being one tree, in words for the person who ran the merge."""

from __future__ import annotations


class PartError(Exception):
    """Parts are missing, or are not what this checkout comes to; the message says what to run again."""
