"""What requests take of devices, worked out once for each kind of request and each device."""

from __future__ import annotations

from dracfg.allocate.structured.behaviour import Behaviour
from dracfg.allocate.structured.candidates import Candidate
from dracfg.allocate.structured.consumption import CapacityFailure, Demand, demand
from dracfg.allocate.structured.features import Features
from dracfg.allocate.structured.outcomes import Failed, Stop
from dracfg.allocate.structured.requests import Ask, CapacityKey


class Demands:
    """The demands of one allocator."""

    def __init__(self, features: Features, behaviour: Behaviour) -> None:
        self._fractional = features.fractional_capacity_range
        self._errors = behaviour.capacity_errors
        self._known: dict[CapacityKey, dict[Candidate, Demand | CapacityFailure | None]] = {}

    def of(self, ask: Ask, candidate: Candidate) -> Demand | None:
        """The demand; None where the device is not eligible. Raises Stop where it can't be told."""
        known = self._known.setdefault(ask.capacity_key, {})
        if candidate not in known:
            known[candidate] = demand(
                ask.wanted.capacity,
                candidate.device.capacity,
                fractional=self._fractional,
                errors=self._errors,
            )
        found = known[candidate]
        if isinstance(found, CapacityFailure):
            device = "/".join(candidate.id)
            message = (
                f"claim {ask.claim}, request {ask.wanted.name}, device {device}: {found.reason}"
            )
            raise Stop(Failed("capacity", message, ask.claim, ask.wanted.name))
        return found
