"""What was made of files before, so that two states that share files make each of them once.

Keys are paths and bytes, or the SHA-256 of bytes, so nothing here can be stale. Knows nothing of
what is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dracfg.diagnostics import Diagnostic
from dracfg.source.nodes import SourceFile

FileRead = tuple[SourceFile | None, tuple[Diagnostic, ...]]
"""A file, None where its bytes can't be had as text, and the faults met while reading it."""
StateRead = tuple[dict[str, Any], ...] | Diagnostic
"""The objects of a file of the standing tree, or why they can't be had."""


@dataclass(slots=True, eq=False)
class Seen:
    """Files and state files by path and bytes, and what documents of `files` became, by their id.

    `recorded` holds objects of state files by the hexadecimal digest of their bytes.
    """

    files: dict[tuple[str, bytes], FileRead] = field(default_factory=dict)
    states: dict[tuple[str, bytes], StateRead] = field(default_factory=dict)
    made: dict[int, Any] = field(default_factory=dict)
    recorded: Mapping[str, tuple[dict[str, Any], ...]] = field(default_factory=dict)
