"""Records of one cluster → what a draft is made of, each kind read once.

Files of a device plugin's configuration have no kind and are no objects; they are taken from the text of
their record. Judges nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dracfg.allocate.inventory import Inventory, load_inventory
from dracfg.allocate.nodestates import NodeState, read_node_states
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic
from dracfg.draft.plugins import PluginFile, Plugins, read_plugins
from dracfg.kube.quantity import Quantity
from dracfg.plan.workloads import DEFAULT_NAMESPACE
from dracfg.source.fields import mapping, text, texts
from dracfg.source.kubeyaml import PlainComposer
from dracfg.source.records import Record, RecordedObject

_NO_OBJECT = "SRC017"
_MOST_DEVICES = 1_000_000
"""What a node serves more of is an amount of something, no number of devices."""
_CONFIGURATION = frozenset({"sharing", "flags", "resourceList"})


@dataclass(frozen=True, slots=True)
class RecordedNode:
    """One Node: its labels, and what device plugins serve on it, by resource name."""

    state: NodeState
    served: Mapping[str, int]
    version: str
    provider: str

    @property
    def place(self) -> str:
        """Where it is recorded."""
        return str(self.state.origin.span("metadata", "name"))


@dataclass(frozen=True, slots=True)
class QuotaLine:
    """What a ResourceQuota lets through of one key."""

    namespace: str
    key: str
    hard: int
    place: str


@dataclass(frozen=True, slots=True)
class Recording:
    """What is recorded of one cluster. `workloads` are all objects but those that are read otherwise."""

    nodes: Mapping[str, RecordedNode]
    inventory: Inventory
    namespaces: Mapping[str, Mapping[str, str]]
    quotas: tuple[QuotaLine, ...]
    plugins: Plugins
    workloads: tuple[RecordedObject, ...]
    claims: tuple[RecordedObject, ...]
    classes: tuple[RecordedObject, ...]
    taint_rules: tuple[RecordedObject, ...]
    bindings: tuple[RecordedObject, ...]
    unread: tuple[Diagnostic, ...]
    """What is wrong with the slices, so that devices may be missing."""


def read_recording(
    records: Iterable[Record], faults: Iterable[Diagnostic] = ()
) -> tuple[Recording, tuple[Diagnostic, ...]]:
    """The recording, and the faults of reading that are none of a plugin's configuration file."""
    listed, wrong = tuple(records), tuple(faults)
    odd = {fault.span.path for fault in wrong if fault.code == _NO_OBJECT and fault.span}
    files = tuple(file for one in listed if one.path in odd for file in _plugin_files(one))
    objects = [item for record in listed for item in record.objects]
    inventory, unread = load_inventory(listed)
    by_kind: dict[str, list[RecordedObject]] = {}
    for item in objects:
        by_kind.setdefault(item.data["kind"], []).append(item)
    recording = Recording(
        nodes={
            name: _node(state, state.origin.object)
            for name, state in read_node_states(listed).items()
        },
        inventory=inventory,
        namespaces={
            name: texts(item.data, "metadata", "labels")
            for item in by_kind.get("Namespace", ())
            if (name := text(item.data, "metadata", "name")) is not None
        },
        quotas=tuple(line for item in by_kind.get("ResourceQuota", ()) for line in _lines(item)),
        plugins=read_plugins(objects, files),
        workloads=tuple(item for item in objects if item.data["kind"] not in _READ_OTHERWISE),
        claims=tuple(by_kind.get("ResourceClaim", ())),
        classes=tuple(by_kind.get("DeviceClass", ())),
        taint_rules=tuple(by_kind.get("DeviceTaintRule", ())),
        bindings=tuple(by_kind.get("RoleBinding", ())),
        unread=tuple(fault for fault in unread if fault.is_error and "ResourceSlice" in by_kind),
    )
    ours = {file.path for file in files}
    return recording, tuple(
        fault
        for fault in wrong
        if fault.code != _NO_OBJECT or fault.span is None or fault.span.path not in ours
    )


_READ_OTHERWISE = frozenset(
    {
        "Node", "Namespace", "ResourceQuota", "ResourceSlice", "DeviceClass", "ConfigMap",
        "ResourceClaim", "ResourceClaimTemplate", "Event", "Lease", "DeviceTaintRule", "RoleBinding",
    }
)  # fmt: skip


def _plugin_files(record: Record) -> Iterator[PluginFile]:
    """Documents without a kind that a device plugin reads."""
    for root in PlainComposer(record.path, record.text).run():
        if isinstance(root, dict) and _CONFIGURATION & root.keys() and "kind" not in root:
            yield PluginFile(record.path, "", root, record.path)


def _node(state: NodeState, item: RecordedObject) -> RecordedNode:
    """Capacity counts also what is out of order for the moment; it holds where both are told."""
    served: dict[str, int] = {}
    for name, amount in {
        **mapping(item.data, "status", "allocatable"),
        **mapping(item.data, "status", "capacity"),
    }.items():
        count = _whole(amount)
        if count and count <= _MOST_DEVICES:
            served[name] = count
    return RecordedNode(
        state,
        dict(sorted(served.items())),
        text(item.data, "status", "nodeInfo", "kubeletVersion") or "",
        text(item.data, "spec", "providerID") or "",
    )


def _lines(item: RecordedObject) -> Iterator[QuotaLine]:
    namespace = text(item.data, "metadata", "namespace") or DEFAULT_NAMESPACE
    for key, value in sorted(mapping(item.data, "spec", "hard").items()):
        count = _whole(value)
        if count is not None:
            yield QuotaLine(namespace, key, count, str(item.span("spec", "hard", key)))


def _whole(amount: Any) -> int | None:
    try:
        read = Quantity.parse(str(amount))
    except ValueError:
        return None
    return read.value() if read.is_whole() and read.nano >= 0 else None
