"""Values that documents of this repository give to the fields of the language, and whole documents.

A value is taken where it is used for real, so that no example can rot: first from the example of the root,
then from docs/examples, from what `dracfg init` writes, from the inputs of the golden trees and of the cases,
and from the guides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from dracfg.model.fields import UnknownPath, describe

FOLDERS = (
    "catalog", "tenants", "docs/examples/*", "dracfg/cli/initial", "tests/policy", "tests/golden/*/catalog",
    "tests/golden/*/tenants", "tests/golden/*/_base", "tests/golden/import/*",
    "tests/cases/_base",
)  # fmt: skip
_BLOCK = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)
LONGEST = 88
"""Characters of a value that still reads well in a table."""


@dataclass(frozen=True, slots=True)
class Examples:
    """`values`: path of a field -> its shortest fitting value, as YAML; `documents`: kind -> a document."""

    values: dict[str, str] = field(default_factory=dict)
    documents: dict[str, str] = field(default_factory=dict)


def examples(root: Path) -> Examples:
    """What the documents below `root` show, the first that fits for each field and kind."""
    found = Examples()
    for text, document in _documents(root):
        kind = document["kind"]
        found.documents.setdefault(kind, text)
        for path, value in _values(kind, document):
            shown = flow(value)
            if len(shown) <= LONGEST:
                found.values.setdefault(path, shown)
    return found


def _documents(root: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for pattern in FOLDERS:
        for folder in sorted(root.glob(pattern)):
            for file in sorted(folder.rglob("*.yaml")):
                if "out" not in file.relative_to(folder).parts and "inventory" not in file.parts:
                    yield from _of_text(file.read_text(encoding="utf-8"))
    for guide in sorted((root / "docs").glob("*.md")):
        for block in _BLOCK.findall(guide.read_text(encoding="utf-8")):
            yield from _of_text(block)


def _of_text(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The documents of the language in a file or block; guides leave their apiVersion out."""
    for part in f"\n{text}".split("\n---"):
        lines = [
            line for line in part.strip("\n").splitlines() if not line.startswith("# yaml-lang")
        ]
        document = yaml.safe_load(part)
        if not isinstance(document, dict) or "spec" not in document:
            continue
        version = str(document.get("apiVersion", "dracfg.dev"))
        if document.get("kind") in _known() and version.startswith("dracfg.dev"):
            yield "\n".join(lines).strip("\n"), document


def _values(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Every (path, value) of a document; lists and maps of values are passed through."""
    if isinstance(value, list):
        for entry in value:
            yield from _values(path, entry)
    elif isinstance(value, dict):
        known = _keys(path)
        for key, inner in value.items():
            if key in known:
                yield f"{path}.{key}", inner
                yield from _values(f"{path}.{key}", inner)
            else:
                yield from _values(path, inner)


@cache
def _keys(path: str) -> frozenset[str]:
    try:
        variants = describe(path).variants
    except UnknownPath:
        return frozenset()
    return frozenset(inner.name for variant in variants for inner in variant.fields)


@cache
def _known() -> frozenset[str]:
    from dracfg.model.fields import kinds

    return frozenset(kinds())


def flow(value: Any) -> str:
    """A value as YAML on one line."""
    if isinstance(value, str) and value and not value.strip(" ").startswith(("{", "[")):
        text = yaml.safe_dump([value], default_flow_style=True, width=10**6, allow_unicode=True)
        return text.strip()[1:-1]
    text = yaml.safe_dump(
        value, default_flow_style=True, width=10**6, allow_unicode=True, sort_keys=False
    )
    return text.removesuffix("...\n").strip()
