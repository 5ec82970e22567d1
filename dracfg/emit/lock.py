"""The lock `dracfg.lock.json`: which files under out/ dracfg wrote, with their digests.

It tells whose a file is and nothing else; a lock that is missing or broken costs nothing but the
reading of the files, because each of them says whose it is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import field
from functools import cached_property
from pathlib import Path

from dracfg.dataclass import dataclass
from dracfg.emit.errors import reason_of
from dracfg.emit.layout import LOCK_NAME, stays_inside, unit_of
from dracfg.emit.listing import read
from dracfg.emit.ownership import bears_mark

SCHEMA_VERSION = 1

_text = json.encoder.encode_basestring_ascii
"""A text as JSON; `json.dumps` asks what it is first, which takes longer for so many."""

# Unit path -> path of a file in the unit -> `sha256:<hex>`.
Digests = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Lock:
    """The files that dracfg wrote, a unit each; what it is rendered to, where that is known."""

    units: Digests
    rendering: bytes | None = field(default=None, compare=False, repr=False)

    def render(self) -> bytes:
        """Return the lock as JSON, one file a line, so that branches merge line by line."""
        return self._rendered

    def exchanged(self, units: Digests) -> Lock:
        """The lock with other files of some units; a unit that has none of them goes."""
        others = {path: files for path, files in self.units.items() if path not in units}
        given = {path: files for path, files in units.items() if files}
        return Lock({**others, **given}, self._rendering_with(units))

    def _rendering_with(self, units: Digests) -> bytes | None:
        """The rendering after an exchange, if it is only that lines of some units differ."""
        if self.rendering is None or not all(units.values()) or not units.keys() <= {*self.units}:
            return None
        parts: list[bytes] = []
        end = 0
        for path in sorted(units):
            standing = _render_unit(path, self.units[path]).encode()
            start = self.rendering.index(standing, end)
            parts += (self.rendering[end:start], _render_unit(path, units[path]).encode())
            end = start + len(standing)
        return b"".join((*parts, self.rendering[end:]))

    @cached_property
    def _rendered(self) -> bytes:
        if self.rendering is not None:
            return self.rendering
        units = [_render_unit(path, self.units[path]) for path in sorted(self.units)]
        body = ",\n".join(units)
        opened = f'{{\n "schemaVersion": {SCHEMA_VERSION},\n "units": {{'
        return f"{opened}\n{body}\n }}\n}}\n".encode() if units else f"{opened}}}\n}}\n".encode()


@dataclass(frozen=True, slots=True)
class LockReading:
    """The lock that stands: its bytes, what they say, and what is wrong with them.

    `content` is None where no lock stands, `lock` where it doesn't say whose the files are.
    """

    content: bytes | None
    lock: Lock | None
    fault: str | None

    @property
    def digest(self) -> str:
        """The hexadecimal SHA-256 of its bytes, or of none."""
        return hashlib.sha256(self.content or b"").hexdigest()


NOTHING_KNOWN = LockReading(None, None, None)


def digest(content: bytes) -> str:
    """Return a file's digest as the lock writes it."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def read_lock(out: Path, known: LockReading = NOTHING_KNOWN) -> LockReading:
    """Read the lock under `out`; whatever is wrong with it is told, never raised.

    Where its bytes are those of a `known` reading, this is what they say.
    """
    try:
        content = read(out / LOCK_NAME)
    except FileNotFoundError:
        return LockReading(None, None, "the lock is missing")
    except OSError as error:
        return LockReading(None, None, f"the lock can't be read: {reason_of(error)}")
    if content == known.content:
        return known
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        merging = content.startswith(b"<<<<<<< ") or b"\n<<<<<<< " in content
        what = "holds the markers of a merge conflict" if merging else "is damaged: it is not JSON"
        return LockReading(content, None, f"the lock {what}")
    version = document.get("schemaVersion") if isinstance(document, dict) else None
    if version != SCHEMA_VERSION or isinstance(version, bool):
        fault = f"the lock has schemaVersion {version!r}, and only {SCHEMA_VERSION} is known"
        return LockReading(content, None, fault)
    units = _read_units(document.get("units"))
    if units is None:
        return LockReading(content, None, "the lock is damaged: `units` is not of its form")
    return LockReading(content, Lock(units), None)


def read_rendered(out: Path, digest: str) -> Lock | None:
    """The lock under `out`, where its bytes have the hexadecimal digest of what some lock was rendered to."""
    reading = read_lock(out)
    if reading.lock is None or reading.digest != digest:
        return None
    return Lock(reading.lock.units, reading.content)


def rebuild(out: Path, files: Iterable[str], known: Collection[str]) -> Lock:
    """Return the lock that the files under `out` bear out, by the mark that each carries.

    `files` are relative to `out`, `known` the units that are certain; a file elsewhere belongs to
    the unit that the layout gives it. A file that can't be read is nobody's.
    """
    units: dict[str, dict[str, str]] = {}
    for path in files:
        unit = unit_of(path, known)
        if not unit:
            continue
        try:
            content = read(out / path)
        except OSError:
            continue
        if bears_mark(path, content):
            units.setdefault(unit, {})[path[len(unit) + 1 :]] = digest(content)
    return Lock(units)


def _render_unit(path: str, files: Mapping[str, str]) -> str:
    lines = ",\n".join([f"    {_text(name)}: {_text(files[name])}" for name in sorted(files)])
    return f'  {_text(path)}: {{\n   "files": {{\n{lines}\n   }}\n  }}'


def _read_units(value: object) -> Digests | None:
    """Return `units` if all of it has its form and no path leads out of its folder."""
    if not isinstance(value, dict):
        return None
    units: dict[str, dict[str, str]] = {}
    for path, unit in value.items():
        files = unit.get("files") if isinstance(unit, dict) else None
        if not isinstance(files, dict) or not {*map(type, files.values())} <= {str}:
            return None
        units[path] = files
    # Most units have files of the same names.
    names = {name for files in units.values() for name in files}
    return units if all(map(stays_inside, {*units, *names})) else None
