"""A recorded Node → what it says of itself: labels, what device plugins serve, taints, whether it answers.

Shapes follow v1 Node (kubernetes/api@v0.36.3:core/v1/types.go). Knows neither slices nor claims.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Literal

from dracfg.allocate.devices import Origin, Taint
from dracfg.dataclass import dataclass
from dracfg.kube.quantity import Quantity
from dracfg.source.fields import mapping, maps, text, texts, value
from dracfg.source.records import Record, RecordedObject

OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
"""The taint by which a person says that a node runs nothing any more (KEP-2268)."""

Ready = Literal["True", "False", "Unknown"]


@dataclass(frozen=True, slots=True)
class NodeState:
    """One Node. `capacity` and `allocatable` hold amounts by resource name, those that are no quantity
    left out.

    `ready` is None where no condition is recorded; `ready_since` is its last transition, as it is
    written.
    """

    name: str
    labels: Mapping[str, str]
    capacity: Mapping[str, Quantity]
    allocatable: Mapping[str, Quantity]
    taints: tuple[Taint, ...]
    ready: Ready | None
    ready_since: str | None
    origin: Origin = field(compare=False, repr=False)

    @property
    def answers(self) -> bool:
        """Whether the kubelet reports: the node controller has not set Ready to Unknown."""
        return self.ready != "Unknown"

    @property
    def out_of_service(self) -> bool:
        """Whether somebody has said that the node runs nothing any more."""
        return any(taint.key == OUT_OF_SERVICE for taint in self.taints)


def read_node_states(records: Iterable[Record]) -> Mapping[str, NodeState]:
    """The Nodes of a record by name; of two with one name the later one holds."""
    found: dict[str, NodeState] = {}
    for record in records:
        for item in record.objects:
            state = _read(item)
            if state is not None:
                found[state.name] = state
    return dict(sorted(found.items()))


def _read(item: RecordedObject) -> NodeState | None:
    data = item.data
    if data["kind"] != "Node" or data.get("apiVersion") != "v1":
        return None
    name = text(data, "metadata", "name")
    if name is None:
        return None
    ready = next((c for c in maps(data, "status", "conditions") if c.get("type") == "Ready"), None)
    return NodeState(
        name=name,
        labels=texts(data, "metadata", "labels"),
        capacity=_amounts(mapping(data, "status", "capacity")),
        allocatable=_amounts(mapping(data, "status", "allocatable")),
        taints=tuple(
            Taint(str(taint.get("key", "")), str(taint.get("value", "")), str(taint.get("effect")))
            for taint in maps(data, "spec", "taints")
        ),
        ready=_ready(value(ready, "status")),
        ready_since=text(ready, "lastTransitionTime"),
        origin=Origin(item),
    )


def _ready(status: object) -> Ready | None:
    if status == "True":
        return "True"
    if status == "False":
        return "False"
    return "Unknown" if status == "Unknown" else None


def _amounts(published: Mapping[str, object]) -> dict[str, Quantity]:
    amounts = {}
    for name, amount in published.items():
        try:
            amounts[name] = Quantity.parse(str(amount))
        except ValueError:
            continue
    return amounts
