"""The tree that stands under `out/`, as far as the next compile depends on it.

Claim templates can't be edited in place: what was emitted before decides which templates retire.
Reads only files that hold such state; everything else under `out/` is compared by `emit/`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from dracfg.diagnostics import Diagnostic, Span, diagnose

STATE_FILES = (
    "*/platform*/device-classes.yaml",
    "*/platform*/policy-versions.yaml",
    "*/platform*/retired/*.yaml",
    "*/tenants/*/claim-templates.yaml",
    "*/tenants/*/claims.yaml",
    "*/tenants/*/retired/*.yaml",
)

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Standing:
    """Objects of the standing tree by file, paths relative to `out/`."""

    files: Mapping[str, tuple[dict[str, Any], ...]] = field(default_factory=dict)

    def objects(self, unit: str, file: str) -> tuple[dict[str, Any], ...]:
        """What stands in one file of a unit, split units (`guard.2`) included, in file order."""
        found: list[dict[str, Any]] = list(self.files.get(f"{unit}/{file}", ()))
        number = 2
        while f"{unit}.{number}/{file}" in self.files:
            found += self.files[f"{unit}.{number}/{file}"]
            number += 1
        return tuple(found)


def read_standing(out: Path) -> tuple[Standing, tuple[Diagnostic, ...]]:
    """The state that stands under `out`; a file that can't be read as manifests is a finding."""
    files: dict[str, tuple[dict[str, Any], ...]] = {}
    faults: list[Diagnostic] = []
    for path in _state_files(out):
        relative = path.relative_to(out).as_posix()
        shown = f"{out.name}/{relative}"
        try:
            documents = list(yaml.load_all(path.read_text(encoding="utf-8"), Loader=_LOADER))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as fault:
            faults.append(_unreadable(shown, fault))
            continue
        objects = tuple(document for document in documents if document is not None)
        if all(_is_object(thing) for thing in objects):
            files[relative] = objects
        else:
            faults.append(_unreadable(shown, None))
    return Standing(files), tuple(faults)


def _state_files(out: Path) -> Iterator[Path]:
    found = {path for pattern in STATE_FILES for path in out.glob(pattern)}
    yield from sorted(path for path in found if path.is_file() and not path.is_symlink())


def _is_object(thing: object) -> bool:
    return (
        isinstance(thing, dict)
        and isinstance(thing.get("kind"), str)
        and isinstance(thing.get("metadata"), dict)
        and isinstance(thing["metadata"].get("name"), str)
    )


def _unreadable(path: str, fault: Exception | None) -> Diagnostic:
    mark = getattr(fault, "problem_mark", None)
    line = mark.line + 1 if mark is not None else 1
    return diagnose(
        "SRC016",
        Span(path, line, 1, line, 1),
        "the standing tree can't be read here, so what retires is not known",
        help="take this file from git (`git checkout -- <file>`), or resolve the conflict in it",
    )
