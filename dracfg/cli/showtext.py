"""Documents of `dracfg show` as text, made from nothing but the document: the same facts in both forms.

Gates become a table, origins a line each, objects and linked forms YAML.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from dracfg.diagnostics.render.ink import ink
from dracfg.emit.yaml import dump

Document = dict[str, Any]

_HEAD = ("GATE", "STAGE", "DEFAULT", "WANTED", "WRITTEN FOR, AND WHY")
_GAP = "  "
_KEY = re.compile(r"^[\w-]+:", re.MULTILINE)
_LEAST_REASON = 40
_NOT_WRITTEN = {
    "absent": "not written: this minor does not have it",
    "default": "not written: this is the default",
    "locked": "not written: locked in this minor",
    "managed": "not written: the provider runs the control plane",
}


def text_of(document: Document, width: int, *, colour: bool = False) -> str:
    """The document as text of at most `width` columns, where its words allow; ends in a newline.

    In colour its heads stand out; without, the same text has none.
    """
    match document["kind"]:
        case "GateTable":
            return "".join(f"{line}\n" for line in _gate_table(document, width, colour))
        case "EmittedObject":
            made = _yaml(document["object"], colour)
            return f"# {document['file']}\n{made}"
        case "Provenance":
            return "".join(f"{line}\n" for line in _provenance(document, colour))
        case _:
            linked = {key: value for key, value in document.items() if key != "schemaVersion"}
            return _yaml(linked, colour)


def _yaml(value: Any, colour: bool) -> str:
    """YAML whose outermost keys stand out."""
    return _KEY.sub(lambda found: ink(found[0], "strong", colour=colour), dump(value))


def _gate_table(document: Document, width: int, colour: bool) -> Iterator[str]:
    head = f"{document['cluster']}: Kubernetes {document['minor']}, {document['distribution']}"
    yield ink(head, "strong", colour=colour)
    yield ""
    rows = [
        (
            gate["name"],
            gate["stage"],
            _switch(gate["default"]),
            _switch(gate["wanted"]),
            [*_placement(gate), *_allowed(gate), *map(_because, gate["reasons"])],
        )
        for gate in document["gates"]
    ]
    if rows:
        head, *table = _table(rows, width)
        yield ink(head, "strong", colour=colour)
        yield from table
    else:
        yield "no gate is needed, and none is written"
    for version in document["runtimeConfig"]:
        yield ""
        yield ink(f"--runtime-config={version['groupVersion']}=true", "strong", colour=colour)
        for text in (*_placement(version), *map(_because, version["reasons"])):
            yield from _wrapped(text, width - 2, "  ")


def _table(rows: Sequence[tuple[str, str, str, str, list[str]]], width: int) -> Iterator[str]:
    widths = [max(len(_HEAD[i]), *(len(str(row[i])) for row in rows)) for i in range(4)]
    indent = sum(widths) + len(_GAP) * 4
    yield _line(_HEAD[:4], widths, _HEAD[4])
    for *cells, texts in rows:
        lines = [
            line for text in texts for line in _wrapped(text, max(width - indent, _LEAST_REASON))
        ]
        yield _line([str(cell) for cell in cells], widths, lines[0])
        yield from (" " * indent + line for line in lines[1:])


def _line(cells: Sequence[str], widths: Sequence[int], last: str) -> str:
    padded = [f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)]
    return _GAP.join((*padded, last))


def _placement(entry: Document) -> list[str]:
    if entry["components"]:
        return [", ".join(entry["components"])]
    return [_NOT_WRITTEN[entry["notWritten"]]]


def _allowed(gate: Document) -> list[str]:
    if "allowAlpha" not in gate:
        return []
    reason = gate["allowAlpha"]
    return ["- alpha, and not allowed" if reason is None else f"- alpha, allowed: {reason}"]


def _because(reason: Document) -> str:
    """The reason, the first place that uses the gate, and how many more there are."""
    if "object" not in reason:
        return f"- {reason['reason']}"
    more = reason["uses"] - 1
    place = f"{reason['object']} {reason['pointer']}" + (f" and {more:,} more" if more else "")
    return f"- {reason['reason']}: {place}"


def _wrapped(text: str, width: int, lead: str = "") -> list[str]:
    """Lines of the text; names and pointers stay whole, however long."""
    return textwrap.wrap(
        text,
        width + len(lead),
        initial_indent=lead,
        subsequent_indent=f"{lead}  " if text.startswith("- ") else lead,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _provenance(document: Document, colour: bool) -> Iterator[str]:
    for origin in document["origins"]:
        place = f"{origin['file']}:{origin['line']}:{origin['column']}"
        default = "" if origin["written"] else " (default)"
        yield (
            f"{ink(place, 'strong', colour=colour)}{_GAP}{origin['document']}{_GAP}"
            f"{origin['pointer'] or '/'}{default}"
        )


def _switch(value: bool | None) -> str:
    return "-" if value is None else "on" if value else "off"
