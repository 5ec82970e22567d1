"""The search for devices: exhaustive, depth first, the first full solution.

Follows allocateOne of kubernetes/dynamic-resource-allocation@v0.34.4 to @v0.37.2: claims, requests
and alternatives in their order, devices in the order of the node's view. Branches that can't come
to an end with enough devices are left out where that changes nothing but the time it takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum, auto

from dracfg.allocate.structured.active import Active
from dracfg.allocate.structured.behaviour import Behaviour
from dracfg.allocate.structured.candidates import Candidate
from dracfg.allocate.structured.demands import Demands
from dracfg.allocate.structured.gathering import NodeView
from dracfg.allocate.structured.outcomes import Failed, Stop, Undecided
from dracfg.allocate.structured.picking import Picking
from dracfg.allocate.structured.requests import MOST_DEVICES
from dracfg.allocate.structured.selectors import Selectors
from dracfg.allocate.structured.usage import Usage


class _Step(Enum):
    FOUND = auto()
    NOT_FOUND = auto()
    TOO_MANY = auto()
    """Only the limit of devices stands in the way: other devices before it can't help."""


class Search:
    """One search on one node; `selected` tells which alternatives were taken.

    `combinations`: the devices of a request are tried in one order only. Otherwise in every order,
    as minors before 1.36 do; most often that finds the same.
    """

    def __init__(
        self,
        requests: Sequence[Sequence[Sequence[Active]]],
        view: NodeView,
        behaviour: Behaviour,
        usage: Usage,
        picking: Picking,
        selectors: Selectors,
        demands: Demands | None,
        combinations: bool,
        budget: int,
    ) -> None:
        self._requests, self._view, self._behaviour = requests, view, behaviour
        self._usage, self._picking, self._selectors = usage, picking, selectors
        self._demands, self._budget = demands, budget
        self._combinations = combinations
        self.steps = 0
        self._selected: dict[tuple[int, int], int] = {}

    @property
    def selected(self) -> Mapping[tuple[int, int], int]:
        """(claim, request) → the number of the alternative; 0 where there are none."""
        return self._selected

    def run(self) -> bool:
        """Whether all claims got their devices.

        Raises Stop on an error, a doubt, or at the end of the budget. That the limit of devices is
        in the way of the first claim is an error as well.
        """
        step = self._claim(0)
        if step is _Step.TOO_MANY:
            ask = self._requests[0][0][0].ask
            message = f"claim {ask.claim}: every way takes more than {MOST_DEVICES} devices"
            raise Stop(Failed("too-many-devices", message, ask.claim))
        return step is _Step.FOUND

    def _claim(self, claim: int) -> _Step:
        if claim == len(self._requests):
            return _Step.FOUND
        return self._request(claim, 0)

    def _request(self, claim: int, request: int) -> _Step:
        if request == len(self._requests[claim]):
            step = self._claim(claim + 1)
            # Devices of an earlier claim may free an alternative that takes fewer.
            return _Step.NOT_FOUND if step is _Step.TOO_MANY else step
        asks = self._requests[claim][request]
        if not asks[0].ask.alternative:
            return self._device(claim, request, 0, 0, 0)
        last = _Step.TOO_MANY
        for number in range(len(asks)):
            step = self._device(claim, request, number, 0, 0)
            if step is _Step.FOUND:
                self._selected[claim, request] = number
                return step
            if step is _Step.NOT_FOUND:
                last = step
        return last

    def _device(self, claim: int, request: int, alternative: int, number: int, start: int) -> _Step:
        """Finds the device of that number, and all that come after it.

        `start` is where the devices of this request go on.
        """
        active = self._requests[claim][request][alternative]
        takes_all = active.ask.takes_all
        if takes_all and not active.candidates:
            return _Step.NOT_FOUND
        if number >= active.number:
            return self._request(claim, request + 1)
        if active.number - number > MOST_DEVICES - len(self._picking.results[claim]):
            return _Step.TOO_MANY
        if takes_all:
            return self._next_of_all(claim, request, alternative, number)
        return self._any(claim, request, alternative, number, start)

    def _next_of_all(self, claim: int, request: int, alternative: int, number: int) -> _Step:
        active = self._requests[claim][request][alternative]
        self._count()
        done = self._picking.pick(claim, active.ask, active.candidates[number], number, must=True)
        if done is None:
            return _Step.NOT_FOUND
        following = 0 if self._behaviour.all_forgets_alternative else alternative
        step = self._device(claim, request, following, number + 1, 0)
        if step is not _Step.FOUND:
            self._picking.undo(done)
        return step

    def _any(self, claim: int, request: int, alternative: int, number: int, start: int) -> _Step:
        active = self._requests[claim][request][alternative]
        candidates, end = active.candidates, len(active.candidates)
        if active.judged and self._combinations:
            end -= active.number - number - 1
        for index in range(start if self._combinations else 0, end):
            candidate = candidates[index]
            self._count()
            if not self._is_open(claim, active, candidate):
                continue
            done = self._picking.pick(claim, active.ask, candidate, number, must=False)
            if done is None:
                continue
            step = self._device(claim, request, alternative, number + 1, index + 1)
            if step is _Step.FOUND:
                return step
            self._picking.undo(done)
            if step is _Step.TOO_MANY:
                return step
        if self._view.barrier is not None:
            pool, ask = self._view.barrier, active.ask
            message = f"pool {pool.name} is invalid: {pool.invalid_reason}"
            raise Stop(Failed("pool-invalid", message, ask.claim, ask.wanted.name))
        return _Step.NOT_FOUND

    def _is_open(self, claim: int, active: Active, candidate: Candidate) -> bool:
        """Whether the device is free, selected, and has the capacity."""
        ask = active.ask
        if ask.wanted.admin_access:
            if self._usage.picked_for(candidate.id, claim):
                return False
        elif self._usage.in_use(candidate.id):
            return False
        if not active.judged and not self._selectors.selects(ask, candidate, self._view):
            return False
        if self._demands is None:
            return True
        demand = self._demands.of(ask, candidate)
        return demand is not None and self._usage.fits(candidate.id, demand)

    def _count(self) -> None:
        self.steps += 1
        if self.steps > self._budget:
            reason = f"the search was given up after {self._budget} steps"
            raise Stop(Undecided(reason, self._budget))
