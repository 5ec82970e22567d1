"""What is known of device plugins' names and of what stands beside them in workloads.

Knows no catalog: which names lead to which tiers is for `fitting`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.packaged import read_data

_NATIVE = ("kubernetes.io/", "requests.", "hugepages-", "attachable-volumes-")
IMPLICIT = "deviceclass.resource.kubernetes.io/"
"""What the implicit extended resource name of a device class begins with (KEP-5004)."""


@dataclass(frozen=True, slots=True)
class Quality:
    """An amount that says how much of each device is meant; `capacity` is None for others.

    `of` is the name that it qualifies, empty where that is the beginning of its own.
    """

    of: str = ""
    capacity: str | None = None
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Reader:
    """A controller that takes a number of devices from containers, unless a field says it."""

    says: str
    key: str
    of: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """The tables of `data.yaml`; lists go by the domain of the plugin's resource names."""

    partitions: Mapping[str, tuple[str, ...]]
    shared_suffix: str
    qualities: Mapping[str, Quality]
    quality_endings: Mapping[str, Quality]
    environment: Mapping[str, tuple[str, ...]]
    annotations: Mapping[str, tuple[str, ...]]
    node_labels: Mapping[str, tuple[str, ...]]
    autoscaler_labels: tuple[str, ...]
    runtime_classes: Mapping[str, tuple[str, ...]]
    networks: str
    fixed: Mapping[str, str]
    readers: Mapping[str, Reader]


@cache
def facts() -> Facts:
    """The tables, read once."""
    raw: dict[str, Any] = read_data("dracfg.migrate", "data.yaml")
    return Facts(
        partitions=_lists(raw["partitions"]),
        shared_suffix=raw["sharedSuffix"],
        qualities={name: Quality(**one) for name, one in raw["qualities"].items()},
        quality_endings={end: Quality(**one) for end, one in raw["qualityEndings"].items()},
        environment=_lists(raw["environment"]),
        annotations=_lists(raw["annotations"]),
        node_labels=_lists(raw["nodeLabels"]),
        autoscaler_labels=tuple(raw["autoscalerLabels"]),
        runtime_classes=_lists(raw["runtimeClasses"]),
        networks=raw["networks"],
        fixed=raw["fixed"],
        readers={
            group: Reader(one["says"], one["key"], tuple(one["of"]))
            for group, one in raw["readers"].items()
        },
    )


def is_extended(name: str) -> bool:
    """Whether a resource name is an extended one: with a domain that is not Kubernetes' own.

    Source: IsExtendedResourceName of kubernetes/kubernetes@v1.36.3:pkg/apis/core/v1/helper/helpers.go.
    """
    if name.startswith(IMPLICIT):
        return True
    return "/" in name and not name.startswith(_NATIVE) and "kubernetes.io/" not in name


def qualities_of(name: str) -> dict[str, Quality]:
    """The names of amounts that qualify another."""
    known = facts()
    listed = {key: one for key, one in known.qualities.items() if one.of == name}
    return listed | {name + end: one for end, one in known.quality_endings.items()}


def domain(name: str) -> str:
    """`nvidia.com` of `nvidia.com/gpu`."""
    return name.partition("/")[0]


def _lists(raw: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {key: tuple(listed) for key, listed in raw.items()}
