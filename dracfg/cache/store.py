"""Entries on disk: one a compiler and set of options, under `.cache/dracfg` of the repository.

An entry opens with the digest of what follows. It is written beside and moved into place, so that
two runs at once, or one that is killed, leave an entry that is whole or none.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dracfg.cache.compiler import compiler
from dracfg.cache.outcome import Outcome, from_data, to_data
from dracfg.cache.questions import Question, stand
from dracfg.emit.intact import intact

FOLDER = Path(".cache") / "dracfg"
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
        fresh = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        try:
            fresh.parent.mkdir(parents=True, exist_ok=True)
            (fresh.parent / ".gitignore").write_text("*\n", encoding="utf-8")
            fresh.write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
            fresh.replace(self._path)
        except OSError:
            with suppress(OSError):
                fresh.unlink()

    @property
    def _path(self) -> Path:
        name = hashlib.sha256(repr((self.out, self.options)).encode()).hexdigest()[:16]
        return self.root / FOLDER / f"compile-{name}.json"

    def _read(self) -> dict[str, Any] | None:
        """The entry, if it is whole and this dracfg's, for these options."""
        try:
            if self._path.stat().st_size > _MOST:
                return None
            digest, _, body = self._path.read_bytes().partition(b"\n")
        except OSError:
            return None
        if digest != hashlib.sha256(body).hexdigest().encode():
            return None
        try:
            entry = json.loads(body)
            own = entry["options"] == list(self.options) and entry["compiler"] == compiler()
        except _MALFORMED:
            return None
        return entry if own else None
