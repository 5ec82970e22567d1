"""Three accounts of the devices on each recorded Node, side by side: catalog, slices, the node itself.

What a node itself tells are labels of feature discovery, the device plugin's amount in its status, and
the series of exporters. All numbers are of whole devices: parts count with the card that they are cut
from. Judges nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from dracfg.allocate.devices import Device
from dracfg.allocate.inventory import Inventory
from dracfg.allocate.nodestates import NodeState, read_node_states
from dracfg.check.exporters import Exported, exporter_counts
from dracfg.check.nodefacts import NodeFacts, node_facts, plain_product
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Span
from dracfg.link.catalog import Catalog, Cluster, Pool, Tier
from dracfg.link.driver import Driver
from dracfg.source.records import Record


@dataclass(frozen=True, slots=True)
class Sighting:
    """A number of devices that a node tells of, and where it says so."""

    source: str
    number: int
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Figures:
    """The numbers for one driver on one node.

    `catalog` is None where no pool of the catalog has the node, or the pool counts parts; `published`
    is None where the record leaves it open. `devices` are those that slices publish for this node
    alone.
    """

    node: NodeState
    driver: str
    pool: Pool | None
    catalog: int | None
    published: int | None
    seen: tuple[Sighting, ...]
    devices: tuple[Device, ...]

    @property
    def numbers(self) -> tuple[int, ...]:
        """What the node tells of, each number once."""
        return tuple(dict.fromkeys(one.number for one in self.seen))

    @property
    def differs(self) -> bool:
        """Whether the node tells of another number than slices publish."""
        return self.published is not None and any(n != self.published for n in self.numbers)


@dataclass(frozen=True, slots=True)
class ClusterNodes:
    """The recorded Nodes of one cluster, with their figures by node and driver.

    `findings` tell of answers of Prometheus that count nothing here.
    """

    states: Mapping[str, NodeState] = field(default_factory=dict)
    figures: Mapping[tuple[str, str], Figures] = field(default_factory=dict)
    findings: tuple[Diagnostic, ...] = ()


def nodes_of(
    catalog: Catalog,
    inventories: Mapping[str, Inventory],
    records: Mapping[str, Sequence[Record]],
) -> Mapping[str, ClusterNodes]:
    """The recorded nodes of each cluster that has an inventory."""
    return {
        name: cluster_nodes(catalog.clusters[name], inventory, records.get(name, ()))
        for name, inventory in inventories.items()
    }


def cluster_nodes(
    cluster: Cluster, inventory: Inventory, records: Iterable[Record]
) -> ClusterNodes:
    """The recorded nodes of one cluster."""
    records = tuple(records)
    states = read_node_states(records)
    exported = exporter_counts(records, states, cluster.name)
    figures = {
        (one.node.name, one.driver): one
        for state in states.values()
        for one in _figures(cluster, inventory, state, exported.counts)
    }
    return ClusterNodes(states, figures, exported.findings)


def _figures(
    cluster: Cluster,
    inventory: Inventory,
    state: NodeState,
    exported: Mapping[tuple[str, str], tuple[Exported, ...]],
) -> Iterator[Figures]:
    """One for each driver that publishes on a node, or that its pool has devices of."""
    pool = cluster.pool_of(state.labels)
    here: dict[str, list[Device]] = {}
    for device in inventory.devices_on(state.name):
        here.setdefault(device.driver, []).append(device)
    described = {driver.name: driver for driver in cluster.drivers}
    expected = {} if pool is None else {d.tier.driver.name: d.tier.driver for d in pool.devices}
    for name in sorted({*here, *expected}):
        own = [d for d in here.get(name, ()) if d.nodes.node_name == state.name]
        driver = described.get(name)
        tiers = _tiers(pool, name)
        yield Figures(
            state,
            name,
            pool,
            None if pool is None else _catalogued(pool, tiers),
            _published(inventory, state.name, name, driver, here.get(name, [])),
            tuple(_seen(state, name, own, tiers, exported.get((state.name, name), ()))),
            tuple(own),
        )


def _tiers(pool: Pool | None, driver: str) -> tuple[Tier, ...]:
    offers = () if pool is None else pool.devices
    return tuple(offer.tier for offer in offers if offer.tier.driver.name == driver)


def _catalogued(pool: Pool, tiers: Sequence[Tier]) -> int | None:
    """How many devices a node of the pool should have; None where a tier is of parts of devices."""
    if not tiers or any(_is_of_parts(tier) for tier in tiers):
        return None
    return sum(offer.per_node for offer in pool.devices if offer.tier in tiers)


def _is_of_parts(tier: Tier) -> bool:
    told = {**tier.document.spec.match.attributes, **tier.document.spec.device.attributes}
    stated = {tier.driver.spelling(key): value for key, value in told.items()}
    return any(stated.get(key) == value for key, value in _part_types(tier.driver))


def _part_types(driver: Driver | None) -> Iterator[tuple[str, str]]:
    """The attribute and its value by which devices are known that are cut out of others."""
    types = driver.preset.device_types if driver is not None and driver.preset is not None else {}
    for fact in types.values():
        if fact.parent is not None and fact.attribute is not None and fact.value is not None:
            yield fact.attribute, fact.value


def _published(
    inventory: Inventory, node: str, name: str, driver: Driver | None, devices: list[Device]
) -> int | None:
    """How many cards slices publish on a node; None where that is not recorded, or not known."""
    if any(device.nodes.node_name != node for device in devices):
        return None
    pools = inventory.pools_of(name)
    if any(not pool.complete and pool.node in (node, None) for pool in pools):
        return None
    if not devices:
        read = bool(inventory.slices) and not any(key[0] == name for key in inventory.spoiled)
        return 0 if read else None
    return _cards(devices, node_facts().get(name), driver)


def _cards(devices: list[Device], facts: NodeFacts | None, driver: Driver | None) -> int | None:
    """Cards behind some devices: by the attributes that name them, else by their counters."""
    for names in facts.physical if facts is not None else ():
        found = [_first(device, names) for device in devices]
        if None not in found:
            return len(set(found))
    if all(device.consumes_counters for device in devices):
        return len({(d.pool, d.consumes_counters[0].counter_set) for d in devices})
    parts = tuple(_part_types(driver))
    if any(device.consumes_counters or is_part(device, parts) for device in devices):
        return None
    return len(devices)


def _first(device: Device, names: Iterable[str]) -> str | None:
    attributes = (device.attribute(name) for name in names)
    return next((str(one.value) for one in attributes if one is not None), None)


def is_part(device: Device, parts: Iterable[tuple[str, str]]) -> bool:
    """Whether a device is cut out of another one, by the types of its driver."""
    return any(
        attribute.value == value
        for key, value in parts
        if (attribute := device.attribute(key)) is not None
    )


def whole_devices(figures: Figures, driver: Driver | None) -> tuple[Device, ...]:
    """The devices of a node that are cut out of no other."""
    parts = tuple(_part_types(driver))
    return tuple(device for device in figures.devices if not is_part(device, parts))


def _seen(
    state: NodeState,
    driver: str,
    devices: list[Device],
    tiers: Sequence[Tier],
    exported: Iterable[Exported],
) -> Iterator[Sighting]:
    """What the node tells, its labels first."""
    facts = node_facts().get(driver)
    if facts is None:
        return
    if facts.tells_of_devices(state.labels):
        yield from _labelled(facts, state, devices, tiers)
        yield from _served(facts, state)
    for one in exported:
        yield Sighting(one.metric, one.number, one.origin.span("metric"))


def _labelled(
    facts: NodeFacts, state: NodeState, devices: list[Device], tiers: Sequence[Tier]
) -> Iterator[Sighting]:
    label, start = facts.labels.get("count"), facts.labels.get("counts")
    if label is not None and state.labels.get(label, "").isdecimal():
        others = _of_other_products(facts, state, devices)
        # A label counts one product alone: with several tiers and none of them published it is open.
        if others or len(tiers) < 2:
            place = state.origin.span("metadata", "labels", label)
            yield Sighting(label, int(state.labels[label]) + others, place)
    told = [key for key in state.labels if start is not None and key.startswith(start)]
    if start is not None and told and all(state.labels[key].isdecimal() for key in told):
        place = state.origin.span("metadata", "labels", told[0])
        yield Sighting(f"{start}*", sum(int(state.labels[key]) for key in told), place)


def _of_other_products(facts: NodeFacts, state: NodeState, devices: list[Device]) -> int:
    """Published devices of other products than the one that the node's labels are about."""
    product, key = state.labels.get(facts.labels["product"]), facts.attributes["product"]
    published = [str(one.value) for device in devices if (one := device.attribute(key)) is not None]
    kinds = set(map(plain_product, published))
    if product is None or plain_product(product) not in kinds:
        return 0
    return sum(plain_product(one) != plain_product(product) for one in published)


def _served(facts: NodeFacts, state: NodeState) -> Iterator[Sighting]:
    """What the plugin serves by its status, where labels tell how many users a device counts for."""
    if not facts.status:
        return
    resource, replicas = facts.status["resource"], state.labels.get(facts.status["replicas"], "")
    amount = state.capacity.get(resource)
    if amount is None or not amount.is_whole() or not replicas.isdecimal():
        return
    number, rest = divmod(amount.value(), max(1, int(replicas)))
    if number and not rest:
        place = state.origin.span("status", "capacity", resource)
        yield Sighting(f"status.capacity {resource}", number, place)
