"""Words in colour."""

import pytest

from dracfg.diagnostics.render.ink import Tone, ink


@pytest.mark.parametrize(
    ("text", "tone", "colour", "shown"),
    [
        ("holds", "good", True, "\x1b[32mholds\x1b[0m"),
        ("blocks", "bad", True, "\x1b[31mblocks\x1b[0m"),
        ("later", "open", True, "\x1b[35mlater\x1b[0m"),
        ("head", "strong", True, "\x1b[1mhead\x1b[0m"),
        ("holds", "good", False, "holds"),
        ("holds", None, True, "holds"),
        ("", "good", True, ""),
    ],
)
def test_ink(text: str, tone: Tone | None, colour: bool, shown: str) -> None:
    assert ink(text, tone, colour=colour) == shown
