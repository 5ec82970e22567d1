"""What a run asked of a repository's files, and digests of the answers it got.

The same questions with the same answers lead to the same result, whatever else changed on disk.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from datetime import date
from pathlib import Path
from typing import TypeVar

from dracfg.cache.inputs import Inputs
from dracfg.dataclass import dataclass
from dracfg.source.tree import Target, TooLarge, Tree, TreeEntry

_T = TypeVar("_T")
Question = tuple[str, ...]
"""The name of a Tree's method and what it is asked about, as text."""

_UNSETTLED = "answered in two ways"
"""Noted of a question in place of a digest: no answer is this one."""


@dataclass(frozen=True, slots=True)
class AskedTree:
    """A Tree that notes what is asked of it, but for what lies in the folder `aside`.

    What a result depends on may be any answer that was given: where two of them differ, none is noted.
    """

    tree: Tree
    aside: str | None = None
    notes: dict[Question, str] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        return self.tree.root

    def entries(self, folder: str) -> Sequence[TreeEntry]:
        return self._ask(("entries", folder), lambda: self.tree.entries(folder))

    def target(self, path: str) -> Target:
        return self._ask(("target", path), lambda: self.tree.target(path))

    def is_file(self, path: str) -> bool:
        return self._ask(("is_file", path), lambda: self.tree.is_file(path))

    def read(self, path: str, most: int) -> bytes:
        return self._ask(("read", path, str(most)), lambda: self.tree.read(path, most))

    def matching(self, folder: str, patterns: Sequence[str]) -> Iterator[str]:
        question = ("matching", folder, *patterns)
        yield from self._ask(question, lambda: tuple(sorted(self.tree.matching(folder, patterns))))

    def day(self) -> date | None:
        return self._ask(("day",), self.tree.day)

    def note(self, question: Question, digest: str) -> None:
        """Note the digest of an answer as if it had been given just now."""
        if self.notes.setdefault(question, digest) != digest:
            self.notes[question] = _UNSETTLED

    def _ask(self, question: Question, answer: Callable[[], _T]) -> _T:
        try:
            given = answer()
        except (OSError, TooLarge) as refusal:
            self._note(question, repr(refusal))
            raise
        self._note(question, given)
        return given

    def _note(self, question: Question, answer: object) -> None:
        if self.aside is None or question[1:2] == () or not _lies_in(question[1], self.aside):
            self.note(question, _digest(answer))


def stand(
    tree: AskedTree, notes: Iterable[tuple[Question, str]], inputs: Inputs | None = None
) -> bool:
    """Whether a tree answers every question as it did; it is asked up to the first that differs.

    Files of which the `inputs` at its root know what they hold are not read.
    """
    return all(ask(tree, question, digest, inputs) == digest for question, digest in notes)


def ask(
    tree: AskedTree, question: Question, expected: str = "", inputs: Inputs | None = None
) -> str | None:
    """The digest of the answer that a tree gives, or gave when it was asked before.

    The `inputs` at its root tell of files that hold what is `expected` without reading them.
    """
    if question in tree.notes:
        return tree.notes[question]
    if inputs is not None and question[0] == "read" and question[-1].isdecimal():
        digest = inputs.digest(question[1], int(question[-1]), expected)
        if digest is not None:
            tree.note(question, digest)
            return digest
    try:
        match question:
            case ("read", path, most) if most.isdecimal():
                tree.read(path, int(most))
            case ("entries", folder):
                tree.entries(folder)
            case ("target", path):
                tree.target(path)
            case ("is_file", path):
                tree.is_file(path)
            case ("matching", folder, *patterns):
                tuple(tree.matching(folder, patterns))
            case ("day",):
                tree.day()
    except (OSError, TooLarge):
        pass  # the refusal is noted, and it is the answer
    return tree.notes.get(question)


def _lies_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _digest(answer: object) -> str:
    if isinstance(answer, bytes):
        data = answer
    elif isinstance(answer, list):  # of entries, each of which would say what its parts are called
        data = json.dumps(answer).encode()
    else:
        data = repr(answer).encode()
    return hashlib.sha256(data).hexdigest()
