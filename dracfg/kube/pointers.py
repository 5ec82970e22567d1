"""Steps of JSON pointers (RFC 6901). Knows nothing of what they point into."""

from __future__ import annotations


def escape(step: str | int) -> str:
    """One step as it stands in a pointer: `~` and `/` would otherwise end or change it."""
    return str(step).replace("~", "~0").replace("/", "~1")
