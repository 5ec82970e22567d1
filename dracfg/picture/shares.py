"""How kinds of shares look in every picture of devices: a letter, a shade and a pattern each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from dracfg.check import proofwords
from dracfg.dataclass import dataclass
from dracfg.picture import figures, lettering
from dracfg.picture.drawing import WIDTH, Drawing, Mark
from dracfg.plan.proofs.shapes import Group, Kind
from dracfg.plan.supply import COUNTER, PARTS, Supply

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SHADES = 6
_MARKS: tuple[Mark | None, ...] = (None, "hatch", "dots", "cross")
_SWATCH = 24
PLATE = 12
"""Height of a letter with the ground that it stands on."""


@dataclass(frozen=True, slots=True)
class Sign:
    """How one kind is drawn; `letter` names it inside of devices."""

    letter: str
    shade: str
    mark: Mark | None


def signs(kinds: Iterable[Kind]) -> dict[Kind, Sign]:
    """A sign for each kind, in their order."""
    return {
        kind: Sign(_letter(number), f"kind-{number % _SHADES}", _MARKS[number % len(_MARKS)])
        for number, kind in enumerate(dict.fromkeys(kinds))
    }


def _letter(number: int) -> str:
    round_, place = divmod(number, len(_LETTERS))
    return f"{_LETTERS[place]}{round_ or ''}"


def draw_share(
    drawing: Drawing,
    sign: Sign,
    x: float,
    y: float,
    wide: float,
    high: float,
    *texts: str,
    note: str = "",
) -> None:
    """One share as a block, with the first of the texts that has room, its letter last."""
    drawing.area(x, y, wide, high, sign.shade, "share", note=note)
    if sign.mark is not None:
        drawing.marked(x, y, wide, high, sign.mark)
    draw_plate(drawing, x, y, wide, high, *texts, sign.letter)


def draw_plate(drawing: Drawing, x: float, y: float, wide: float, high: float, *texts: str) -> None:
    """The first of the texts that has room, in the middle of an area and readable on any of them."""
    for text in filter(None, texts):
        room = lettering.width(text, "small") + 2
        if room + 2 <= wide and high >= PLATE:
            middle = x + wide / 2, y + high / 2
            drawing.area(middle[0] - room / 2, middle[1] - PLATE / 2, room, PLATE, "plate")
            drawing.label(*middle, text, "small", anchor="middle")
            return


def legend(drawing: Drawing, rows: Sequence[tuple[Sign, str]], y: float) -> float:
    """What each sign stands for."""
    for sign, text in rows:
        draw_share(drawing, sign, 0, y, _SWATCH, 16)
        for line in lettering.wrapped(text, WIDTH - _SWATCH - 8, "small"):
            drawing.label(_SWATCH + 8, y + 8, line, "small")
            y += 15
        y += 4
    return y


def fraction(supply: Supply, group: Group, kind: Kind) -> Fraction:
    """How much of a device one share takes, by the key that it takes most of.

    How many parts of a kind there are says nothing of their extent, unless nothing else is known.
    """
    if kind.whole:
        return Fraction(1)
    taken = {
        key: Fraction(size, capacity)
        for key, size, capacity in zip(supply.pool.keys, kind.size, group.capacity, strict=True)
        if size and capacity
    }
    known = [part for key, part in taken.items() if not key.startswith(PARTS)]
    least = Fraction(1, group.shares.most) if group.shares is not None else Fraction(0)
    return max(known or taken.values(), default=least)


def amount(supply: Supply, key: str, number: int) -> str:
    """An amount of a key as the catalog writes it, without the key's name: `10Gi`, `3 parts`."""
    return full_amount(supply, key, number).partition(" of ")[0]


def full_amount(supply: Supply, key: str, number: int) -> str:
    """The same with its name: `10Gi of memory`."""
    return figures.parted(proofwords.amount(supply, key, number))


def size(supply: Supply, kind: Kind) -> str:
    """What one share takes: `10Gi memory`, `a whole device`."""
    if kind.whole:
        return "a whole device"
    taken = [
        f"{amount(supply, key, number)} {key.removeprefix(COUNTER)}"
        for key, number in zip(supply.pool.keys, kind.size, strict=True)
        if number and not key.startswith(PARTS)
    ]
    return ", ".join(taken) or "one part"
