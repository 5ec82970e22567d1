"""Proofs in words: bounds, arrangements and mends, in the names and units of the catalog."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dracfg.check.rule import listed
from dracfg.kube.quantity import Quantity
from dracfg.plan.promises import Holding, Market
from dracfg.plan.proofs.blocking import Arrangement, NoPlace
from dracfg.plan.proofs.lowerbounds import (
    FitsNowhere,
    NoneLeft,
    Overweight,
    PerNode,
    Reason,
    Volume,
)
from dracfg.plan.proofs.mends import Mends
from dracfg.plan.proofs.shapes import Counts, Kind
from dracfg.plan.supply import COUNTER, EXEMPT, PARTS, Supply


def plural(count: int, word: str) -> str:
    """`1 device`, `2 devices`."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def kind_name(supply: Supply, kind: str) -> str:
    """What people call a share: its size or partition, or a whole device."""
    plan = supply.classes.get(kind)
    if kind == EXEMPT.name:
        return kind
    return plan.part.name if plan is not None and plan.part.name else f"whole {supply.tier.name}"


def amount(supply: Supply, key: str, number: int) -> str:
    """An amount of a proof's key, in the notation of the catalog."""
    if key in ("devices", "shares"):
        return plural(number, key.removesuffix("s"))
    if key.startswith(PARTS):
        return plural(number, "part")
    device = supply.tier.document.spec.device
    bare = key.removeprefix(COUNTER)
    like = device.counters[bare] if key.startswith(COUNTER) else supply.tier.capacity[key]
    return f"{Quantity(number, like.format)} of {bare}"


def bound_words(supply: Supply, reason: Reason) -> str:
    """A sentence that says why no packing exists."""
    match reason:
        case FitsNowhere(kind, 1):
            return f"no device takes a share of {kind_name(supply, kind)}"
        case FitsNowhere(kind, devices):
            return f"no node has {devices} devices that take {kind_name(supply, kind)}"
        case Volume(key, kinds, groups, needed, available):
            names = listed(kind_name(supply, kind) for kind in kinds if kind != EXEMPT.name)
            there = listed(groups) or "no open pool"
            return (
                f"{names} come to {amount(supply, key, needed)}, "
                f"{there} {'have' if len(groups) > 1 else 'has'} {amount(supply, key, available)}"
            )
        case PerNode(kind, devices, needed, available):
            return (
                f"{plural(needed, 'claim')} for {devices} x {kind_name(supply, kind)} of one node, "
                f"and the nodes hold {available}"
            )
        case Overweight():
            return _weights(supply, reason)
        case NoneLeft(states):
            return f"no arrangement of them fits, {plural(states, 'state')} looked at"


def _weights(supply: Supply, reason: Overweight) -> str:
    scale = max(reason.ceilings.values(), default=Fraction(1)) or Fraction(1)
    weights = [
        f"{weight / scale} of a device for {kind_name(supply, kind.name)}"
        for kind, weight in zip(reason.kinds, reason.weights, strict=True)
        if weight
    ]
    return f"the shares leave rests that nothing fits into: count {listed(weights)}"


def arrangement_words(supply: Supply, reason: Arrangement | NoPlace, devices: int) -> str:
    """How the others block a request, device by device."""
    if isinstance(reason, NoPlace):
        return f"no empty node takes a claim for {devices}"
    rows = [
        f"{plural(number, 'device')} of {group} with {content_words(supply, reason.kinds, content)}"
        for group, content, number in reason.rows
    ]
    return listed(rows)


def content_words(supply: Supply, kinds: Sequence[Kind], content: Counts) -> str:
    """`2 x 10Gi and 1 x 5Gi`, `one claim alone`."""
    held = [(kind, count) for kind, count in zip(kinds, content, strict=True) if count]
    if len(held) == 1 and held[0][0].whole:
        return "one claim alone"
    return listed(f"{count} x {kind_name(supply, kind.name)}" for kind, count in held)


def mend_words(market: Market, holding: Holding, found: Mends) -> list[str]:
    """Each way to mend on its own, the least first."""
    supply, words = market.supply, []
    if found.dedicated is not None:
        nodes = plural(found.dedicated.nodes, "node")
        words.append(f"keep {nodes} of {found.dedicated.group} for {holding.tenant.name} alone")
    if found.dropped:
        names = listed((kind_name(supply, name) for name in found.dropped), "or")
        words.append(f"let nobody hold {names} there")
    if found.rounded is not None:
        sizes = (
            f"{kind_name(supply, name)} to {_size(supply, size)}"
            for name, size in found.rounded.sizes
        )
        words.append(f"lower {listed(sizes)}, which divide a device without a rest")
    return words


def _size(supply: Supply, size: Counts) -> str:
    keys = supply.pool.keys
    return listed(amount(supply, key, n) for key, n in zip(keys, size, strict=True) if n)
