"""What was made of files before, so that two states that share files make each of them once.

Keys are paths and bytes, or the SHA-256 of bytes, so nothing here can be stale. Knows nothing of
what is kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic
from dracfg.source.files import SourceFile

FileRead = tuple[SourceFile | None, tuple[Diagnostic, ...]]
"""A file, None where its bytes can't be had as text, and the faults met while reading it."""
StateRead = bytes | Diagnostic
"""The objects of a file of the standing tree, as a list in JSON, or why they can't be had."""


@dataclass(slots=True, eq=False)
class Seen:
    """Files and state files by path and bytes, and what documents of `files` became, by their id.

    `kept` holds what files said before by `key_of`, `recorded` objects of state files as lists in JSON,
    by the hexadecimal digest of the files' bytes.
    """

    files: dict[tuple[str, bytes], FileRead] = field(default_factory=dict)
    states: dict[tuple[str, bytes], StateRead] = field(default_factory=dict)
    made: dict[int, Any] = field(default_factory=dict)
    kept: Mapping[str, bytes] = field(default_factory=dict)
    recorded: Mapping[str, bytes] = field(default_factory=dict)

    def add(self, path: str, data: bytes, kept: bytes) -> None:
        """A file of which is known what it says, without a fault."""
        self.files[path, data] = SourceFile(path, data.decode("utf-8"), None, kept), ()

    def file(self, path: str, data: bytes, read: Callable[[str, bytes], FileRead]) -> FileRead:
        """The file as it was seen, else as it is read now."""
        if (path, data) not in self.files:
            self.files[path, data] = read(path, data)
        return self.files[path, data]


def key_of(path: str, data: bytes) -> str:
    """What stands for a file's path and bytes."""
    return key_with(path, hashlib.sha256(data).hexdigest())


def key_with(path: str, digest: str) -> str:
    """What stands for a file of which the hexadecimal SHA-256 is known."""
    return f"{digest} {path}"
