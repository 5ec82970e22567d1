"""data/node-facts.yaml: what a node says of its devices in labels, in its status and by exporters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.packaged import read_data

_BETWEEN = re.compile(r"[-_\s]+")


@dataclass(frozen=True, slots=True)
class ExporterFact:
    """A metric that has a series for each device, or for each part of one."""

    metric: str
    node: tuple[str, ...]
    device: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What is known of one driver's devices; the data file says what each field holds."""

    labels: Mapping[str, str]
    memory_unit: str
    unless: Mapping[str, str]
    status: Mapping[str, str]
    attributes: Mapping[str, str]
    capacity: str | None
    physical: tuple[tuple[str, ...], ...]
    exporters: tuple[ExporterFact, ...]

    def tells_of_devices(self, labels: Mapping[str, str]) -> bool:
        """Whether labels and status are about whole devices, and not about parts of them."""
        return not any(
            label in labels and re.search(expression, labels[label])
            for label, expression in self.unless.items()
        )


@cache
def node_facts() -> Mapping[str, NodeFacts]:
    """By the driver's name."""
    return {name: _facts(told) for name, told in _data()["drivers"].items()}


@cache
def memory_tolerance() -> Fraction:
    """By which part two amounts of memory may differ and still be one."""
    return Fraction(int(_data()["memoryPercent"]), 100)


@cache
def exporter_metrics() -> tuple[str, ...]:
    """The metrics that are read, each once."""
    metrics = (one.metric for facts in node_facts().values() for one in facts.exporters)
    return tuple(dict.fromkeys(metrics))


def plain_product(product: str) -> str:
    """Labels write `-` or `_` where a product's name has blanks; sharing adds -SHARED behind it."""
    return _BETWEEN.sub("-", product.strip()).lower().removesuffix("-shared")


@cache
def _data() -> Mapping[str, Any]:
    data: Mapping[str, Any] = read_data("dracfg.check", "data/node-facts.yaml")
    return data


def _facts(told: Mapping[str, Any]) -> NodeFacts:
    return NodeFacts(
        labels=told.get("labels", {}),
        memory_unit=told.get("memoryUnit", ""),
        unless=told.get("unless", {}),
        status=told.get("status") or {},
        attributes=told.get("attributes", {}),
        capacity=told.get("capacity"),
        physical=tuple(map(tuple, told.get("physical", ()))),
        exporters=tuple(
            ExporterFact(one["metric"], tuple(one["node"]), tuple(one["device"]))
            for one in told.get("exporters", ())
        ),
    )
