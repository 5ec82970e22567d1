"""What is in use while a search runs: devices and capacity, allocated before or picked in it.

Counterpart of allocatedState, allocatingDevices and allocatingCapacity of
kubernetes/dynamic-resource-allocation@v0.34.4 to @v0.37.2. Knows no order of search.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from dracfg.allocate.structured.allocated import AllocatedState, DeviceId
from dracfg.allocate.structured.behaviour import Behaviour
from dracfg.allocate.structured.candidates import Candidate
from dracfg.allocate.structured.consumption import Amounts, Demand

_NOTHING: Mapping[str, int] = {}


class Usage:
    """Devices by id, and what shares of them consume, in billionths."""

    def __init__(self, state: AllocatedState, behaviour: Behaviour) -> None:
        self._state, self._behaviour = state, behaviour
        self.allocated = state.devices
        self._picked: dict[DeviceId, set[int]] = {}
        self._consuming: dict[DeviceId, dict[str, int]] = {}
        self._consumed: dict[DeviceId, Mapping[str, int]] = {}

    def in_use(self, device: DeviceId) -> bool:
        """Whether the device is allocated, or picked for any claim."""
        return device in self.allocated or bool(self._picked.get(device))

    def picked_for(self, device: DeviceId, claim: int) -> bool:
        """Whether the device is picked for this claim."""
        return claim in self._picked.get(device, ())

    def mark(self, device: DeviceId, claim: int) -> None:
        """Picks the device for a claim."""
        self._picked.setdefault(device, set()).add(claim)

    def unmark(self, device: DeviceId, claim: int) -> None:
        """Puts it back."""
        self._picked.get(device, set()).discard(claim)

    def fits(self, device: DeviceId, demand: Demand) -> bool:
        """Whether the demand goes into the device beside all that consumes it."""
        consumed = self._consumed.get(device)
        if consumed is None:
            given = self._state.consumed.get(device, {})
            consumed = self._consumed[device] = {name: one.nano for name, one in given.items()}
        return demand.fits(consumed, self._consuming.get(device, _NOTHING))

    def is_shared(self, device: DeviceId) -> bool:
        """Whether the device has shares, so that another one takes no counters."""
        return (
            device in self._state.consumed
            or (self._behaviour.shared_ids_count and device in self._shared)
            or device in self._consuming
        )

    def holds_counters(self, candidate: Candidate) -> bool:
        """Whether the device was allocated before the search, as far as counters go."""
        if candidate.id in self.allocated:
            return True
        return self._behaviour.shares_hold_counters and (
            candidate.id in self._shared or candidate.id in self._state.consumed
        )

    def is_consuming(self, device: DeviceId) -> bool:
        """Whether the search has picked a share of the device."""
        return device in self._consuming

    def consume(self, device: DeviceId, amounts: Amounts) -> None:
        """Picks a share of the device."""
        held = self._consuming.setdefault(device, {})
        for name, amount in amounts.items():
            held[name] = held.get(name, 0) + amount.nano

    def restore(self, device: DeviceId, amounts: Amounts, *, keep: bool) -> None:
        """Puts a share back; `keep` where another share of the device remains."""
        held = self._consuming.get(device)
        if held is None:
            return
        for name, amount in amounts.items():
            held[name] = held.get(name, 0) - amount.nano
        if not any(held.values()):
            if keep:
                held.clear()
            else:
                del self._consuming[device]

    @cached_property
    def _shared(self) -> frozenset[DeviceId]:
        return frozenset(device for device, _ in self._state.shared)
