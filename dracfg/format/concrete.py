"""A YAML file as it is written: words, brackets and comments, each where it belongs.

What `source.nodes` leaves out is here (comments, quotes, flow or block); what a word means is not.
Lines of comments are text from the `#` on, and "" stands for an empty line between them.
"""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.dataclass import dataclass

Position = tuple[int, int]
"""Line and column, from 1, as spans count."""
Margin = tuple[str, ...]
"""Comments that have lines of their own, and empty lines between them."""


@dataclass(frozen=True, slots=True)
class Word:
    """A scalar or alias on one line. `text` is what a quoted scalar says, None for all others."""

    raw: str
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Folded:
    """A plain or quoted scalar of several lines, each without the space around it."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Literal:
    """A block scalar: `header` is `|-  # why`, the lines stand as they would without indentation."""

    header: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FlowPart:
    """An entry or item between brackets; `value` is None for a key alone."""

    key: Word | None
    value: Word | Flow | None


@dataclass(frozen=True, slots=True)
class Flow:
    """A map or list between brackets, without comments in it."""

    position: Position
    is_map: bool
    parts: tuple[FlowPart, ...]


@dataclass(frozen=True, slots=True)
class Verbatim:
    """A map or list between brackets that has comments or long text in it, and so keeps its lines.

    `column` is where the bracket stood, from 0.
    """

    lines: tuple[str, ...]
    column: int


@dataclass(frozen=True, slots=True)
class Part:
    """An entry of a map, or an item of a list where it has no key.

    `beside` is the comment behind it, with the space before it. `below` says that its value, on
    lines of its own, began under it.
    """

    above: Margin
    key: Word | None
    anchor: str
    value: Value
    beside: str = ""
    below: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """A map or list by indentation; `tail` are comments behind its last part."""

    position: Position
    is_map: bool
    parts: tuple[Part, ...]
    tail: Margin = ()


Value = Word | Folded | Literal | Flow | Verbatim | Block


@dataclass(frozen=True, slots=True)
class Page:
    """One document of a file. `before` stands above its marker (`---`), `header` below it."""

    before: Margin
    marker: str
    header: Margin
    root: Part
    end: str = ""
    """`...` where it stands."""


@dataclass(frozen=True, slots=True)
class Script:
    """A whole file; `after` are comments behind its last document."""

    pages: tuple[Page, ...]
    after: Margin
    has_aliases: bool


Owned = tuple[str, str, tuple[str, ...]]
"""A comment, how it stands to what it belongs to, and the way there."""


def owned_comments(script: Script) -> Iterator[Owned]:
    """Every comment with what it belongs to, items counted and entries named."""
    for number, page in enumerate(script.pages):
        way = (str(number),)
        yield from _margin(page.before, "before", way)
        yield from _margin(page.header, "header", way)
        yield from (("marker", text, way) for text in [page.marker[3:].strip()] if text)
        yield from _of_part(page.root, way)
    yield from _margin(script.after, "after", ())


def _of_part(part: Part, way: tuple[str, ...]) -> Iterator[Owned]:
    yield from _margin(part.above, "above", way)
    if part.beside:
        yield "beside", part.beside.strip(), way
    match part.value:
        case Block(parts=parts, tail=tail):
            for number, inner in enumerate(parts):
                name = str(number) if inner.key is None else inner.key.text or inner.key.raw
                yield from _of_part(inner, (*way, name))
            yield from _margin(tail, "tail", way)
        case Literal(header=header) if "#" in header:
            yield "header", header[header.index("#") :], way
        case Verbatim(lines=lines):
            yield "verbatim", "\n".join(line.strip() for line in lines), way


def _margin(lines: Margin, kind: str, way: tuple[str, ...]) -> Iterator[Owned]:
    return ((kind, line, way) for line in lines if line)
