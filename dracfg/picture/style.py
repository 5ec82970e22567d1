"""The style of the pictures. A page has it once, whatever the number of pictures."""

from __future__ import annotations

from functools import cache

from dracfg.packaged import packaged_text


@cache
def style() -> str:
    """CSS for a `<style>` element or a file: light and dark, and ink on paper.

    Colours are custom properties of `.dracfg-picture` that begin with `--picture-`; a page may set its
    own. Nothing is fetched.
    """
    text = packaged_text("dracfg.picture", "picture.css")
    assert text is not None
    return text
