"""The pictures of the page on capacity: devices as shelves that claims fill, and one tier of the example.

The arrangements are those that `dracfg check` names in docs/explanation/capacity-proofs.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import dracfg
from docs.generator.svg import opened
from dracfg.picture import style, waterfall
from dracfg.plan.estimate import estimates

FOLDER = "docs/explanation"
WIDE, TALL, GAP, TOP = 120, 200, 24, 46
STYLE = """\
text { font: 12px system-ui, sans-serif; fill: #1f2328; text-anchor: middle }
.name { font-weight: 600 }
.shelf { fill: none; stroke: #57606a; stroke-width: 1.5 }
.one { fill: #cfe3f7; stroke: #4f7fb5 } .two { fill: #fbe3c4; stroke: #b5793f }
.free { fill: none; stroke: #57606a; stroke-dasharray: 4 3 }"""
DARK = """\
  text { fill: #e6edf3 } .shelf, .free { stroke: #9da7b3 }
  .one { fill: #1c3a5c } .two { fill: #5a3c17 }"""


@dataclass(frozen=True, slots=True)
class Shelf:
    """A device or node: its name, and (what, size, kind) from the bottom up; kinds: one, two, free."""

    name: str
    held: tuple[tuple[str, int, str], ...]


SHOWN = ("prod-west", "l40s-hami")
"""The cluster and tier of the example whose capacity is drawn."""


def pages(root: Path) -> dict[str, str]:
    """Path -> text of each picture."""
    return {**_arrangements(), f"{FOLDER}/waterfall.svg": _waterfall(root)}


def _waterfall(root: Path) -> str:
    """The picture that the report draws, with its style inside, so that it stands alone."""
    catalog = dracfg.load(root).catalog
    (found,) = (
        one
        for one in estimates(catalog)
        if (one.supply.cluster.name, one.supply.tier.name) == SHOWN
    )
    drawn = waterfall(found, "waterfall").replace(
        "<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1
    )
    ground = '<rect width="100%" height="100%" style="fill: var(--picture-surface)"/>'
    return drawn.replace("</desc>", f"</desc><style>{style()}</style>{ground}", 1) + "\n"


def _arrangements() -> dict[str, str]:
    small, large = ("10Gi", 10, "one"), ("20Gi", 20, "two")
    packed = [Shelf(f"card {i}", (small,) * 4) for i in (1, 2, 3)] + [
        Shelf("card 4", (large, large))
    ]
    filled = (small, small, small, ("10Gi free", 10, "free"))
    blocked = [Shelf(f"card {i}", filled) for i in (1, 2, 3, 4)]
    node = (("1 of another", 1, "one"), ("7 free", 7, "free"))
    nodes = [Shelf(f"node {i}", node) for i in (1, 2, 3)]
    return {
        f"{FOLDER}/packing.svg": shelves(
            "A packing: twelve shares of 10Gi and two of 20Gi on four cards of 40Gi",
            "Three cards hold four shares of 10Gi each, the fourth holds two of 20Gi. Everything has room.",
            packed,
        ),
        f"{FOLDER}/blocking.svg": shelves(
            "An arrangement that blocks: three shares of 10Gi on each of four cards of 40Gi",
            "Each card has 10Gi left, 40Gi in all, and a share of 20Gi goes nowhere.",
            blocked,
        ),
        f"{FOLDER}/nodes.svg": shelves(
            "A claim for eight devices and three nodes of eight, one device taken on each",
            "Each node has seven devices left, 21 in all, and a claim for eight on one node goes nowhere.",
            nodes,
        ),
    }


def shelves(title: str, described: str, listed: Sequence[Shelf]) -> str:
    """The picture, with its title and description for those who don't see it."""
    width = GAP + (WIDE + GAP) * len(listed)
    drawn = [opened(title, described, width, TOP + TALL + 12, STYLE, DARK)]
    drawn.append(f'<text x="{width // 2}" y="16">{escape(title)}</text>')
    for i, shelf in enumerate(listed):
        left, bottom = GAP + (WIDE + GAP) * i, TOP + TALL
        whole = sum(size for _, size, _ in shelf.held)
        drawn.append(f'<text class="name" x="{left + WIDE // 2}" y="{TOP - 8}">{shelf.name}</text>')
        for what, size, kind in shelf.held:
            height = TALL * size // whole
            bottom -= height
            drawn.append(
                f'<rect class="{kind}" x="{left + 3}" y="{bottom + 2}" width="{WIDE - 6}" '
                f'height="{height - 4}" rx="3"/>'
            )
            drawn.append(
                f'<text x="{left + WIDE // 2}" y="{bottom + height // 2 + 4}">{what}</text>'
            )
        drawn.append(
            f'<rect class="shelf" x="{left}" y="{TOP}" width="{WIDE}" height="{TALL}" rx="4"/>'
        )
    return "\n".join([*drawn, "</svg>"]) + "\n"
