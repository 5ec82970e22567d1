"""Pods one after the other onto the nodes of a cluster: what lands where, and what does not, and why.

Each pod goes to the node on which its claims have the best score, the first by name of equals, and
holds there what Kubernetes' allocator gives it. Not weighed: what else pods ask of a node (CPU,
memory, affinity), quota and admission, and pods that leave. Knows neither files nor how a plan is
written down.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import groupby
from typing import Literal

from dracfg.allocate.claims import Claim, DeviceRequest, DeviceResult, Request
from dracfg.allocate.nodes import Node
from dracfg.allocate.state import AllocationState
from dracfg.allocate.structured import (
    AllocatedState,
    Allocation,
    Allocator,
    Failed,
    Features,
    Outcome,
    Undecided,
    Unsatisfiable,
)
from dracfg.dataclass import dataclass
from dracfg.plan.demand import Demand, demand
from dracfg.plan.funnels import Funnels
from dracfg.plan.library import Library, ObjectName
from dracfg.plan.site import Doubt, Site
from dracfg.plan.workloads import PodGroup

Result = Literal["yes", "no", "unknown"]

HELD = "it could hold the pod if it were empty"


@dataclass(frozen=True, slots=True)
class PlacedClaim:
    """A claim of a pod with its devices. `is_new` is False where it had them before the pod came."""

    name: str
    is_new: bool
    devices: tuple[tuple[str, DeviceResult], ...]
    """Pairs of device class and result, in the order of the results."""


@dataclass(frozen=True, slots=True)
class Placement:
    """One pod. `reason` and `nodes` say why it does not land: at all, and by node."""

    group: PodGroup
    pod: str
    result: Result
    node: str | None = None
    claims: tuple[PlacedClaim, ...] = ()
    reason: str | None = None
    nodes: Mapping[str, Doubt] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What came of all pods. `idle` counts those that ask for no device of DRA."""

    site: Site
    placements: tuple[Placement, ...]
    idle: int
    before: AllocationState
    after: AllocationState

    def count(self, result: Result) -> int:
        """The pods with that result."""
        return sum(one.result == result for one in self.placements)

    def refusals(self) -> Iterator[tuple[Placement, ...]]:
        """The pods that don't land, neighbours of a group with the same reasons together."""
        refused = (one for one in self.placements if one.result != "yes")
        for _, alike in groupby(refused, key=lambda one: (id(one.group), one.reason, one.nodes)):
            yield tuple(alike)


def what_if(
    site: Site,
    library: Library,
    groups: Iterable[PodGroup],
    recorded: Iterable[Claim],
    features: Features,
) -> WhatIf:
    """Places the pods of all groups in their order, on top of what recorded claims hold."""
    run = _Run(site, library, features, AllocationState.of(recorded, site.inventory))
    before = run.state
    for group in groups:
        run.place(group)
    return WhatIf(site, tuple(run.placements), run.idle, before, run.state)


@dataclass(slots=True)
class _Trial:
    """What the nodes said to the pods of one group.

    Nothing comes free while pods are placed, and a claim that pods share binds them to nodes that
    fitted the first of them, so a node that does not fit once never will.
    """

    fitting: list[Node]
    out: dict[str, Doubt]
    failure: str | None = None


class _Run:
    """Places pods. Grows its state with each of them."""

    def __init__(
        self, site: Site, library: Library, features: Features, state: AllocationState
    ) -> None:
        self.site, self.library, self.features, self.state = site, library, features, state
        self.allocator = Allocator(site.inventory, library.classes, features)
        self.funnels = Funnels(site, library.plans, fractional=features.fractional_capacity_range)
        self.users: dict[ObjectName, int] = {}
        self.placements: list[Placement] = []
        self.idle = 0
        self.names: set[tuple[str, str]] = set()

    def place(self, group: PodGroup) -> None:
        """Every pod of a group."""
        trial: _Trial | None = None
        for pod, pinned in self._pods(group):
            wanted = demand(
                self.library, group, pod, self.state, self.users, self.site.cluster.minor
            )
            if wanted.is_empty:
                self.idle += 1
                continue
            if wanted.refusal is not None:
                self.placements.append(Placement(group, pod, "no", reason=wanted.refusal))
                continue
            if trial is None or pinned is not None:
                nodes = self.site.nodes if pinned is None else (pinned,)
                trial = self._survey(group, wanted, nodes)
            self.placements.append(self._placed(group, wanted, trial))

    def _pods(self, group: PodGroup) -> Iterable[tuple[str, Node | None]]:
        """The names of the group's pods, and the node of each where it has one of its own."""
        stem = group.stem
        if (group.namespace, stem) in self.names:
            stem = f"{stem}-{group.kind.lower()}"
        self.names.add((group.namespace, stem))
        if group.count is None:
            return [(f"{stem}-{node.name}", node) for node in self.site.nodes]
        if not group.is_counted:
            return [(stem, None)]
        return [(f"{stem}-{number}", None) for number in range(group.count)]

    def _survey(self, group: PodGroup, wanted: Demand, nodes: Iterable[Node]) -> _Trial:
        """Asks every node once, as the scheduler would: an error on one of them stops the pod."""
        trial = _Trial([], {})
        for node in nodes:
            doubt = self.site.doubt(group, node) or self._served(wanted, node)
            if doubt is not None:
                trial.out[node.name] = doubt
                continue
            outcome = self._ask(wanted, node, self.state.allocated())
            if isinstance(outcome, Failed) and not self._may_be_modelled(outcome):
                trial.failure = _error(outcome)
                return trial
            if isinstance(outcome, Allocation):
                trial.fitting.append(node)
            else:
                trial.out[node.name] = self._doubt(wanted, group, node, outcome)
        return trial

    def _placed(self, group: PodGroup, wanted: Demand, trial: _Trial) -> Placement:
        if trial.failure is not None:
            return Placement(group, wanted.pod, "no", reason=trial.failure)
        claims = self._claims(wanted)
        choice = self.allocator.allocate_on_nodes(claims, trial.fitting, self.state.allocated())
        for name, outcome in choice.nodes.items():
            if not isinstance(outcome, Allocation):
                node = self.site.inventory.nodes[name]
                trial.fitting.remove(node)
                trial.out[name] = self._doubt(wanted, group, node, outcome)
        if choice.node is not None and isinstance(choice.outcome, Allocation):
            return self._landed(group, wanted, choice.node, choice.outcome)
        if isinstance(choice.outcome, Failed):
            trial.failure = _error(choice.outcome)
            return Placement(group, wanted.pod, "no", reason=trial.failure)
        doubtful = any(kind == "unknown" for kind, _ in trial.out.values())
        reason = None if trial.out else "no node has a device"
        result: Result = "unknown" if doubtful else "no"
        return Placement(group, wanted.pod, result, reason=reason, nodes=trial.out)

    def _landed(
        self, group: PodGroup, wanted: Demand, node: str, allocation: Allocation
    ) -> Placement:
        placed = []
        for claim in wanted.held:
            held = self.state.allocation(claim)
            placed.append(_placed(claim, held.results if held is not None else (), is_new=False))
        for claim, result in zip(wanted.pending, allocation.results, strict=True):
            self.state = self.state.with_allocation(claim, result)
            placed.append(_placed(claim, result.results, is_new=True))
        for claim in (*wanted.held, *wanted.pending):
            name = claim.namespace, claim.name
            self.users[name] = self.users.get(name, 0) + 1
        return Placement(group, wanted.pod, "yes", node, tuple(placed))

    def _claims(self, wanted: Demand) -> Sequence[Claim]:
        held = [replace(one, allocation=self.state.allocation(one)) for one in wanted.held]
        return [*wanted.pending, *held]

    def _ask(self, wanted: Demand, node: Node, state: AllocatedState) -> Outcome:
        return self.allocator.allocate(self._claims(wanted), node, state)

    def _served(self, wanted: Demand, node: Node) -> Doubt | None:
        """A node that has an extended resource of its own takes it from its device plugin."""
        state = self.site.states.get(node.name)
        served = state.allocatable if state is not None else {}
        for name in wanted.resources:
            if served.get(name):
                return "unknown", f"a device plugin serves {name} there, which is not counted"
        return None

    def _may_be_modelled(self, outcome: Failed) -> bool:
        """Whether an error may come from what a modelled device does not say."""
        return self.site.modelled and outcome.kind in ("cel-runtime", "derived-attribute")

    def _doubt(self, wanted: Demand, group: PodGroup, node: Node, outcome: Outcome) -> Doubt:
        """Why a node does not take the pod, as exactly as can be said."""
        if isinstance(outcome, Undecided):
            return "unknown", outcome.reason
        if isinstance(outcome, Failed):
            return "unknown", f"the modelled devices do not say enough: {outcome.message}"
        empty = self._ask(wanted, node, AllocatedState())
        if isinstance(empty, Allocation):
            return "no", HELD
        told = self.funnels.doubt(group, wanted, node)
        if told is not None:
            return told
        reason = empty.reason if isinstance(empty, Unsatisfiable) else "it was not decided"
        picky = any(claim.spec.constraints or _selects(claim) for claim in wanted.pending)
        return ("unknown" if self.site.modelled and picky else "no"), reason


def _error(outcome: Failed) -> str:
    return f"the scheduler ends with an error: {outcome.message}"


def _selects(claim: Claim) -> bool:
    return any(ask.selectors for request in claim.spec.requests for ask in _asks(request))


def _asks(request: Request) -> tuple[DeviceRequest, ...]:
    return request.first_available or ((request.exactly,) if request.exactly is not None else ())


def _placed(claim: Claim, results: Iterable[DeviceResult], *, is_new: bool) -> PlacedClaim:
    classes = {}
    for request in claim.spec.requests:
        for ask in _asks(request):
            name = f"{request.name}/{ask.name}" if request.first_available else request.name
            classes[name] = ask.device_class
    found = tuple((classes.get(result.request, ""), result) for result in results)
    return PlacedClaim(claim.name, is_new, found)
