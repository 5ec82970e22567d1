"""Where everything that is guaranteed and not held would lie: an arrangement, or what has no room.

Kubernetes' allocator gives the devices on a node; which node is tried here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from dracfg.allocate.claims import Claim, ClaimAllocation, ClaimSpec, DeviceRequest, Request
from dracfg.allocate.nodes import Node
from dracfg.allocate.state import AllocationState
from dracfg.allocate.structured import Allocation, Allocator, Outcome
from dracfg.dataclass import dataclass
from dracfg.link.classes import ClassPlan
from dracfg.plan.site import Site

MOST_CLAIMS, MOST_ASKS = 200, 400
"""So many claims are arranged in any way but the first, by so many questions to the allocator at most."""


@dataclass(frozen=True, slots=True)
class Room:
    """What a tenant is guaranteed of one class and doesn't hold yet, as claims of so many devices."""

    tenant: str
    what: str
    plan: ClassPlan
    claims: tuple[int, ...]

    @property
    def devices(self) -> int:
        return sum(self.claims)


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """Room that a guarantee has: a claim that nobody has made, where it would lie."""

    room: Room
    claim: Claim
    allocation: ClaimAllocation
    node: str


class Arranger:
    """Arranges rooms on the open nodes of a site. `open` are those that let something new in."""

    def __init__(
        self, site: Site, allocator: Allocator, rooms: Sequence[Room], *, consumable: bool
    ) -> None:
        self._site, self._allocator, self._consumable = site, allocator, consumable
        self._rooms = sorted(rooms, key=_largest_first)
        self.open = [node for node in site.nodes if node.name not in site.kept_out]

    def arranged(self, state: AllocationState) -> tuple[tuple[Kept, ...], Counter[Room], bool]:
        """Room for all that is guaranteed and not held, what has none, and whether that is certain.

        The first arrangement is tried in order. Where it leaves something out others are, and only where
        every one was is the lack a fact: then nodes have one device of the driver each, so that the
        choice of nodes is all there is to choose.
        """
        kept, short = self._keep(state)
        if not short:
            return kept, short, True
        wanted = [
            (room, _claim(room, number, devices))
            for room in self._rooms
            for number, devices in enumerate(room.claims)
        ]
        asks = iter(range(MOST_ASKS))
        found = self._search(wanted, state, 0, asks) if len(wanted) <= MOST_CLAIMS else None
        if found is not None:
            return tuple(found), Counter(), True
        every = len(wanted) <= MOST_CLAIMS and next(asks, None) is not None
        return kept, short, every and self._has_single_devices()

    def _search(
        self,
        wanted: Sequence[tuple[Room, Claim]],
        state: AllocationState,
        first: int,
        asks: Iterator[int],
    ) -> list[Kept] | None:
        """An arrangement of all of them, node by node; equal claims in the order of the nodes."""
        if not wanted:
            return []
        (room, claim), *rest = wanted
        for number, node in islice(enumerate(self.open), first, None):
            if next(asks, None) is None:
                return None
            outcome = self._place(claim, node, state)
            if not isinstance(outcome, Allocation):
                continue
            (allocation,) = outcome.results
            alike = bool(rest) and rest[0][0] is room and rest[0][1].spec == claim.spec
            below = self._search(
                rest, state.with_allocation(claim, allocation), number if alike else 0, asks
            )
            if below is not None:
                return [Kept(room, claim, allocation, node.name), *below]
        return None

    def _has_single_devices(self) -> bool:
        drivers = {room.plan.tier.driver.name for room in self._rooms}
        devices = Counter(
            (node.name, device.driver)
            for node in self.open
            for device in self._site.inventory.devices_on(node.name)
            if device.driver in drivers
        )
        return all(number == 1 for number in devices.values())

    def _keep(self, state: AllocationState) -> tuple[tuple[Kept, ...], Counter[Room]]:
        """Room for all that is guaranteed and not held, largest claims first; and what has none."""
        kept: list[Kept] = []
        short: Counter[Room] = Counter()
        nodes = self.open
        for room in self._rooms:
            size, left = 0, iter(nodes)
            node: Node | None = None
            for number, devices in enumerate(room.claims):
                if devices != size:
                    size, left = devices, iter(nodes)
                    node = next(left, None)
                claim = _claim(room, number, devices)
                while node is not None:
                    outcome = self._place(claim, node, state)
                    if isinstance(outcome, Allocation):
                        (allocation,) = outcome.results
                        state = state.with_allocation(claim, allocation)
                        kept.append(Kept(room, claim, allocation, node.name))
                        break
                    node = next(left, None)
                else:
                    short[room] += devices
        return tuple(kept), short

    def _place(self, claim: Claim, node: Node, state: AllocationState) -> Outcome:
        return self._allocator.allocate(
            (claim,), node, state.allocated(consumable=self._consumable)
        )


def _claim(room: Room, number: int, devices: int) -> Claim:
    """A claim for so many devices of the class, that nobody has made."""
    ask = DeviceRequest("device", room.plan.name, count=devices, capacity=dict(room.plan.capacity))
    name = f"{room.tenant}/{room.plan.name}/{number}"
    return Claim("", name, ClaimSpec((Request("device", ask),)), uid=name)


def _largest_first(room: Room) -> tuple[int, list[int], str, str]:
    """What is hardest to place comes first: many devices at once, then large shares."""
    amounts = [-amount.nano for _, amount in sorted(room.plan.capacity.items())]
    return -max(room.claims, default=0), amounts, room.tenant, room.plan.name
