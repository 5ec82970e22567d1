"""At most so many joint claims on one node, whatever the arrangement: bounds by counting.

A device of which it is not known whether a class takes it counts as one that it does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from dracfg.allocate.devices import Device
from dracfg.allocate.search import values
from dracfg.dataclass import dataclass
from dracfg.link.claims import ClaimPlan, Constraint
from dracfg.plan.jointplacement import NodeDevices


@dataclass(frozen=True, slots=True, order=True)
class NodeBound:
    """`why` reads after "at most `most` on a node, since"."""

    most: int
    why: str


def node_bound(plan: ClaimPlan, found: NodeDevices, *, modelled: bool) -> NodeBound | None:
    """The least of the bounds; None where nothing bounds the number of claims.

    `modelled` devices may publish attributes that no document describes, so constraints on those
    bound nothing.
    """
    bounds = [*_by_number(plan, found), *_by_constraint(plan, found, modelled)]
    return min(bounds, key=lambda one: one.most, default=None)


def _by_number(plan: ClaimPlan, found: NodeDevices) -> Iterator[NodeBound]:
    """Devices or shares that one claim takes against those there are: by request, and by class."""
    of_request: Counter[str] = Counter()
    of_class: Counter[str] = Counter()
    keys: dict[str, set[tuple[str, str]]] = {}
    for request in plan.requests:
        of_request[request.origin] += min(ask.count for ask in request.asks)
        for ask in request.asks:
            keys.setdefault(request.origin, set()).add((request.origin, ask.name))
    for origin, number in of_request.items():
        yield from _room(found, keys[origin], origin, number)
    same: dict[str, set[tuple[str, str]]] = {}
    for request in plan.requests:
        if len(request.asks) == 1:
            (ask,) = request.asks
            of_class[ask.plan.name] += ask.count
            same.setdefault(ask.plan.name, set()).add((request.origin, ask.name))
    for name, number in of_class.items():
        if len(same[name]) > 1:
            yield from _room(found, same[name], name, number)


def _room(
    found: NodeDevices, keys: set[tuple[str, str]], what: str, number: int
) -> Iterator[NodeBound]:
    able = {n for key in keys for n in found.narrowed[key].takes}
    room = 0
    for device in able:
        least = [_shares(found, key, device) for key in keys]
        if any(one is None for one in least):
            return
        room += max(one for one in least if one is not None)
    yield NodeBound(room // number, f"it has room for {room} of {what}")


def _shares(found: NodeDevices, key: tuple[str, str], number: int) -> int | None:
    """How many shares one device gives; None where nothing bounds them."""
    takes = found.narrowed[key].takes
    if number not in takes:
        return 0
    amounts = takes[number]
    if amounts is None:
        return 1
    device = found.devices[number]
    rooms = [device.capacity[name].value.nano // one for name, one in amounts.items() if one]
    return min(rooms, default=None)


def _by_constraint(plan: ClaimPlan, found: NodeDevices, modelled: bool) -> Iterator[NodeBound]:
    """Devices had alone that agree in an attribute: value by value, the request that has fewest.

    A device with several values counts under each.
    """
    alike: dict[tuple[str, tuple[tuple[str, int], ...]], int] = {}
    for one in plan.constraints:
        if not one.distinct:
            each = _each(plan, one)
            alike[one.attribute, each] = alike.get((one.attribute, each), 0) + 1
    for (attribute, each), number in alike.items():
        held = [(least, _able(found, origin)) for origin, least in each]
        devices = [device for _, able in held for device in able]
        if any(d.allow_multiple_allocations for d in devices):
            continue
        if modelled and any(d.attribute(attribute) is None for d in devices):
            continue
        counts = [(least, _by_value(able, attribute)) for least, able in held]
        groups = {value for _, count in counts for value in count}
        most = sum(min(count[value] // least for least, count in counts) for value in groups)
        yield NodeBound(
            most // number,
            f"{' and '.join(origin for origin, _ in each)} agree in {attribute} {most} times",
        )


def _each(plan: ClaimPlan, constraint: Constraint) -> tuple[tuple[str, int], ...]:
    """The profile's requests in a constraint, with the fewest of their devices in it."""
    found: dict[str, int] = {}
    for request in plan.requests:
        if request.name in constraint.requests:
            least = min(ask.count for ask in request.asks)
            found[request.origin] = found.get(request.origin, 0) + least
    return tuple(found.items())


def _able(found: NodeDevices, origin: str) -> list[Device]:
    numbers = {
        number
        for (name, _), one in found.narrowed.items()
        if name == origin
        for number in one.takes
    }
    return [found.devices[number] for number in sorted(numbers)]


def _by_value(devices: list[Device], attribute: str) -> Mapping[object, int]:
    return Counter(value for device in devices for value in values(device, attribute))
