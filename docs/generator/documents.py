"""The JSON documents: which command writes which, and their keys as a run on this repository shows them.

Those with a published schema are described from it, as it says more than one run can.
"""

from __future__ import annotations

import contextlib
import io
import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from docs.generator.markdown import code, page, table
from dracfg.cli.main import invoke
from dracfg.diff.document import diff_schema
from dracfg.report.schema import report_schema

PATH = "docs/reference/documents.md"
INTRODUCTION = """\
What is written for programs (`--format json`, `-o json=FILE`) is one document: `schemaVersion`, `kind`,
for judgements a `verdict` (`proven`, `refuted` or `unknown`) and `findings`, and what the kind is
about. Within a schemaVersion keys may be added, never taken away or given another meaning. Lines and
columns count characters from 1."""
HEAD = ("key", "holds")
SCHEMA_HEAD = (*HEAD, "what it says")
Schema = Mapping[str, Any]
SHARED = ("schemaVersion", "kind", "verdict", "findings")
DEEPEST = 3
_WORDS = {
    str: "text", int: "number", float: "number", bool: "true or false", type(None): "null",
    "string": "text", "integer": "number", "boolean": "true or false", "null": "null",
    "object": "map", "array": "list",
}  # fmt: skip


PUBLISHED: dict[str, tuple[Callable[[], Schema], str, str]] = {
    "DiffPlan": (
        diff_schema,
        "dracfg diff",
        "what a change means; its schema is schemas/diffplan.json",
    ),
    "Report": (
        report_schema,
        "dracfg report",
        "all of the page; its schema is schemas/report.json",
    ),
}
"""Documents with a schema of their own: what makes it, the command, what the document holds."""


def pages(root: Path) -> dict[str, str]:
    """Path -> text of the page."""
    listed = yaml.safe_load(Path(__file__).with_name("documents.yaml").read_text(encoding="utf-8"))
    rows = [(entry["kind"], code(entry["asked"]), entry["about"]) for entry in listed]
    rows += [(kind, code(asked), about) for kind, (_, asked, about) in PUBLISHED.items()]
    finding = diff_schema()["properties"]["forbidden"]["items"]
    parts = [
        INTRODUCTION,
        table(("kind", "asked for by", "what it holds"), rows),
        "## Finding",
        table(SCHEMA_HEAD, _of_schema(finding, finding, "")),
    ]
    for kind, (schema, asked, _) in PUBLISHED.items():
        found = schema()
        parts += [f"## {kind}, by {code(asked)}", table(SCHEMA_HEAD, _of_schema(found, found, ""))]
    for entry in listed:
        document = _answer(entry["run"].format(root=shlex.quote(str(root))))
        assert document["kind"] == entry["kind"], entry
        keys = {key: value for key, value in document.items() if key not in SHARED}
        parts += [
            f"## {entry['kind']}, by {code(entry['asked'])}",
            table(HEAD, _of_value(keys, "")),
        ]
    return {PATH: page("JSON documents", "docs/generator/documents.yaml and schemas/", *parts)}


def _answer(run: str) -> dict[str, Any]:
    """What a command line writes as JSON."""
    written = io.StringIO()
    with contextlib.redirect_stdout(written), contextlib.redirect_stderr(io.StringIO()):
        invoke([*shlex.split(run), "--format", "json"])
    document: dict[str, Any] = json.loads(written.getvalue())
    return document


def _of_schema(root: Schema, schema: Schema, path: str) -> Iterator[tuple[str, str, str]]:
    """(key, what it holds, what it says) of the keys of a map, each with those below it."""
    for key, inner in schema["properties"].items():
        whole = _resolved(root, inner)
        entry = _resolved(root, whole.get("items", whole))
        here = f"{path}{key}" + ("[]" if "items" in whole else "")
        says = str(whole.get("description") or entry.get("description", ""))
        if key == "findings" or (key == "forbidden" and not path):
            yield code(here), "list of [findings](#finding)", says
            continue
        yield code(here), _schema_words(whole, root), says
        if "properties" in entry and here.count(".") + 1 < DEEPEST:
            yield from _of_schema(root, entry, f"{here}.")


def _resolved(root: Schema, schema: Schema) -> Schema:
    if "$ref" not in schema:
        return schema
    found: Schema = root["definitions"][schema["$ref"].rpartition("/")[2]]
    return found


def _schema_words(schema: Schema, root: Schema) -> str:
    schema = _resolved(root, schema)
    if "const" in schema:
        return code(str(schema["const"]))
    if "enum" in schema:
        return ", ".join(code(str(one)) for one in schema["enum"])
    if "items" in schema:
        return f"list of {_schema_words(schema['items'], root)}"
    if parts := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(dict.fromkeys(_schema_words(part, root) for part in parts))
    kinds = schema.get("type", "any value")
    return " or ".join(
        _WORDS.get(one, one) for one in ([kinds] if isinstance(kinds, str) else kinds)
    )


def _of_value(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """The keys of a map, or of all maps of a list together, with those below them."""
    members: dict[str, list[Any]] = {}
    for one in value if isinstance(value, list) else [value]:
        for key, inner in one.items():
            members.setdefault(key, []).append(inner)
    for key, values in members.items():
        lists = [inner for inner in values if isinstance(inner, list)]
        entries = [entry for inner in lists for entry in inner] if lists else values
        maps = [entry for entry in entries if isinstance(entry, dict)]
        here = f"{path}{key}" + ("[]" if lists else "")
        if key == "findings":
            continue
        yield code(here), _words(entries, lists)
        if maps and here.count(".") + 1 < DEEPEST and all(_is_shape(one) for one in maps):
            yield from _of_value(maps, f"{here}.")


def _is_shape(value: Mapping[str, Any]) -> bool:
    """Whether keys are words of the document's own; others are data, such as names and sizes."""
    return all(key.isidentifier() and key[0].islower() for key in value)


def _words(entries: list[Any], lists: list[Any]) -> str:
    kinds = dict.fromkeys(
        "map" if isinstance(one, dict) else "list" if isinstance(one, list) else _WORDS[type(one)]
        for one in entries
    )
    words = " or ".join(sorted(kinds, key=lambda word: word == "null"))
    return f"list of {words or 'entries'}" if lists else words
