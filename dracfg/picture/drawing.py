"""A drawing in SVG: shapes and labels in its own units, closed by a title and a description.

One unit is a sixteenth of the reader's text size, so that letters have the same size in every drawing.
Knows only shapes: no script, no style of its own, nothing from outside, colours by class alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal
from xml.etree import ElementTree

from dracfg.picture.lettering import MIDDLE, fitted, height

WIDTH = 352
"""Units from side to side of a drawing that a narrow telephone shows whole."""
PER_REM = 16

Anchor = Literal["start", "middle", "end"]
Mark = Literal["hatch", "cross", "dots"]
"""Patterns that tell areas apart where colours can't."""

_MARKS: dict[Mark, tuple[int, str]] = {
    "hatch": (5, "M-1 1L1-1M0 5L5 0M4 6L6 4"),
    "cross": (6, "M0 0L6 6M6 0L0 6"),
    "dots": (4, "M1 2h2"),
}
"""Side of a tile and what is drawn in it."""
_ROUND = 1.5
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML has no way to write."""


class Drawing:
    """Collects shapes from top to bottom of one picture.

    `ident` is the id that a page gives it; ids inside begin with it. Everything is plain text.
    """

    def __init__(self, ident: str, kind: str, width: float = WIDTH) -> None:
        self.ident = ident
        self.width = width
        self._kind = kind
        self._shapes = ElementTree.Element("g")
        self._marks: dict[Mark, None] = {}

    def label(
        self,
        x: float,
        y: float,
        text: str,
        *classes: str,
        anchor: Anchor = "start",
        room: float | None = None,
        note: str = "",
    ) -> None:
        """A line of text with its middle at `y`, cut to `room`; none where it is empty.

        `small`, `tiny` and `strong` among the classes set its letters. `note` is what a pointer over it
        shows: what was cut, unless said.
        """
        shown = text if room is None else fitted(text, room, *classes)
        if not shown:
            return
        place = {"x": _number(x), "y": _number(y + height(classes) * MIDDLE), **_anchored(anchor)}
        shape = self._add("text", place, classes, note or (text if shown != text else ""))
        _say(shape, shown)

    def area(
        self, x: float, y: float, wide: float, high: float, *classes: str, note: str = ""
    ) -> None:
        """A rectangle; one that has no extent is left out."""
        if wide > 0 and high > 0:
            place = {"x": x, "y": y, "width": wide, "height": high, "rx": _ROUND}
            self._add("rect", {key: _number(value) for key, value in place.items()}, classes, note)

    def marked(self, x: float, y: float, wide: float, high: float, mark: Mark) -> None:
        """A pattern laid over a rectangle."""
        if wide > 0 and high > 0:
            self._marks[mark] = None
            place = {"x": x, "y": y, "width": wide, "height": high, "rx": _ROUND}
            numbers = {key: _number(value) for key, value in place.items()}
            self._add("rect", {**numbers, "fill": f"url(#{self.ident}-{mark})"}, ("marked",))

    def line(self, x1: float, y1: float, x2: float, y2: float, *classes: str) -> None:
        place = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
        self._add("line", {key: _number(value) for key, value in place.items()}, classes)

    def path(self, data: str, *classes: str) -> None:
        self._add("path", {"d": data}, classes)

    def circle(self, x: float, y: float, radius: float, *classes: str) -> None:
        place = {"cx": x, "cy": y, "r": radius}
        self._add("circle", {key: _number(value) for key, value in place.items()}, classes)

    def closed(self, high: float, title: str, description: str) -> str:
        """The element as text: an image with a name and a description for those who don't see it."""
        svg = ElementTree.Element(
            "svg",
            {
                "class": f"dracfg-picture {self._kind}",
                "id": self.ident,
                "role": "img",
                "aria-labelledby": f"{self.ident}-title {self.ident}-desc",
                "viewBox": f"0 0 {_number(self.width)} {_number(high)}",
                "width": f"{_number(self.width / PER_REM)}rem",
            },
        )
        _say(ElementTree.SubElement(svg, "title", {"id": f"{self.ident}-title"}), title)
        _say(ElementTree.SubElement(svg, "desc", {"id": f"{self.ident}-desc"}), description)
        svg.extend(self._definitions())
        svg.extend(list(self._shapes))
        return ElementTree.tostring(svg, encoding="unicode")

    def _definitions(self) -> Iterable[ElementTree.Element]:
        if not self._marks:
            return
        found = ElementTree.Element("defs")
        for mark in self._marks:
            side, data = _MARKS[mark]
            tile = {"width": str(side), "height": str(side), "patternUnits": "userSpaceOnUse"}
            pattern = ElementTree.SubElement(
                found, "pattern", {"id": f"{self.ident}-{mark}", **tile}
            )
            ElementTree.SubElement(pattern, "path", {"d": data, "class": "mark"})
        yield found

    def _add(
        self, tag: str, attributes: dict[str, str], classes: Iterable[str], note: str = ""
    ) -> ElementTree.Element:
        names = " ".join(classes)
        shape = ElementTree.SubElement(
            self._shapes, tag, attributes | ({"class": names} if names else {})
        )
        if note:
            _say(ElementTree.SubElement(shape, "title"), note)
        return shape


def _say(element: ElementTree.Element, text: str) -> None:
    """Sets the text of an element, after what it has."""
    clean = _UNWRITABLE.sub("\ufffd", text)
    if len(element):
        element[-1].tail = clean
    else:
        element.text = clean


def _anchored(anchor: Anchor) -> dict[str, str]:
    return {} if anchor == "start" else {"text-anchor": anchor}


def _number(value: float) -> str:
    """At most two decimals, none where it is whole."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value % 1 else f"{value:.0f}"
