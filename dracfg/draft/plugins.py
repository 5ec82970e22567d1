"""Configuration of device plugins → how often each device is counted, and which names are SR-IOV's.

Reads ConfigMaps of the NVIDIA and SR-IOV plugins, their bare configuration files, network definitions,
and the numbers in resources and arguments of Intel's plugins. Knows no node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any, Literal

from dracfg.dataclass import dataclass
from dracfg.draft.facts import SharedNumber, facts
from dracfg.plan.workloads import pod_specs
from dracfg.source.fields import mapping, maps, text, texts, value
from dracfg.source.kubeyaml import PlainComposer
from dracfg.source.records import RecordedObject

Strategy = Literal["timeSlicing", "mps", "shared"]


@dataclass(frozen=True, slots=True)
class PluginFile:
    """One configuration; `name` is its key in the ConfigMap, by which nodes choose it."""

    path: str
    name: str
    content: Mapping[str, Any]
    place: str


@dataclass(frozen=True, slots=True)
class Replicas:
    """A resource of which the plugin counts each device several times."""

    resource: str
    count: int
    strategy: Strategy
    config: str
    place: str


@dataclass(frozen=True, slots=True)
class Plugins:
    """`sriov` are names that virtual functions are served under, each with its place."""

    replicas: tuple[Replicas, ...] = ()
    sriov: Mapping[str, str] = field(default_factory=dict)
    mig_strategies: tuple[tuple[str, str], ...] = ()

    def replicas_of(self, resource: str, config: str) -> Replicas | None:
        """What holds on a node that names a configuration, or none where there is but one."""
        found = [one for one in self.replicas if one.resource == resource]
        named = [one for one in found if one.config == config]
        if named:
            return named[0]
        return found[0] if len(found) == 1 and not config else None


def read_plugins(objects: Iterable[RecordedObject], files: Iterable[PluginFile]) -> Plugins:
    """The configuration of all plugins that is recorded, in the order of the record."""
    listed = tuple(objects)
    configs = [*files, *(file for item in listed for file in _config_map(item))]
    replicas = [found for file in configs for found in _replicas(file)]
    replicas += [found for item in listed for found in _shared_numbers(item)]
    sriov = {name: file.place for file in configs for name in _resource_list(file)}
    for item in listed:
        if item.data["kind"] == "NetworkAttachmentDefinition":
            key = facts().sriov_annotation
            name = texts(item.data, "metadata", "annotations").get(key)
            if name:
                sriov.setdefault(name, str(item.span("metadata", "annotations", key)))
    strategies = [
        (strategy, file.place)
        for file in configs
        if isinstance(strategy := value(file.content, "flags", "migStrategy"), str)
    ]
    return Plugins(tuple(replicas), dict(sorted(sriov.items())), tuple(strategies))


def _config_map(item: RecordedObject) -> Iterator[PluginFile]:
    if item.data["kind"] != "ConfigMap":
        return
    for key, content in texts(item.data, "data").items():
        if not any(word in content for word in ("sharing", "migStrategy", "resourceList")):
            continue
        for root in PlainComposer(key, content).run():
            if isinstance(root, dict):
                place = str(item.span("data", key, key=True))
                yield PluginFile(place.partition(":")[0], key, root, place)


def _replicas(file: PluginFile) -> Iterator[Replicas]:
    """Time-slicing and MPS; less than two replicas share nothing."""
    strategies: tuple[Strategy, ...] = ("timeSlicing", "mps")
    for strategy in strategies:
        for entry in maps(file.content, "sharing", strategy, "resources"):
            name, count = entry.get("name"), entry.get("replicas")
            if isinstance(name, str) and isinstance(count, int) and count > 1:
                yield Replicas(name, count, strategy, file.name, file.place)


def _resource_list(file: PluginFile) -> Iterator[str]:
    for entry in maps(file.content, "resourceList"):
        name = entry.get("resourceName")
        prefix = entry.get("resourcePrefix") or facts().sriov_prefix
        if isinstance(name, str) and isinstance(prefix, str):
            yield f"{prefix}/{name}"


def _shared_numbers(item: RecordedObject) -> Iterator[Replicas]:
    for known in facts().shared_numbers:
        if item.data["kind"] == known.kind:
            count = value(item.data, "spec", known.field)
            yield from _shared(known, count, str(item.span("spec", known.field)))
        for spec, steps, _ in pod_specs(item.data):
            for position, container in enumerate(maps(spec, "containers")):
                if known.image in (text(container, "image") or ""):
                    place = str(item.span(*steps, "containers", position, "args"))
                    yield from _shared(known, _argument(container, known.argument), place)


def _argument(container: Mapping[str, Any], name: str) -> int | None:
    given = mapping({"it": container}, "it").get("args")
    words = [str(word) for word in given] if isinstance(given, list) else []
    for position, word in enumerate(words):
        head, sign, tail = word.partition("=")
        number = tail if sign else "".join(words[position + 1 : position + 2])
        if f"-{head.lstrip('-')}" == name and number.isdecimal():
            return int(number)
    return None


def _shared(known: SharedNumber, count: Any, place: str) -> Iterator[Replicas]:
    if isinstance(count, int) and not isinstance(count, bool) and count > 1:
        yield from (Replicas(name, count, "shared", "", place) for name in known.resources)
