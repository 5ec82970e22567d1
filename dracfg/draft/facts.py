"""The tables of `data.yaml`, beside what presets and checks know of nodes already. Knows no record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cache
from typing import Any

from dracfg.check.nodefacts import NodeFacts as KnownFacts
from dracfg.check.nodefacts import node_facts
from dracfg.dataclass import dataclass
from dracfg.packaged import read_data


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """Labels by which nodes tell of one driver's devices; an empty one is not known."""

    product: str = ""
    attribute: str = ""
    count: str = ""
    memory: str = ""
    replicas: str = ""
    config: str = ""
    shared_ending: str = ""
    partition_mark: str = ""


@dataclass(frozen=True, slots=True)
class TypeFacts:
    """Attributes that tell whole devices from parts; `partition` holds the profile of a part."""

    whole: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, str] = field(default_factory=dict)
    partition: str = ""


@dataclass(frozen=True, slots=True)
class SharedNumber:
    """A number that a plugin takes from a custom resource or from its arguments."""

    kind: str
    field: str
    argument: str
    image: str
    resources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DistributionMark:
    """By what nodes show who runs their cluster."""

    distribution: str
    provider: str
    version: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """All tables; see the file for what each is."""

    nodes: Mapping[str, NodeFacts]
    types: Mapping[str, TypeFacts]
    named: Mapping[str, str]
    identities: tuple[str, ...]
    places: tuple[str, ...]
    preferred: Mapping[str, str]
    with_amounts: Mapping[str, tuple[str, ...]]
    not_devices: tuple[str, ...]
    sriov_driver: str
    sriov_prefix: str
    sriov_annotation: str
    shared_numbers: tuple[SharedNumber, ...]
    pool_labels: tuple[str, ...]
    tenant_labels: tuple[str, ...]
    platform_namespaces: frozenset[str]
    distributions: tuple[DistributionMark, ...]
    templates: frozenset[str]
    kinds: tuple[tuple[str, str], ...]
    config_namespaces: tuple[str, ...]

    def node(self, driver: str) -> NodeFacts:
        """What labels tell of a driver's devices."""
        return self.nodes.get(driver, NodeFacts())

    def is_platform(self, namespace: str) -> bool:
        """Whether a namespace is the platform's own, which no tenant can have."""
        return namespace in self.platform_namespaces or namespace.startswith("kube-")


@cache
def facts() -> Facts:
    """The tables, read once."""
    raw: dict[str, Any] = read_data("dracfg.draft", "data.yaml")
    known = {driver: _labels(one) for driver, one in node_facts().items()}
    return Facts(
        nodes={
            driver: _node({**known.get(driver, {}), **raw["nodes"].get(driver, {})})
            for driver in sorted(known.keys() | raw["nodes"].keys())
        },
        types={driver: TypeFacts(**one) for driver, one in raw["types"].items()},
        named=raw["named"],
        identities=tuple(raw["identities"]),
        places=tuple(raw["places"]),
        preferred=raw["preferred"],
        with_amounts={driver: tuple(names) for driver, names in raw["withAmounts"].items()},
        not_devices=tuple(raw["notDevices"]),
        sriov_driver=raw["sriov"]["driver"],
        sriov_prefix=raw["sriov"]["prefix"],
        sriov_annotation=raw["sriov"]["annotation"],
        shared_numbers=tuple(
            SharedNumber(**{**one, "resources": tuple(one["resources"])})
            for one in raw["sharedNumbers"]
        ),
        pool_labels=tuple(raw["poolLabels"]),
        tenant_labels=tuple(raw["tenantLabels"]),
        platform_namespaces=frozenset(raw["platformNamespaces"]),
        distributions=tuple(DistributionMark(**one) for one in raw["distributions"]),
        templates=frozenset(raw["templates"]),
        kinds=tuple((group, kind) for group, kinds in raw["kinds"].items() for kind in kinds),
        config_namespaces=tuple(raw["configNamespaces"]),
    )


def _labels(known: KnownFacts) -> dict[str, str]:
    """What checks know already of the labels by which a node tells how many devices it has, and which."""
    told = {key: known.labels.get(key) for key in ("count", "product")}
    told["attribute"] = known.attributes.get("product")
    return {key: name for key, name in told.items() if name is not None}


def _node(raw: Mapping[str, str]) -> NodeFacts:
    return NodeFacts(
        product=raw.get("product", ""),
        attribute=raw.get("attribute", ""),
        count=raw.get("count", ""),
        memory=raw.get("memory", ""),
        replicas=raw.get("replicas", ""),
        config=raw.get("config", ""),
        shared_ending=raw.get("sharedEnding", ""),
        partition_mark=raw.get("partitionMark", ""),
    )
