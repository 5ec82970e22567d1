"""A file as it is written → its canonical text: two spaces a level, one between words.

Whether a map or list stands between brackets is left to people, and so is where a comment stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from dracfg.format.concrete import (
    Block,
    Flow,
    FlowPart,
    Folded,
    Literal,
    Margin,
    Part,
    Script,
    Verbatim,
    Word,
)
from dracfg.source.kubeyaml import resolve_as_kubernetes
from dracfg.source.scalars import resolve

WIDTH = 100
"""Columns that a list or map between brackets may take before it goes on in the next line."""
_STEP = "  "
_EASY = re.compile(r"(?![0-9]{4}-[0-9])[A-Za-z0-9][-A-Za-z0-9._/]*")
"""Words that need no quotes by their letters, no days; what readers take them for is another matter."""


def layout(script: Script) -> str:
    """The text of a file, its last line ended."""
    rows: list[str] = []
    for number, page in enumerate(script.pages):
        rows += _margin(page.before, "", first=not rows)
        if page.marker:
            _drop_blank(rows, script, number)
            rows.append(_beside(page.marker[:3], page.marker[3:]))
        rows += _margin(page.header, "", first=not rows or bool(page.marker))
        rows += _document(page.root)
        if page.end:
            rows.append(_beside(page.end[:3], page.end[3:]))
    rows += _trimmed(_margin(script.after, "", first=not rows))
    return "\n".join(rows) + "\n" if rows else ""


def _drop_blank(rows: list[str], script: Script, number: int) -> None:
    """No empty line stands before a marker, unless a block scalar in front of it keeps its own."""
    if script.pages[number].before:
        while rows and not rows[-1]:
            rows.pop()


def _margin(lines: Margin, pad: str, *, first: bool = False) -> list[str]:
    """Comment lines; of empty lines that follow each other one stays, and none where all begins."""
    rows: list[str] = []
    for is_empty, alike in groupby(lines, key=lambda line: not line):
        if not is_empty:
            rows += [pad + line for line in alike]
        elif rows or not first:
            rows.append("")
    return rows


def _trimmed(rows: list[str]) -> list[str]:
    while rows and not rows[-1]:
        rows.pop()
    return rows


def _document(root: Part) -> Iterator[str]:
    if isinstance(root.value, Block):
        if root.anchor:
            yield _beside(root.anchor, root.beside)
        yield from _block(root.value, "")
    else:
        yield from _part(root, "", "")


def _block(block: Block, pad: str) -> Iterator[str]:
    for number, part in enumerate(block.parts):
        yield from _margin(part.above, pad, first=not number)
        yield from _part(part, pad, "-" if part.key is None else f"{_word(part.key)}:")
    yield from _trimmed(_margin(block.tail, pad))


def _part(part: Part, pad: str, lead: str) -> Iterator[str]:
    """The lines of a part without what stands above it; `lead` is its dash, or its key and colon."""
    begin = pad + lead + (f" {part.anchor}" if lead and part.anchor else part.anchor)
    gap = " " if begin.strip() else ""
    inner = pad + _STEP if lead else pad
    match part.value:
        case Block() as block:
            rows = list(_block(block, inner))
            if (
                lead == "-"
                and not part.anchor
                and not part.beside
                and not any(block.parts[0].above)
            ):
                rows[0] = f"{begin} {rows[0].lstrip(' ')}"
            else:
                yield _beside(begin, part.beside)
            yield from rows
        case Word() as word:
            text = _word(word)
            if part.below and len(begin) + len(gap) + len(text) > WIDTH:
                yield begin
                yield _beside(inner + text, part.beside)
            else:
                yield _beside(f"{begin}{gap}{text}" if text else begin, part.beside)
        case Flow() as flow:
            yield from _ended(_wrapped(flow, begin + gap), part.beside)
        case Folded(lines=lines):
            rows = [inner + line if line else "" for line in lines]
            if part.below:
                yield begin
            else:
                rows[0] = f"{begin}{gap}{lines[0]}"
            yield from _ended(rows, part.beside)
        case Literal(header=header, lines=lines):
            yield f"{begin}{gap}{header}"
            yield from (pad + _STEP + line if line else "" for line in lines)
        case Verbatim(lines=lines, column=column):
            yield from _ended(_moved(lines, column, begin + gap, inner), part.beside)


def _beside(text: str, comment: str) -> str:
    """A line and the comment behind it, two spaces apart or as far as people put it."""
    if not comment:
        return text
    said = comment.lstrip()
    gap = max(2, len(comment) - len(said))
    return f"{text}{' ' * gap}{said}"


def _ended(rows: Sequence[str], comment: str) -> list[str]:
    return [*rows[:-1], _beside(rows[-1], comment)]


def _moved(lines: Sequence[str], column: int, begin: str, inner: str) -> list[str]:
    """Lines between brackets as far from their bracket as before, but within their entry."""
    rows = [begin + lines[0]]
    for line in lines[1:]:
        text = line.lstrip(" ")
        place = max(len(line) - len(text) + len(begin) - column, len(inner))
        rows.append(" " * place + text if text else "")
    return rows


# -- between brackets ------------------------------------------------------------------------------


def _wrapped(flow: Flow, begin: str) -> list[str]:
    """A map or list behind `begin`, on as few lines as its parts go on."""
    opening, closing = "{}" if flow.is_map else "[]"
    texts = [_flow_part(part) for part in flow.parts]
    rows = [begin + opening]
    pad = " " * len(rows[0])
    for number, text in enumerate(texts):
        is_last = number == len(texts) - 1
        piece = text + (closing if is_last else ",")
        is_begun = rows[-1] not in (pad, begin + opening)
        if is_begun and len(rows[-1]) + 1 + len(piece) > WIDTH:
            rows.append(pad + piece)
        else:
            rows[-1] += (" " if is_begun else "") + piece
    if not texts:
        rows[-1] += closing
    return rows


def _flow(value: Word | Flow) -> str:
    if isinstance(value, Word):
        return _word(value)
    opening, closing = "{}" if value.is_map else "[]"
    return opening + ", ".join(map(_flow_part, value.parts)) + closing


def _flow_part(part: FlowPart) -> str:
    value = None if part.value is None else _flow(part.value)
    if part.key is None:
        return value or ""
    if value is None:
        return _word(part.key)
    return f"{_word(part.key)}: {value}" if value else f"{_word(part.key)}:"


# -- words -----------------------------------------------------------------------------------------


def _word(word: Word) -> str:
    """A word without quotes where no reader needs them, else in double ones where that is as short."""
    text = word.text
    if text is None:
        return word.raw
    if _EASY.fullmatch(text) and _is_text(text):
        return text
    if word.raw.startswith("'") and text.isprintable() and not set(text) & set('"\\'):
        return f'"{text}"'
    return word.raw


def _is_text(text: str) -> bool:
    """Whether readers of YAML 1.1 and of YAML 1.2 both take a plain word for text."""
    try:
        return resolve(text) == text and resolve_as_kubernetes(text) == text
    except ValueError:
        return False
