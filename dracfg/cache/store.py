"""What a run came to, one entry a set of options, under `.cache/dracfg` of the repository."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dracfg.cache.compiler import compiler
from dracfg.cache.entry import FOLDER, read_entry, write_entry
from dracfg.cache.inputs import Inputs
from dracfg.cache.outcome import Outcome, findings_from, findings_to, from_data, to_data
from dracfg.cache.questions import AskedTree, Question, stand
from dracfg.cache.seals import KeptSeals
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic
from dracfg.emit.intact import intact
from dracfg.emit.seals import Seals
from dracfg.passes import keeping_all
from dracfg.source.tree import DiskTree

if TYPE_CHECKING:
    from dracfg.cache.tenants import KnownTenants

_MOST = 64 * 1024 * 1024
_MALFORMED = (KeyError, TypeError, ValueError, RecursionError)


@dataclass(frozen=True, slots=True)
class Details:
    """What of a run the next one can build on, where only some tenants changed.

    `whole` are findings of rules that need the whole catalog, `by_tenant` of those that judge tenants
    one by one, `of_units` of all that was emitted, none of them waived; `sizes` counts the objects of
    each unit.
    """

    whole: tuple[Diagnostic, ...]
    by_tenant: tuple[Diagnostic, ...]
    of_units: tuple[Diagnostic, ...]
    sizes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Last:
    """The last run: what it asked and the answers' digests, the digest of its lock, its details.

    `tenants` is the digest of what it knew of tenants.
    """

    notes: Mapping[Question, str]
    lock: str
    details: Details
    tenants: str


@dataclass(frozen=True)
class Store:
    """The entry of a repository for one set of options, which are all that a result depends on
    beside files.
    """

    root: Path
    out: str
    options: tuple[str, ...]

    @property
    def is_new(self) -> bool:
        """Whether no run with these options has left anything."""
        return not self._beside("json").exists()

    @keeping_all()
    def recall(self, tree: AskedTree | None = None, jobs: int = 1) -> Outcome | None:
        """The outcome of a run of which every input stands, and the tree it left; else None.

        The inputs are those of `tree`, which knows then what it was asked. What was left is looked at by as
        many processes as `jobs` says.
        """
        entry = self._entry
        if entry is None:
            return None
        try:
            notes = _notes(entry)
            outcome = from_data(entry["outcome"])
            lock = str(entry["lock"])
        except _MALFORMED:
            return None
        tree = tree or AskedTree(DiskTree(self.root))
        if not stand(tree, notes.items(), self.inputs):
            return None
        if self.inputs is not None:
            self.inputs.keep()
        return outcome if intact(self.root / self.out, lock, jobs, self.seals) else None

    def last(self) -> Last | None:
        """The last run, whatever changed since, its tree too; None where it left nothing."""
        entry = self._entry
        if entry is None:
            return None
        try:
            details = Details(
                findings_from(entry["whole"]),
                findings_from(entry["byTenant"]),
                findings_from(entry["ofUnits"]),
                entry["sizes"],
            )
            return Last(_notes(entry), str(entry["lock"]), details, str(entry["tenants"]))
        except _MALFORMED:
            return None

    def tenants(self, last: Last) -> KnownTenants | None:
        """What the last run knew of tenants; None where that is not at hand."""
        from dracfg.cache.tenants import from_bytes  # a run that is recalled asks for none

        data = read_entry(self._beside("tenants"))
        if data is None or _digest(data) != last.tenants:
            return None
        return from_bytes(data)

    def remember(
        self,
        notes: Iterable[tuple[Question, str]],
        lock: bytes,
        outcome: Outcome,
        details: Details,
        tenants: KnownTenants,
    ) -> None:
        """Keep what a run came to, `lock` being the bytes of the lock that it left.

        A folder that can't be written is no fault: the next run works it out again.
        """
        from dracfg.cache.tenants import to_bytes

        known = to_bytes(tenants)
        write_entry(self._beside("tenants"), known)
        entry = {
            "compiler": compiler(),
            "options": self.options,
            "notes": [[question, answer] for question, answer in notes],
            "lock": _digest(lock),
            "tenants": _digest(known),
            "outcome": to_data(outcome),
            "whole": findings_to(details.whole),
            "byTenant": findings_to(details.by_tenant),
            "ofUnits": findings_to(details.of_units),
            "sizes": details.sizes,
        }
        body = json.dumps(entry, ensure_ascii=True, separators=(",", ":")).encode()
        write_entry(self._beside("json"), body)

    def _beside(self, ending: str) -> Path:
        """The file of the entry, and what is too large for it."""
        name = _digest(repr((self.out, self.options)).encode())[:16]
        return self.root / FOLDER / f"compile-{name}.{ending}"

    @cached_property
    def inputs(self) -> Inputs | None:
        """What is known of the files that were read; None where nothing can be."""
        return Inputs.recall(self.root)

    @cached_property
    def seals(self) -> Seals | None:
        """What is known of the tree that was left; None where nothing can be."""
        return KeptSeals.recall(self.root, "tree")

    @cached_property
    def _entry(self) -> dict[str, Any] | None:
        """The entry as it is found first, if it is whole and this dracfg's, for these options."""
        body = read_entry(self._beside("json"), _MOST)
        if body is None:
            return None
        try:
            entry = json.loads(body)
            own = entry["options"] == list(self.options) and entry["compiler"] == compiler()
        except _MALFORMED:
            return None
        return entry if own else None


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _notes(entry: Mapping[str, Any]) -> dict[Question, str]:
    return {tuple(question): str(answer) for question, answer in entry["notes"]}
