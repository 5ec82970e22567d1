"""How many devices the constraints of a claim leave, request by request, for people to read.

A bound from above for each request on its own constraints; whether all can be met together is for
`search`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from dracfg.allocate.devices import Device
from dracfg.allocate.search import values
from dracfg.dataclass import dataclass
from dracfg.link.claims import ClaimPlan, Constraint


@dataclass(frozen=True, slots=True)
class Bound:
    """At most so many devices, and which constraint says so."""

    most: int
    reason: str


def bound(
    plan: ClaimPlan,
    origin: str,
    wanted: int,
    candidates: Mapping[str, Sequence[Device]],
    *,
    compares_distinct: bool = True,
) -> Bound | None:
    """The tightest bound on the devices of a request of the profile; None without constraints.

    `candidates` are by request of the profile, those of `origin` for the alternative in question.
    Without `compares_distinct`, devices need only have a distinct attribute.
    """
    found = []
    for group in _groups(plan):
        if origin not in group.origins:
            continue
        if not group.distinct:
            found.append(_matching(origin, group, candidates))
        elif compares_distinct:
            found.append(_distinct(origin, wanted, group, candidates))
        else:
            having = [one for one in candidates[origin] if values(one, group.attribute)]
            found.append(Bound(len(having), f"{group.attribute} is not published for {origin}"))
    return min(found, key=lambda one: one.most, default=None)


@dataclass(frozen=True, slots=True)
class _Group:
    """Constraints alike but for the pair that they hold together.

    `each` is how many devices of every request take part in one of them.
    """

    attribute: str
    distinct: bool
    each: tuple[tuple[str, int], ...]

    @property
    def origins(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.each)


def _groups(plan: ClaimPlan) -> tuple[_Group, ...]:
    origin_of = {request.name: request.origin for request in plan.requests}
    devices = {request.name: request.devices for request in plan.requests}
    found = (
        _Group(one.attribute, one.distinct, _members(one, origin_of, devices))
        for one in plan.constraints
    )
    return tuple(dict.fromkeys(found))


def _members(
    constraint: Constraint, origin_of: Mapping[str, str], devices: Mapping[str, int]
) -> tuple[tuple[str, int], ...]:
    """The profile's requests in a constraint with the number of their devices in it."""
    each: dict[str, int] = {}
    for name in constraint.requests:
        each[origin_of[name]] = each.get(origin_of[name], 0) + devices[name]
    return tuple(each.items())


def _matching(origin: str, group: _Group, candidates: Mapping[str, Sequence[Device]]) -> Bound:
    held = {name: _by_value(candidates[name], group.attribute) for name in group.origins}
    own = held[origin]
    others = [name for name in group.origins if name != origin]
    if others:
        most = sum(
            each * min(held[name][value] // number for name, number in group.each)
            for value in own
            for each in [dict(group.each)[origin]]
        )
    else:
        most = max(own.values(), default=0)
    if not own:
        return Bound(0, f"{group.attribute} is not published for {origin}")
    if others:
        reason = f"only {most} {origin} share {group.attribute} with {_listed(others)}"
    else:
        reason = f"at most {most} {origin} share one {group.attribute}"
    return Bound(
        most, reason if most else reason.replace("only 0", "no").replace("at most 0", "no")
    )


def _distinct(
    origin: str, wanted: int, group: _Group, candidates: Mapping[str, Sequence[Device]]
) -> Bound:
    """Different values for all requests of the constraint, counted over all of them together."""
    different: set[object] = set()
    for name in group.origins:
        different |= set(_by_value(candidates[name], group.attribute))
    own = set(_by_value(candidates[origin], group.attribute))
    needed = sum(number for _, number in group.each)
    if len(different) < needed:
        most = min(len(own), max(len(different) - (needed - wanted), 0))
        return Bound(most, f"{len(different)} different {group.attribute}, {needed} are needed")
    return Bound(len(own), f"only {len(own)} different {group.attribute} for {origin}")


def _by_value(devices: Iterable[Device], attribute: str) -> Counter[object]:
    return Counter(value for device in devices for value in values(device, attribute))


def _listed(names: Sequence[str]) -> str:
    return " and ".join(names)
