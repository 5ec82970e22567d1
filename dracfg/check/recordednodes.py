"""INV041, INV046, INV049, INV060-062: what Nodes say of themselves, beside the slices and the catalog.

A third source of the same truth. A node where two of the three accounts differ is found once, with all
the numbers and with what two that agree say about the third; nodes that differ alike are named together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from dracfg.check.nodelabels import Seen, label_differences, unlike_nodes
from dracfg.check.reconciled import ClusterNodes, Figures
from dracfg.check.rule import listed
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.link.catalog import Catalog, Cluster, Pool
from dracfg.link.driver import Driver
from dracfg.model.base import at

_MOST_NAMES = 3
_WAITS = "until they agree, the rollout of the pool waits"


def check_nodes(catalog: Catalog, nodes: Mapping[str, ClusterNodes]) -> tuple[Diagnostic, ...]:
    """What is wrong with the Nodes that are recorded beside the slices of each cluster."""
    return tuple(
        finding
        for name, recorded in nodes.items()
        for finding in check_recorded_nodes(catalog.clusters[name], recorded)
    )


def check_recorded_nodes(cluster: Cluster, nodes: ClusterNodes) -> tuple[Diagnostic, ...]:
    """What is wrong with the recorded Nodes of one cluster, and with what exporters count there."""
    drivers = {driver.name: driver for driver in cluster.drivers}
    publishing = {one.driver for one in nodes.figures.values() if one.devices}
    odd: dict[_Odd, list[Figures]] = {}
    differing: dict[Seen, list[Figures]] = {}
    found: list[Diagnostic] = []
    for figures in nodes.figures.values():
        driver = drivers.get(figures.driver)
        if driver is not None:
            found += _served_twice(cluster, figures, driver)
        one = _odd(figures, driver, publishing)
        if one is not None:
            odd.setdefault(one, []).append(figures)
        for seen in label_differences(figures, driver):
            differing.setdefault(seen, []).append(figures)
    found += (_told(one, alike) for one, alike in odd.items())
    found += (_differ(seen, alike) for seen, alike in differing.items())
    found += unlike_nodes(cluster, nodes)
    return (*found, *nodes.findings)


def _served_twice(cluster: Cluster, figures: Figures, driver: Driver) -> Iterator[Diagnostic]:
    """INV046: a device plugin that serves the hardware of which slices tell as well."""
    if not figures.devices:
        return
    state, pool = figures.node, figures.pool
    for resource in _legacy_names(cluster, driver):
        amount = state.allocatable.get(resource)
        if amount is None or not amount:
            continue
        yield diagnose(
            "INV046",
            state.origin.span("status", "allocatable", resource),
            f"node {state.name} serves {amount} {resource} by a device plugin, and {driver.name} "
            f"publishes {len(figures.devices)} devices of it",
            label="served by the plugin",
            related=[
                Related(figures.devices[0].origin.span(), "published for DRA"),
                *([Related(_owner(pool, driver), "the owner")] if pool is not None else []),
            ],
            found="two owners",
            expected="one",
            help="turn the plugin off on these nodes, or the DRA driver: each counts the devices "
            "as its own, and both will give them out",
        )


def _legacy_names(cluster: Cluster, driver: Driver) -> tuple[str, ...]:
    """The extended resources by which plugins serve the driver's hardware."""
    names = {
        tier.legacy_resource
        for tier in cluster.tiers
        if tier.driver is driver and tier.legacy_resource is not None
    }
    if driver.preset is not None:
        names |= set(driver.preset.device_plugin.resources)
    return tuple(sorted(names))


def _owner(pool: Pool, driver: Driver) -> Span:
    return at(pool.document, "spec", "owner", driver.name)


@dataclass(frozen=True, slots=True)
class _Odd:
    """How the accounts of a node differ; nodes with equal ones are told of together."""

    code: str
    driver: str
    pool: str | None
    catalog: int | None
    published: int | None
    seen: tuple[tuple[str, int], ...]
    is_served: bool
    is_down: bool


def _odd(figures: Figures, driver: Driver | None, publishing: Iterable[str]) -> _Odd | None:
    code = _code(figures, driver, publishing)
    if code is None:
        return None
    return _Odd(
        code,
        figures.driver,
        figures.pool.name if figures.pool is not None else None,
        figures.catalog,
        figures.published,
        tuple((one.source, one.number) for one in figures.seen),
        code == "INV060" and driver is not None and bool(_plugin_amounts(figures, driver)),
        code == "INV060" and figures.node.ready in ("False", "Unknown"),
    )


def _code(figures: Figures, driver: Driver | None, publishing: Iterable[str]) -> str | None:
    """The rule that tells of it; nodes that agree with slices against the catalog are INV041's."""
    pool = figures.pool
    if driver is None or pool is None:
        return "INV049" if figures.devices and figures.differs else None
    if not figures.devices and pool.owner(driver) == "devicePlugin":
        wanted = figures.catalog
        return (
            "INV041" if wanted is not None and any(n != wanted for n in figures.numbers) else None
        )
    if figures.published == 0:
        is_known = any(figures.numbers) or figures.driver in publishing
        return "INV060" if is_known and pool.state != "disabled" else None
    return "INV049" if figures.differs else None


def _plugin_amounts(figures: Figures, driver: Driver) -> tuple[str, ...]:
    names = driver.preset.device_plugin.resources if driver.preset is not None else ()
    return tuple(name for name in names if figures.node.capacity.get(name))


def _told(odd: _Odd, alike: Sequence[Figures]) -> Diagnostic:
    """One finding for nodes that are odd in one way."""
    first = alike[0]
    several = len(alike) > 1
    nodes = _nodes(alike)
    seen = _seen_words(odd)
    match odd.code:
        case "INV060":
            message = f"{odd.driver} publishes nothing on {nodes}"
            found = f"published none{_catalogued(first)}"
        case "INV041":
            message = (
                f"{nodes} {'see' if several else 'sees'} another number of devices of {odd.driver} "
                f"than pool {odd.pool} says"
            )
            found, seen = f"{seen} seen{'' if several else ' by the node'}", str(odd.catalog)
        case _:
            message = (
                f"{nodes} {'themselves see' if several else 'itself sees'} another number of devices "
                f"than {odd.driver} publishes"
            )
            found = f"published {odd.published}{_catalogued(first)}"
    return diagnose(
        odd.code,
        first.seen[0].span if first.seen else first.node.origin.span("metadata", "name"),
        message,
        label="seen by the node" if first.seen else "",
        related=_places(first),
        found=found,
        expected=seen or ("some" if odd.catalog is None else str(odd.catalog)),
        help=_cause(odd),
    )


def _places(figures: Figures) -> Iterator[Related]:
    for one in figures.seen[1:]:
        yield Related(one.span, f"{one.number} by {one.source}")
    if figures.devices:
        yield Related(figures.devices[0].origin.span(), f"published: {figures.published}")
    if figures.pool is not None:
        yield pool_place(figures.pool, figures.driver)


def pool_place(pool: Pool, driver: str) -> Related:
    """Where a pool says how many devices of a driver its nodes have."""
    offers = [offer.tier.driver.name == driver for offer in pool.devices]
    steps = ("devices", offers.index(True), "perNode") if True in offers else ("nodes",)
    return Related(at(pool.document, "spec", *steps), f"what pool {pool.name} says")


def _seen_words(odd: _Odd) -> str:
    """`8`, or `8 by a label, 7 by an exporter` where a node's own sources differ."""
    numbers = {number for _, number in odd.seen}
    if len(numbers) < 2:
        return "".join(map(str, numbers))
    return ", ".join(f"{number} by {source}" for source, number in odd.seen)


def _catalogued(figures: Figures) -> str:
    """`; pool p5 says 8 of h100 and 2 of l4`."""
    if figures.pool is None:
        return ""
    said = [
        f"{offer.per_node} of {offer.tier.name}"
        for offer in figures.pool.devices
        if offer.tier.driver.name == figures.driver
    ]
    return f"; pool {figures.pool.name} says {' and '.join(said)}" if said else ""


def _cause(odd: _Odd) -> str:
    """The likeliest cause: two accounts that agree speak against the third."""
    numbers = {number for _, number in odd.seen}
    if odd.code == "INV041":
        return (
            "the device plugin has the pool, so no slice tells more: see the plugin's log on the node, or "
            "correct `perNode`; until they agree, the rollout of the pool waits"
        )
    if odd.code == "INV060":
        if odd.is_down:
            return f"the node is not Ready: see to the node first; {_WAITS}"
        if odd.is_served:
            return (
                "the device plugin still serves the node: take it off, and see that the driver's pod runs "
                f"there; {_WAITS}"
            )
        told = ", the node sees its devices" if any(numbers) else ""
        return (
            f"the driver does not run there{told}: see its pod on the node, and its log; {_WAITS}"
        )
    if len(numbers) > 1:
        right = [source for source, number in odd.seen if number == odd.published]
        wrong = [source for source, number in odd.seen if number != odd.published]
        if right and odd.published == odd.catalog:
            return (
                f"slices, catalog and {listed(right)} agree, so look at {listed(wrong)}; {_WAITS}"
            )
        return f"the node's own sources differ: see each of them, and the driver's log; {_WAITS}"
    if odd.catalog is None:
        return f"see the driver's log on the node; {_WAITS}"
    if odd.catalog in numbers:
        return (
            "node and catalog agree, so look at the driver: its log on the node tells what it leaves out; "
            f"{_WAITS}"
        )
    if odd.catalog == odd.published:
        less = odd.published is not None and min(numbers) < odd.published
        why = "a card has failed" if less else "some cards are out of the driver's sight"
        return f"slices and catalog agree, so look at the node: {why}, or what counts them is old; {_WAITS}"
    return (
        "no two agree: record slices and nodes at one time, see the driver's log on the node, and correct "
        f"`perNode`; {_WAITS}"
    )


def _differ(seen: Seen, alike: Sequence[Figures]) -> Diagnostic:
    """INV049 for what is no number: another product, memory or release of the kernel driver."""
    first = alike[0]
    verb = "themselves see" if len(alike) > 1 else "itself sees"
    related = [Related(first.devices[0].origin.span(), f"published: {seen.published}")]
    if first.pool is not None:
        related.append(pool_place(first.pool, first.driver))
    return diagnose(
        "INV049",
        first.node.origin.span("metadata", "labels", seen.label),
        f"{_nodes(alike)} {verb} another {seen.what} than {first.driver} publishes",
        label="seen by the node",
        related=related,
        found=f"published {seen.published}{seen.catalogued}",
        expected=seen.value,
        help=f"see the driver's log on the node, and when the label was last written; {_WAITS}",
    )


def _nodes(alike: Sequence[Figures]) -> str:
    names = sorted(figures.node.name for figures in alike)
    if len(names) == 1:
        return f"node {names[0]}"
    return f"nodes {listed(names, most=_MOST_NAMES)}"
