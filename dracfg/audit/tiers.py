"""Which tier of the catalog a recorded device belongs to, and the sizes that may be asked of it."""

from __future__ import annotations

from collections.abc import Mapping

from dracfg.allocate.devices import Device
from dracfg.audit.view import View
from dracfg.check.tierdevices import TierDevices
from dracfg.dataclass import dataclass
from dracfg.kube.quantity import Quantity
from dracfg.kube.requestpolicy import RequestPolicy, consumed
from dracfg.link.catalog import Tier
from dracfg.link.classes import policies_in_force
from dracfg.model.sharing import Consumable

Amounts = Mapping[str, Quantity]


@dataclass(slots=True)
class Tiers:
    """The tiers of devices and what the least requests take of them."""

    view: View
    _devices: TierDevices | None = None

    def __post_init__(self) -> None:
        if self.view.catalog is not None and self.view.cluster is not None:
            self._devices = TierDevices(self.view.catalog, self.view.cluster)

    def tier(self, device: Device) -> Tier | None:
        """The tier of a device; None where it is of none, or where there is no catalog."""
        return self._devices.tier(device) if self._devices is not None else None

    def sizes(self, device: Device) -> tuple[Amounts, ...]:
        """What the least requests take of the device, capacity by capacity; empty where unknown.

        With a tier: the sizes of its policies, after the driver's rounding. Without: the least
        amount that the request policies let through, where every capacity has one.
        """
        tier = self.tier(device)
        if tier is not None and self.view.cluster is not None:
            named = [
                {tier.driver.spelling(key): amount for key, amount in part.capacity.items()}
                for policy in policies_in_force(self.view.cluster, tier)
                if isinstance(policy.spec, Consumable)
                for part in policy.parts
            ]
            return tuple(rounded for size in named if (rounded := _rounded(device, size)))
        least = {key: _least(fact.request_policy) for key, fact in device.capacity.items()}
        known = {key: amount for key, amount in least.items() if amount is not None}
        return (known,) if known and len(known) == len(least) else ()


def _rounded(device: Device, size: Amounts) -> Amounts | None:
    """What a request of that size consumes; None where the device can't hold it even when empty."""
    taken = {}
    for key, fact in device.capacity.items():
        amount = consumed(size.get(key), fact.request_policy, fact.value)
        if amount is None:
            return None
        taken[key] = amount
    return taken


def _least(policy: RequestPolicy | None) -> Quantity | None:
    if policy is None:
        return None
    if policy.valid_values:
        return policy.valid_values[0]
    return policy.valid_range.min if policy.valid_range is not None else None
