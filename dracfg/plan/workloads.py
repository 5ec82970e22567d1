"""Manifests → the pods that they would run, each kind of pod with its number and its claims.

Pod templates are found by their shape, whatever the kind that holds them, and counted by the
numbers on the way to them: `replicas`, a Job's `parallelism`. Knows neither clusters nor devices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any

from dracfg.allocate.claimobjects import CLAIM, CLASS, KINDS, TEMPLATE
from dracfg.allocate.claims import Toleration
from dracfg.allocate.devices import Origin
from dracfg.allocate.shape import GROUP
from dracfg.dataclass import dataclass
from dracfg.kube.quantity import Quantity
from dracfg.source.fields import mapping, maps, text, texts, value
from dracfg.source.records import Record, RecordedObject, Steps

DEFAULT_NAMESPACE = "default"
_PLAIN_KEYS = ("spec", "template", "jobTemplate")


@dataclass(frozen=True, slots=True)
class PodClaim:
    """An entry of a pod's `resourceClaims`: a claim by its name, or the template of one."""

    name: str
    claim: str | None = None
    template: str | None = None


@dataclass(frozen=True, slots=True)
class Container:
    """What one container asks for by resource names; `position` counts init containers first.

    An amount that is not whole counts as 0. `runs_first`: it ends before the others start, which then
    take its devices over.
    """

    position: int
    runs_first: bool
    amounts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class PodGroup:
    """Pods that are alike. `kind` and `name` are those of the object that they come from.

    `role` tells apart several kinds of pods of one object. `count` is None for one pod a node.
    A claim or template that no pod of the file uses stands for pods that use nothing else.
    """

    kind: str
    namespace: str
    name: str
    role: str
    count: int | None
    claims: tuple[PodClaim, ...]
    containers: tuple[Container, ...] = ()
    node: str | None = None
    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Toleration, ...] = ()
    origin: Origin | None = field(default=None, compare=False, repr=False)

    @property
    def is_counted(self) -> bool:
        """Whether its number of pods is a matter of choice."""
        return self.count is not None and self.kind not in ("Pod", CLAIM)

    @property
    def stem(self) -> str:
        """The name of its pods, less their number."""
        return f"{self.name}-{self.role}" if self.role else self.name


class UncountedName(Exception):
    """A number of pods was given for a name that has no pods, several kinds of them, or one pod."""

    def __init__(self, name: str, groups: Iterable[PodGroup]) -> None:
        super().__init__(name)
        self.name = name
        self.known = tuple(dict.fromkeys(group.name for group in groups if group.is_counted))


def pod_groups(record: Record, namespace: str = DEFAULT_NAMESPACE) -> tuple[PodGroup, ...]:
    """The pods of all objects in their order; `namespace` is that of objects that name none.

    Claims and templates that no pod of the record uses are pods of their own, at their place.
    """
    groups = {
        item.index: tuple(_groups(item, namespace))
        for item in record.objects
        if not _is_claim_object(item)
    }
    used = {
        (group.namespace, kind, name)
        for found in groups.values()
        for group in found
        for claim in group.claims
        for kind, name in ((CLAIM, claim.claim), (TEMPLATE, claim.template))
    }
    listed: list[PodGroup] = []
    for item in record.objects:
        if item.index in groups:
            listed += groups[item.index]
        elif item.data["kind"] != CLASS:
            alone = _alone(item, namespace)
            if (alone.namespace, alone.kind, alone.name) not in used:
                listed.append(alone)
    return tuple(listed)


def counted(groups: Iterable[PodGroup], numbers: Mapping[str, int]) -> tuple[PodGroup, ...]:
    """The groups with other numbers of pods, by the names of their objects.

    Raises UncountedName where a name does not lead to one group whose number can be set.
    """
    listed = tuple(groups)
    for name in numbers:
        if sum(group.name == name and group.is_counted for group in listed) != 1:
            raise UncountedName(name, listed)
    return tuple(
        replace(group, count=numbers[group.name])
        if group.name in numbers and group.is_counted
        else group
        for group in listed
    )


def _is_claim_object(item: RecordedObject) -> bool:
    group = str(item.data.get("apiVersion")).rpartition("/")[0]
    return group == GROUP and item.data["kind"] in KINDS


def _alone(item: RecordedObject, namespace: str) -> PodGroup:
    """A claim, or one claim of a template, as a pod that uses nothing else."""
    kind, name = item.data["kind"], text(item.data, "metadata", "name") or ""
    used = PodClaim(name, name) if kind == CLAIM else PodClaim(name, template=name)
    place = text(item.data, "metadata", "namespace") or namespace
    return PodGroup(kind, place, name, "", 1, (used,), origin=Origin(item))


def _groups(item: RecordedObject, namespace: str) -> Iterator[PodGroup]:
    data = item.data
    name = text(data, "metadata", "name") or text(data, "metadata", "generateName") or ""
    found = list(pod_specs(data))
    for spec, steps, count in found:
        yield PodGroup(
            kind=data["kind"],
            namespace=text(data, "metadata", "namespace") or namespace,
            name=name.rstrip("-"),
            role=_role(data, steps) if len(found) > 1 else "",
            count=None if data["kind"] == "DaemonSet" else count,
            claims=tuple(_claims(spec)),
            containers=tuple(_containers(spec)),
            node=text(spec, "nodeName"),
            node_selector=texts(spec, "nodeSelector"),
            tolerations=tuple(_tolerations(spec)),
            origin=Origin(item, steps),
        )


def pod_specs(data: Any) -> Iterator[tuple[Mapping[str, Any], Steps, int]]:
    """Every pod spec of an object: the spec, its place, and how many pods it stands for."""
    return _pod_specs(data, (), 1)


def _pod_specs(
    data: Any, steps: Steps, count: int
) -> Iterator[tuple[Mapping[str, Any], Steps, int]]:
    """Every pod spec below a value, its place, and how many pods it stands for."""
    if isinstance(data, list):
        for number, inner in enumerate(data):
            yield from _pod_specs(inner, (*steps, number), count)
    if not isinstance(data, Mapping):
        return
    if maps(data, "spec", "containers"):
        yield mapping(data, "spec"), (*steps, "spec"), count
        return
    for key, inner in data.items():
        if key not in ("metadata", "status"):
            below = count * _copies(data) * _group_size(data, key)
            yield from _pod_specs(inner, (*steps, key), below)


def _role(data: Any, steps: Steps) -> str:
    """What tells one pod spec of an object from another: the innermost name, else the last key."""
    name = key = ""
    for step in steps:
        data = data[step]
        name = text(data, "name") or name
        if isinstance(step, str) and step not in _PLAIN_KEYS:
            key = step
    return (name or key).lower()


def _copies(data: Mapping[str, Any]) -> int:
    """How often what stands below runs at one time."""
    copies = _number(data, "replicas", 1)
    if "parallelism" in data or "completions" in data:
        parallel = _number(data, "parallelism", 1)
        copies *= min(parallel, _number(data, "completions", parallel))
    return copies


def _group_size(data: Mapping[str, Any], key: str) -> int:
    """The workers of a LeaderWorkerSet's group; its leader has the worker's template or its own."""
    size = _number(data, "size", 1)
    if key != "workerTemplate":
        return 1
    return max(size - 1, 0) if "leaderTemplate" in data else size


def _number(data: Mapping[str, Any], key: str, default: int) -> int:
    found = data.get(key)
    return (
        found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else default
    )


def _claims(spec: Mapping[str, Any]) -> Iterator[PodClaim]:
    for entry in maps(spec, "resourceClaims"):
        yield PodClaim(
            text(entry, "name") or "",
            text(entry, "resourceClaimName"),
            text(entry, "resourceClaimTemplateName"),
        )


def _containers(spec: Mapping[str, Any]) -> Iterator[Container]:
    first = maps(spec, "initContainers")
    for position, entry in enumerate((*first, *maps(spec, "containers"))):
        init = position < len(first)
        yield Container(
            position, init and text(entry, "restartPolicy") != "Always", _amounts(entry)
        )


def _amounts(container: Mapping[str, Any]) -> dict[str, int]:
    """Amounts by resource name, 0 where they are not whole; limits stand for absent requests."""
    said = {
        **mapping(container, "resources", "limits"),
        **mapping(container, "resources", "requests"),
    }
    amounts = {}
    for name, amount in sorted(said.items()):
        try:
            read = Quantity.parse(str(amount))
        except ValueError:
            continue
        amounts[name] = read.value() if read.is_whole() and read.nano > 0 else 0
    return amounts


def _tolerations(spec: Mapping[str, Any]) -> Iterator[Toleration]:
    for entry in maps(spec, "tolerations"):
        yield Toleration(
            text(entry, "key") or "",
            "Exists" if value(entry, "operator") == "Exists" else "Equal",
            text(entry, "value") or "",
            text(entry, "effect") or "",
        )
