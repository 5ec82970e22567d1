"""The pages of docs/ that are made from the source: kinds, rules, commands, documents, responsibilities.

`python -m docs.generator` (`make reference`) writes them; tests/docs/test_reference.py holds them equal.
"""

from __future__ import annotations

from pathlib import Path

from docs.generator import codes, commands, decisions, documents, kinds, pictures, responsibilities

ROOT = Path(__file__).parents[2]


def pages() -> dict[str, str]:
    """Path below the repository -> text, of every page and picture that is made."""
    return {
        **kinds.pages(ROOT),
        **codes.pages(),
        **commands.pages(),
        **documents.pages(ROOT),
        **decisions.pages(ROOT),
        **responsibilities.pages(),
        **pictures.pages(ROOT),
    }
