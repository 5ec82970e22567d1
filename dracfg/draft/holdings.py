"""Recorded nodes → what devices each holds, of which make, and who hands them out. Groups nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field

from dracfg.allocate.devices import Device
from dracfg.dataclass import dataclass
from dracfg.draft.decisions import Decision
from dracfg.draft.facts import NodeFacts, facts
from dracfg.draft.plugins import Replicas
from dracfg.draft.recording import RecordedNode, Recording
from dracfg.draft.resources import Names, Resource
from dracfg.migrate.facts import facts as plugin_facts
from dracfg.model.pool import Owner

_BETWEEN = re.compile(r"[-_\s]+")
_LONGEST_VALUE = 64
"""Characters of an attribute's value."""


@dataclass(frozen=True, slots=True, order=True)
class Make:
    """One kind of device: what becomes a tier.

    `resource` is the name that plugins serve it under, empty where none is known; `product` is written
    with hyphens in lower case, so that labels and published values compare.
    """

    driver: str
    product: str
    partition: str
    resource: str


@dataclass(frozen=True, slots=True)
class Holding:
    """Devices of one make on one node. `per_node` are physical devices or parts, never replicas.

    `published` is one of them as its driver publishes it.
    """

    make: Make
    spelled: str
    per_node: int
    owner: Owner
    place: str
    replicas: Replicas | None = None
    memory: str | None = None
    published: Device | None = field(default=None, compare=False)
    questions: tuple[Decision, ...] = ()


def holdings(node: str, recording: Recording, names: Names) -> tuple[Holding, ...]:
    """All that a node holds, by make. A driver's devices that a plugin serves as well are the plugin's."""
    recorded = recording.nodes.get(node)
    published: dict[str, list[Device]] = {}
    for device in recording.inventory.devices_on(node):
        if device.nodes.node_name == node:
            published.setdefault(device.driver, []).append(device)
    found = list(_served(recorded, recording, names, published)) if recorded is not None else []
    by_plugin = {holding.make.driver for holding in found}
    for driver, devices in sorted(published.items()):
        if driver not in by_plugin:
            found += _published(devices)
    return tuple(sorted(found, key=lambda holding: holding.make))


def plain(product: str) -> str:
    """A product as it compares: labels write hyphens where a product's name has blanks."""
    return _BETWEEN.sub("-", product.strip()).lower()


def spellings(product: str) -> tuple[str, ...]:
    """What a driver may publish where a label says this: each hyphen may stand for a blank.

    None where no attribute could hold it.
    """
    if not 0 < len(product) <= _LONGEST_VALUE:
        return ()
    words = product.split("-")
    found = [words[0]]
    for word in words[1:]:
        found = [f"{head}{between}{word}" for head in found for between in (" ", "-")]
        if len(found) > 32:
            return (product.replace("-", " "), product)
    return tuple(found)


def _served(
    node: RecordedNode,
    recording: Recording,
    names: Names,
    published: Mapping[str, list[Device]],
) -> Iterator[Holding]:
    for name, amount in _joined(node.served).items():
        resource = names.resource(name)
        if resource is None:
            continue
        known = facts().node(resource.driver)
        labels = node.state.labels
        product, partition = _product(labels.get(known.product, ""), known)
        if resource.partition is not None:
            partition = resource.partition
        place = str(node.state.origin.span("status", "allocatable", name))
        replicas = _replicas(node, recording, resource, known)
        count, questions = _physical(node, name, amount, replicas, known, partition)
        both = published.get(resource.driver)
        spelled = _published_product(both or [], known.attribute, product)
        if both:
            questions = (
                *questions,
                Decision(
                    f"who owns the devices of {resource.driver} on node {node.state.name}",
                    f"a device plugin serves {amount} {name} and the driver publishes {len(both)} "
                    "devices: each counts them as its own, and both give them out. The draft names "
                    "the plugin; turn one of the two off first",
                    (place, str(both[0].origin.span())),
                ),
            )
        legacy = name.removesuffix(plugin_facts().shared_suffix)
        yield Holding(
            Make(resource.driver, plain(product), partition, legacy),
            spelled or product,
            count,
            "devicePlugin",
            place,
            replicas,
            _memory(labels, known) if not partition else None,
            both[0] if both and spelled else None,
            questions,
        )


def _joined(served: Mapping[str, int]) -> dict[str, int]:
    """A name of shares stands for the devices of the plain name, where both are served."""
    ending = plugin_facts().shared_suffix
    return {
        name: amount
        for name, amount in served.items()
        if name.endswith(ending) or f"{name}{ending}" not in served
    }


def _product(label: str, known: NodeFacts) -> tuple[str, str]:
    """Product and profile: `NVIDIA-A100-SXM4-40GB-MIG-1g.5gb-SHARED` has both in one label."""
    text = label.removesuffix(known.shared_ending) if known.shared_ending else label
    head, mark, tail = (
        text.partition(known.partition_mark) if known.partition_mark else (text, "", "")
    )
    return (head, tail) if mark else (text, "")


def _replicas(
    node: RecordedNode, recording: Recording, resource: Resource, known: NodeFacts
) -> Replicas | None:
    """How often the plugin counts each device: by the node's own label, else by the configuration."""
    labels = node.state.labels
    config = labels.get(known.config, "") if known.config else ""
    name = resource.name.removesuffix(plugin_facts().shared_suffix)
    said = recording.plugins.replicas_of(name, config)
    counted = labels.get(known.replicas, "") if known.replicas else ""
    product = labels.get(known.product, "") if known.shared_ending else ""
    if counted.isdecimal() and int(counted) > 1:
        place = str(node.state.origin.span("metadata", "labels", known.replicas))
        strategy = said.strategy if said is not None else "timeSlicing"
        return Replicas(name, int(counted), strategy, config, place)
    is_whole = counted.isdecimal() or (product and not product.endswith(known.shared_ending))
    return None if is_whole else said


def _physical(
    node: RecordedNode,
    name: str,
    amount: int,
    replicas: Replicas | None,
    known: NodeFacts,
    partition: str,
) -> tuple[int, tuple[Decision, ...]]:
    """Devices behind an amount; a part is counted as such."""
    label = node.state.labels.get(known.count, "") if known.count else ""
    if replicas is None:
        return amount, ()
    if amount % replicas.count == 0:
        return amount // replicas.count, ()
    if label.isdecimal() and int(label) > 0 and not partition:
        return int(label), ()
    place = str(node.state.origin.span("status", "allocatable", name))
    return max(amount // replicas.count, 1), (
        Decision(
            f"how many devices stand behind {amount} {name} on node {node.state.name}",
            f"the configuration counts each device {replicas.count} times, which does not divide "
            f"{amount}: the node may not have taken it over",
            (place, replicas.place),
        ),
    )


def _memory(labels: Mapping[str, str], known: NodeFacts) -> str | None:
    said = labels.get(known.memory, "") if known.memory else ""
    return f"{int(said)}Mi" if said.isdecimal() and int(said) else None


def _published_product(devices: list[Device], attribute: str, product: str) -> str:
    """The product as the driver spells it, where it is the one of the label."""
    for device in devices:
        found = device.attribute(attribute) if attribute else None
        if found is not None and product and plain(str(found.value)) == plain(product):
            return str(found.value)
    return ""


def _published(devices: list[Device]) -> Iterator[Holding]:
    groups: dict[Make, list[Device]] = {}
    for device in devices:
        groups.setdefault(make_of(device), []).append(device)
    for make, found in groups.items():
        place = str(found[0].origin.span())
        spelled = identity_of(found[0])
        yield Holding(make, spelled, len(found), "dra", place, published=found[0])


def make_of(device: Device) -> Make:
    """The make of a published device; no plugin's name belongs to it yet."""
    known = facts().types.get(device.driver)
    part = device.attribute(known.partition) if known and known.partition else None
    return Make(device.driver, plain(identity_of(device)), str(part.value) if part else "", "")


def identity_of(device: Device) -> str:
    """The value by which a device falls into a tier; empty where it publishes none of them."""
    for name in facts().identities:
        found = device.attribute(name)
        if found is not None and isinstance(found.value, str) and found.value:
            return found.value
    return ""
