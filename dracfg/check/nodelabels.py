"""What labels of a node say of its devices beside their number: product, memory, kernel driver.

Held against what slices publish for the node, and, for INV061, against the other nodes of its pool.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction

from dracfg.check.nodefacts import NodeFacts, memory_tolerance, node_facts, plain_product
from dracfg.check.reconciled import ClusterNodes, Figures, whole_devices
from dracfg.check.rule import listed
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.kube.quantity import Quantity
from dracfg.link.catalog import Cluster, Pool, Tier
from dracfg.link.driver import Driver
from dracfg.model.base import at

_AMOUNT = re.compile(r"([0-9]+)[A-Z]?")
_NUMBERS = re.compile(r"[0-9]+(?:\.[0-9]+)*")


@dataclass(frozen=True, slots=True)
class Seen:
    """A label of one driver's nodes that differs from what is published for them."""

    driver: str
    pool: str | None
    what: str
    label: str
    value: str
    published: str
    catalogued: str = ""


def label_differences(figures: Figures, driver: Driver | None) -> Iterator[Seen]:
    """Each label that is another than what the whole devices of the node publish."""
    facts = node_facts().get(figures.driver)
    labels = figures.node.labels
    if facts is None or not figures.devices or not facts.tells_of_devices(labels):
        return
    pool = figures.pool.name if figures.pool is not None else None
    for what, key, same in (
        ("product", "product", _same_product),
        ("version of the kernel driver", "version", _same_version),
    ):
        label, attribute = facts.labels.get(key), facts.attributes.get(key)
        value = labels.get(label or "")
        if label is None or attribute is None or not value:
            continue
        published = _attributes(figures, attribute)
        if published and not any(same(value, one) for one in published):
            yield Seen(figures.driver, pool, what, label, value, ", ".join(published))
    yield from _memory(facts, figures, driver, pool)


def _memory(
    facts: NodeFacts, figures: Figures, driver: Driver | None, pool: str | None
) -> Iterator[Seen]:
    """The label is about the product that it stands beside; of a node with several the others count not."""
    label, capacity = facts.labels.get("memory"), facts.capacity
    seen = _amount(facts, figures.node.labels.get(label or "", ""))
    if label is None or capacity is None or seen is None:
        return
    published = {
        fact.value
        for device in whole_devices(figures, driver)
        if (fact := device.capacity_fact(capacity)) is not None and fact.value
    }
    if not published or any(_same_amount(facts, seen, one) for one in published):
        return
    stated = {
        str(tier.capacity[capacity])
        for tier in _tiers(figures.pool, figures.driver)
        if capacity in tier.capacity
    }
    catalogued = f"; pool {pool} says {listed(sorted(stated))}" if stated else ""
    shown = listed(map(str, sorted(published)))
    yield Seen(figures.driver, pool, "memory", label, str(seen), shown, catalogued)


def _attributes(figures: Figures, key: str) -> list[str]:
    values = {str(one.value) for d in figures.devices if (one := d.attribute(key)) is not None}
    return sorted(values)


def _tiers(pool: Pool | None, driver: str) -> tuple[Tier, ...]:
    offers = pool.devices if pool is not None else ()
    return tuple(offer.tier for offer in offers if offer.tier.driver.name == driver)


def _same_product(seen: str, published: str) -> bool:
    return plain_product(seen) == plain_product(published)


def _same_version(seen: str, published: str) -> bool:
    """580.126.09 is published as 580.126.9, and 550.54 as 550.54.0; what has no numbers is not compared."""
    one, other = (_NUMBERS.match(text) for text in (seen, published))
    return one is None or other is None or _parts(one[0]) == _parts(other[0])


def _parts(version: str) -> tuple[int, ...]:
    numbers = [int(part) for part in version.split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def _amount(facts: NodeFacts, text: str) -> Quantity | None:
    """`81920` and `192G` in the unit of the label; None for what is no amount."""
    found = _AMOUNT.fullmatch(text)
    return Quantity.parse(f"{found[1]}{facts.memory_unit}") if found and int(found[1]) else None


def _same_amount(facts: NodeFacts, seen: Quantity, published: Quantity) -> bool:
    """Whether two amounts are one, but for what drivers reserve and how a label is rounded."""
    rounded = Quantity.parse(f"1{facts.memory_unit}").nano / Fraction(2)
    reserved = seen.nano * memory_tolerance()
    return abs(seen.nano - published.nano) <= max(rounded, reserved)


def unlike_nodes(cluster: Cluster, nodes: ClusterNodes) -> Iterator[Diagnostic]:
    """INV061: nodes of one pool whose labels tell of different products, or of different memory."""
    for pool in cluster.pools:
        own = [one for one in nodes.figures.values() if one.pool is pool]
        for driver in sorted({one.driver for one in own}):
            facts = node_facts().get(driver)
            if facts is None:
                continue
            here = [one for one in own if one.driver == driver]
            kinds = _kinds(facts, [one for one in here if facts.tells_of_devices(one.node.labels)])
            if len(kinds) > 1:
                yield _unlike(pool, driver, kinds)


def _kinds(facts: NodeFacts, nodes: list[Figures]) -> Mapping[str, list[Figures]]:
    """Nodes by what their labels say of a device; those that say nothing are left out."""
    found: dict[str, list[Figures]] = {}
    known: dict[str, list[tuple[Quantity | None, str]]] = {}
    for one in nodes:
        product = one.node.labels.get(facts.labels.get("product", ""), "")
        memory = _amount(facts, one.node.labels.get(facts.labels.get("memory", ""), ""))
        if not product and memory is None:
            continue
        alike = known.setdefault(plain_product(product), [])
        name = next(
            (
                name
                for other, name in alike
                if other is None or memory is None or _same_amount(facts, memory, other)
            ),
            None,
        )
        if name is None:
            name = " with ".join(filter(None, (product, str(memory or ""))))
            alike.append((memory, name))
        found.setdefault(name, []).append(one)
    return found


def _unlike(pool: Pool, driver: str, kinds: Mapping[str, list[Figures]]) -> Diagnostic:
    most, *others = sorted(kinds.items(), key=lambda kind: (-len(kind[1]), kind[0]))
    said = [f"{name} on {len(nodes)}" for name, nodes in (most, *others)]
    return diagnose(
        "INV061",
        at(pool.document, "metadata", "name"),
        f"nodes of pool {pool.name} see different devices of {driver}",
        related=[
            Related(
                nodes[0].node.origin.span("metadata", "labels"),
                f"node {nodes[0].node.name}: {name}",
            )
            for name, nodes in (most, *others)
        ],
        found=listed(said),
        expected="nodes of one shape",
        help="make pools of them, by labels that tell them apart: every proof takes the nodes of a pool "
        "for alike",
    )
