"""Why something has no room, where adding up shows it: what is needed against what there is."""

from __future__ import annotations

from collections.abc import Callable

from dracfg.audit.words import count
from dracfg.check.proofwords import bound_words
from dracfg.picture import figures, lettering, shares
from dracfg.picture.drawing import WIDTH, Drawing
from dracfg.plan.assurance import Assurance
from dracfg.plan.proofs.lowerbounds import PerNode, Volume

_ROW, _BAR, _GAP = 22, 12, 8


def draw_bound(drawing: Drawing, proof: Assurance, found: Volume | PerNode) -> tuple[float, str]:
    """Draws the bound of a proof; the height, and the description."""
    supply = proof.market.supply

    def shown(number: int) -> str:
        if isinstance(found, PerNode):
            return count(number, "claim")
        return shares.amount(supply, found.key, number)

    words = figures.parted(bound_words(supply, found))
    return draw_sum(drawing, found.needed, found.available, shown, words)


def draw_sum(
    drawing: Drawing, needed: int, available: int, shown: Callable[[int], str], words: str
) -> tuple[float, str]:
    """Draws two bars on one scale; the height, and the description, which ends with `words`."""
    rows = [
        ("needed", needed, shown(needed), "promised"),
        ("there is", available, shown(available), "promiseable"),
    ]
    names = max(lettering.width(name, "strong") for name, *_ in rows)
    room = min(max(lettering.width(value, "strong") for _, _, value, _ in rows), WIDTH / 2)
    bar = WIDTH - names - room - 2 * _GAP
    most = max(needed, available, 1)
    y = 0.0
    for name, number, value, role in rows:
        middle = y + _ROW / 2
        drawing.label(0, middle, name, "strong")
        drawing.area(names + _GAP, middle - _BAR / 2, bar * number / most, _BAR, role)
        drawing.label(WIDTH, middle, value, "strong", anchor="end", room=room)
        y += _ROW
    edge = bar * available / most
    place = (names + _GAP + edge, (_ROW - _BAR) / 2, bar * needed / most - edge, _BAR)
    drawing.area(*place, "beyond")
    drawing.marked(*place, "cross")
    beyond = f"{shown(needed - available)} more than there is"
    for line, kind in ((f"✗ {beyond}", "bad"), (words, "quiet")):
        for part in lettering.wrapped(line, WIDTH, "small"):
            drawing.label(0, y + 9, part, "small", kind)
            y += 15
    return y + 4, f"Needed: {shown(needed)}. There is: {shown(available)}. {beyond}. {words}."
