"""The capacity of each tier before and after, where some figure of it moved.

Figures are those of `plan.estimate`; a row stands for one key of one market: whole devices, a
capacity that is divided, or parts of one kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dracfg.dataclass import dataclass
from dracfg.diff.markets import Place, markets_by_place
from dracfg.diff.pair import Pair
from dracfg.kube.quantity import Quantity
from dracfg.plan.estimate import Estimate, estimate
from dracfg.plan.promises import Market

_KEPT_APART = ("spare", "quarantine", "closed")
"""Deductions that take whole devices out of use."""


@dataclass(frozen=True, slots=True)
class Figures:
    """One side of a row, each in the unit of the row's key.

    `usable` is what is published on nodes that promises count on, `promiseable` what is left of it
    after steps and fragmentation, `spare` what of that is not guaranteed, below 0 where too much is.
    """

    usable: Quantity
    promiseable: Quantity
    guaranteed: Quantity
    limit: Quantity

    @property
    def spare(self) -> Quantity:
        return self.promiseable - self.guaranteed

    @property
    def overcommit(self) -> str | None:
        """Limits over what is usable, as people write it: `1.32x`; None where nothing is usable."""
        if self.usable.nano <= 0:
            return None
        hundredths = (self.limit.nano * 200 + self.usable.nano) // (2 * self.usable.nano)
        return f"{hundredths // 100}.{hundredths % 100:02}x"


@dataclass(frozen=True, slots=True)
class CapacityRow:
    """A tier of a cluster before and after; a side is None where it has no such devices.

    `classes` are the market's: pools that share no class are told apart by them. `key` is `devices`,
    the capacity's name, or `parts of <class>`, with the owner where that is the device plugin.
    """

    cluster: str
    tier: str
    classes: tuple[str, ...]
    key: str
    before: Figures | None
    after: Figures | None


@dataclass(frozen=True, slots=True)
class Moved:
    """The estimates of a row; a side is None where it has no such devices."""

    place: Place
    classes: tuple[str, ...]
    key: str
    before: Estimate | None
    after: Estimate | None


def capacity_rows(pair: Pair) -> tuple[CapacityRow, ...]:
    """The rows whose figures differ, by cluster and tier; none where a side is not understood whole."""
    return tuple(
        CapacityRow(
            moved.place[0],
            moved.place[1],
            moved.classes,
            moved.key,
            _figures(moved.before) if moved.before is not None else None,
            _figures(moved.after) if moved.after is not None else None,
        )
        for moved in moved_estimates(pair)
    )


def moved_estimates(pair: Pair) -> Iterator[Moved]:
    """What a row is made of, for every row."""
    before, after = pair.base.judgement.catalog, pair.head.judgement.catalog
    if before.poisoned or after.poisoned:
        return
    old, new = markets_by_place(before, after)
    for place in sorted({*old, *new}):
        for first, second in _paired(old.get(place, []), new.get(place, [])):
            yield from _moved(place, first, second)


def _paired(old: list[Market], new: list[Market]) -> Iterator[tuple[Market | None, Market | None]]:
    """Markets of one tier that have a pool or a class in common."""
    left = list(old)
    for market in new:
        names = _names(market)
        first = next((one for one in left if _names(one) & names), None)
        if first is not None:
            left.remove(first)
        yield first, market
    for market in left:
        yield market, None


def _names(market: Market) -> set[tuple[str, str]]:
    supply = market.supply
    pools = {("pool", pool.name) for pool in supply.pools}
    return pools | {("class", name) for name in supply.classes}


def _moved(place: Place, first: Market | None, second: Market | None) -> Iterator[Moved]:
    old, new = _estimates(first), _estimates(second)
    latest = second or first
    classes = tuple(sorted(latest.supply.classes)) if latest is not None else ()
    for key in dict.fromkeys((*new, *old)):
        before, after = old.get(key), new.get(key)
        sides = [_figures(one) if one is not None else None for one in (before, after)]
        if sides[0] != sides[1]:
            name = f"{key} by device plugin" if place[2] == "devicePlugin" else key
            yield Moved(place, classes, name, before, after)


def _estimates(market: Market | None) -> Mapping[str, Estimate]:
    return {one.key: one for one in estimate(market)} if market is not None else {}


def _figures(one: Estimate) -> Figures:
    taken = {deduction.name: deduction.amount for deduction in one.deductions}
    out = taken.get("reserve", 0) + sum(taken.get(name, 0) for name in _KEPT_APART)
    usable, promiseable, guaranteed, limit = (
        Quantity(amount, one.like.format)
        for amount in (one.physical - out, one.promiseable, one.promised, one.limit)
    )
    return Figures(usable, promiseable, guaranteed, limit)
