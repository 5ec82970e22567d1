"""Which inputs changed since the last run, by the questions that it asked."""

from __future__ import annotations

from collections.abc import Mapping

from dracfg.cache.questions import AskedTree, Question, ask

_TENANTS = "tenants/"


def changed_files(tree: AskedTree, notes: Mapping[Question, str]) -> dict[str, str] | None:
    """The files of tenants whose bytes changed, with the SHA-256 of what they held; `tree` notes all.

    None where anything else changed: a file that came or went, the catalog, a record.
    """
    changed: dict[str, str] = {}
    for question, digest in notes.items():
        if ask(tree, question) == digest:
            continue
        match question:
            case ("read", path, _) if path.startswith(_TENANTS):
                changed[path] = digest
            case _:
                return None
    return changed
