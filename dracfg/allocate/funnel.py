"""Where one claim could land on an otherwise empty cluster, node by node, and what is in its way.

Exact: class selectors, capacity of single requests, taints, and whether all requests and
constraints can be met together (see `search`, where a budget ends in `unknown`). A bound from
above: what the constraints leave of each request, which is a figure to read and decides nothing.
Not weighed: what other claims hold, shared counters of partitions, binding conditions, and the
scheduler's choice among several possible devices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from dracfg.allocate.constrained import bound
from dracfg.allocate.devices import Device
from dracfg.allocate.narrowing import Ground, Narrowed, narrow
from dracfg.allocate.reasons import in_the_way
from dracfg.allocate.search import Choice, Wanted, can_be_met
from dracfg.cel import EvaluationError
from dracfg.dataclass import dataclass
from dracfg.kube.limits import limits
from dracfg.link.claims import ClaimPlan, ClaimRequest
from dracfg.link.classes import ClassPlan

Result = Literal["yes", "no", "unknown"]


@dataclass(frozen=True, slots=True)
class Step:
    """One request (or one alternative of it) on one node, device by device fewer.

    `seen`: devices of its driver that the node reaches; `selected`: after each selector of the
    class, then of the request; `capacity`: with room for the request; `untainted`: without a taint
    that it does not tolerate; `constrained`: at most so many under its constraints, None where it has none.
    `reason` says what is in the way where the devices don't suffice. `undecided` counts those
    among `selected` of which the class is not decided.
    """

    request: str
    alternative: str | None
    device_class: str
    wanted: int
    seen: int
    selected: tuple[int, ...]
    capacity: int
    untainted: int
    constrained: int | None
    undecided: int = 0
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class NodeFunnel:
    """A node, or `count` nodes that are alike, and what a claim finds there."""

    node: str
    count: int
    steps: tuple[Step, ...]
    result: Result
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Funnel:
    """A claim on one cluster. `failure` is what keeps it from every node, whatever they hold."""

    cluster: str
    modelled: bool
    nodes: tuple[NodeFunnel, ...]
    failure: str | None = None

    def count(self, result: Result) -> int:
        """The number of nodes with that result."""
        return sum(node.count for node in self.nodes if node.result == result)

    @property
    def total(self) -> int:
        return sum(node.count for node in self.nodes)

    @property
    def result(self) -> Result:
        """yes where some node can hold the claim, no where none can."""
        if self.count("yes"):
            return "yes"
        return "unknown" if self.count("unknown") else "no"


def funnel(plan: ClaimPlan, ground: Ground) -> Funnel:
    """The way of one claim through every node that reaches a device of its drivers."""
    plans = {ask.plan.name: ask.plan for request in plan.requests for ask in request.asks}
    drivers = {one.tier.driver.name for one in plans.values()}
    usable = {
        (pool.driver, pool.name)
        for pool in ground.inventory.pools
        if pool.driver in drivers and pool.usable
    }
    found: list[NodeFunnel] = []
    for node in ground.inventory.nodes:
        reached = [d for d in ground.inventory.devices_on(node) if d.driver in drivers]
        unclear = _unclear(ground, node, drivers)
        if reached or unclear:
            devices = [d for d in reached if (d.driver, d.pool) in usable]
            passed_over = sorted({d.pool for d in reached if (d.driver, d.pool) not in usable})
            found.append(_node(plan, ground, node, devices, passed_over, unclear))
    if not found:
        found = [
            NodeFunnel(f"nodes of {pool}", 1, (), "unknown", "which nodes reach it is not recorded")
            for pool in _of_no_node(ground, drivers)
        ]
    failure = _failure(plan, ground, plans.values())
    if failure is not None:
        found = [replace(node, result="no", reason=failure) for node in found]
    return Funnel(ground.cluster, ground.selection.modelled, tuple(found), failure)


def _failure(plan: ClaimPlan, ground: Ground, plans: Iterable[ClassPlan]) -> str | None:
    """What ends the allocation on every node."""
    most = limits(ground.minor).devices_per_claim
    least = sum(min(ask.count for ask in request.asks) for request in plan.requests)
    if least > most:
        return f"a claim can hold {most} devices, this one asks for {least}"
    for one in plans:
        if one.closed:
            return f"class {one.name} takes no new claims"
        for device in ground.inventory.devices:
            outcome = ground.selection.select(one, device).outcome
            if isinstance(outcome, EvaluationError):
                return (
                    f"class {one.name} fails on device {device.name} of pool {device.pool}: "
                    f"{outcome.message}"
                )
    return None


def _of_no_node(ground: Ground, drivers: set[str]) -> tuple[str, ...]:
    """The pools of the drivers whose devices no known node reaches for certain."""
    return tuple(
        pool.name
        for pool in ground.inventory.pools
        if pool.driver in drivers and any(d.nodes.node_name is None for d in pool.devices)
    )


def _unclear(ground: Ground, node: str, drivers: set[str]) -> tuple[str, ...]:
    """The pools that the node may reach or not, as its labels are not recorded."""
    return tuple(
        sorted(
            {
                device.pool
                for pool in ground.inventory.pools
                if pool.node is None and pool.driver in drivers
                for device in pool.devices
                if ground.inventory.reaches(device, node) is None
            }
        )
    )


def _node(
    plan: ClaimPlan,
    ground: Ground,
    node: str,
    devices: Sequence[Device],
    passed_over: Sequence[str],
    unclear: Sequence[str],
) -> NodeFunnel:
    narrowed = {
        (request.origin, ask.name): narrow(ask, request, ground, devices)
        for request in plan.requests
        for ask in request.asks
    }
    silent = _silent(plan, ground, devices, narrowed)
    told = replace(
        plan, constraints=tuple(one for one in plan.constraints if one.attribute not in silent)
    )
    steps = tuple(_steps(told, ground, devices, narrowed))
    count = (ground.alike or {}).get(node, 1)
    result, reason = _result(told, ground, devices, narrowed, steps)
    if result == "yes" and silent:
        result, reason = "unknown", f"the modelled devices do not say {', '.join(silent)}"
    if result != "yes" and unclear:
        result, reason = "unknown", f"pool {unclear[0]} hangs on labels of nodes, not recorded"
    elif result == "no" and passed_over:
        reason = f"{reason}; pool {passed_over[0]} is not complete or not valid"
    if node in ground.restrictions.nodes:
        result, reason = "no", ground.restrictions.nodes[node]
    return NodeFunnel(node, count, steps, result, reason)


def _steps(
    plan: ClaimPlan,
    ground: Ground,
    devices: Sequence[Device],
    narrowed: Mapping[tuple[str, str], Narrowed],
) -> Iterator[Step]:
    """One step for each request of the profile and alternative; pairs count as one request."""
    slots: dict[str, int] = {}
    first: dict[str, ClaimRequest] = {}
    for request in plan.requests:
        slots[request.origin] = slots.get(request.origin, 0) + 1
        first.setdefault(request.origin, request)
    candidates: dict[str, Sequence[Device]] = {}
    for origin, request in first.items():
        able = {n for ask in request.asks for n in narrowed[origin, ask.name].takes}
        candidates[origin] = [devices[number] for number in sorted(able)]
    for origin, request in first.items():
        for ask in request.asks:
            found = narrowed[origin, ask.name]
            wanted = ask.count * slots[origin]
            under = bound(
                plan,
                origin,
                wanted,
                {**candidates, origin: found.untainted},
                compares_distinct=ground.compares_distinct,
            )
            own = [d for d in devices if d.driver == ask.plan.tier.driver.name]
            yield Step(
                request=origin,
                alternative=ask.name if request.has_alternatives else None,
                device_class=ask.plan.name,
                wanted=wanted,
                seen=len(own),
                selected=tuple(map(len, found.selected)),
                capacity=len(found.roomy),
                untainted=len(found.untainted),
                constrained=None if under is None else min(under.most, len(found.untainted)),
                undecided=len(found.undecided),
                reason=in_the_way(ask, request, ground, own, found, wanted, under),
            )


def _result(
    plan: ClaimPlan,
    ground: Ground,
    devices: Sequence[Device],
    narrowed: Mapping[tuple[str, str], Narrowed],
    steps: Sequence[Step],
) -> tuple[Result, str | None]:
    """Whether the node can hold the claim, and why not."""
    choices = {
        key: Choice(ask.count, narrowed[key].takes)
        for request in plan.requests
        for ask in request.asks
        for key in [(request.origin, ask.name)]
    }
    wanted = [
        Wanted(request.name, tuple(choices[request.origin, ask.name] for ask in request.asks))
        for request in plan.requests
    ]
    met = can_be_met(devices, wanted, plan.constraints, compares_distinct=ground.compares_distinct)
    if met is None:
        return "unknown", "whether all requests can be met together was not decided"
    if met:
        reasons = [reason for one in narrowed.values() for reason in one.undecided.values()]
        return ("unknown", reasons[0]) if reasons else ("yes", None)
    lacking = _lacking(steps)
    return "no", lacking or "its requests and constraints can't be met together"


def _silent(
    plan: ClaimPlan,
    ground: Ground,
    devices: Sequence[Device],
    narrowed: Mapping[tuple[str, str], Narrowed],
) -> tuple[str, ...]:
    """Attributes of constraints of which modelled devices say nothing."""
    if not ground.selection.modelled:
        return ()
    able = [devices[number] for one in narrowed.values() for number in one.takes]
    named = dict.fromkeys(constraint.attribute for constraint in plan.constraints)
    return tuple(name for name in named if any(device.attribute(name) is None for device in able))


def _lacking(steps: Sequence[Step]) -> str | None:
    """The reason of the first request that no alternative of its can be met."""
    by_request: dict[str, list[Step]] = {}
    for step in steps:
        by_request.setdefault(step.request, []).append(step)
    for own in by_request.values():
        if all(step.reason is not None for step in own):
            return "; ".join(
                f"{step.alternative}: {step.reason}" if step.alternative else str(step.reason)
                for step in own
            )
    return None
