"""Objects of the standing tree by the digest of their file, so that no YAML is read that was just written.

What a run writes it knows as objects; the next one asks for them by the bytes that it finds. So a file that
somebody edited, or took from another revision, is read as ever.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dracfg.cache.compiler import compiler
from dracfg.cache.entry import FOLDER, read_entry, write_entry
from dracfg.emit.lock import Lock
from dracfg.lower.artifact import Unit
from dracfg.source.standing import is_state_file

_MOST = 1024 * 1024 * 1024
_SIGN = "sha256:"

Objects = tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class States:
    """The states that a repository's last run left."""

    root: Path

    def recall(self) -> Mapping[str, Objects]:
        """Objects by the hexadecimal digest of their file; empty where nothing is kept."""
        body = read_entry(self._path, _MOST)
        if body is None:
            return {}
        entry = json.loads(body)
        own = entry["compiler"] == compiler()
        return {digest: tuple(found) for digest, found in entry["files"].items()} if own else {}

    def remember(self, units: Iterable[Unit], lock: Lock) -> None:
        """Keep the objects of those files that a next run will ask about, `lock` giving their digests."""
        files: dict[str, list[dict[str, Any]]] = {}
        for unit in units:
            digests = lock.units.get(unit.path, {})
            for artifact in unit.artifacts:
                if is_state_file(f"{unit.path}/{artifact.file}") and artifact.file in digests:
                    digest = digests[artifact.file].removeprefix(_SIGN)
                    files.setdefault(digest, []).append(artifact.object)
        entry = {"compiler": compiler(), "files": files}
        write_entry(self._path, json.dumps(entry, separators=(",", ":")).encode())

    @property
    def _path(self) -> Path:
        return self.root / FOLDER / "states.json"
