"""Recorded devices → the tier and class they belong to, by putting a cluster's classes to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from dracfg.allocate.devices import Device
from dracfg.allocate.selection import Selection
from dracfg.dataclass import dataclass
from dracfg.link.catalog import Catalog, Cluster, Tier
from dracfg.link.classes import ClassPlan, device_classes

_Key = tuple[str, str, str]


@dataclass(slots=True)
class TierDevices:
    """Finds the first class that takes a device; each device is put to the classes once."""

    catalog: Catalog
    cluster: Cluster
    _selection: Selection = field(init=False)
    _plans: Mapping[str, Sequence[ClassPlan]] = field(init=False)
    _known: dict[_Key, ClassPlan | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._selection = Selection(self.cluster.minor)
        plans: dict[str, list[ClassPlan]] = {}
        for plan in device_classes(self.catalog, self.cluster):
            if not plan.admin:
                plans.setdefault(plan.tier.driver.name, []).append(plan)
        self._plans = plans

    def plan(self, device: Device) -> ClassPlan | None:
        """The class; None where none of the cluster's takes the device, or where that is unknown."""
        key = (device.driver, device.pool, device.name)
        if key not in self._known:
            self._known[key] = next(
                (
                    plan
                    for plan in self._plans.get(device.driver, ())
                    if self._selection.select(plan, device).outcome is True
                ),
                None,
            )
        return self._known[key]

    def tier(self, device: Device) -> Tier | None:
        """The tier of the device's class."""
        plan = self.plan(device)
        return plan.tier if plan is not None else None

    def by_tier(self, devices: Iterable[Device]) -> dict[str, list[Device]]:
        """Whole devices by the name of their tier; partitions and those of no tier are left out."""
        found: dict[str, list[Device]] = {}
        for device in devices:
            plan = self.plan(device)
            if plan is not None and plan.part.partition is None:
                found.setdefault(plan.tier.name, []).append(device)
        return found
