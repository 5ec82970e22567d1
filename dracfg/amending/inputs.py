"""Which inputs changed since the last run, and which of them the next one need not read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dracfg.cache.inputs import Inputs
from dracfg.cache.questions import AskedTree, Question, ask
from dracfg.check.waivers import MARK
from dracfg.model.kept import tenants_in
from dracfg.source.files import SourceFile
from dracfg.source.seen import Seen

_TENANTS = "tenants/"


def changed_files(
    tree: AskedTree, notes: Mapping[Question, str], inputs: Inputs | None = None
) -> dict[str, str] | None:
    """The files of tenants whose bytes changed, with the SHA-256 of what they held; `tree` notes all.

    None where anything else changed: a file that came or went, the catalog, a record. What the `inputs` at
    the tree's root know to stand is not read, and they keep what they know for the next run.
    """
    changed: dict[str, str] = {}
    for question, digest in notes.items():
        if ask(tree, question, digest, inputs) == digest:
            continue
        match question:
            case ("read", path, _) if path.startswith(_TENANTS):
                changed[path] = digest
            case _:
                return None
    if inputs is not None:
        inputs.keep()
    return changed


def names_in(files: Iterable[SourceFile], seen: Seen) -> dict[str, tuple[str, ...]]:
    """Tenants by the path of their file, of those files that hold nothing else that may count.

    A comment that waives a finding counts wherever it stands.
    """
    found = {file.path: tenants_in(file, seen) for file in files if MARK not in file.text}
    return {path: names for path, names in found.items() if names}
