"""Files → located documents. The only stage that reads the user's files.

`read_repository` walks the two roots `catalog/` and `tenants/`; every fault of a file is a
finding, and the other files are read all the same.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Span, diagnose
from dracfg.source.files import SourceFile
from dracfg.source.lineends import line_starts, with_line_feeds
from dracfg.source.nodes import Document
from dracfg.source.seen import FileRead, Seen
from dracfg.source.tree import TooLarge, Tree, tree_of

if TYPE_CHECKING:
    from dracfg.source.plain import Plain

ROOTS = ("catalog", "tenants")
UNREAD = ("catalog/inventory", "catalog/templates")
"""Folders below the roots that hold something else than documents of the language."""
MAX_BYTES = 16 * 1024 * 1024

_BREAKS = "\x0b\x0c\x85\u2028\u2029"
_CONTROLS = "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff"
_UNREADABLE = re.compile(f"[{_BREAKS}{_CONTROLS}]")


@dataclass(frozen=True, slots=True)
class Sources:
    """What was read: files by path, and the faults met while reading them."""

    root: Path
    files: Mapping[str, SourceFile]
    faults: tuple[Diagnostic, ...]

    @property
    def documents(self) -> Iterator[Document]:
        for file in self.files.values():
            yield from file.documents

    def lines(self, path: str) -> list[str]:
        """The lines of a file that was read, for a message's excerpt; none for others."""
        file = self.files.get(path)
        return file.text.split("\n") if file else []


@dataclass(frozen=True, slots=True)
class Gathered:
    """Paths and bytes of files, and the faults met while looking for them."""

    root: Path
    files: tuple[tuple[str, bytes], ...]
    faults: tuple[Diagnostic, ...]


def read_repository(root: Path | Tree, seen: Seen | None = None) -> Sources:
    """All documents below `catalog/` and `tenants/` of `root`, in the order of their paths."""
    return read_trees(root, ROOTS, seen)


def read_trees(root: Path | Tree, tops: Iterable[str], seen: Seen | None = None) -> Sources:
    """All documents below some folders of `root`; a folder that is not there holds none.

    A file that was `seen` with the same path and bytes is the same object again.
    """
    return understand_files(gather(root, tops), seen or Seen())


def gather(root: Path | Tree, tops: Iterable[str], left_out: Container[str] = ()) -> Gathered:
    """The bytes of all YAML files below some folders of `root`, but those that are `left_out`."""
    tree = tree_of(root)
    files: list[tuple[str, bytes]] = []
    faults: list[Diagnostic] = []
    for top in tops:
        for path, is_file in _walk(tree, top, faults):
            if path in left_out:
                continue
            data = _read_bytes(tree, path, is_file=is_file)
            if isinstance(data, Diagnostic):
                faults.append(data)
            else:
                files.append((path, data))
    return Gathered(tree.root, tuple(files), tuple(faults))


def understand_files(gathered: Gathered, seen: Seen) -> Sources:
    """All documents of the files, of those that were not seen before."""
    files: dict[str, SourceFile] = {}
    faults = list(gathered.faults)
    for path, data in gathered.files:
        file, found = seen.file(path, data, understand)
        faults += found
        if file is not None:
            files[path] = file
    return Sources(gathered.root, files, tuple(faults))


def read_texts(root: Path | Tree, tops: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Paths and texts of the files below some folders, not understood; faults are passed over."""
    tree = tree_of(root)
    for top in tops:
        for path, is_file in _walk(tree, top, []):
            data = _read_bytes(tree, path, is_file=is_file)
            text = data if isinstance(data, Diagnostic) else decode(data, path)
            if not isinstance(text, Diagnostic):
                yield path, with_line_feeds(text.removeprefix("\ufeff"))


def read_file(root: Path | Tree, path: str) -> FileRead:
    """One file, `path` being relative to `root`. None where its bytes can't be had as text."""
    data = _read_bytes(tree_of(root), path)
    return (None, (data,)) if isinstance(data, Diagnostic) else understand(path, data)


def read_lines(root: Path | Tree, path: str) -> list[str]:
    """The lines of one file, for a message's excerpt; none where its bytes can't be had as text."""
    data = _read_bytes(tree_of(root), path)
    text = data if isinstance(data, Diagnostic) else decode(data, path)
    if isinstance(text, Diagnostic):
        return []
    return with_line_feeds(text.removeprefix("\ufeff")).split("\n")


def understand(path: str, data: bytes) -> FileRead:
    """A file of which the bytes are at hand, as it is understood below that path."""
    text = decode(data, path)
    if isinstance(text, Diagnostic):
        return None, (text,)
    faults: list[Diagnostic] = []
    if text.startswith("\ufeff"):
        text = text[1:]
        faults.append(
            diagnose(
                "SRC013",
                Span(path),
                "the file starts with a byte order mark",
                help="save it as UTF-8 without one",
            )
        )
    if "\r" in text:
        faults.append(_carriage_return(text, path))
        text = with_line_feeds(text)
    if (bad := _unreadable_character(text, path)) is not None:
        return SourceFile(path, text, ()), (*faults, bad)
    from dracfg.source.composer import compose  # YAML is not read in every run

    documents, found = compose(path, text)
    faults += found
    if not documents and not found:
        faults.append(
            diagnose(
                "SRC015", Span(path), "the file holds no document", help="remove it, or write one"
            )
        )
    return SourceFile(path, text, documents), tuple(faults)


def understand_plainly(path: str, data: bytes) -> Plain | None:
    """The data of a file, for who asks of few values where they stand; None where `understand` may have
    something to say."""
    text = decode(data, path)
    if isinstance(text, Diagnostic) or text.startswith("\ufeff") or "\r" in text:
        return None
    from dracfg.source.plain import read_plain

    return read_plain(text) if _unreadable_character(text, path) is None else None


def _carriage_return(text: str, path: str) -> Diagnostic:
    """SRC014, at the first line that ends in a carriage return, one without a line feed first."""
    alone = re.search("\r(?!\n)", text)
    start = alone.start() if alone is not None else text.index("\r")
    line = len(line_starts(text[:start]))
    span = Span(path, line, 1, line, 1)
    if alone is not None:
        return diagnose(
            "SRC014",
            span,
            "a carriage return without a line feed ends a line",
            help="put a line feed in its place; git sees one line where YAML reads two",
        )
    return diagnose(
        "SRC014",
        span,
        "lines end in CRLF",
        help="save the file with LF; git does so with `*.yaml text eol=lf` in .gitattributes",
    )


def _walk(tree: Tree, top: str, faults: list[Diagnostic]) -> Iterator[tuple[str, bool]]:
    """Paths of the YAML files below one root, sorted, and whether they are known to be regular.

    Folders behind links are not entered.
    """
    pending = [top]
    found: list[tuple[str, bool]] = []
    while pending:
        folder = pending.pop()
        try:
            entries = tree.entries(folder)
        except FileNotFoundError:
            continue
        except OSError as fault:
            faults.append(unreadable(folder, fault))
            continue
        for entry in entries:
            path = f"{folder}/{entry.name}"
            if entry.name.startswith(".") or path in UNREAD:
                continue
            is_yaml = entry.name.lower().endswith((".yaml", ".yml"))
            if entry.kind == "folder":
                pending.append(path)
            elif entry.kind == "link" and (refusal := _judge_link(tree, path, is_yaml)) is not None:
                faults.append(refusal)
            elif is_yaml:
                found.append((path, entry.kind == "file"))
    yield from sorted(found)


def _judge_link(tree: Tree, path: str, is_yaml: bool) -> Diagnostic | None:
    """What is wrong with a symbolic link, if anything: it must lead to a file of the repository."""
    target = tree.target(path)
    if target == "nowhere":
        return diagnose(
            "SRC002",
            Span(path),
            "a symbolic link that leads nowhere or in a circle",
            help="remove the link",
        )
    if target == "folder":
        return diagnose(
            "SRC002",
            Span(path),
            "a symbolic link to a folder is not followed",
            help="put the folder itself here; every file below catalog/ and tenants/ is read once",
        )
    if is_yaml and target == "outside":
        return diagnose(
            "SRC002",
            Span(path),
            "a symbolic link that leads out of the repository",
            help="what is compiled must stand in the repository, or reviewers can't see it",
        )
    return None


def _read_bytes(tree: Tree, path: str, *, is_file: bool = False) -> bytes | Diagnostic:
    """The bytes of a file; `is_file` says that it is known to be a regular one."""
    try:
        if not (is_file or tree.is_file(path)):
            return diagnose("SRC001", Span(path), "not a regular file")
        return tree.read(path, MAX_BYTES)
    except TooLarge as file:
        return diagnose(
            "SRC003",
            Span(path),
            f"the file has {file.size:,} bytes; at most {MAX_BYTES:,} are read",
            help="split it; recorded cluster state belongs into catalog/inventory/",
        )
    except OSError as fault:
        return unreadable(path, fault)


def unreadable(path: str, fault: OSError) -> Diagnostic:
    """The finding for a file or folder that the operating system does not let us read."""
    reason = os.strerror(fault.errno) if fault.errno else str(fault)
    mend = "check its owner and mode" if fault.errno in (errno.EACCES, errno.EPERM) else None
    return diagnose("SRC001", Span(path), f"can't be read: {reason}", help=mend)


def decode(data: bytes, path: str) -> str | Diagnostic:
    """A file's bytes as text, or the finding that names the first byte that is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as fault:
        *above, before = with_line_feeds(data[: fault.start].decode("utf-8")).split("\n")
        line, column = len(above) + 1, len(before) + 1
        name = "UTF-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "UTF-8"
        message = (
            "the file is UTF-16, not UTF-8"
            if name == "UTF-16"
            else f"byte 0x{data[fault.start]:02x} is not UTF-8"
        )
        return diagnose(
            "SRC003",
            Span(path, line, column, line, column + 1),
            message,
            help="save the file as UTF-8",
        )


def _unreadable_character(text: str, path: str) -> Diagnostic | None:
    if _UNREADABLE.search(text) is None:
        return None
    match = re.search(f"[{_CONTROLS}]", text) or re.search(f"[{_BREAKS}]", text)
    assert match is not None
    start = match.start()
    line = text.count("\n", 0, start) + 1
    column = start - (text.rfind("\n", 0, start) + 1) + 1
    return diagnose(
        "SRC003",
        Span(path, line, column, line, column + 1),
        f"character U+{ord(match.group()):04X} may not stand in YAML",
        help="remove it, or write it as an escape in a double-quoted string",
    )
