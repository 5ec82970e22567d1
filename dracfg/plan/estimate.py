"""From what stands in the racks to what is promised: each deduction by name, tier by tier.

The planning figure is devices x capacity x target utilisation. What can be promised is less: what the
driver keeps back, nodes kept spare or out of service, amounts that no step of the policy reaches, and
what no size fits into.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from dracfg.dataclass import dataclass
from dracfg.kube.quantity import Quantity
from dracfg.link.catalog import Catalog, PoolDevices
from dracfg.model.sharing import CapacityPolicy, Consumable
from dracfg.plan.assurance import markets
from dracfg.plan.promises import Market
from dracfg.plan.proofs.patterns import full_contents
from dracfg.plan.proofs.shapes import Group
from dracfg.plan.proofs.verdict import Budget, OutOfBudget
from dracfg.plan.supply import EXEMPT, PARTS, Supply, withheld

DEVICES = "devices"
"""The key of figures that count whole devices."""

_STATES = 20_000
_UNIT = 10**9


@dataclass(frozen=True, slots=True)
class Deduction:
    """What is taken off and why; `amount` in the unit of the figure's key, billionths of it."""

    name: str
    amount: int
    why: str


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """One key of one market: a capacity, parts of one kind, or whole devices.

    Amounts are billionths of the unit.

    physical - reserve - spare - quarantine - closed - step - fragmentation = promiseable.
    """

    supply: Supply
    key: str
    like: Quantity
    devices: int
    a_device: int
    physical: int
    deductions: tuple[Deduction, ...]
    promised: int
    limit: int

    @property
    def promiseable(self) -> int:
        return self.physical - sum(deduction.amount for deduction in self.deductions)

    @property
    def overcommit(self) -> Fraction | None:
        """Limits over what can be promised; None where nothing can."""
        return Fraction(self.limit, self.promiseable) if self.promiseable else None

    def show(self, amount: int) -> str:
        """An amount in the notation of the catalog."""
        return str(Quantity(amount, self.like.format))


def planning_figure(devices: int, capacity: Quantity, utilisation: Fraction) -> Quantity:
    """Devices x capacity x target utilisation, before any deduction.

    Rounded down to the unit that the capacity is written in: to whole devices, to Mi for 46068Mi.
    """
    base = 1024 if capacity.format == "BinarySI" else 1000
    grain = _UNIT
    while capacity.nano and capacity.nano % (grain * base) == 0:
        grain *= base
    return Quantity(int(devices * capacity.nano * utilisation) // grain * grain, capacity.format)


def estimates(catalog: Catalog) -> tuple[Estimate, ...]:
    """Every key of every market of the catalog."""
    return tuple(found for market in markets(catalog) for found in estimate(market))


def estimate(market: Market) -> Iterator[Estimate]:
    """The figures of a market: of each capacity that is divided, else of whole devices."""
    supply = market.supply
    divided = [
        key
        for key in supply.tier.capacity
        if key in supply.pool.keys and any(_size(supply, kind, key) for kind in supply.kinds)
    ]
    parts = [key for name in supply.kinds if (key := f"{PARTS}{name}") in supply.pool.keys]
    for key in divided or parts or [DEVICES]:
        yield _of_key(market, key)


def _size(supply: Supply, name: str, key: str) -> int:
    kind = supply.kinds[name]
    if key == DEVICES:
        return _UNIT if kind.whole else 0
    if key.startswith(PARTS):
        return _UNIT if key == f"{PARTS}{name}" else 0
    return supply.tier.capacity[key].nano if kind.whole else kind.size[supply.pool.keys.index(key)]


def _of_key(market: Market, key: str) -> Estimate:
    supply = market.supply
    like = _a_device(supply, key)
    published = like.nano
    reserve = _reserve(supply, key)
    places = list(_places(supply))
    devices = sum(held.per_node * nodes for _, held, nodes, _ in places)
    deductions = [
        Deduction("reserve", devices * reserve, "what the driver keeps back on each device")
    ]
    for name, why in _OUT.items():
        count = sum(out[name] for _, _, _, out in places)
        deductions.append(Deduction(name, count * published, why))
    usable = devices - sum(out[name] for _, _, _, out in places for name in _OUT)
    step, rest = _lost_on_a_device(supply, key, published)
    deductions.append(
        Deduction("step", usable * step, "what no size comes to, above the last step of the policy")
    )
    deductions.append(
        Deduction("fragmentation", usable * rest, "what the least lucky full device leaves free")
    )
    held = tuple(market.sums())
    return Estimate(
        supply=supply,
        key=key,
        like=like,
        devices=devices,
        a_device=published + reserve,
        physical=devices * (published + reserve),
        deductions=tuple(deductions),
        promised=sum(promised * _size(supply, kind.name, key) for kind, promised, _ in held),
        limit=sum(limit * _size(supply, kind.name, key) for kind, _, limit in held),
    )


def _a_device(supply: Supply, key: str) -> Quantity:
    """What one device has of a key."""
    if key == DEVICES:
        return Quantity.of(1)
    if key.startswith(PARTS):
        partition = supply.classes[key.removeprefix(PARTS)].part.partition
        return Quantity.of(partition.per_device or 0 if partition is not None else 0)
    return supply.tier.capacity[key]


_OUT = {
    "spare": "nodes kept for failures",
    "quarantine": "nodes and devices in quarantine",
    "closed": "pools that let nothing new in",
}


def _places(supply: Supply) -> Iterator[tuple[str, PoolDevices, int, dict[str, int]]]:
    """(pool, its devices, nodes, devices out of use by cause)."""
    for pool in supply.pools:
        for held in pool.devices:
            if held.tier is not supply.tier:
                continue
            out = withheld(supply.cluster, pool, supply.tier)
            lost = {
                "spare": out.spare * held.per_node,
                "quarantine": out.quarantined * held.per_node + out.devices,
                "closed": out.closed * held.per_node,
            }
            yield pool.name, held, pool.document.spec.nodes, lost


def _bounds(supply: Supply, key: str) -> Iterator[CapacityPolicy]:
    for plan in supply.classes.values():
        spec = plan.policy.spec
        if isinstance(spec, Consumable):
            for written, bounds in spec.capacity.items():
                if supply.tier.driver.spelling(written) == key:
                    yield bounds


def _reserve(supply: Supply, key: str) -> int:
    """What the driver keeps back: it publishes that much less."""
    return max((b.reserve.nano for b in _bounds(supply, key) if b.reserve is not None), default=0)


def _lost_on_a_device(supply: Supply, key: str, published: int) -> tuple[int, int]:
    """(above the last step, left free by a full device at worst) of one device.

    A full device takes no share of the smallest size any more, whatever else it carries.
    """
    if key == DEVICES or key.startswith(PARTS):
        return 0, 0
    steps = [b for b in _bounds(supply, key) if b.step is not None and b.step.nano]
    step = min(
        (
            (published - b.min.nano) % b.step.nano
            for b in steps
            if b.step and published >= b.min.nano
        ),
        default=0,
    )
    i = supply.pool.keys.index(key)
    worst = 0
    for group in supply.restored.groups:
        worst = max(worst, _least_filled(supply, group, i, published))
    return step, max(0, worst - step)


def _least_filled(supply: Supply, group: Group, i: int, published: int) -> int:
    """The most that a full device leaves of a key."""
    kinds = [kind for kind in supply.kinds.values() if group.takes(kind) and not kind.whole]
    kinds = [kind for kind in kinds if kind.name != EXEMPT.name and any(kind.size)]
    if not kinds:
        return 0
    counts = [group.room((), (), kind, 10**6) for kind in kinds]
    try:
        contents = full_contents(group, kinds, counts, Budget(_STATES))
    except OutOfBudget:
        # No rest is as large as the smallest size.
        return min(kind.size[i] for kind in kinds) - 1
    used = (sum(k.size[i] * n for k, n in zip(kinds, content, strict=True)) for content in contents)
    return published - min(used, default=published)


def tenant_amounts(market: Market, key: str) -> dict[str, tuple[int, int]]:
    """(promised, limit) of one key by tenant, billionths of its unit."""
    supply = market.supply
    sizes = {name: _size(supply, name, key) for name in supply.kinds}
    found = dict.fromkeys(market.tenants, (0, 0))
    for holding in market.holdings:
        size, promised = sizes[holding.kind.name], holding.guaranteed * holding.is_promised
        before, limit = found[holding.tenant.name]
        found[holding.tenant.name] = (before + promised * size, limit + holding.limit * size)
    return found
