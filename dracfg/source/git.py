"""Git as far as dracfg asks it: revisions, where two lines of history part, and objects.

Only reads, and only from the clone that is there: no checkout, no network, no hook. What git says
is made plain where it refuses.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Self

_SECONDS = 60
_CHUNK = 1 << 20
_OF_HOOKS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_PREFIX")
_MAIN = ("origin/HEAD", "origin/main", "main", "origin/master", "master")
"""Names of the main branch, the surest first; a clone of a pipeline often has no branch of its own."""


class GitFault(Exception):
    """Why git can't tell what it was asked for, in words for a person."""


def run_git(root: Path, *arguments: str) -> bytes:
    """What git prints. Raises GitFault, also where git or `root` is not there."""
    done = _run(root, arguments)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().removeprefix("fatal: ")
        raise GitFault(said.splitlines()[0] if said else f"git {arguments[0]} failed")
    return done.stdout


def resolve_commit(root: Path, revision: str) -> str:
    """The id of the commit that a revision names. Raises GitFault where there is none."""
    if not revision:
        raise GitFault("there is no revision without a name")
    name = _asked(
        root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
    )
    if name is not None:
        return name
    run_git(root, "rev-parse", "--git-dir")
    if is_shallow(root):
        mend = f"this clone is shallow; `git fetch origin {revision}` brings it"
    else:
        mend = "`git fetch` may bring it"
    raise GitFault(f"there is no revision {revision} here; {mend}")


def merge_base(root: Path, one: str, other: str) -> str | None:
    """The id of the commit where two revisions part; None where the clone has no such commit."""
    return _asked(root, "merge-base", one, other)


def main_branch(root: Path) -> str | None:
    """The main branch by the name that is known here; None where no usual one is."""
    for name in _MAIN:
        found = _asked(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        if found is not None:
            return _named(root, name)
    return None


def is_shallow(root: Path) -> bool:
    """Whether the clone lacks history on purpose."""
    return _asked(root, "rev-parse", "--is-shallow-repository") == "true"


def has_work_tree(root: Path) -> bool:
    """Whether `root` lies in a work tree, not in a bare repository."""
    return _asked(root, "rev-parse", "--is-inside-work-tree") == "true"


def prefix_of(root: Path) -> str:
    """`root` from the top of its work tree on: empty, or with `/` at its end."""
    return os.fsdecode(run_git(root, "rev-parse", "--show-prefix")).rstrip("\n")


class ObjectReader:
    """Bytes of objects by their ids, from one process that stays until it is closed."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the process; a later read starts another."""
        if self._process is None:
            return
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._process.wait()
        self._process = None

    def read(self, name: str, most: int) -> tuple[int, bytes]:
        """The size of an object and its first `most` bytes. Raises GitFault where it is missing."""
        asked, answers = self._streams()
        asked.write(f"{name}\n".encode())
        asked.flush()
        head = answers.readline().split()
        if not head:
            raise GitFault("git ended before it had read every file")
        if len(head) != 3:
            raise GitFault(f"this clone lacks object {name}; fetch it whole (no --filter)")
        size = int(head[2])
        data = answers.read(min(size, most))
        rest = size - len(data)
        while rest > 0:
            rest -= len(answers.read(min(rest, _CHUNK)))
        answers.read(1)
        return size, data

    def _streams(self) -> tuple[IO[bytes], IO[bytes]]:
        if self._process is None:
            self._process = subprocess.Popen(
                _command(self._root, ("cat-file", "--batch")),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(),
            )
        assert self._process.stdin is not None and self._process.stdout is not None
        return self._process.stdin, self._process.stdout


def _named(root: Path, name: str) -> str:
    """`origin/HEAD` as the branch that it stands for."""
    whole = _asked(root, "rev-parse", "--abbrev-ref", name)
    return whole or name


def _asked(root: Path, *arguments: str) -> str | None:
    """One line that git prints; None where it refuses."""
    done = _run(root, arguments)
    return None if done.returncode else os.fsdecode(done.stdout).strip()


def _run(root: Path, arguments: tuple[str, ...]) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            _command(root, arguments),
            capture_output=True,
            check=False,
            timeout=_SECONDS,
            env=_environment(),
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        raise GitFault("git is not installed, and revisions are read with it") from None
    except subprocess.TimeoutExpired:
        raise GitFault(f"git did not answer within {_SECONDS} s") from None


def _command(root: Path, arguments: tuple[str, ...]) -> list[str]:
    return ["git", "-C", str(root), "--no-replace-objects", *arguments]


def _environment() -> Mapping[str, str]:
    """Messages as they are known here, and no object fetched behind anyone's back.

    Hooks run with variables that name a repository; here the folder that is asked about does.
    """
    kept = {key: value for key, value in os.environ.items() if key not in _OF_HOOKS}
    return {**kept, "LC_ALL": "C", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0"}
