"""`dracfg explain`: the page of a rule or of a kind of change, or what a kind or field of the language is."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from dracfg.cli import exits
from dracfg.cli.output import text_width
from dracfg.diagnostics import did_you_mean
from dracfg.diagnostics.pages import page
from dracfg.diagnostics.registry import Rule, families, rules

if TYPE_CHECKING:
    from dracfg.model.fields import Described, Field

_WAIVED = {
    "anywhere": "waivable",
    "catalog": "waivable from catalog/ only",
    "never": "not waivable",
}


@click.command(name="explain")
@click.argument("subject", metavar="CODE|KIND[.FIELD]|CHANGE", required=False)
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True,
    envvar="DRACFG_EXPLAIN_FORMAT", help="The same facts for people or for programs.",
)  # fmt: skip
def command(subject: str | None, form: str) -> int:
    """Explain a rule by its code, a kind or field of the input language, or a kind of change.

    Without a subject, every rule is listed; a part of a code (CAP, VER01) lists those that begin so,
    and `changes` lists the kinds of change that `dracfg diff` tells.

    Example: dracfg explain CAP004
    """
    code = (subject or "").upper()
    if code in rules():
        found = rules()[code]
        _show(form, rule_document(found), lambda: _rule_text(found))
        return exits.DONE
    listed = [known for known in rules().values() if known.code.startswith(code)]
    if listed:
        _show(form, _list_document(listed), lambda: _list_text(listed))
        return exits.DONE
    assert subject is not None
    if _explain_change(subject, form):
        return exits.DONE
    described = _describe(subject)
    document = {"schemaVersion": 1, "kind": "FieldPage", **asdict(described)}
    _show(form, document, lambda: _field_text(described))
    return exits.DONE


def _explain_change(subject: str, form: str) -> bool:
    """Shows a kind of change, or all of them; whether the subject is that."""
    # Imported here: a rule's page does without the kinds of change.
    from dracfg.cli import changepages
    from dracfg.diff.change import change_kinds

    if subject == changepages.ALL:
        _show(form, changepages.changes_document(), changepages.changes_text)
        return True
    if (kind := change_kinds().get(subject)) is None:
        return False
    _show(
        form, changepages.change_document(kind), lambda: changepages.change_text(kind, text_width())
    )
    return True


def rule_document(rule: Rule) -> dict[str, Any]:
    """A rule with its page (Markdown, null where none is written) as a document."""
    return {"schemaVersion": 1, "kind": "RulePage", **_facts(rule), "page": page(rule.code)}


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


def _list_document(listed: list[Rule]) -> dict[str, Any]:
    return {"schemaVersion": 1, "kind": "RuleList", "rules": [_facts(rule) for rule in listed]}


def _show(form: str, document: dict[str, Any], text: Callable[[], Iterable[str]]) -> None:
    if form == "json":
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join(text()))


def _rule_text(rule: Rule) -> Iterator[str]:
    facts = f"{rule.severity}, level {rule.level}, {_WAIVED[rule.waivable]}"
    if rule.safe_fix:
        facts += ", mended by dracfg check --fix"
    body = page(rule.code)
    title, _, rest = (body or f"# {rule.code}: {rule.title}\n").partition("\n")
    yield title
    yield ""
    yield facts
    yield rest.rstrip("\n")


def _list_text(listed: list[Rule]) -> Iterator[str]:
    for letters, family in families().items():
        members = [rule for rule in listed if rule.code.startswith(letters)]
        if members:
            yield f"{letters}: {family.title}"
            yield from (f"  {rule.code}  {rule.severity:<7}  {rule.title}" for rule in members)


def _describe(subject: str) -> Described:
    # Imported here: the models are costly, and a rule's page does without them.
    from dracfg.cli.changepages import ALL
    from dracfg.diff.change import change_kinds
    from dracfg.model.fields import UnknownPath, describe

    try:
        return describe(subject)
    except UnknownPath as missing:
        near = did_you_mean(missing.name, missing.known)
        if near is None and not missing.inside:
            near = did_you_mean(missing.name.upper(), (*rules(), *families()))
        if not missing.inside:
            near = did_you_mean(missing.name, (ALL, *change_kinds())) or near
        hint = f"; did you mean {near}?" if near else ""
        if not near and missing.inside:
            hint = f"; it has {', '.join(missing.known)}" if missing.known else "; it has no keys"
        what = f"{missing.inside} has no key" if missing.inside else "there is no code or kind"
        raise click.UsageError(f"{what} {missing.name}{hint}") from None


def _field_text(described: Described) -> Iterator[str]:
    field, width = described.field, text_width()
    yield f"{described.path}: {field.type}"
    if field.description:
        yield from ("", *textwrap.wrap(field.description, width))
    if field.default is not None:
        yield from ("", f"default: {field.default}")
    for variant in described.variants:
        several = len(described.variants) > 1
        yield ""
        if several:
            name = variant.name or "one form"
            yield f"{name}: {variant.description}" if variant.description else name
        elif variant.description and variant.description != field.description:
            yield from (*textwrap.wrap(variant.description, width), "")
        indent = "  " if several else ""
        for inner in variant.fields:
            yield from _key_lines(inner, indent, width)


def _key_lines(field: Field, indent: str, width: int) -> Iterator[str]:
    note = ", required" if field.required else ""
    note += f", default {field.default}" if field.default is not None else ""
    yield f"{indent}{field.name}: {field.type}{note}"
    if field.description:
        inner = indent + "    "
        yield from textwrap.wrap(
            field.description, width, initial_indent=inner, subsequent_indent=inner
        )
