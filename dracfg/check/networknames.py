"""INV057: networks that name a resource which no recorded device bears.

A secondary network names its devices by an annotation, and Multus gives a pod's interface to a device
only where the device bears the same name, by claim or by resource name.
Source: k8snetworkplumbingwg/multus-cni issue 1492.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dracfg.allocate.inventory import Inventory
from dracfg.check.rule import suggestion
from dracfg.diagnostics import Diagnostic, diagnose
from dracfg.source.records import Record, RecordedObject

NETWORK = "NetworkAttachmentDefinition"
ANNOTATION = "k8s.v1.cni.cncf.io/resourceName"
ATTRIBUTE = "k8s.cni.cncf.io/resourceName"


def check_network_names(
    inventories: Mapping[str, Inventory], records: Mapping[str, Sequence[Record]]
) -> tuple[Diagnostic, ...]:
    """Every recorded network, on clusters of which some device bears a name for networks."""
    return tuple(
        finding
        for cluster, inventory in inventories.items()
        for finding in _of_cluster(cluster, inventory, records.get(cluster, ()))
    )


def _of_cluster(
    cluster: str, inventory: Inventory, records: Sequence[Record]
) -> Iterator[Diagnostic]:
    borne = (device.attribute(ATTRIBUTE) for device in inventory.devices)
    known = {str(one.value) for one in borne if one is not None}
    for item in (item for record in records for item in record.objects) if known else ():
        name = _named(item)
        if name is None or name in known:
            continue
        help_, fix = suggestion(name, known)
        yield diagnose(
            "INV057",
            item.span("metadata", "annotations", ANNOTATION),
            f"no recorded device of {cluster} bears the name {name}, so no pod gets an interface of "
            f"network {item.data['metadata'].get('name', '')}",
            found=name,
            help=help_ or f"give the network the name that devices have in {ATTRIBUTE}",
            fix=fix,
        )


def _named(item: RecordedObject) -> str | None:
    """The resource that a network names; None for any other object, and for a network without."""
    metadata = item.data.get("metadata")
    notes = metadata.get("annotations") if isinstance(metadata, dict) else None
    if item.data.get("kind") != NETWORK or not isinstance(notes, dict):
        return None
    name = notes.get(ANNOTATION)
    return name if isinstance(name, str) else None
