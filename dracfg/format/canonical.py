"""The canonical form of one file, made only where it provably says the same.

What a text says is compared value by value, and its comments by what they belong to, between the
file and what would take its place. Knows no folder; who calls it writes the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic
from dracfg.format.concrete import Position, Script, owned_comments
from dracfg.format.layout import layout
from dracfg.format.order import Orders, key_orders, ordered
from dracfg.format.parse import Unusual, parse_script
from dracfg.model.kinds import KINDS, TEST_KINDS
from dracfg.model.parse import parse_document
from dracfg.source import Document, Map, Node, Scalar, SourceFile
from dracfg.source.composer import compose


@dataclass(frozen=True, slots=True)
class Formatted:
    """A file and the text that it would have."""

    file: SourceFile
    text: str

    @property
    def is_changed(self) -> bool:
        return self.text != self.file.text


@dataclass(frozen=True, slots=True)
class Unformatted:
    """A file that is left as it is.

    `findings` are the errors in it; without any, `reason` and `line` tell what has no canonical form.
    """

    file: SourceFile
    findings: tuple[Diagnostic, ...] = ()
    reason: str = ""
    line: int = 1


def format_file(file: SourceFile) -> Formatted | Unformatted:
    """A file that was read without a fault, in its canonical form.

    Documents that no model takes are errors, and the whole file is left.
    """
    orders = _orders(file.documents)
    if not isinstance(orders, dict):
        return Unformatted(file, orders)
    try:
        script = parse_script(file.text)
        made = layout(_in_order(script, orders))
        again = parse_script(made)
    except Unusual as unusual:
        return Unformatted(file, reason=unusual.reason, line=unusual.line)
    if not _is_same(file, orders, script, made, again):
        return Unformatted(file, reason="another form might not say the same")
    return Formatted(file, made)


def _orders(
    documents: tuple[Document, ...],
) -> dict[Position, Mapping[str, int]] | tuple[Diagnostic, ...]:
    orders: dict[Position, Mapping[str, int]] = {}
    findings: list[Diagnostic] = []
    for document in documents:
        made = parse_document(document, {**KINDS, **TEST_KINDS})
        if isinstance(made, list):
            findings += made
        else:
            orders |= key_orders(made)
    return tuple(findings) if findings else orders


def _in_order(script: Script, orders: Orders) -> Script:
    """The keys of maps in order; with aliases they stay, as an anchor must come before them."""
    if script.has_aliases:
        return script
    return replace(script, pages=tuple(ordered(page, orders) for page in script.pages))


def _is_same(file: SourceFile, orders: Orders, script: Script, made: str, again: Script) -> bool:
    documents, faults = compose(file.path, made)
    orders_again = _orders(documents)
    if faults or not isinstance(orders_again, dict):
        return False
    before = [_said(document.root, orders) for document in file.documents]
    after = [_said(document.root, orders_again) for document in documents]
    return before == after and Counter(owned_comments(script)) == Counter(owned_comments(again))


def _said(node: Node, orders: Orders) -> Any:
    """What a node says, with types; the order of keys counts where no model makes it meaningless."""
    if isinstance(node, Scalar):
        return type(node.value).__name__, str(node.value), node.text
    if not isinstance(node, Map):
        return [_said(item, orders) for item in node.items]
    entries = [(key, _said(entry.value, orders)) for key, entry in node.entries.items()]
    has_order = (node.span.line, node.span.column) in orders
    return tuple(sorted(entries, key=lambda entry: entry[0]) if has_order else entries)
