"""The tree that stands under `out/`, as far as the next compile depends on it.

Claim templates can't be edited in place: what was emitted before decides which templates retire.
Reads only files that hold such state; everything else under `out/` is compared by `emit/`.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field
from pathlib import Path
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic
from dracfg.source.seen import Seen
from dracfg.source.statefiles import Made, Objects, Recognized, StateFiles, Write, unreadable
from dracfg.source.tree import DiskTree, TooLarge, Tree

MAX_BYTES = 256 * 1024 * 1024
STATE_FILES = (
    "*/guard*/namespaces.yaml",
    "*/platform*/device-classes.yaml",
    "*/platform*/policy-versions.yaml",
    "*/platform*/retired/*.yaml",
    "*/tenants/*/claim-templates.yaml",
    "*/tenants/*/claims.yaml",
    "*/tenants/*/retired/*.yaml",
    "gitops/flux/*/kustomizations.yaml",
)

TEXT_FILES = (
    "*/metadata/*.schema.json",
    "*/metadata/retired/*.schema.json",
    "*/guard*/kustomization.yaml",
    "*/platform*/kustomization.yaml",
    "gitops/argocd/*/kustomization.yaml",
)
"""State that is no object: what running containers may still read by, and which parts a unit has."""

_OF_TENANTS = "*/tenants/*/"
_STATE = re.compile("|".join(re.escape(one).replace(r"\*", "[^/]*") for one in STATE_FILES))
_TEXTS = re.compile("|".join(re.escape(one).replace(r"\*", "[^/]*") for one in TEXT_FILES))

_PART = re.compile(r"(.*?)(?:\.([0-9]+))?")
"""The folder of a unit: its name, and a number from its second part on (`vision.2`)."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Objects of the standing tree by file, and files kept as text; paths relative to `out/`."""

    files: Mapping[str, Objects] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    _parts: Mapping[tuple[str, str], Sequence[tuple[int, str]]] = field(
        init=False, repr=False, compare=False
    )
    _last: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        found = sorted(_found_in_parts(self.files))
        parts: dict[tuple[str, str], list[tuple[int, str]]] = {}
        last: dict[str, int] = {}
        for number, unit, file, path in found:
            parts.setdefault((unit, file), []).append((number, path))
            last[unit] = number
        for number, unit, _, _ in _found_in_parts(self.texts):
            last[unit] = max(number, last.get(unit, 1))
        object.__setattr__(self, "_parts", parts)
        object.__setattr__(self, "_last", last)

    def objects(self, unit: str, file: str) -> Objects:
        """What stands in one file of a unit, in the order of its parts (`guard`, `guard.2` …).

        A part that lacks the file is passed over: not each of them holds claims or retired templates.
        """
        return tuple(thing for _, thing in self.numbered(unit, file))

    def numbered(self, unit: str, file: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """The same, with the number of the part that holds each: 1 for the unit itself."""
        for number, path in self._parts.get((unit, file), ()):
            for thing in self.files[path]:
                yield number, thing

    def last_part(self, unit: str) -> int:
        """The number of a unit's last part (`guard.8`: 8); 1 where it stands alone, or not at all."""
        return self._last.get(unit, 1)

    def without(
        self, mark: str, names: AbstractSet[str], since: Standing | None = None
    ) -> Standing:
        """What was read, but for objects that have one of these names as their annotation `mark`.

        Objects of files that another state had as well are made once, where it is left so `since`.
        """
        return Standing(_Left(self.files, mark, names, since and since.files), self.texts)

    def texts_of(self, unit: str) -> dict[str, str]:
        """The files of a unit that are kept as text, by their path in it."""
        return {
            path.removeprefix(f"{unit}/"): text
            for path, text in self.texts.items()
            if path.startswith(f"{unit}/")
        }

    def recognizing(self, write: Write) -> Standing:
        """The same, which can `recognize` what `write` has written; all else is told as without."""
        if not (isinstance(self.files, StateFiles) and self.files):
            return self
        same = copy.copy(self)
        object.__setattr__(same, "files", Recognized(self.files, write))
        return same

    @property
    def recognizes(self) -> bool:
        """Whether it is of use to tell what is made."""
        return isinstance(self.files, Recognized)

    def recognize(self, path: str, made: Sequence[Made]) -> None:
        """Tells what is made for a file; one that stands just so need not be read."""
        if isinstance(self.files, Recognized):
            self.files.recognize(path, made)

    def written(self, path: str, made: Sequence[Made]) -> bytes | None:
        """What is to be written for a file, where this was recognized in it."""
        return self.files.written(path, made) if isinstance(self.files, Recognized) else None

    def sound(self) -> frozenset[str]:
        """Files that were recognized, or read so far, and hold what they should."""
        files = self.files
        return frozenset(files.sound() if isinstance(files, Recognized | StateFiles) else ())

    def faults(self, sound: Collection[str] = (), jobs: int = 1) -> tuple[Diagnostic, ...]:
        """Why files can't be read, of all but those that are known to be `sound`; then their objects are
        not known either.

        Those that nobody has read so far are read, many of them by at most `jobs` processes.
        """
        return self.files.faults(sound, jobs) if isinstance(self.files, StateFiles) else ()


class _Left(dict[str, tuple[dict[str, Any], ...]]):
    """Objects by file, less those that bear one of the `names` as an annotation; `states` are of them all."""

    def __init__(
        self,
        files: Mapping[str, tuple[dict[str, Any], ...]],
        mark: str,
        names: AbstractSet[str],
        since: object,
    ) -> None:
        self.states = files.states() if isinstance(files, StateFiles) else {}
        self.names = names
        known = since if isinstance(since, _Left) and since.names == names else None

        def stays(thing: Mapping[str, Any]) -> bool:
            return (thing["metadata"].get("annotations") or {}).get(mark) not in names

        for path in files:
            state = self.states.get(path)
            if known is not None and state is not None and known.states.get(path) is state:
                self[path] = known[path]
            else:
                self[path] = tuple(filter(stays, files[path]))


def is_state_file(path: str) -> bool:
    """Whether a file below `out/` holds objects that the next compile depends on."""
    return _STATE.fullmatch(path) is not None


def is_text_file(path: str) -> bool:
    """Whether a file below `out/` is such state as it is written."""
    return _TEXTS.fullmatch(path) is not None


def merge_standing(before: Standing, now: Standing) -> Standing:
    """What stands now, on top of what stood before and is not gone by a step that may be seen.

    An object that stands in both is that of before: it is what clusters hold. One that now lacks is
    kept in its file.
    """
    placed = tuple(_placed(before))
    known = {_identity(path, thing): thing for path, thing in placed}
    files = {
        path: [known.pop(_identity(path, thing), thing) for thing in things]
        for path, things in now.files.items()
    }
    left = {id(thing) for thing in known.values()}
    for path, thing in placed:
        if id(thing) in left:
            files.setdefault(path, []).append(thing)
    texts = dict(sorted({**now.texts, **before.texts}.items()))
    return Standing({path: tuple(things) for path, things in sorted(files.items())}, texts)


def read_standing(
    out: Path | Tree,
    folder: str = "out",
    *,
    tenants: Collection[str] | None = None,
    holds: Callable[[str], bool] = lambda _path: True,
    seen: Seen | None = None,
) -> tuple[Standing, tuple[Diagnostic, ...]]:
    """The state that stands under `out`, or in the folder of a tree, in files that `holds` admits.

    With `tenants`, units of others are not even looked for.
    Paths are relative to the folder. A file that can't be had is a finding; what is wrong with those
    that can is told by `Standing.faults`. One that was `seen` is not read again.
    """
    tree = DiskTree(out.parent) if isinstance(out, Path) else out
    folder = out.name if isinstance(out, Path) else folder
    found: dict[str, bytes] = {}
    texts: dict[str, str] = {}
    faults: list[Diagnostic] = []
    patterns: tuple[str, ...] = (*STATE_FILES, *TEXT_FILES)
    if tenants is not None:
        patterns = tuple(part for one in patterns for part in _of_some(one, tenants))
    for relative in filter(holds, sorted(tree.matching(folder, patterns))):
        shown = f"{folder}/{relative}"
        try:
            data = tree.read(shown, MAX_BYTES)
            if is_text_file(relative):
                texts[relative] = data.decode("utf-8")
            else:
                found[relative] = data
        except (OSError, TooLarge, UnicodeDecodeError) as fault:
            faults.append(unreadable(shown, fault))
    return Standing(StateFiles(folder, found, seen or Seen()), texts), tuple(faults)


def _of_some(pattern: str, tenants: Collection[str]) -> tuple[str, ...]:
    """A pattern as it is for some tenants, whose units may have several parts."""
    if not pattern.startswith(_OF_TENANTS):
        return (pattern,)
    names = f"{{{','.join(tenants)}}}"
    rest = pattern.removeprefix(_OF_TENANTS)
    return f"*/tenants/{names}/{rest}", f"*/tenants/{names}.*/{rest}"


def _placed(standing: Standing) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, things in standing.files.items():
        for thing in things:
            yield path, thing


def _identity(path: str, thing: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """What makes an object one of its kind in a cluster, whichever file holds it."""
    metadata = thing["metadata"]
    return path.split("/")[0], thing["kind"], metadata.get("namespace", ""), metadata["name"]


def _found_in_parts(paths: Iterable[str]) -> Iterator[tuple[int, str, str, str]]:
    """(number of the part, unit, file in it, path) of each path."""
    for path in paths:
        steps = path.split("/")
        depth = 3 if steps[1] in ("tenants", "argocd", "flux") else 2
        if (part := _PART.fullmatch(steps[depth - 1])) is not None:
            unit = "/".join((*steps[: depth - 1], part[1]))
            yield int(part[2] or 1), unit, "/".join(steps[depth:]), path


NOTHING = Standing()
