"""What is meant where a document says nothing, as far as that depends on more than the model.

The names are those of `fill` in the table of fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from dracfg.diff.fieldplace import Side
from dracfg.diff.fieldtable import Row
from dracfg.kube.quantity import Quantity
from dracfg.link.driver import Driver
from dracfg.model import kinds
from dracfg.model.base import Spec
from dracfg.model.pool import PoolDevices
from dracfg.model.sharing import Consumable

Fill = Callable[[Spec, str, Side], Any]
"""(what holds the field, the field or the key of the map, the side) -> a value, None for none."""


def meant(row: Row, holder: Spec | None, key: str, side: Side, other: Any) -> Any:
    """The value that a side which says nothing has; `other` is what the other side says."""
    if holder is None:
        return None
    if row.unless is not None:
        return Quantity.parse(row.unless) if isinstance(other, Quantity) else row.unless
    return FILLS[row.fill](holder, key, side) if row.fill in FILLS else None


def _gitops_path(_holder: Spec, _key: str, side: Side) -> Any:
    return f"out/{side.document.name}" if side.document is not None else None


def _tenant_namespaces(_holder: Spec, _key: str, side: Side) -> Any:
    if not isinstance(side.document, kinds.Tenant):
        return None
    return tuple(space.name for space in side.document.spec.namespaces)


def _pool_sharing(holder: Spec, _key: str, side: Side) -> Any:
    """The pool's policies that fit the tier."""
    if side.document is None or not isinstance(holder, PoolDevices):
        return None
    pool = side.catalog.pools.get(side.document.name)
    found = (one for one in pool.devices if one.tier.name == holder.tier) if pool else iter(())
    devices = next(found, None)
    return None if devices is None else tuple(policy.name for policy in devices.policies)


def _sized_by(holder: Spec, _key: str, _side: Side) -> Any:
    only = isinstance(holder, Consumable) and len(holder.capacity) == 1
    return next(iter(holder.capacity)) if only and isinstance(holder, Consumable) else None


def _attribute_type(_holder: Spec, key: str, side: Side) -> Any:
    driver = _driver(side)
    if driver is None or driver.preset is None:
        return None
    fact = driver.preset.attributes_at(driver.document.spec.version).get(driver.spelling(key))
    return None if fact is None else str(fact.type)


def _unit(_holder: Spec, key: str, side: Side) -> Any:
    driver = _driver(side)
    if driver is None or driver.preset is None:
        return None
    fact = driver.preset.capacity_fact(driver.spelling(key), driver.document.spec.version)
    return None if fact is None else fact.unit


def _enforcement(_holder: Spec, key: str, side: Side) -> Any:
    driver = _driver(side)
    if driver is None or driver.preset is None:
        return "unknown"
    fact = driver.preset.capacities_at(driver.document.spec.version).get(driver.spelling(key))
    return "unknown" if fact is None else str(fact.enforces)


def _preset_fact(_holder: Spec, key: str, side: Side) -> Any:
    driver = _driver(side)
    known = (
        driver.preset.facts.get(key) if driver is not None and driver.preset is not None else None
    )
    return {"yes": True, "no": False}.get(known.answer) if known is not None else None


def _driver(side: Side) -> Driver | None:
    return next(side.linked_drivers, None)


FILLS: Mapping[str, Fill] = MappingProxyType(
    {
        "attribute-type": _attribute_type,
        "enforcement": _enforcement,
        "gitops-path": _gitops_path,
        "pool-sharing": _pool_sharing,
        "preset-fact": _preset_fact,
        "sized-by": _sized_by,
        "tenant-namespaces": _tenant_namespaces,
        "unit": _unit,
    }
)
