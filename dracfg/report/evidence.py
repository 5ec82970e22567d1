"""A verdict → the evidence behind it: in words, and device by device where it can be drawn.

Proofs are not made again; what is said of devices is read off the certificate or the counter-example.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from dracfg.check.proofwords import amount, arrangement_words, bound_words, kind_name, plural
from dracfg.check.rule import listed
from dracfg.picture.packed import demand_of
from dracfg.plan.assurance import Assurance, beside
from dracfg.plan.proofs.blocking import (
    Arrangement,
    Exhausted,
    NoPlace,
    NothingRefuses,
    Weights,
)
from dracfg.plan.proofs.lowerbounds import NoneLeft, Reason
from dracfg.plan.proofs.packing import Packing, kinds_of
from dracfg.plan.proofs.settled import SettledTest
from dracfg.plan.proofs.shapes import Claims, Counts, Kind
from dracfg.plan.proofs.verdict import Refuted, Unknown
from dracfg.plan.supply import Supply
from dracfg.report.proofdocument import Carried, Evidence, Filled


def evidence_of(found: Assurance) -> Evidence:
    """What convinces of the answer; devices are listed alike ones together, emptiest last."""
    verdict = found.verdict
    if isinstance(verdict, Unknown):
        return Evidence("open", verdict.why, verdict.mend or None, ())
    if isinstance(verdict, Refuted):
        return _refutation(found, verdict.reason)
    if isinstance(verdict.certificate, tuple):
        return _packing(found, verdict.certificate)
    return _certificate(found, verdict.certificate)


def _refutation(found: Assurance, reason: Reason | Arrangement | NoPlace) -> Evidence:
    supply = found.market.supply
    match reason:
        case Arrangement():
            drawn = tuple(_filled(supply, reason.kinds, Counter(_numbered(reason.rows))))
            text = arrangement_words(supply, reason, found.devices)
            return Evidence("arrangement", f"others can leave no room: {text}", None, drawn)
        case NoPlace():
            return Evidence("bound", arrangement_words(supply, reason, found.devices), None, ())
        case NoneLeft():
            return Evidence("search", bound_words(supply, reason), None, ())
    return Evidence("bound", bound_words(supply, reason), None, ())


def _certificate(
    found: Assurance, certificate: NothingRefuses | SettledTest | Weights | Exhausted
) -> Evidence:
    supply, what = found.market.supply, kind_name(found.market.supply, found.holding.kind.name)
    match certificate:
        case NothingRefuses(group):
            text = f"no device of {group} can be filled by others so that {what} has no room on it"
            return Evidence("bound", text, None, ())
        case SettledTest():
            return Evidence("bound", _settled(found, certificate), None, ())
        case Weights(weights):
            kinds = beside(
                found.market, found.holding, found.devices, reclaimed=found.reclaimed
            ).kinds
            counted = listed(
                f"{weight} for {kind_name(supply, kind.name)}"
                for kind, weight in zip(kinds, weights, strict=True)
                if weight
            )
            text = (
                f"count {counted}: all that others may hold weighs less than the devices that "
                f"would have to be full"
            )
            return Evidence("bound", text, None, ())
        case Exhausted(states):
            text = f"others can't fill the devices in any way, {plural(states, 'state')} looked at"
            return Evidence("search", text, None, ())


def _settled(found: Assurance, test: SettledTest) -> str:
    """The numbers that were compared, in the notation of the catalog."""
    market = found.market
    kinds = [kind for kind in (found.holding.kind, *market.kinds) if not kind.whole]
    keys = market.supply.pool.keys
    key = next(key for i, key in enumerate(keys) if any(kind.size[i] for kind in kinds))
    held = amount(market.supply, key, test.others_amount)
    full = [amount(market.supply, key, test.overfull)] if test.overfull else []
    full += [plural(test.shares, "share")] if test.shares is not None else []
    each = f", each with {listed(full, 'or')}" if full else ""
    return (
        f"all {plural(test.devices, 'device')} would have to be full at once{each}; others may "
        f"hold {held} in {plural(test.others_number, 'share')}"
    )


def _packing(found: Assurance, packing: Packing) -> Evidence:
    demand = demand_of(found, packing)
    if demand is None:
        return Evidence("packing", "all that was asked about lies on devices at once", None, ())
    supply = found.market.supply
    contents = Counter(_contents(supply, demand, packing))
    drawn = tuple(_filled(supply, kinds_of(demand), contents))
    text = f"{_demanded(found, demand)} lies on devices at once"
    return Evidence("packing", text, None, drawn)


def _demanded(found: Assurance, demand: tuple[Claims, ...]) -> str:
    """What a demand of the proof is."""
    market, after = found.market, " after reclaim" if found.reclaimed else ""
    if demand == market.everything(found.reclaimed):
        return f"all that may be held{after}"
    if demand == market.guaranteed():
        return "all that is guaranteed"
    if market.foreign:
        return f"what was asked about, among claims of other tiers{after},"
    return f"the guarantee of {found.holding.tenant.name} with all that others may hold{after}"


def _contents(
    supply: Supply, demand: Sequence[Claims], packing: Packing
) -> Iterator[tuple[str, Counts]]:
    """(pool, content) of every device of the supply, empty ones too."""
    kinds = kinds_of(demand)
    held: dict[tuple[int, int, int], list[int]] = {}
    for placement in packing:
        k = kinds.index(demand[placement.claims].kind)
        for place in placement.places():
            held.setdefault(place, [0] * len(kinds))[k] += placement.count
    for g, group in enumerate(supply.pool.groups):
        full = [tuple(content) for (at, _, _), content in held.items() if at == g]
        yield from ((group.name, content) for content in full)
        yield from ((group.name, (0,) * len(kinds)) for _ in range(group.devices - len(full)))


def _numbered(rows: Sequence[tuple[str, Counts, int]]) -> dict[tuple[str, Counts], int]:
    found: dict[tuple[str, Counts], int] = {}
    for pool, content, number in rows:
        found[pool, content] = found.get((pool, content), 0) + number
    return found


def _filled(
    supply: Supply, kinds: Sequence[Kind], contents: Counter[tuple[str, Counts]]
) -> Iterator[Filled]:
    keys = supply.pool.keys
    offered = {group.name: group.capacity for group in supply.pool.groups}
    ordered = sorted(contents.items(), key=lambda one: (one[0][0], [-count for count in one[0][1]]))
    for (pool, content), number in ordered:
        yield Filled(
            pool,
            number,
            {key: _short(supply, key, n) for key, n in zip(keys, offered[pool], strict=True)},
            tuple(
                Carried(kind.name, count, _size(supply, kind))
                for kind, count in zip(kinds, content, strict=True)
                if count
            ),
        )


def _size(supply: Supply, kind: Kind) -> dict[str, str]:
    return {
        key: _short(supply, key, amount_)
        for key, amount_ in zip(supply.pool.keys, kind.size, strict=False)
        if amount_
    }


def _short(supply: Supply, key: str, number: int) -> str:
    """An amount without the name of its key."""
    return amount(supply, key, number).partition(" ")[0]
