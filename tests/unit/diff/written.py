"""Documents as plain data -> both sides of a pair, read and linked but neither lowered nor checked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import yaml

from dracfg.diagnostics import Diagnostic
from dracfg.diff.pair import Pair, Side
from dracfg.link.index import index
from dracfg.link.linker import link
from dracfg.model.fields import describe
from dracfg.model.kinds import KINDS
from dracfg.model.parse import parse
from dracfg.pipeline import Judgement
from dracfg.source import SourceFile, Sources
from dracfg.source.composer import compose

Data = dict[str, Any]
Files = Mapping[str, Sequence[Data]]
"""Path -> the documents of a file, in their order."""

_BASE = (Path(__file__).parent / "test_documents_base.yaml").read_text(encoding="utf-8")


def paths(path: str) -> Iterator[str]:
    """Every field below a path, as `dracfg explain` finds them."""
    for variant in describe(path).variants:
        for field in variant.fields:
            yield f"{path}.{field.name}"
            yield from paths(f"{path}.{field.name}")


FIELDS = sorted({path for kind in KINDS for path in paths(kind)})
"""Every field of the language."""


def filed(documents: Sequence[Data]) -> dict[str, list[Data]]:
    """Each document in a file of its own, where it belongs."""
    return {
        f"{'tenants' if one['kind'] == 'Tenant' else 'catalog'}/"
        f"{one['kind'].lower()}-{one['metadata']['name']}.yaml": [one]
        for one in documents
    }


def texts(files: Files) -> dict[str, str]:
    """Files as they are written, one document after the other."""
    return {
        path: "---\n".join(_dumped(json.dumps(one)) for one in documents)
        for path, documents in files.items()
    }


@lru_cache(maxsize=1000)
def _dumped(document: str) -> str:
    return yaml.dump(json.loads(document), Dumper=yaml.CSafeDumper, sort_keys=False)


@lru_cache(maxsize=1000)
def _composed(path: str, text: str) -> tuple[SourceFile, tuple[Diagnostic, ...]]:
    documents, faults = compose(path, text)
    return SourceFile(path, text, documents), faults


def understood(written: Mapping[str, str]) -> tuple[Judgement, tuple[Diagnostic, ...]]:
    """What the files say, and what is wrong with it."""
    return _understood(tuple(sorted(written.items())))


@lru_cache(maxsize=4)
def _understood(
    written: tuple[tuple[str, str], ...],
) -> tuple[Judgement, tuple[Diagnostic, ...]]:
    files: dict[str, SourceFile] = {}
    faults: list[Diagnostic] = []
    for path, text in written:
        files[path], found = _composed(path, text)
        faults += found
    sources = Sources(Path(), files, tuple(faults))
    parsed = parse(sources.documents)
    named, twice = index(parsed.documents)
    linked = link(named, parsed.poisoned)
    judged = Judgement(
        root=Path(),
        sources=sources,
        documents=parsed.documents,
        catalog=linked.catalog,
        records={},
        inventories={},
        units=(),
        findings=(),
        poisoned=linked.poisoned,
        lines=sources.lines,
    )
    return judged, (*faults, *parsed.faults, *twice)


def pair_of_texts(before: Mapping[str, str], after: Mapping[str, str]) -> Pair:
    """Both states; a document that is no document of the language is a fault of the test."""
    sides = []
    for name, written in (("before", before), ("after", after)):
        judged, faults = understood(written)
        assert not faults, [f"{fault.span}: {fault.message}" for fault in faults]
        sides.append(Side(name, judged))
    return Pair(*sides, lambda _path: False)


def pair_of_documents(before: Sequence[Data], after: Sequence[Data]) -> Pair:
    return pair_of_texts(texts(filed(before)), texts(filed(after)))


def document(documents: Sequence[Data], kind: str, name: str | None = None) -> Data:
    """A document of a kind, the first one unless it is named."""
    return next(
        one for one in documents if one["kind"] == kind and name in (None, one["metadata"]["name"])
    )


def base() -> list[Data]:
    """The base, to be changed at will; days are text, as the language has them."""
    return json.loads(_base())  # type: ignore[no-any-return]  # a list, as the file says


@cache
def _base() -> str:
    return json.dumps(yaml.safe_load(_BASE), default=str)


def put(data: Any, at: list[str], value: Any) -> None:
    """Sets what stands at the end of keys; None takes it away."""
    holder, key = _holder(data, at)
    if value is None:
        if isinstance(holder, list):
            del holder[int(key)]
        else:
            holder.pop(key, None)
    elif isinstance(holder, list):
        holder[int(key)] = value
    else:
        holder[key] = value


def add(data: Any, at: list[str], value: Any) -> None:
    """Adds an item to a list or entries to a map."""
    holder, key = _holder(data, at)
    there = holder[int(key)] if isinstance(holder, list) else holder.get(key)
    if isinstance(value, dict) and not isinstance(there, list) and not _is_list(there, at):
        holder[key] = {**(there or {}), **value}
    else:
        holder[key] = [*(there or []), value]


def _is_list(there: Any, at: list[str]) -> bool:
    return there is None and at[-1].endswith("s") and at[-1] != "values"


def _holder(data: Any, at: list[str]) -> tuple[Any, str]:
    """What holds the last key; lists are entered at their first item where no number is given."""
    for key in at[:-1]:
        if isinstance(data, list) and not key.isdigit():
            data = data[0]
        data = data[int(key)] if isinstance(data, list) else data.setdefault(key, {})
    if isinstance(data, list) and not at[-1].isdigit():
        data = data[0]
    return data, at[-1]
