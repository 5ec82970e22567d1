"""What an allocator answers, in a form in which the answers of two of them can be compared.

Wording and share identifiers are left out; errors are told apart by their kind, amounts by value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dracfg.allocate.claims import ClaimAllocation, DeviceResult, OpaqueConfig
from dracfg.allocate.nodes import NodeSelector
from dracfg.allocate.structured.outcomes import Allocation, Failed, Outcome, Unsatisfiable
from dracfg.kube.quantity import Quantity

KINDS = (
    ("feature-disabled", "feature is disabled"),
    ("missing-class", "could not retrieve device class"),
    ("too-many-devices", "exceeds the claim limit"),
    ("too-many-devices", "allocation max size exceeded"),
    ("pool-incomplete", "is currently being updated"),
    ("pool-invalid", "is currently invalid"),
    ("pool-invalid", "is invalid: "),
    ("cel-compile", "CEL compile error"),
    ("cel-runtime", "CEL runtime error"),
    ("constraint-unsatisfied", "because a claim constraint would not be satisfied"),
    ("derived-attribute", "derived attribute"),
    ("capacity", "capacity for device"),
    ("unknown-constraint", "empty constraint"),
)
"""Kind of an error → a part of its text in one of the minors; the first that fits holds."""

_PASSED_OVER = "invalid resource pools were encountered"


@dataclass(frozen=True, slots=True)
class Answer:
    """`outcome` is allocated, none, error or open (out of time); `detail` what can be compared."""

    outcome: Literal["allocated", "none", "error", "open"]
    detail: Any = None

    def agrees(self, other: Answer) -> bool:
        """Whether both say the same; an allocator that ran out of time contradicts nobody."""
        return "open" in (self.outcome, other.outcome) or self == other


def of_upstream(answer: Mapping[str, Any]) -> Answer:
    """From a line of the Go program; see tests/oracle/go/question.go."""
    match answer["outcome"]:
        case "allocated":
            found = [_upstream_allocation(item) for item in answer.get("allocations", ())]
            return Answer("allocated", found)
        case "none":
            return Answer("none")
        case "timeout":
            return Answer("open")
        case "panic":
            return Answer("error", "panic")
    text = answer["error"]
    if text.startswith(_PASSED_OVER):
        return Answer("none", "invalid pools")
    kind = next((kind for kind, part in KINDS if part in text), None)
    return Answer("error", kind or f"unknown: {text}")


def of_dracfg(outcome: Outcome) -> Answer:
    """From what dracfg's allocator returns."""
    match outcome:
        case Allocation():
            return Answer("allocated", [_allocation(item) for item in outcome.results])
        case Unsatisfiable():
            return Answer("none", "invalid pools" if outcome.invalid_pools else None)
        case Failed():
            return Answer("error", outcome.kind)
    return Answer("open")


def _upstream_allocation(published: Mapping[str, Any]) -> dict[str, Any]:
    devices = published.get("devices", {})
    return {
        "results": [_upstream_result(item) for item in devices.get("results", ())],
        "config": [
            {
                "source": item["source"],
                "requests": item.get("requests", []),
                **item["opaque"],
            }
            for item in devices.get("config", ())
        ],
        "nodeSelector": _upstream_selector(published.get("nodeSelector")),
    }


def _upstream_result(item: Mapping[str, Any]) -> dict[str, Any]:
    consumed = item.get("consumedCapacity", {})
    return {
        "request": item["request"],
        "device": [item["driver"], item["pool"], item["device"]],
        "adminAccess": item.get("adminAccess", False),
        "tolerations": [
            [one.get(name, "") for name in ("key", "operator", "value", "effect")]
            for one in item.get("tolerations", ())
        ],
        "shared": "shareID" in item,
        "consumed": {key: _amount(Quantity.parse(amount)) for key, amount in consumed.items()},
        "bindingConditions": item.get("bindingConditions", []),
        "bindingFailureConditions": item.get("bindingFailureConditions", []),
        "skipNodeOperations": item.get("skipNodeOperations", []),
    }


def _upstream_selector(selector: Mapping[str, Any] | None) -> Any:
    if selector is None:
        return None
    (term,) = selector["nodeSelectorTerms"]
    return {
        kind: [[one["key"], one["operator"], one.get("values", [])] for one in term.get(kind, ())]
        for kind in ("matchFields", "matchExpressions")
    }


def _allocation(allocation: ClaimAllocation) -> dict[str, Any]:
    return {
        "results": [_result(item) for item in allocation.results],
        "config": [_config(item) for item in allocation.config],
        "nodeSelector": _selector(allocation.node_selector),
    }


def _result(result: DeviceResult) -> dict[str, Any]:
    return {
        "request": result.request,
        "device": [*result.device_id],
        "adminAccess": result.admin_access,
        "tolerations": [[t.key, t.operator, t.value, t.effect] for t in result.tolerations],
        "shared": result.share_id is not None,
        "consumed": {key: _amount(amount) for key, amount in result.consumed_capacity.items()},
        "bindingConditions": [*result.binding_conditions],
        "bindingFailureConditions": [*result.binding_failure_conditions],
        "skipNodeOperations": [*result.skip_node_operations],
    }


def _config(config: OpaqueConfig) -> dict[str, Any]:
    return {
        "source": config.source,
        "requests": [*config.requests],
        "driver": config.driver,
        "parameters": dict(config.parameters),
    }


def _selector(selector: NodeSelector | None) -> Any:
    if selector is None:
        return None
    return {
        kind: [[one.key, one.operator, [*one.values]] for one in requirements]
        for kind, requirements in (
            ("matchFields", selector.fields),
            ("matchExpressions", selector.expressions),
        )
    }


def _amount(quantity: Quantity) -> int | str:
    """Billionths; only the sign of an amount that ran over 64 bits and came out below zero.

    Up to 1.36 the original then adds later shares to the amount that it has already handed out.
    """
    return quantity.nano if quantity.nano >= 0 else "below zero"
