"""`dracfg explain`: the page of a rule or of a kind of change, or what a kind or field of the language is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from dracfg.cli import exits, options
from dracfg.cli.explaintext import (
    Paint,
    field_text,
    found_document,
    found_text,
    list_document,
    list_text,
    rule_document,
    rule_text,
    tree_text,
)
from dracfg.cli.output import text_width, wants_colour
from dracfg.diagnostics import did_you_mean
from dracfg.diagnostics.registry import Rule, families, rules

if TYPE_CHECKING:
    from dracfg.model.fields import Described


def _subjects(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    from dracfg.cli.candidates import fitting, subjects

    return fitting(subjects(incomplete), incomplete)


@click.command(name="explain")
@click.argument(
    "subject", metavar="CODE|KIND[.FIELD]|CHANGE", required=False, shell_complete=_subjects
)
@click.option("--list", "as_list", is_flag=True, help="List rules, or those that SUBJECT begins.")
@click.option("--search", metavar="WORDS", help="Find rules, fields and changes by their words.")
@click.option("--recursive", is_flag=True, help="Of a kind or field: all keys below it, as a tree.")
@options.colour
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True,
    envvar="DRACFG_EXPLAIN_FORMAT", help="The same facts for people or for programs.",
)  # fmt: skip
def command(
    subject: str | None, as_list: bool, search: str | None, recursive: bool, colour: str, form: str
) -> int:
    """Explain a rule by its code, a kind or field of the input language, or a kind of change.

    Without a subject, every rule is listed; a part of a code (CAP, VER01) lists those that begin so,
    and `changes` lists the kinds of change that `dracfg diff` tells.

    Example: dracfg explain CAP004
    """
    shown = _Shown(form, wants_colour(colour) and form == "text")
    if search is not None:
        if subject is not None:
            raise click.UsageError("--search takes the place of a subject")
        _search(search, shown)
    elif recursive:
        _tree(subject, shown)
    elif as_list or subject is None:
        _list(_begun_by(subject or ""), subject, shown)
    else:
        _explain(subject, shown)
    return exits.DONE


class _Shown:
    """Shows documents as they are, or their text, in colour where that is wanted."""

    def __init__(self, form: str, has_colour: bool) -> None:
        self.form = form
        self.has_colour = has_colour
        self.paint: Paint = partial(click.style, bold=True) if has_colour else str

    def lines(self, document: dict[str, Any], text: Callable[[], Iterable[str]]) -> None:
        """Text that is laid out already."""
        if self.form == "json":
            click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        else:
            click.echo("\n".join(text()))

    def page(self, document: dict[str, Any], text: Callable[[], Iterable[str]]) -> None:
        """Markdown, which is laid out where colours are."""
        if not self.has_colour:
            self.lines(document, text)
            return
        # Imported here: rich is costly, and readers of plain text do without it.
        from dracfg.cli.markdown import coloured

        click.echo(coloured("\n".join(text()), text_width()), nl=False)


def _explain(subject: str, shown: _Shown) -> None:
    code = subject.upper()
    if code in rules():
        rule = rules()[code]
        shown.page(rule_document(rule), lambda: rule_text(rule))
    elif listed := _begun_by(code):
        _list(listed, subject, shown)
    elif not _explain_change(subject, shown):
        described = _describe(subject)
        document = {"schemaVersion": 1, "kind": "FieldPage", **asdict(described)}
        shown.lines(document, lambda: field_text(described, text_width(), shown.paint))


def _begun_by(code: str) -> list[Rule]:
    return [rule for rule in rules().values() if rule.code.startswith(code.upper())]


def _list(listed: Sequence[Rule], subject: str | None, shown: _Shown) -> None:
    if not listed:
        near = did_you_mean((subject or "").upper(), (*families(), *rules()))
        hint = f"; did you mean {near}?" if near else ""
        raise click.UsageError(f"no code is or begins with {subject}{hint}")
    shown.lines(list_document(listed), lambda: list_text(listed, shown.paint))


def _search(text: str, shown: _Shown) -> None:
    # Imported here: the models are costly, and a rule's page does without them.
    from dracfg.cli.explainsearch import search

    found = search(text)
    if not found:
        raise click.UsageError(f"no page, field or kind of change has all of: {text}")
    shown.lines(found_document(found), lambda: found_text(found, text_width(), shown.paint))


def _tree(subject: str | None, shown: _Shown) -> None:
    from dracfg.model.fields import fields_of

    if subject is None:
        raise click.UsageError("--recursive needs a kind or field")
    path = _describe(subject).path
    fields = [
        (inner, field)
        for inner, field in fields_of(path.partition(".")[0])
        if inner.startswith(f"{path}.")
    ]
    document = {
        "schemaVersion": 1,
        "kind": "FieldTree",
        "path": path,
        "fields": [{"path": inner, **asdict(field)} for inner, field in fields],
    }
    text = tree_text(fields, path, shown.paint)
    shown.lines(document, lambda: [shown.paint(path), *text])


def _explain_change(subject: str, shown: _Shown) -> bool:
    """Shows a kind of change, or all of them; whether the subject is that."""
    # Imported here: a rule's page does without the kinds of change.
    from dracfg.cli import changepages
    from dracfg.diff.change import change_kinds

    if subject == changepages.ALL:
        shown.lines(changepages.changes_document(), changepages.changes_text)
        return True
    if (kind := change_kinds().get(subject)) is None:
        return False
    shown.page(
        changepages.change_document(kind), lambda: changepages.change_text(kind, text_width())
    )
    return True


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
        if not near and not missing.inside:
            hint = f"; to look for a word: dracfg explain --search {missing.name}"
        what = f"{missing.inside} has no key" if missing.inside else "there is no code or kind"
        raise click.UsageError(f"{what} {missing.name}{hint}") from None
