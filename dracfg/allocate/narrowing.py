"""The devices that remain for one request: by class, choice, capacity, taints. Knows no constraint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from dracfg.allocate.devices import Device
from dracfg.allocate.inventory import Inventory
from dracfg.allocate.restrictions import UNRESTRICTED, Restrictions
from dracfg.allocate.search import Amounts
from dracfg.allocate.selection import Selection
from dracfg.cel import Undecided
from dracfg.dataclass import dataclass
from dracfg.kube.requestpolicy import consumed
from dracfg.link.claims import Ask, ClaimRequest


@dataclass(frozen=True, slots=True)
class Ground:
    """What a claim is put to: a cluster's devices, how to select them, and what is kept back.

    `alike` gives the number of nodes that a modelled one stands for. `fractional` says whether
    DRAFractionalCapacityRange is on.
    """

    cluster: str
    minor: str
    inventory: Inventory
    selection: Selection
    restrictions: Restrictions = UNRESTRICTED
    alike: Mapping[str, int] | None = None
    fractional: bool = False

    @property
    def compares_distinct(self) -> bool:
        """Whether distinctAttribute compares values.

        1.34 compares where they lie, so that any two devices differ that have the attribute
        (kubernetes/dynamic-resource-allocation@v0.34.13:structured/internal/experimental/constraint.go).
        """
        return self.minor != "1.34"


@dataclass(frozen=True, slots=True)
class Narrowed:
    """The devices of one ask after each step.

    `selected` goes on after the class with what the request chose, where it chose something.
    `undecided` says by the device's number why the class is not decided, `takes` what of each
    device that remains would be consumed (see `search.Choice`).
    """

    selected: tuple[tuple[Device, ...], ...]
    undecided: Mapping[int, str]
    roomy: tuple[Device, ...]
    untainted: tuple[Device, ...]
    takes: Mapping[int, Amounts | None]


def narrow(ask: Ask, request: ClaimRequest, ground: Ground, devices: Sequence[Device]) -> Narrowed:
    """What remains of a node's devices for one ask, selector by selector and step by step."""
    own = ask.plan.tier.driver.name
    judged = [
        (number, device, ground.selection.select(ask.plan, device))
        for number, device in enumerate(devices)
        if device.driver == own
    ]
    undecided = {
        number: selected.outcome.reason
        for number, _, selected in judged
        if isinstance(selected.outcome, Undecided)
    }
    of_class = [(n, d) for n, d, s in judged if s.outcome is True or n in undecided]
    chosen = {number: ground.selection.choose(ask, device) for number, device in of_class}
    undecided |= {n: o.reason for n, o in chosen.items() if isinstance(o, Undecided)}
    taken = [(n, d) for n, d in of_class if chosen[n] is True or isinstance(chosen[n], Undecided)]
    stages = [
        tuple(d for n, d, s in judged if s.passed >= level or n in undecided)
        for level in range(1, ground.selection.depth(ask.plan))
    ]
    if ask.chosen is not None:
        stages.append(tuple(device for _, device in of_class))
    roomy = {
        number: amounts
        for number, device in taken
        if (amounts := _consumption(ask, device, ground.fractional)) is not False
    }
    untainted = {
        number: amounts
        for number, amounts in roomy.items()
        if not ground.restrictions.taints_against(devices[number], request.tolerations)
    }
    return Narrowed(
        (*stages, tuple(device for _, device in taken)),
        undecided,
        tuple(devices[number] for number in roomy),
        tuple(devices[number] for number in untainted),
        untainted,
    )


def _consumption(ask: Ask, device: Device, fractional: bool) -> Amounts | Literal[False] | None:
    """What the ask takes of a shareable device, None of another; False where it has no room.

    Keys are compared letter by letter: `memory` and `<driver>/memory` are two capacities here.
    """
    wanted = ask.plan.capacity
    if any(key not in device.capacity for key in wanted):
        return False
    if not device.allow_multiple_allocations:
        enough = all(device.capacity[key].value >= amount for key, amount in wanted.items())
        return None if enough else False
    takes: dict[str, int] = {}
    for key, fact in device.capacity.items():
        amount = consumed(
            wanted.get(key), fact.request_policy, fact.value, fractional_range=fractional
        )
        if amount is None:
            return False
        takes[key] = amount.nano
    return takes
