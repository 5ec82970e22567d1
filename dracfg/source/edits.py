"""Edits of a file that was read: some characters change, everything else stays byte for byte.

Places come from the text as it was read; the file itself may have a byte order mark and carriage
returns, which stay. Knows nothing of why an edit is made.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Span
from dracfg.source.composer import compose
from dracfg.source.files import SourceFile
from dracfg.source.lineends import line_starts, with_line_feeds

_MARK = "\ufeff"


@dataclass(frozen=True, slots=True)
class Edit:
    """Text that replaces what a span covers."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class EditedFile:
    """A file as it would be: its bytes, and the edits that are in it.

    `overlapping` touch what an edit before them touches; `unsound` would have made faults of YAML
    that were not there. Neither are in it.
    """

    path: str
    data: bytes
    made: tuple[Edit, ...]
    overlapping: tuple[Edit, ...] = ()
    unsound: tuple[Edit, ...] = ()


class ChangedFile(Exception):
    """A file that is not what was read, so that places in it mean nothing."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} changed since it was read, so it was left as it is")
        self.path = path


def edit_file(root: Path, file: SourceFile, edits: Iterable[Edit]) -> EditedFile:
    """The file with its edits, in the order of their places; of two that overlap the first is made.

    Nothing is written. Raises ChangedFile.
    """
    raw = _reread(root, file)
    apart, overlapping = _apart(edits)
    most = _faults(file.path, raw)
    made = apart
    if _faults(file.path, _edited(raw, made)) > most:
        made = ()
        for edit in apart:
            if _faults(file.path, _edited(raw, (*made, edit))) <= most:
                made = (*made, edit)
    unsound = tuple(edit for edit in apart if edit not in made)
    return EditedFile(file.path, _edited(raw, made).encode(), made, overlapping, unsound)


def _edited(raw: str, edits: Iterable[Edit]) -> str:
    """The text with edits that stand in order and apart."""
    starts = _line_starts(raw)
    parts: list[str] = []
    done = 0
    for edit in edits:
        start = starts[edit.span.line - 1] + edit.span.column - 1
        parts += [raw[done:start], edit.text]
        done = starts[edit.span.end_line - 1] + edit.span.end_column - 1
    return "".join([*parts, raw[done:]])


def _reread(root: Path, file: SourceFile) -> str:
    try:
        raw = (root / file.path).read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        raw = None
    if raw is None or _normal(raw) != file.text:
        raise ChangedFile(file.path)
    return raw


def _normal(raw: str) -> str:
    return with_line_feeds(raw.removeprefix(_MARK))


def _line_starts(raw: str) -> list[int]:
    first, *others = line_starts(raw)
    return [len(_MARK) if raw.startswith(_MARK) else first, *others]


def _faults(path: str, raw: str) -> int:
    return len(compose(path, _normal(raw))[1])


def _apart(edits: Iterable[Edit]) -> tuple[tuple[Edit, ...], tuple[Edit, ...]]:
    """Edits in order that touch no common character, and the rest; one made twice is one."""
    made: list[Edit] = []
    left: list[Edit] = []
    for edit in sorted(dict.fromkeys(edits), key=lambda edit: (edit.span, edit.text)):
        last = made[-1].span if made else None
        start = (edit.span.line, edit.span.column)
        apart = last is None or (last.end_line, last.end_column) <= start
        (made if apart and (last is None or last != edit.span) else left).append(edit)
    return tuple(made), tuple(left)
