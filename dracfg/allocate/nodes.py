"""Nodes, and which of them a slice or a device is reachable from.

Follows `NodeSelector` of k8s.io/component-helpers scheduling/corev1/nodeaffinity and NodeMatches of
kubernetes/dynamic-resource-allocation@v0.36.3 (structured/internal/incubating/pools_incubating.go).
Judges selectors that were read without a fault; says so where a node's labels are not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.kube.names import check_label_key, check_label_value

NAME_FIELD = "metadata.name"
OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")

_INT = re.compile(r"[-+]?[0-9]{1,19}")


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the cluster; `labels` is None where only its name is known.

    `declared_features` are those of its status, as kubelet declares them from 1.37 on.
    """

    name: str
    labels: Mapping[str, str] | None = None
    declared_features: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Requirement:
    """One line of a selector term: `key operator values`; the key of a field is metadata.name."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def holds(self, values: Mapping[str, str]) -> bool:
        """Whether a node with these labels (or fields) meets the requirement."""
        value = values.get(self.key)
        match self.operator:
            case "In":
                return value in self.values
            case "NotIn":
                return value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case _:
                if value is None or not _INT.fullmatch(value):
                    return False
                bound = int(self.values[0])
                return int(value) > bound if self.operator == "Gt" else int(value) < bound


@dataclass(frozen=True, slots=True)
class NodeSelector:
    """The one term that DRA allows; a term without requirements selects no node."""

    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()

    def selects(self, node: Node) -> bool | None:
        """Whether the node is selected; None where that hangs on labels that are not known."""
        if not self.expressions and not self.fields:
            return False
        if not all(part.holds({NAME_FIELD: node.name}) for part in self.fields):
            return False
        if node.labels is None:
            return None if self.expressions else True
        return all(part.holds(node.labels) for part in self.expressions)


@dataclass(frozen=True, slots=True)
class NodeSelection:
    """Where devices can be used: on one node, on all, or on those that a selector picks."""

    node_name: str | None = None
    all_nodes: bool = False
    selector: NodeSelector | None = None

    def reaches(self, node: Node) -> bool | None:
        """Whether the node can use the devices; None where its labels would have to be known."""
        if self.node_name is not None:
            return node.name == self.node_name
        if self.all_nodes:
            return True
        return self.selector.selects(node) if self.selector is not None else False


SelectionFault = tuple[tuple[str | int, ...], str]
"""Where in the owner of a selection something is wrong, and what."""


def read_selection(
    owner: Mapping[str, Any],
) -> tuple[NodeSelection | None, tuple[SelectionFault, ...]]:
    """The node selection of a slice or device whose shape holds, and what Kubernetes would refuse.

    Nothing is wrong with an owner that selects no node; only the reader of it knows whether it may.
    """
    named = [name for name in ("nodeName", "nodeSelector", "allNodes") if owner.get(name)]
    if len(named) > 1:
        return None, (((named[1],), f"must not stand beside {named[0]}"),)
    if not named:
        return None, ()
    if "nodeName" in named:
        return NodeSelection(node_name=owner["nodeName"]), ()
    if "allNodes" in named:
        return NodeSelection(all_nodes=True), ()
    terms = owner["nodeSelector"]["nodeSelectorTerms"]
    at = ("nodeSelector", "nodeSelectorTerms")
    if len(terms) != 1:
        return None, ((at, f"must hold exactly one term, it has {len(terms)}"),)
    expressions = _requirements(terms[0].get("matchExpressions", ()))
    fields = _requirements(terms[0].get("matchFields", ()))
    faults = tuple(
        ((*at, 0, kind, number, refusal[0]), refusal[1])
        for kind, parts in (("matchExpressions", expressions), ("matchFields", fields))
        for number, part in enumerate(parts)
        if (refusal := _refusal(part, is_field=kind == "matchFields")) is not None
    )
    selection = NodeSelection(selector=NodeSelector(expressions, fields))
    return (None if faults else selection), faults


def _requirements(parts: Iterable[Mapping[str, Any]]) -> tuple[Requirement, ...]:
    return tuple(
        Requirement(part["key"], part["operator"], tuple(part.get("values", ()))) for part in parts
    )


def _refusal(part: Requirement, *, is_field: bool) -> tuple[str, str] | None:
    """What Kubernetes would refuse of one requirement: where, and why."""
    if is_field:
        if part.key != NAME_FIELD:
            return "key", f"must be {NAME_FIELD}, the only field that can be selected"
        if part.operator not in ("In", "NotIn"):
            return "operator", "must be In or NotIn for a field"
        return None if len(part.values) == 1 else ("values", "must hold exactly one name")
    if part.operator not in OPERATORS:
        return "operator", f"{part.operator!r} is none of {', '.join(OPERATORS)}"
    if (reason := check_label_key(part.key)) is not None:
        return "key", f"{part.key!r} {reason}"
    match part.operator:
        case "In" | "NotIn" if not part.values:
            return "values", f"must not be empty with {part.operator}"
        case "Exists" | "DoesNotExist" if part.values:
            return "values", f"must be empty with {part.operator}"
        case "Gt" | "Lt" if len(part.values) != 1 or not _INT.fullmatch(part.values[0]):
            return "values", f"must hold one whole number with {part.operator}"
    for value in part.values:
        if (reason := check_label_value(value)) is not None:
            return "values", f"{value!r} {reason}"
    return None


NO_LABELS: Mapping[str, str] = MappingProxyType({})


def read_node(data: Mapping[str, Any]) -> Node | None:
    """A recorded Node, or None where it has no name; labels that are not text are left out."""
    metadata = data.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        return None
    labels = metadata.get("labels")
    status = data.get("status")
    declared = status.get("declaredFeatures") if isinstance(status, dict) else None
    return Node(
        metadata["name"],
        {k: v for k, v in labels.items() if isinstance(v, str)}
        if isinstance(labels, dict)
        else NO_LABELS,
        frozenset(name for name in declared if isinstance(name, str))
        if isinstance(declared, list)
        else frozenset(),
    )
