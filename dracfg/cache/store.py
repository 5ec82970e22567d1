"""What a run came to, one entry a set of options, under `.cache/dracfg` of the repository."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dracfg.cache.compiler import compiler
from dracfg.cache.entry import FOLDER, read_entry, write_entry
from dracfg.cache.outcome import Outcome, from_data, to_data
from dracfg.cache.questions import Question, stand
from dracfg.emit.intact import intact

_MOST = 64 * 1024 * 1024
_MALFORMED = (KeyError, TypeError, ValueError, RecursionError)


@dataclass(frozen=True, slots=True)
class Store:
    """The entry of a repository for one set of options, which are all that a result depends on
    beside files.
    """

    root: Path
    out: str
    options: tuple[str, ...]

    def recall(self) -> Outcome | None:
        """The outcome of a run of which every input stands, and the tree it left; else None."""
        entry = self._read()
        if entry is None:
            return None
        try:
            notes = [(tuple(question), str(answer)) for question, answer in entry["notes"]]
            outcome = from_data(entry["outcome"])
            lock = str(entry["lock"])
        except _MALFORMED:
            return None
        standing = intact(self.root / self.out)
        return outcome if standing == lock and stand(self.root, notes) else None

    def remember(
        self, notes: Iterable[tuple[Question, str]], lock: bytes, outcome: Outcome
    ) -> None:
        """Keep what a run came to, `lock` being the bytes of the lock that it left.

        A folder that can't be written is no fault: the next run works it out again.
        """
        entry = {
            "compiler": compiler(),
            "options": self.options,
            "notes": [[question, answer] for question, answer in notes],
            "lock": hashlib.sha256(lock).hexdigest(),
            "outcome": to_data(outcome),
        }
        body = json.dumps(entry, ensure_ascii=True, separators=(",", ":")).encode()
        write_entry(self._path, body)

    @property
    def _path(self) -> Path:
        name = hashlib.sha256(repr((self.out, self.options)).encode()).hexdigest()[:16]
        return self.root / FOLDER / f"compile-{name}.json"

    def _read(self) -> dict[str, Any] | None:
        """The entry, if it is whole and this dracfg's, for these options."""
        body = read_entry(self._path, _MOST)
        if body is None:
            return None
        try:
            entry = json.loads(body)
            own = entry["options"] == list(self.options) and entry["compiler"] == compiler()
        except _MALFORMED:
            return None
        return entry if own else None
