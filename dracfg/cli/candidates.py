"""What a shell may offer for a word on the command line, read from the repository that is meant.

Read when somebody presses a key: names alone, nothing is linked or judged, and what can't be read
has no names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import click

from dracfg.diagnostics.registry import families, rules
from dracfg.source import Document, Map, Node, Scalar, Seq, follow
from dracfg.source.composer import compose
from dracfg.source.reader import read_texts

_REFS = {
    "Cluster": "cluster",
    "Driver": "driver",
    "HardwareTier": "tier",
    "NodePool": "pool",
    "SharingPolicy": "policy",
    "Tenant": "tenant",
}
"""Kinds → how `dracfg show` calls them."""
_MARKER = re.compile(r"^---.*$", re.MULTILINE)
_SPEC = re.compile(r"^spec:", re.MULTILINE)
_TOPS = {"Tenant": ("tenants",)}


def names(context: click.Context, kind: str) -> Iterator[str]:
    """The names of all documents of a kind."""
    for found in _identities(context, _TOPS.get(kind, ("catalog",))):
        if found[0] == kind:
            yield found[1]


def profiles(context: click.Context, incomplete: str) -> Iterator[str]:
    """TENANT/PROFILE, of the tenants that are begun with; only files that could have one are parsed."""
    begun = incomplete.partition("/")[0]
    texts = (text for _, text in read_texts(_root(context), ("tenants",)) if begun in text)
    for document in (one for text in texts for one in compose("", text)[0]):
        if (found := _kind_and_name(document)) is None:
            continue
        listed, _ = follow(document.root, ["spec", "profiles"])
        for profile in listed.items if isinstance(listed, Seq) else ():
            if (name := _text(profile, "name")) is not None:
                yield f"{found[1]}/{name}"


def references(context: click.Context) -> Iterator[str]:
    """What `dracfg show` takes, emitted objects left out."""
    for kind, name in _identities(context, ("catalog", "tenants")):
        if kind in _REFS:
            yield f"{_REFS[kind]}/{name}"


def codes() -> Iterator[str]:
    """Families of rules, and rules."""
    yield from families()
    yield from rules()


def subjects(incomplete: str) -> Iterator[str]:
    """What `dracfg explain` takes; fields once their kind stands there."""
    # Imported here: the models are costly, and codes do without them.
    from dracfg.diff.change import change_kinds
    from dracfg.model.fields import UnknownPath, describe, kinds

    kind, dot, _ = incomplete.rpartition(".")
    if not dot:
        yield from (*codes(), *kinds(), "changes", *change_kinds())
        return
    try:
        described = describe(kind)
    except UnknownPath:
        return
    for variant in described.variants:
        yield from (f"{described.path}.{field.name}" for field in variant.fields)


def fitting(offered: Iterable[str], incomplete: str) -> list[str]:
    """Those that begin as what is typed, each once, in order."""
    return sorted({one for one in offered if one.startswith(incomplete)})


def listed(offered: Callable[[], Iterable[str]], incomplete: str) -> list[str]:
    """The same for the last word of a list with commas."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{one}" for one in fitting(offered(), last)]


def _identities(context: click.Context, tops: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Kind and name of every document; what stands below `spec` is parsed only where it is in the way."""
    for _, text in read_texts(_root(context), tops):
        for part in _MARKER.split(text):
            for readable in (_SPEC.split(part, 1)[0], part):
                documents, _ = compose("", readable)
                found = _kind_and_name(documents[0]) if documents else None
                if found is not None:
                    yield found
                    break


def _root(context: click.Context) -> Path:
    root: Path | None = context.params.get("root")
    return root or Path()


def _kind_and_name(document: Document) -> tuple[str, str] | None:
    kind = _text(document.root, "kind")
    metadata, _ = follow(document.root, ["metadata"])
    name = _text(metadata, "name")
    return None if kind is None or name is None else (kind, name)


def _text(node: Node, key: str) -> str | None:
    if not isinstance(node, Map) or key not in node.entries:
        return None
    value = node.entries[key].value
    return value.text if isinstance(value, Scalar) else None
