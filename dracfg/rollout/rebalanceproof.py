"""Whether a piece of work can end and begin anew, with room for it and for every guarantee all the while.

What a tenant is guaranteed and doesn't hold is kept as placed claims beside the real ones: as long as they
lie on devices together, each guarantee can be met. Kubernetes' allocator gives every placement, on the
recorded state of the devices. Not weighed: CPU, memory and affinity of pods, quota and admission.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from dracfg.allocate.claims import (
    Claim,
    ClaimAllocation,
    DeviceResult,
)
from dracfg.allocate.nodes import Node
from dracfg.allocate.state import AllocationState
from dracfg.allocate.structured import (
    Allocation,
    Allocator,
    DeviceId,
    Failed,
    Features,
    Outcome,
    Undecided,
    Unsatisfiable,
)
from dracfg.dataclass import dataclass
from dracfg.link.classes import ClassPlan
from dracfg.plan.library import Library
from dracfg.plan.promises import Holding
from dracfg.plan.site import Site
from dracfg.plan.workloads import PodGroup
from dracfg.rollout.rebalancerooms import Arranger, Room
from dracfg.rollout.rebalancework import PodWork, Renewed, Work


@dataclass(frozen=True, slots=True)
class Landing:
    """A claim that is made anew: what it held, and what it gets on which node."""

    renewed: Renewed
    node: str
    before: tuple[DeviceResult, ...]
    after: tuple[DeviceResult, ...]


@dataclass(frozen=True, slots=True)
class Unproven:
    """Why a piece of work can't be moved as things are."""

    why: str


@dataclass(frozen=True, slots=True, eq=False)
class _Placed:
    """Pods placed on top of a state."""

    state: AllocationState
    landings: tuple[Landing, ...]


class Prover:
    """Moves work one after the other; its state is that after the last one that was proven."""

    def __init__(
        self,
        site: Site,
        library: Library,
        features: Features,
        groups: Mapping[tuple[str, str], PodGroup],
        claims: Iterable[Claim],
        rooms: Sequence[Room],
    ) -> None:
        self._site, self._library, self._groups = site, library, groups
        self._allocator = Allocator(site.inventory, library.classes, features)
        self._consumable = features.consumable_capacity
        self._arranger = Arranger(site, self._allocator, rooms, consumable=self._consumable)
        self._roomy: tuple[Node, ...] = ()
        self.state = AllocationState.of(claims, site.inventory)
        self._kept, self.short, self._decided = self._arranger.arranged(self.state)

    def prove(self, work: Work) -> tuple[Landing, ...] | Unproven:
        """Ends the work and begins it anew, if that is proven; else nothing changes."""
        if not self._decided:
            room = next(iter(self.short))
            return Unproven(
                f"whether there is room for what {room.tenant} is guaranteed of {room.what} is not "
                "decided, so no step may use any"
            )
        freed = self.state
        for one in work.renewed:
            freed = freed.without(one.held.claim)
        beside = self._land(work.pods, self._with_kept(freed))
        found = beside if isinstance(beside, _Placed) else self._land(work.pods, freed)
        if isinstance(found, Unproven):
            return found
        after = _applied(freed, found.landings)
        kept = self._kept
        if isinstance(beside, Unproven):
            kept, short, _ = self._arranger.arranged(after)
            lost = self._lost(short)
            if lost is not None:
                return Unproven(f"it would take the room of {lost}")
        rival = self._rival(work.pods, freed, found.landings)
        if rival is not None:
            return rival
        self.state, self._kept = after, kept
        return found.landings

    def lacking(self) -> Counter[Room]:
        """The devices that guarantees have no room for now."""
        return self._arranger.arranged(self.state)[1]

    def _land(
        self, pods: Iterable[PodWork], state: AllocationState, first: Sequence[Node] = ()
    ) -> _Placed | Unproven:
        """Each pod on the first node that takes its claims; those of `first` are tried before others."""
        landings: list[Landing] = []
        for pod in pods:
            reasons: dict[str, str] = {}
            for node in self._nodes(pod, reasons, first):
                outcome = self._ask(_claims(pod), node, state)
                if isinstance(outcome, Failed):
                    return Unproven(
                        f"the scheduler ends with an error for {pod.pod.ref}: {outcome.message}"
                    )
                if isinstance(outcome, Allocation):
                    placed = tuple(_landings(pod, node.name, outcome))
                    state = _applied(state, placed)
                    landings += placed
                    break
                reasons[node.name] = _reason(outcome)
            else:
                return Unproven(f"no node takes {pod.pod.ref}{_told(reasons)}")
        return _Placed(state, tuple(landings))

    def _rival(
        self, pods: Sequence[PodWork], freed: AllocationState, landings: Sequence[Landing]
    ) -> Unproven | None:
        """A node on which the scheduler may put a pod, so that a guarantee loses its room."""
        here, coming = freed, iter(landings)
        for number, pod in enumerate(pods):
            beside: AllocationState | None = None
            for node, placed in self._rivals(pod, here):
                beside = beside or self._with_kept(here)
                rest = pods[number + 1 :]
                if self._finds_room(beside, node, placed, rest):
                    continue
                lost = self._taken_by(rest, _applied(here, placed))
                if lost is not None:
                    return Unproven(
                        f"the scheduler may put {pod.pod.ref} on {node.name}, where it would take the "
                        f"room of {lost}; a nodeSelector of its own can keep it away"
                    )
            here = _applied(here, islice(coming, len(pod.renewed)))
        return None

    def _finds_room(
        self,
        beside: AllocationState,
        node: Node,
        placed: Iterable[Landing],
        rest: Sequence[PodWork],
    ) -> bool:
        """Whether what is kept on a node finds room there still, or elsewhere, and the other pods do."""
        moved = [one for one in self._kept if one.node == node.name]
        state = beside
        for one in moved:
            state = state.without(one.claim)
        state = _applied(state, placed)
        for one in moved:
            for other in (node, *self._roomy, *self._arranger.open):
                outcome = self._ask((one.claim,), other, state)
                if isinstance(outcome, Allocation):
                    state = state.with_allocation(one.claim, outcome.results[0])
                    self._roomy = self._roomy if other is node else (other,)
                    break
            else:
                return False
        return not rest or isinstance(self._land(rest, state, self._roomy), _Placed)

    def _taken_by(self, pods: Sequence[PodWork], state: AllocationState) -> str | None:
        """What has no room once the pods that are left have come as well, all of it arranged anew."""
        rest = self._land(pods, state)
        if isinstance(rest, Unproven):
            return "the pods that come after it"
        return self._lost(self._arranger.arranged(rest.state)[1])

    def _rivals(
        self, pod: PodWork, state: AllocationState
    ) -> Iterator[tuple[Node, tuple[Landing, ...]]]:
        """Nodes on which a pod would get devices that are kept for a guarantee, and what it would get."""
        kept: dict[str, set[DeviceId]] = {}
        for one in self._kept:
            found = {result.device_id for result in one.allocation.results}
            kept.setdefault(one.node, set()).update(found)
        for node in self._nodes(pod, {}) if kept else ():
            if node.name in kept:
                outcome = self._ask(_claims(pod), node, state)
                if isinstance(outcome, Allocation):
                    placed = tuple(_landings(pod, node.name, outcome))
                    got = {result.device_id for one in placed for result in one.after}
                    if got & kept[node.name]:
                        yield node, placed

    def _with_kept(self, state: AllocationState) -> AllocationState:
        for one in self._kept:
            state = state.with_allocation(one.claim, one.allocation)
        return state

    def _lost(self, short: Counter[Room]) -> str | None:
        """The guarantee that has less room than at the beginning; None where each has as much."""
        for room, devices in short.items():
            if devices > self.short[room]:
                return f"what {room.tenant} is guaranteed of {room.what}"
        return None

    def _nodes(
        self, pod: PodWork, reasons: dict[str, str], first: Sequence[Node] = ()
    ) -> Iterator[Node]:
        """The nodes that may take a pod; why others don't goes into `reasons`."""
        group = self._groups.get((pod.pod.namespace, pod.pod.name))
        for node in (*first, *self._site.nodes):
            doubt = self._site.doubt(group, node) if group is not None else None
            if doubt is None:
                yield node
            else:
                reasons[node.name] = doubt[1]

    def _ask(self, claims: Sequence[Claim], node: Node, state: AllocationState) -> Outcome:
        return self._allocator.allocate(claims, node, state.allocated(consumable=self._consumable))


def _claims(pod: PodWork) -> tuple[Claim, ...]:
    """The claims of a pod that begins: new ones without devices, and those that it shares."""
    new = tuple(_anew(one) for one in pod.renewed)
    return (*new, *(held.claim for held in pod.kept))


def _anew(renewed: Renewed) -> Claim:
    """The claim that is made in the place of an old one; its spec is that of the template of now."""
    claim = renewed.held.claim
    return replace(
        claim, spec=renewed.spec, uid=f"{claim.uid}-anew", allocation=None, reserved_for=()
    )


def _landings(pod: PodWork, node: str, outcome: Allocation) -> Iterator[Landing]:
    for one, allocation in zip(pod.renewed, outcome.results, strict=True):
        yield Landing(one, node, one.held.results, allocation.results)


def _applied(state: AllocationState, landings: Iterable[Landing]) -> AllocationState:
    for one in landings:
        state = state.with_allocation(_anew(one.renewed), ClaimAllocation(one.after))
    return state


def _reason(outcome: Outcome) -> str:
    match outcome:
        case Undecided(reason) | Unsatisfiable(reason):
            return reason
        case _:
            return "it was not decided"


def _told(reasons: Mapping[str, str]) -> str:
    """The reasons of nodes, the most frequent first."""
    counts = Counter(reasons.values()).most_common(2)
    return f": {'; '.join(reason for reason, _ in counts)}" if counts else ""


def unmet(holding: Holding, held: int, plan: ClassPlan) -> Room | None:
    """What of a guarantee is not held, as the largest claims that the tenant makes; None for nothing."""
    left = max(0, holding.guaranteed - held)
    claims: list[int] = []
    for devices in (*holding.claims, 1):
        claims += [devices] * (left // devices)
        left %= devices
    if not claims:
        return None
    return Room(holding.tenant.name, holding.what, plan, tuple(claims))
