"""What `dracfg explain` shows, for people and for programs: rules, fields, and what a search finds."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dracfg.diagnostics.pages import page
from dracfg.diagnostics.registry import Rule, families

if TYPE_CHECKING:
    from dracfg.cli.explainsearch import Found
    from dracfg.model.fields import Described, Field

Paint = Callable[[str], str]
"""Makes what is looked for stand out; leaves it alone where there is no colour."""

_WAIVED = {
    "anywhere": "waivable",
    "catalog": "waivable from catalog/ only",
    "never": "not waivable",
}


def rule_document(rule: Rule) -> dict[str, Any]:
    """A rule with its page (Markdown, null where none is written) as a document."""
    return {"schemaVersion": 1, "kind": "RulePage", **_facts(rule), "page": page(rule.code)}


def list_document(listed: Iterable[Rule]) -> dict[str, Any]:
    return {"schemaVersion": 1, "kind": "RuleList", "rules": [_facts(rule) for rule in listed]}


def found_document(found: Found) -> dict[str, Any]:
    """What a search found."""
    return {
        "schemaVersion": 1,
        "kind": "SearchResult",
        "words": list(found.words),
        "rules": [_facts(rule) for rule in found.rules],
        "fields": [
            {"path": path, "description": field.description} for path, field in found.fields
        ],
        "changes": [{"name": kind.name, "title": kind.title} for kind in found.changes],
    }


def rule_text(rule: Rule) -> Iterator[str]:
    """The page of a rule in Markdown, with its facts below the title."""
    facts = f"{rule.severity}, level {rule.level}, {_WAIVED[rule.waivable]}"
    if rule.safe_fix:
        facts += ", mended by dracfg check --fix"
    body = page(rule.code)
    title, _, rest = (body or f"# {rule.code}: {rule.title}\n").partition("\n")
    yield title
    yield ""
    yield facts
    yield rest.rstrip("\n")


def list_text(listed: Sequence[Rule], paint: Paint) -> Iterator[str]:
    """Rules under their families."""
    for letters, family in families().items():
        members = [rule for rule in listed if rule.family.letters == letters]
        if members:
            yield f"{paint(letters)}: {family.title}"
            yield from map(_row, members)


def found_text(found: Found, width: int, paint: Paint) -> Iterator[str]:
    """What a search found, the rules in whose title it stands first."""
    if found.rules:
        yield paint("rules")
        yield from map(_row, found.rules)
    if found.fields:
        yield paint("fields")
        for path, field in found.fields:
            yield f"  {path}"
            yield from _wrapped(field.description, width, "      ")
    if found.changes:
        yield paint("changes")
        yield from (f"  {kind.name}  {kind.title}" for kind in found.changes)


def field_text(described: Described, width: int, paint: Paint) -> Iterator[str]:
    """A kind or field, and the keys that it has."""
    field = described.field
    yield f"{paint(described.path)}: {field.type}"
    if field.description:
        yield from ("", *textwrap.wrap(field.description, width))
    if field.default is not None:
        yield from ("", f"default: {field.default}")
    for variant in described.variants:
        several = len(described.variants) > 1
        yield ""
        if several:
            name = variant.name or "one form"
            yield f"{paint(name)}: {variant.description}" if variant.description else paint(name)
        elif variant.description and variant.description != field.description:
            yield from (*textwrap.wrap(variant.description, width), "")
        indent = "  " if several else ""
        for inner in variant.fields:
            yield from _key_lines(inner, indent, width, paint)


def tree_text(fields: Iterable[tuple[str, Field]], above: str, paint: Paint) -> Iterator[str]:
    """All keys below a field, one a line, indented as they stand in a document."""
    for path, field in fields:
        indent = "  " * path.removeprefix(above).count(".")
        note = ", required" if field.required else ""
        note += f", default {field.default}" if field.default is not None else ""
        yield f"{indent}{paint(field.name)}: {field.type}{note}"


def _facts(rule: Rule) -> dict[str, Any]:
    return {
        "code": rule.code,
        "title": rule.title,
        "severity": rule.severity,
        "level": rule.level,
        "family": rule.family.title,
        "waivable": rule.waivable,
        "safeFix": rule.safe_fix,
    }


def _row(rule: Rule) -> str:
    return f"  {rule.code}  {rule.severity:<7}  {rule.title}"


def _key_lines(field: Field, indent: str, width: int, paint: Paint) -> Iterator[str]:
    note = ", required" if field.required else ""
    note += f", default {field.default}" if field.default is not None else ""
    yield f"{indent}{paint(field.name)}: {field.type}{note}"
    yield from _wrapped(field.description, width, indent + "    ")


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    return textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=indent)
