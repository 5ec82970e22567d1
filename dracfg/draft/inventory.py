"""What devices a record tells of → the inventory of the drafted repository, less what changes by itself.

Slices, classes and taint rules as they were recorded; of Nodes what decides where devices are and whether
pods come there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from dracfg.allocate.inventory import load_inventory
from dracfg.dataclass import dataclass
from dracfg.draft.cluster import DraftCluster
from dracfg.draft.decisions import Decision
from dracfg.draft.pools import Hardware
from dracfg.draft.recording import Recording
from dracfg.source.fields import mapping, maps, text
from dracfg.source.records import RecordedObject, parse_record

_NODE_INFO = ("kubeletVersion", "architecture", "operatingSystem")


@dataclass(frozen=True, slots=True)
class DraftInventory:
    """A record for the repository. With `questions` the Cluster doesn't name it until they are answered."""

    path: str
    text: str
    questions: tuple[Decision, ...]


def read_inventory(
    recording: Recording, hardware: Hardware, cluster: DraftCluster
) -> DraftInventory | None:
    """The record of all devices that are published; None where there is none."""
    slices = recording.inventory.slices
    if not slices:
        return None
    items = [_whole(one.origin.object) for one in slices]
    items += [_whole(one) for one in (*recording.classes, *recording.taint_rules)]
    items += [_node(node.state.origin.object) for node in recording.nodes.values()]
    document = {"apiVersion": "v1", "kind": "List", "items": items}
    written = json.dumps(document, indent=1, ensure_ascii=False, default=str) + "\n"
    path = f"catalog/inventory/{cluster.name}.json"
    questions = (*_contested(recording, hardware), *_unread(path, written, cluster.minor))
    return DraftInventory(path, written, questions)


def _contested(recording: Recording, hardware: Hardware) -> Iterator[Decision]:
    """Devices that a plugin serves and a driver publishes: no catalog can be right about them."""
    served = {(part.driver, node) for pool in hardware.pools for part in pool.parts
              for node in pool.nodes if part.owner == "devicePlugin"}  # fmt: skip
    nodes = sorted(
        {
            node
            for driver, node in served
            for device in recording.inventory.devices_on(node)
            if (device.driver, device.nodes.node_name) == (driver, node)
        }
    )
    if nodes:
        yield Decision(
            "when the catalog is held against the inventory",
            f"devices of {', '.join(nodes[:5])}{' …' if len(nodes) > 5 else ''} are served by a plugin and "
            "published by a driver, which is an error whatever the catalog says; take the comment away "
            "when one of the two is off, and the record anew",
        )


def _unread(path: str, text: str, minor: str) -> Iterator[Decision]:
    """What a cluster of the draft's minor could not have published."""
    record, _ = parse_record(path, text)
    faults = [fault for fault in load_inventory([record], minor)[1] if fault.is_error]
    if faults:
        yield Decision(
            "whether the inventory was recorded on this cluster",
            f"Kubernetes {minor} knows no such slices: {faults[0].message}",
            (str(faults[0].span),),
        )


def _whole(item: RecordedObject) -> dict[str, Any]:
    """An object with its spec; of its metadata what tells it from others."""
    data = item.data
    return {
        "apiVersion": data.get("apiVersion"),
        "kind": data["kind"],
        "metadata": _metadata(data),
        "spec": data.get("spec", {}),
    }


def _node(item: RecordedObject) -> dict[str, Any]:
    data = item.data
    status = mapping(data, "status")
    info = {key: said for key in _NODE_INFO if (said := text(status, "nodeInfo", key)) is not None}
    conditions = [dict(one) for one in maps(status, "conditions") if one.get("type") == "Ready"]
    kept: dict[str, Any] = {
        key: status[key] for key in ("capacity", "allocatable") if key in status
    }
    kept |= {"conditions": conditions} if conditions else {}
    kept |= {"nodeInfo": info} if info else {}
    taints = [dict(one) for one in maps(data, "spec", "taints")]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": _metadata(data),
        "spec": {"taints": taints} if taints else {},
        "status": kept,
    }


def _metadata(data: Mapping[str, Any]) -> dict[str, Any]:
    return dict(_named(mapping(data, "metadata")))


def _named(metadata: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key in ("name", "generateName", "labels"):
        if metadata.get(key):
            yield key, metadata[key]
