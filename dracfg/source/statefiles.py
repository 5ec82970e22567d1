"""The files of the standing tree that hold objects, each of them read when it is asked for.

To read all of them takes longer than to make them anew. So a file with the very bytes of what was just
made is not read at all: what was made is what it holds. Knows no kinds but those of claims.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import is_
from typing import Any, Protocol

import yaml
from yaml.constructor import SafeConstructor
from yaml.nodes import ScalarNode
from yaml.resolver import Resolver

from dracfg.aside import share_out, worth
from dracfg.diagnostics import Diagnostic, Span, diagnose
from dracfg.source.plain import read_plain
from dracfg.source.scalars import AmbiguousScalar
from dracfg.source.seen import Seen, StateRead

CLAIM_KINDS = ("ResourceClaim", "ResourceClaimTemplate")

Objects = tuple[dict[str, Any], ...]
"""The objects of a file, in their order."""


class Made(Protocol):
    """Something that was made to stand in a file: an object, and whatever is known of it."""

    @property
    def object(self) -> dict[str, Any]: ...


Write = Callable[[Sequence[Any]], bytes]
"""What a file is written as, for what was made for it."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_RESOLVER: Any = Resolver()
_LISTS = (list, tuple)
"""What a list is read as, in general and plainly."""


class StateFiles(Mapping[str, Objects]):
    """Objects by file, none of one that can't be read as what it holds.

    They are made anew whenever they are asked for: a fleet's would take the most of all memory. `files`
    has bytes by the path in a `folder`; what was `seen` before is not read again.
    """

    def __init__(self, folder: str, files: Mapping[str, bytes], seen: Seen) -> None:
        self._folder = folder
        self._files = files
        self._seen = seen
        self._read: dict[str, StateRead] = {}

    def __getitem__(self, path: str) -> Objects:
        state = self._state(path)
        return () if isinstance(state, Diagnostic) else tuple(json.loads(state))

    def __contains__(self, path: object) -> bool:
        return path in self._files

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __reduce__(self) -> tuple[Any, ...]:
        return StateFiles, (self._folder, self._files, Seen())

    def bytes_of(self, path: str) -> bytes | None:
        """What stands at a path."""
        return self._files.get(path)

    def states(self) -> dict[str, bytes]:
        """All files that hold what they should, as they are read: lists in JSON."""
        found = {path: self._state(path) for path in self._files}
        return {path: state for path, state in found.items() if isinstance(state, bytes)}

    def sound(self) -> Iterator[str]:
        """The files that were read so far, and hold what they should."""
        return (path for path, state in self._read.items() if isinstance(state, bytes))

    def faults(self, sound: Collection[str], jobs: int) -> tuple[Diagnostic, ...]:
        """Why files can't be read, of all but those that are known to be `sound`.

        Many that nobody has read so far are read by at most `jobs` processes.
        """
        unsure = [path for path in self._files if path not in sound]
        unread = [path for path in unsure if self._known(path) is None]

        def read(paths: Sequence[str]) -> list[StateRead]:
            return [_objects(self._shown(path), self._files[path]) for path in paths]

        found = share_out(read, unread, worth(len(unread), jobs))
        for path, state in zip(unread, found, strict=True):
            self._keep(path, state)
        states = map(self._state, unsure)
        return tuple(state for state in states if isinstance(state, Diagnostic))

    def _state(self, path: str) -> StateRead:
        state = self._known(path)
        return state or self._keep(path, _objects(self._shown(path), self._files[path]))

    def _known(self, path: str) -> StateRead | None:
        """What a file holds, as it was read, or recorded by the run that wrote it."""
        if path in self._read:
            return self._read[path]
        data = self._files[path]
        state = self._seen.states.get((self._shown(path), data))
        if state is None and self._seen.recorded:
            state = self._seen.recorded.get(hashlib.sha256(data).hexdigest())
        return None if state is None else self._keep(path, state)

    def _keep(self, path: str, state: StateRead) -> StateRead:
        self._read[path] = self._seen.states[self._shown(path), self._files[path]] = state
        return state

    def _shown(self, path: str) -> str:
        return f"{self._folder}/{path}"


class Recognized(Mapping[str, Objects]):
    """The same, where objects that stand as they were just made are those that were made."""

    def __init__(self, files: StateFiles, write: Write) -> None:
        self._files = files
        self._write = write
        self._made: dict[str, tuple[Sequence[Made], bytes]] = {}

    def __getitem__(self, path: str) -> Objects:
        if path not in self._made:
            return self._files[path]
        made, _ = self._made[path]
        return tuple(one.object for one in made)

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def recognize(self, path: str, made: Sequence[Made]) -> None:
        """Tells what was made for a file, which is what it holds if it has the bytes of that."""
        stands = self._files.bytes_of(path)
        if stands is not None and path not in self._made and stands == self._write(made):
            self._made[path] = made, stands

    def written(self, path: str, made: Sequence[Made]) -> bytes | None:
        """What is written for a file, where this was recognized in it."""
        known, stands = self._made.get(path, ((), None))
        same = len(known) == len(made) and all(map(is_, known, made))
        return stands if same else None

    def sound(self) -> Iterator[str]:
        """The files that were recognized, or read so far, and hold what they should."""
        yield from self._made
        yield from self._files.sound()


def _objects(shown: str, data: bytes) -> StateRead:
    try:
        text = data.decode("utf-8")
        objects = read_plain(text, _resolve, text_keys=True) or _loaded(text)
        sound = objects is not None and all(map(_is_object, objects))
    except (ValueError, RecursionError, yaml.YAMLError) as fault:
        return unreadable(shown, fault)
    return json.dumps(objects).encode() if sound else unreadable(shown, None)


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


def unreadable(path: str, fault: Exception | None) -> Diagnostic:
    """That a file can't be had, or read as what it should hold."""
    mark = getattr(fault, "problem_mark", None)
    line = mark.line + 1 if mark is not None else 1
    return diagnose(
        "SRC016",
        Span(path, line, 1, line, 1),
        "the standing tree can't be read here, so what retires is not known",
        help=f"take it from git (`git checkout HEAD -- {path}`), or resolve the conflict in it",
    )
