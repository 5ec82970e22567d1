"""Workloads → who asks for which devices, how many, and what of it only a claim can say, or loses.

Reads pod templates wherever they lie. What a controller has made is not counted again, and what has
ended asks for nothing. Knows no tier.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from dracfg.dataclass import dataclass
from dracfg.draft.facts import facts
from dracfg.draft.recording import Recording
from dracfg.draft.resources import Names, Resource
from dracfg.migrate.demand import Item, items
from dracfg.migrate.facts import domain, is_extended
from dracfg.migrate.facts import facts as plugin_facts
from dracfg.plan.workloads import DEFAULT_NAMESPACE, pod_specs
from dracfg.rollout.controllers import controller_of, retryable_kinds
from dracfg.source.fields import mapping, maps, text, texts
from dracfg.source.records import RecordedObject

Trait = Literal["attributes", "alternatives", "sharing", "alignment", "configuration"]
_ENDED = ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class Ask:
    """What pods of one object ask for of one resource. `lost` says what a claim would not carry over.

    `selector` holds the node labels that they ask for, `node` the one that they run on, `pod` tells which
    asks are of the same pods. `count` is
    what one pod asks for, `pods` how many there are at a time: one for a DaemonSet, whose number is
    that of the nodes, and none for templates of others. Those of the whole cluster have no namespace.
    """

    namespace: str
    kind: str
    name: str
    place: str
    resource: Resource
    count: int
    pods: int
    traits: frozenset[Trait]
    lost: tuple[str, ...]
    selector: Mapping[str, str]
    node: str | None
    pod: str

    @property
    def is_retryable(self) -> bool:
        """Whether its controller makes its pods anew."""
        return self.kind in retryable_kinds()


def asked_names(recording: Recording) -> frozenset[str]:
    """Every extended resource name that some container or node has."""
    found = {
        name
        for item in recording.workloads
        for spec, _, _ in pod_specs(item.data)
        for container in _containers(spec)
        for section in ("limits", "requests")
        for name in mapping(container, "resources", section)
    }
    found |= {name for node in recording.nodes.values() for name in node.served}
    return frozenset(name for name in found if is_extended(name))


def read_asks(recording: Recording, names: Names) -> tuple[Ask, ...]:
    """All that asks for devices, in the order of the record."""
    known = {
        (item.data["kind"], text(item.data, "metadata", "namespace"), _name(item))
        for item in recording.workloads
    }
    return tuple(
        ask
        for item in recording.workloads
        if not _is_counted_elsewhere(item, known) and not _has_ended(item)
        for ask in _asks(item, names)
    )


def _name(item: RecordedObject) -> str:
    metadata = mapping(item.data, "metadata")
    return str(metadata.get("name") or metadata.get("generateName") or "").rstrip("-")


def _is_counted_elsewhere(item: RecordedObject, known: set[tuple[Any, str | None, str]]) -> bool:
    maker = controller_of(item.data)
    return (
        maker is not None
        and (maker[0], text(item.data, "metadata", "namespace"), maker[1]) in known
    )


def _has_ended(item: RecordedObject) -> bool:
    return text(item.data, "status", "phase") in _ENDED or bool(
        item.data["kind"] == "Job" and text(item.data, "status", "completionTime")
    )


def _containers(spec: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    return (*maps(spec, "initContainers"), *maps(spec, "containers"))


def _asks(item: RecordedObject, names: Names) -> Iterator[Ask]:
    is_template = item.data["kind"] in facts().templates
    otherwise = "" if item.data["kind"].startswith("Cluster") else DEFAULT_NAMESPACE
    namespace = text(item.data, "metadata", "namespace") or otherwise
    for spec, steps, pods in pod_specs(item.data):
        counts, extra, places = _sums(spec, names)
        bases = {resource.base for resource in counts}
        for resource, count in counts.items():
            own = extra[resource.name]
            position = places[resource.name]
            yield Ask(
                namespace=namespace,
                kind=item.data["kind"],
                name=_name(item),
                place=str(item.span(*steps, *position)),
                resource=resource,
                count=count,
                pods=0 if is_template else pods,
                traits=frozenset(_traits(spec, resource, own, bases)),
                lost=tuple(_lost(spec, resource, own)),
                selector=texts(spec, "nodeSelector"),
                node=text(spec, "nodeName"),
                pod=str(item.span(*steps)),
            )


def _sums(
    spec: Mapping[str, Any], names: Names
) -> tuple[dict[Resource, int], dict[str, list[Item]], dict[str, tuple[str | int, ...]]]:
    """Per resource: what a pod holds at a time, every mention, and where the first one stands."""
    running: dict[Resource, int] = {}
    before: dict[Resource, int] = {}
    mentions: dict[str, list[Item]] = {}
    places: dict[str, tuple[str | int, ...]] = {}
    for field in ("initContainers", "containers"):
        for position, container in enumerate(maps(spec, field)):
            ends = field == "initContainers" and text(container, "restartPolicy") != "Always"
            for item in items(container):
                resource = names.resource(item.name)
                if resource is None:
                    continue
                amount = item.count or 1
                mentions.setdefault(item.name, []).append(item)
                section = (
                    "limits"
                    if item.name in mapping(container, "resources", "limits")
                    else "requests"
                )
                where = (field, position, "resources", section, item.name)
                places.setdefault(item.name, where)
                if ends:
                    before[resource] = max(before.get(resource, 0), amount)
                else:
                    running[resource] = running.get(resource, 0) + amount
    counts = {
        resource: max(running.get(resource, 0), before.get(resource, 0))
        for resource in (*running, *(one for one in before if one not in running))
    }
    return counts, mentions, places


def _traits(
    spec: Mapping[str, Any], resource: Resource, mentions: Iterable[Item], bases: set[str]
) -> Iterator[Trait]:
    """What these pods say around the plugin, which a claim says itself."""
    own = domain(resource.name)
    labels = plugin_facts().node_labels.get(own, ())
    chosen = (
        [key for key in texts(spec, "nodeSelector") if key.startswith(labels)] if labels else []
    )
    terms = list(_affinity(spec, labels)) if labels else []
    if chosen or terms:
        yield "attributes"
    if any(several for _, several in terms):
        yield "alternatives"
    if resource.is_share or any(item.amounts for item in mentions):
        yield "sharing"
    if len(bases) > 1:
        yield "alignment"
    variables = set(plugin_facts().environment.get(own, ()))
    names = {text(entry, "name") for one in _containers(spec) for entry in maps(one, "env")}
    if variables & names:
        yield "configuration"


def _affinity(spec: Mapping[str, Any], labels: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    """Labels that node affinity asks for; whether several values, or a preference, stand there."""
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    preferred = "preferredDuringSchedulingIgnoredDuringExecution"
    node = mapping(spec, "affinity", "nodeAffinity")
    terms = [(term, False) for term in maps(node, required, "nodeSelectorTerms")]
    terms += [(mapping(entry, "preference"), True) for entry in maps(node, preferred)]
    for term, is_wish in terms:
        for wanted in maps(term, "matchExpressions"):
            key, values = wanted.get("key"), wanted.get("values")
            if isinstance(key, str) and key.startswith(labels):
                yield key, is_wish or (isinstance(values, list) and len(values) > 1)


def _lost(spec: Mapping[str, Any], resource: Resource, mentions: Iterable[Item]) -> Iterator[str]:
    listed = list(mentions)
    if any(amount.endswith("%") for item in listed for amount in item.amounts.values()):
        yield "a percentage of a device"
    if any(item.others for item in listed):
        yield "a priority on the device"
    if resource.is_share and any((item.count or 1) > 1 for item in listed):
        yield "several shares that may lie on one device"
    scaled = plugin_facts().autoscaler_labels
    if any(key.startswith(scaled) for key in texts(spec, "nodeSelector")):
        yield "nodes that an autoscaler makes for the amount"
