"""The tree that stands under `out/`, as far as the next compile depends on it.

Claim templates can't be edited in place: what was emitted before decides which templates retire.
Reads only files that hold such state; everything else under `out/` is compared by `emit/`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from yaml.constructor import SafeConstructor
from yaml.nodes import ScalarNode
from yaml.resolver import Resolver

from dracfg.aside import share_out, worth
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Span, diagnose
from dracfg.source.plain import read_plain
from dracfg.source.scalars import AmbiguousScalar
from dracfg.source.seen import Seen, StateRead
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

CLAIM_KINDS = ("ResourceClaim", "ResourceClaimTemplate")

_OF_TENANTS = "*/tenants/*/"
_STATE = re.compile("|".join(re.escape(one).replace(r"\*", "[^/]*") for one in STATE_FILES))
_TEXTS = re.compile("|".join(re.escape(one).replace(r"\*", "[^/]*") for one in TEXT_FILES))
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_RESOLVER: Any = Resolver()
_LISTS = (list, tuple)
"""What a list is read as, in general and plainly."""


_PART = re.compile(r"(.*?)(?:\.([0-9]+))?")
"""The folder of a unit: its name, and a number from its second part on (`vision.2`)."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Objects of the standing tree by file, and files kept as text; paths relative to `out/`."""

    files: Mapping[str, tuple[dict[str, Any], ...]] = field(default_factory=dict)
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

    def objects(self, unit: str, file: str) -> tuple[dict[str, Any], ...]:
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


class _Objects(Mapping[str, tuple[dict[str, Any], ...]]):
    """Objects by file, made anew whenever they are asked for: a fleet's would take the most of all memory."""

    def __init__(self, states: Mapping[str, bytes]) -> None:
        self.states = states

    def __getitem__(self, path: str) -> tuple[dict[str, Any], ...]:
        return tuple(json.loads(self.states[path]))

    def __iter__(self) -> Iterator[str]:
        return iter(self.states)

    def __len__(self) -> int:
        return len(self.states)


class _Left(dict[str, tuple[dict[str, Any], ...]]):
    """Objects by file, less those that bear one of the `names` as an annotation; `states` are of them all."""

    def __init__(
        self,
        files: Mapping[str, tuple[dict[str, Any], ...]],
        mark: str,
        names: AbstractSet[str],
        since: object,
    ) -> None:
        self.states = files.states if isinstance(files, _Objects) else {}
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
    jobs: int = 1,
) -> tuple[Standing, tuple[Diagnostic, ...]]:
    """The state that stands under `out`, or in the folder of a tree, in files that `holds` admits.

    With `tenants`, units of others are not even looked for.
    Paths are relative to the folder. A file that can't be read as what it holds is a finding; one that
    was `seen` is not read again, and many that were not are read by at most `jobs` processes.
    """
    tree = DiskTree(out.parent) if isinstance(out, Path) else out
    folder = out.name if isinstance(out, Path) else folder
    known = seen or Seen()
    found: dict[str, tuple[str, bytes]] = {}
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
                found[relative] = shown, data
        except (OSError, TooLarge, UnicodeDecodeError) as fault:
            faults.append(_unreadable(shown, fault))
    _read_states(found.values(), known, jobs)
    states: dict[str, bytes] = {}
    for relative, file in found.items():
        state = known.states[file]
        if isinstance(state, Diagnostic):
            faults.append(state)
        else:
            states[relative] = state
    return Standing(_Objects(states), texts), tuple(faults)


def _of_some(pattern: str, tenants: Collection[str]) -> tuple[str, ...]:
    """A pattern as it is for some tenants, whose units may have several parts."""
    if not pattern.startswith(_OF_TENANTS):
        return (pattern,)
    names = f"{{{','.join(tenants)}}}"
    rest = pattern.removeprefix(_OF_TENANTS)
    return f"*/tenants/{names}/{rest}", f"*/tenants/{names}.*/{rest}"


def _read_states(files: Iterable[tuple[str, bytes]], seen: Seen, jobs: int) -> None:
    """The objects of files that were not seen, as they are recorded, else as they are read."""
    unread: list[tuple[str, bytes]] = []
    for shown, data in files:
        if (shown, data) in seen.states:
            continue
        recorded = seen.recorded.get(hashlib.sha256(data).hexdigest()) if seen.recorded else None
        if recorded is None:
            unread.append((shown, data))
        else:
            seen.states[shown, data] = recorded

    def read(part: Sequence[tuple[str, bytes]]) -> list[StateRead]:
        return [_objects(shown, data) for shown, data in part]

    many = worth(len(unread), jobs)
    seen.states.update(zip(unread, share_out(read, unread, many), strict=True))


def _objects(shown: str, data: bytes) -> StateRead:
    try:
        text = data.decode("utf-8")
        objects = read_plain(text, _resolve, text_keys=True) or _loaded(text)
        sound = objects is not None and all(map(_is_object, objects))
    except (ValueError, RecursionError, yaml.YAMLError) as fault:
        return _unreadable(shown, fault)
    return json.dumps(objects).encode() if sound else _unreadable(shown, None)


def _loaded(text: str) -> tuple[Any, ...] | None:
    """The documents of a file as they are in general; None where they hold what JSON doesn't know."""
    documents = yaml.load_all(text, Loader=_LOADER)
    objects = tuple(document for document in documents if document is not None)
    return objects if all(map(_is_plain, objects)) else None


@lru_cache(maxsize=4096)
def _resolve(text: str) -> str | int | float | bool | None:
    """The value of a plain scalar as PyYAML has it. Raises AmbiguousScalar where JSON has no such value."""
    tag = _RESOLVER.resolve(ScalarNode, text, (True, False))
    if tag == Resolver.DEFAULT_SCALAR_TAG:
        return text
    value = SafeConstructor().construct_object(ScalarNode(tag, text))
    if value is None or isinstance(value, int | float):
        return value
    raise AmbiguousScalar(tag)


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


def _is_object(thing: object) -> bool:
    """Whether something is an object of the kinds that stand in these files, as far as it is read."""
    if not (isinstance(thing, dict) and isinstance(thing.get("metadata"), dict)):
        return False
    metadata = thing["metadata"]
    texts = (thing.get("apiVersion"), thing.get("kind"), metadata.get("name"))
    marks = [metadata.get(key, {}) for key in ("labels", "annotations")]
    return (
        all(isinstance(text, str) for text in (*texts, metadata.get("namespace", "")))
        and all(isinstance(mark, dict) for mark in marks)
        and all(isinstance(value, str) for mark in marks for value in mark.values())
        and (thing["kind"] not in CLAIM_KINDS or _is_claim(thing.get("spec")))
    )


def _is_claim(spec: object) -> bool:
    """Whether the spec of a claim or template says of each request which classes it names."""
    if isinstance(spec, dict) and "spec" in spec:
        spec = spec["spec"]
    devices = spec.get("devices", {}) if isinstance(spec, dict) else None
    requests = devices.get("requests", []) if isinstance(devices, dict) else None
    return isinstance(requests, _LISTS) and all(map(_is_request, requests))


def _is_request(request: object) -> bool:
    if not isinstance(request, dict):
        return False
    asks = [request["exactly"]] if "exactly" in request else request.get("firstAvailable", [])
    return isinstance(asks, _LISTS) and all(
        isinstance(ask, dict) and isinstance(ask.get("deviceClassName"), str) for ask in asks
    )


def _is_plain(value: object) -> bool:
    """Whether a value is one that JSON knows: a date, say, would not be written as it was read."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(inner) for key, inner in value.items())
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int | float | bool)


def _unreadable(path: str, fault: Exception | None) -> Diagnostic:
    mark = getattr(fault, "problem_mark", None)
    line = mark.line + 1 if mark is not None else 1
    return diagnose(
        "SRC016",
        Span(path, line, 1, line, 1),
        "the standing tree can't be read here, so what retires is not known",
        help=f"take it from git (`git checkout HEAD -- {path}`), or resolve the conflict in it",
    )
