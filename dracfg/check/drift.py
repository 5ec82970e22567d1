"""INV040-045: what is recorded of a cluster against what the catalog counts on.

Each tier's devices are those that its classes take. Nodes of a pool are known by their labels where
Nodes are recorded; without them a tier's nodes are counted over all its pools together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from dracfg.allocate.devices import Attribute, Device
from dracfg.allocate.inventory import Inventory
from dracfg.allocate.selection import shown
from dracfg.check.places import place
from dracfg.check.reconciled import ClusterNodes
from dracfg.check.rule import listed
from dracfg.check.tierdevices import TierDevices
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.link.catalog import Catalog, Cluster, Pool, PoolDevices, Tier
from dracfg.model.base import at

_MOST_NAMES = 3


def check_drift(
    catalog: Catalog, cluster: Cluster, inventory: Inventory, nodes: ClusterNodes
) -> tuple[Diagnostic, ...]:
    """Every difference, each once for a tier or pool.

    What a node itself tells of its devices is INV049's where it is not what slices publish.
    """
    known = TierDevices(catalog, cluster)
    by_tier = known.by_tier(inventory.devices)
    return (
        *_nodes_missing(cluster, inventory, known),
        *_per_node(cluster, inventory, by_tier, nodes),
        *(
            finding
            for tier in cluster.tiers
            for finding in _of_tier(cluster, tier, by_tier.get(tier.name, ()))
        ),
        *_unlike(cluster, inventory, by_tier),
        *_unknown_drivers(catalog, cluster, inventory),
    )


def pool_nodes(cluster: Cluster, inventory: Inventory) -> Mapping[str, frozenset[str]] | None:
    """The recorded nodes of each pool by its labels; None where no labels are recorded."""
    labelled = {
        name: node.labels for name, node in inventory.nodes.items() if node.labels is not None
    }
    if not labelled:
        return None
    return {
        pool.name: frozenset(
            name
            for name, labels in labelled.items()
            if all(labels.get(k) == v for k, v in pool.document.spec.node_selector.items())
        )
        for pool in cluster.pools
    }


def _nodes_missing(
    cluster: Cluster, inventory: Inventory, known: TierDevices
) -> Iterator[Diagnostic]:
    """INV040: fewer nodes than a pool, or than all pools of a tier, are said to have."""
    by_pool = pool_nodes(cluster, inventory)
    if by_pool is not None:
        for pool in cluster.pools:
            here, wanted = len(by_pool[pool.name]), pool.document.spec.nodes
            if here < wanted:
                yield _too_few(
                    pool, f"{here} of the nodes of pool {pool.name} are recorded", here, wanted
                )
        return
    publishing: dict[str, set[str]] = {}
    for device in inventory.devices:
        tier, node = known.tier(device), device.nodes.node_name
        if tier is not None and node is not None:
            publishing.setdefault(tier.name, set()).add(node)
    recorded = {device.driver for device in inventory.devices}
    for tier in cluster.tiers:
        pools = [p for p in cluster.pools_of(tier) if p.owner(tier.driver) == "dra"]
        wanted = sum(pool.document.spec.nodes for pool in pools)
        here = len(publishing.get(tier.name, ()))
        # A driver of which nothing is recorded, and a class that takes nothing, are INV022.
        if 0 < here < wanted and tier.driver.name in recorded:
            nodes = "1 node" if here == 1 else f"{here} nodes"
            message = f"devices of tier {tier.name} are recorded on {nodes} of {cluster.name}"
            yield _too_few(pools[0], message, here, wanted)


def _too_few(pool: Pool, message: str, here: int, wanted: int) -> Diagnostic:
    return diagnose(
        "INV040",
        at(pool.document, "spec", "nodes"),
        message,
        found=str(here),
        expected=str(wanted),
        help="correct `nodes`, or see why nodes are missing; what is promised counts on them",
    )


def _per_node(
    cluster: Cluster,
    inventory: Inventory,
    by_tier: Mapping[str, Sequence[Device]],
    recorded: ClusterNodes,
) -> Iterator[Diagnostic]:
    """INV041: nodes that publish another number of devices than `perNode`."""
    by_pool = pool_nodes(cluster, inventory)
    for tier in cluster.tiers:
        counts = Counter(
            device.nodes.node_name
            for device in by_tier.get(tier.name, ())
            if device.nodes.node_name
        )
        offers = [
            (pool, devices)
            for pool, devices in cluster.offers()
            if devices.tier is tier
            and pool.owner(tier.driver) == "dra"
            and all(part.partition is None for policy in devices.policies for part in policy.parts)
        ]
        for pool, devices in offers:
            nodes = set(counts)
            if by_pool is not None:
                nodes &= by_pool[pool.name]
            elif len({other.per_node for _, other in offers}) > 1:
                continue
            wrong = sorted(
                node
                for node in nodes
                if counts[node] != devices.per_node and not _is_told(recorded, pool, tier, node)
            )
            if wrong:
                yield _other_number(pool, devices, wrong, counts, recorded)
            if by_pool is None:
                break


def _is_told(recorded: ClusterNodes, pool: Pool, tier: Tier, node: str) -> bool:
    """Whether INV049 names the same three numbers, as the tier is all that the pool has of its driver."""
    figures = recorded.figures.get((node, tier.driver.name))
    alone = sum(devices.tier.driver is tier.driver for devices in pool.devices) == 1
    return figures is not None and figures.pool is pool and figures.differs and alone


def _other_number(
    pool: Pool,
    devices: PoolDevices,
    wrong: list[str],
    counts: Counter[str],
    recorded: ClusterNodes,
) -> Diagnostic:
    number = pool.devices.index(devices)
    figures = [(node, recorded.figures.get((node, devices.tier.driver.name))) for node in wrong]
    seen = all(one is not None and one.numbers == (counts[node],) for node, one in figures)
    return diagnose(
        "INV041",
        at(pool.document, "spec", "devices", number, "perNode"),
        f"{listed(wrong, most=_MOST_NAMES)} {'publish' if len(wrong) > 1 else 'publishes'} another "
        f"number of devices of tier {devices.tier.name}",
        found=listed(f"{counts[node]} on {node}" for node in wrong[:_MOST_NAMES])
        + (", as the nodes themselves see" if seen else ""),
        expected=str(devices.per_node),
        help="slices and nodes agree, so the catalog is wrong: correct `perNode`, or see which cards failed"
        if seen
        else "see the driver's log on the node for devices that it leaves out, or correct `perNode`",
    )


def _of_tier(cluster: Cluster, tier: Tier, devices: Sequence[Device]) -> Iterator[Diagnostic]:
    """INV042 (less capacity), INV043 (other attributes, more capacity)."""
    document = tier.document
    for key in sorted(document.spec.device.capacity):
        modelled = tier.capacity[tier.driver.spelling(key)]
        held = [
            (d, fact.value) for d in devices if (fact := d.capacity_fact(tier.driver.spelling(key)))
        ]
        less = [(device, value) for device, value in held if value < modelled]
        more = [(device, value) for device, value in held if value > modelled]
        for code, found, word in (("INV042", less, "less"), ("INV043", more, "more")):
            if found:
                first = found[0][0]
                yield diagnose(
                    code,
                    place(document, "spec", "device", "capacity", key),
                    f"tier {tier.name} says another amount of {key} than its devices on "
                    f"{cluster.name} publish: {word} on {len(found)} of {len(devices)}",
                    related=[Related(first.origin.span("capacity"), f"on {_on(first)}")],
                    found=listed(sorted({str(v) for _, v in found}), "or"),
                    expected=str(modelled),
                    help="correct the tier: what is promised is counted in its numbers"
                    if code == "INV042"
                    else "correct the tier; what is above is promised to nobody",
                )
    for key, wanted in sorted(document.spec.device.attributes.items()):
        spelled = tier.driver.spelling(key)
        other = [d for d in devices if not _same(d.attribute(spelled), wanted)]
        if other:
            published = {_shown(device.attribute(spelled)) for device in other}
            yield diagnose(
                "INV043",
                place(document, "spec", "device", "attributes", key),
                f"tier {tier.name} says another {key} than its devices on {cluster.name} publish: "
                f"so on {len(other)} of {len(devices)}",
                related=[Related(other[0].origin.span("attributes"), f"on {_on(other[0])}")],
                found=listed(sorted(published), "or"),
                expected=str(wanted),
                help="correct `device.attributes`: it stands in for the devices where none is recorded",
            )


def _same(attribute: Attribute | None, wanted: object) -> bool:
    if attribute is None:
        return False
    value = attribute.value
    if isinstance(wanted, tuple):
        return isinstance(value, tuple) and tuple(map(str, value)) == tuple(map(str, wanted))
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    return str(value) == str(wanted)


def _shown(attribute: Attribute | None) -> str:
    return "none" if attribute is None else shown(attribute)


def _unlike(
    cluster: Cluster, inventory: Inventory, by_tier: Mapping[str, Sequence[Device]]
) -> Iterator[Diagnostic]:
    """INV044: devices of one tier that differ in capacity, in request policy, or in being shareable.

    Pools that share a tier are judged apart where labels tell them apart.
    """
    by_pool = pool_nodes(cluster, inventory)
    for pool, devices in cluster.offers():
        tier = devices.tier
        if pool.owner(tier.driver) != "dra" or (
            by_pool is None and len(cluster.pools_of(tier)) > 1
        ):
            continue
        members = [
            device
            for device in by_tier.get(tier.name, ())
            if by_pool is None or device.nodes.node_name in by_pool[pool.name]
        ]
        groups: dict[tuple[object, ...], list[Device]] = {}
        for device in members:
            groups.setdefault(_likeness(device), []).append(device)
        if len(groups) < 2:
            continue
        most, *others = sorted(groups.values(), key=len, reverse=True)
        fewest = others[-1][0]
        what = listed(_differences(most[0], fewest))
        yield diagnose(
            "INV044",
            at(pool.document, "metadata", "name"),
            f"devices of tier {tier.name} in pool {pool.name} differ in {what}",
            related=[
                Related(most[0].origin.span(), f"so on {len(most)}"),
                Related(fewest.origin.span(), f"otherwise on {len(others[-1])}"),
            ],
            found=f"{len(groups)} kinds of device",
            expected="one",
            help="make tiers of the kinds, or bring the driver's settings in line on all nodes: every "
            "proof takes them for alike",
        )


def _likeness(device: Device) -> tuple[object, ...]:
    amounts = tuple(
        (key, fact.value, fact.request_policy) for key, fact in sorted(device.capacity.items())
    )
    return (device.allow_multiple_allocations, amounts)


def _differences(one: Device, other: Device) -> Iterator[str]:
    if one.allow_multiple_allocations != other.allow_multiple_allocations:
        yield "whether they can be shared"
    for key in sorted({*one.capacity, *other.capacity}):
        here, there = one.capacity_fact(key), other.capacity_fact(key)
        if here is None or there is None or here.value != there.value:
            yield key
        elif here.request_policy != there.request_policy:
            yield f"the request policy of {key}"


def _unknown_drivers(
    catalog: Catalog, cluster: Cluster, inventory: Inventory
) -> Iterator[Diagnostic]:
    """INV045: slices of a driver that no Driver of the catalog describes."""
    for driver in inventory.drivers:
        if driver in catalog.drivers or not catalog.is_complete("Driver"):
            continue
        pools = inventory.pools_of(driver)
        number = sum(len(pool.devices) for pool in pools)
        devices = "1 device" if number == 1 else f"{number} devices"
        yield diagnose(
            "INV045",
            pools[0].slices[0].origin.span("spec", "driver"),
            f"{driver} publishes {devices} on {cluster.name}, and no Driver describes it",
            help="describe it, so that its devices are bounded: any class without a test of the driver "
            "reaches them",
        )


def _on(device: Device) -> str:
    return device.nodes.node_name or f"pool {device.pool}"
