"""What stands in a picture, read back from its text, and where its labels lie."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from xml.etree import ElementTree

HEIGHTS = {"small": 11.0, "tiny": 9.5}
PLAIN = 12.0
BOLD = 1.14
"""Bold letters of DejaVu Sans against its plain ones, at most."""
ADVANCE = {
    " ": 318, "!": 401, '"': 460, "#": 838, "$": 636, "%": 950, "&": 780, "'": 275, "(": 390,
    ")": 390, "*": 500, "+": 838, ",": 318, "-": 361, ".": 318, "/": 337, ":": 337, ";": 337,
    "<": 838, "=": 838, ">": 838, "?": 531, "@": 1000, "A": 684, "B": 686, "C": 698, "D": 770,
    "E": 632, "F": 575, "G": 775, "H": 752, "I": 295, "J": 295, "K": 656, "L": 557, "M": 863,
    "N": 748, "O": 787, "P": 603, "Q": 787, "R": 695, "S": 635, "T": 611, "U": 732, "V": 684,
    "W": 989, "X": 685, "Y": 611, "Z": 685, "[": 390, "]": 390, "^": 838, "_": 500, "`": 500,
    "a": 613, "b": 635, "c": 550, "d": 635, "e": 615, "f": 352, "g": 635, "h": 634, "i": 278,
    "j": 278, "k": 579, "l": 278, "m": 974, "n": 634, "o": 612, "p": 635, "q": 635, "r": 411,
    "s": 521, "t": 392, "u": 634, "v": 592, "w": 818, "x": 592, "y": 592, "z": 525, "{": 636,
    "|": 337, "}": 636, "~": 838, "–": 500,
}  # fmt: skip
"""Thousandths of their height that letters take in DejaVu Sans, the widest face in common use; digits
take 636, and signs that are not here no more than 1000."""


@dataclass(frozen=True)
class Label:
    """A line of text with the box that it fills."""

    text: str
    left: float
    right: float
    top: float
    bottom: float

    def meets(self, other: Label) -> bool:
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across > 0.5 and down > 1.5


def parsed(svg: str) -> ElementTree.Element:
    """The picture as XML; fails where it is not well formed."""
    root = ElementTree.fromstring(svg)
    assert root.tag == "svg"
    return root


def labels(svg: str) -> list[Label]:
    return [_label(element) for element in parsed(svg).iter("text")]


def words(svg: str) -> str:
    """Everything that a reader or a screen reader meets."""
    return "\n".join(parsed(svg).itertext())


def said(svg: str) -> str:
    """The description alone."""
    text = parsed(svg).findtext("desc")
    assert text
    return text


def assert_sound(svg: str, ident: str) -> None:
    """A named image, with ids of its own, nothing from outside, and room for every label."""
    root = parsed(svg)
    assert root.get("role") == "img"
    assert root.get("id") == ident
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    assert all(found.startswith(ident) for found in ids if found)
    named = (root.get("aria-labelledby") or "").split()
    assert [root.find(tag).get("id") for tag in ("title", "desc")] == named
    assert all((root.findtext(tag) or "").strip() for tag in ("title", "desc"))
    assert not {e.tag for e in root.iter()} & {
        "script",
        "style",
        "image",
        "use",
        "a",
        "foreignObject",
    }
    assert not re.search(r"""(?:href|on\w+|style)\s*=|https?:|@import|data:""", _attributes(root))
    used = set(re.findall(r"url\(#([^)]*)\)", svg))
    assert used <= set(ids)
    assert "url(" not in re.sub(r"url\(#", "", svg)
    _assert_room(svg, root)


def _attributes(root: ElementTree.Element) -> str:
    return " ".join(f"{k}={v}" for element in root.iter() for k, v in element.attrib.items())


def _assert_room(svg: str, root: ElementTree.Element) -> None:
    wide, high = map(float, (root.get("viewBox") or "").split()[2:])
    assert wide > 0
    assert high > 0
    found = labels(svg)
    for one in found:
        assert one.left >= -0.5, one
        assert one.right <= wide + 0.5, one
        assert one.top >= -1, one
        assert one.bottom <= high + 2, one
    met = [(a.text, b.text) for a, b in combinations(found, 2) if a.meets(b)]
    assert not met
    for shape in root.iter("rect"):
        if "pattern" not in shape.tag:
            assert float(shape.get("x", 0)) + float(shape.get("width", 0)) <= wide + 0.5


def _label(element: ElementTree.Element) -> Label:
    classes = (element.get("class") or "").split()
    size = next((HEIGHTS[name] for name in classes if name in HEIGHTS), PLAIN)
    text = "".join(_shown(element))
    wide = sum(ADVANCE.get(c, 636 if c.isdigit() else 1000) for c in text) * size / 1000
    if "strong" in classes:
        wide *= BOLD
    x, y = float(element.get("x", 0)), float(element.get("y", 0))
    left = {"start": x, "middle": x - wide / 2, "end": x - wide}[
        element.get("text-anchor", "start")
    ]
    return Label(text, left, left + wide, y - size * 0.76, y + size * 0.24)


def _shown(element: ElementTree.Element) -> Iterator[str]:
    """The text of a label without what a pointer over it shows."""
    yield element.text or ""
    for child in element:
        yield child.tail or ""
