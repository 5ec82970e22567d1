"""What came of one file: its bytes before and after, or a patch for what is not edited."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff
from typing import Literal

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic
from dracfg.migrate.decision import PodChange

Outcome = Literal["rewritten", "unchanged", "left", "patch"]
"""`left`: an error keeps it as it is. `patch`: something else than an edit of it does what is wanted."""


@dataclass(frozen=True, slots=True)
class FileResult:
    """One file. `patch` is text for people: it is applied with the tool that the file is of."""

    path: str
    outcome: Outcome
    before: bytes
    after: bytes
    findings: tuple[Diagnostic, ...] = ()
    changes: tuple[PodChange, ...] = ()
    patch: str = ""

    @property
    def is_changed(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        """A unified diff as `patch` and `git apply` read it; empty where nothing changes."""
        if not self.is_changed:
            return ""
        return diff_text(self.path, self.before.decode(), self.after.decode())


def diff_text(path: str, before: str, after: str) -> str:
    """A unified diff of two texts; a line without an end is followed by the usual remark."""
    name = path.removeprefix("/")
    lines = unified_diff(_lines(before), _lines(after), f"a/{name}", f"b/{name}")
    return "".join(_ended(lines))


def _lines(text: str) -> list[str]:
    """Lines that end at a line feed alone, as diffs count them."""
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _ended(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
