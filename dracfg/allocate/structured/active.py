"""Requests on one node: how many devices each takes, and which ones it may try.

Follows the checks before the search of Allocate and validateDeviceRequest
(kubernetes/dynamic-resource-allocation@v0.34.4 to @v0.37.2). Knows nothing of picked devices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dracfg.allocate.structured.behaviour import Behaviour
from dracfg.allocate.structured.candidates import Candidate
from dracfg.allocate.structured.demands import Demands
from dracfg.allocate.structured.features import Features
from dracfg.allocate.structured.gathering import NodeView
from dracfg.allocate.structured.outcomes import Failed, FailureKind, Stop
from dracfg.allocate.structured.requests import MOST_DEVICES, Ask, Plan, PlannedRequest
from dracfg.allocate.structured.selectors import Selectors
from dracfg.allocate.structured.usage import Usage
from dracfg.dataclass import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Active:
    """An ask on a node.

    `candidates` are what it tries in order; with All, what it must have. `judged` says that they
    are known to be selected and free before the search, so that none needs a second look, and
    that fewer of them than needed prove that the way is a dead end.
    """

    ask: Ask
    number: int
    candidates: Sequence[Candidate]
    judged: bool


class Activation:
    """Makes the requests of a plan active on a node."""

    def __init__(
        self,
        features: Features,
        behaviour: Behaviour,
        selectors: Selectors,
        demands: Demands,
        view: NodeView,
        usage: Usage,
    ) -> None:
        self._features, self._behaviour = features, behaviour
        self._selectors, self._demands = selectors, demands
        self._view, self._usage = view, usage
        shares = behaviour.knows_capacity and features.consumable_capacity
        self._checks_capacity = shares
        self.leaky = behaviour.leaks and (
            (features.partitionable_devices and view.has_counters)
            or (shares and (behaviour.recheck_by_position or view.has_shareable))
        )

    def claim(self, plan: Plan, number: int) -> list[tuple[Active, ...]]:
        """The requests of one claim. Raises Stop where the allocator would refuse it."""
        least = 0
        made = []
        for request in plan.requests[number]:
            if request.failure is not None:
                raise Stop(request.failure)
            actives = tuple(self._request(request))
            fewest = min(active.number for active in actives)
            if self._behaviour.limit_per_request and fewest > MOST_DEVICES - least:
                raise Stop(_too_many(actives[0].ask, least + fewest))
            least += fewest
            made.append(actives)
        if least > MOST_DEVICES:
            raise Stop(_too_many(made[-1][0].ask, least))
        return made

    def _request(self, request: PlannedRequest) -> Iterator[Active]:
        # Both of the first two alternatives look selections up under the number of the first.
        shared: dict[Candidate, bool] = {}
        for number, ask in enumerate(request.asks):
            if ask.failure is not None:
                raise Stop(ask.failure)
            if ask.takes_all:
                lags = self._behaviour.subrequest_lag and number < 2
                devices = self._all(ask, shared if lags else {})
                yield Active(ask, len(devices), devices, judged=False)
            else:
                yield self._exact(ask)

    def _exact(self, ask: Ask) -> Active:
        count = ask.wanted.count
        if not self.leaky and not ask.derived:
            selected = self._selectors.selected(ask, self._view)
            if selected is not None and not self._may_fail(ask, selected):
                free = [one for one in selected if self._is_free(ask, one)]
                return Active(ask, count, free, judged=True)
        return Active(ask, count, self._view.candidates, judged=False)

    def _is_free(self, ask: Ask, candidate: Candidate) -> bool:
        if not ask.wanted.admin_access and candidate.id in self._usage.allocated:
            return False
        if candidate.counters and not self._features.partitionable_devices:
            return False
        return not self._features.device_taints or ask.tolerates(
            candidate.device, self._behaviour.blocks_on_any_effect
        )

    def _may_fail(self, ask: Ask, selected: Sequence[Candidate]) -> bool:
        """Whether the capacity of a device can end the allocation in an error."""
        if not self._checks_capacity or not self._behaviour.capacity_errors:
            return False
        if not ask.wanted.capacity and not self._view.has_negative:
            return False
        try:
            for candidate in selected:
                self._demands.of(ask, candidate)
        except Stop:
            return True
        return False

    def _all(self, ask: Ask, known: dict[Candidate, bool]) -> list[Candidate]:
        devices = []
        for pool in self._view.pools:
            kind: FailureKind = "pool-incomplete" if pool.incomplete else "pool-invalid"
            if pool.incomplete or pool.invalid_reason is not None:
                state = "incomplete" if pool.incomplete else "invalid"
                message = (
                    f"claim {ask.claim}, request {ask.wanted.name}: it asks for all devices, and"
                    f" pool {pool.name} is {state}"
                )
                raise Stop(Failed(kind, message, ask.claim, ask.wanted.name))
            for candidate in pool.devices:
                if candidate not in known:
                    known[candidate] = self._selectors.selects(ask, candidate, self._view)
                if known[candidate] and self._has_capacity(ask, candidate):
                    devices.append(candidate)
        return devices

    def _has_capacity(self, ask: Ask, candidate: Candidate) -> bool:
        if not self._checks_capacity:
            return True
        demand = self._demands.of(ask, candidate)
        if demand is None:
            return False
        if self._behaviour.all_sees_static_capacity:
            return demand.fits()
        return self._usage.fits(candidate.id, demand)


def _too_many(ask: Ask, number: int) -> Failed:
    message = (
        f"claim {ask.claim}: its requests take {number} devices, and a claim holds at most"
        f" {MOST_DEVICES}"
    )
    return Failed("too-many-devices", message, ask.claim, ask.request)
