"""The content of one published device → typed facts, with every fault of its values.

Takes content whose shape holds (types, known fields); judges what the schema cannot say: names,
quantities, versions, policies, numbers of things. Follows sections 2.5, 4, 5 and 8 of the API
reference: kubernetes/api resource/v1 types.go and the validation of kube-apiserver.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any

from dracfg.allocate.devices import (
    Attribute,
    AttributeType,
    CapacityFact,
    CounterConsumption,
    Device,
    Origin,
    Taint,
)
from dracfg.allocate.faults import Faults
from dracfg.allocate.nodes import NodeSelection
from dracfg.kube.limits import Limits
from dracfg.kube.names import (
    check_attribute_name,
    check_dns_label,
    check_label_key,
    check_label_value,
)
from dracfg.kube.quantity import Quantity
from dracfg.kube.requestpolicy import RequestPolicy
from dracfg.source.records import Steps

EFFECTS = ("None", "NoSchedule", "NoExecute")
TYPES: tuple[AttributeType, ...] = (
    "int",
    "bool",
    "string",
    "version",
    "ints",
    "bools",
    "strings",
    "versions",
)

_PART = r"(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_VERSION = re.compile(
    rf"(?:(?:0|[1-9][0-9]*)\.){{2}}(?:0|[1-9][0-9]*)(?:-{_PART}(?:\.{_PART})*)?"
    r"(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
)
"""Semantic Versioning 2.0.0, without a leading v."""


class ContentReader:
    """Reads the devices of one slice; `limits` are those of the cluster's minor."""

    def __init__(self, driver: str, pool: str, limits: Limits, faults: Faults) -> None:
        self.driver, self.pool, self.limits, self.faults = driver, pool, limits, faults

    def device(
        self, name: str, content: Mapping[str, Any], nodes: NodeSelection, at: Steps
    ) -> Device | None:
        """The device whose content stands at `at`; None where a value of it can't be read."""
        before = len(self.faults.found)
        attributes = self._attributes(content.get("attributes", {}), (*at, "attributes"))
        shareable = content.get("allowMultipleAllocations", False)
        capacity = self._capacity(content.get("capacity", {}), shareable, (*at, "capacity"))
        consumed = self._consumptions(content.get("consumesCounters", ()), at)
        readable = len(self.faults.found) == before
        taints = self._taints(content.get("taints", ()), at)
        self._names_and_numbers(content, at)
        if not readable:
            return None
        return Device(
            driver=self.driver,
            pool=self.pool,
            name=name,
            nodes=nodes,
            attributes=attributes,
            capacity=capacity,
            allow_multiple_allocations=shareable,
            consumes_counters=consumed,
            taints=taints,
            binds_to_node=content.get("bindsToNode", False),
            binding_conditions=tuple(content.get("bindingConditions", ())),
            binding_failure_conditions=tuple(content.get("bindingFailureConditions", ())),
            origin=Origin(self.faults.object, at),
        )

    def counters(self, counters: Mapping[str, Any], at: Steps) -> dict[str, Quantity]:
        """Counters by name; one that can't be read is left out and found."""
        values = {}
        for name, counter in counters.items():
            value = self._quantity(counter["value"], (*at, name, "value"))
            if value is not None:
                values[name] = value
        return values

    def check_name(
        self, check: Callable[[str], str | None], what: str, name: str, at: Steps, *, key: bool
    ) -> None:
        """A finding where a name is none that Kubernetes takes."""
        reason = check(name)
        if reason is not None:
            self.faults.add("INV006", at, f"{what} {name!r} {reason}", key=key)

    def check_number(self, what: str, number: int, limit: int | None, at: Steps) -> None:
        """A finding where there is more of something than the API takes."""
        if limit is not None and number > limit:
            message = f"{number} {what}, the API takes {limit}"
            self.faults.add("INV009", at, message, key=True, found=str(number), expected=str(limit))

    def _attributes(
        self, published: Mapping[str, Any], at: Steps
    ) -> dict[str, dict[str, Attribute]]:
        found: dict[str, dict[str, Attribute]] = {}
        for key, typed in published.items():
            attribute, reason = _attribute(typed, self.limits.attribute_text_length)
            if attribute is None:
                self.faults.add("INV008", (*at, key), f"attribute {key} {reason}")
                continue
            domain, slash, identifier = key.rpartition("/")
            if not slash and f"{self.driver}/{key}" in published:
                # The allocator asks for the full name first, so that one holds.
                continue
            found.setdefault(domain if slash else self.driver, {})[identifier] = attribute
        return found

    def _capacity(
        self, published: Mapping[str, Any], shareable: bool, at: Steps
    ) -> dict[str, CapacityFact]:
        found = {}
        for key, capacity in published.items():
            value = self._quantity(capacity["value"], (*at, key, "value"))
            policy = None
            if (published_policy := capacity.get("requestPolicy")) is not None:
                policy = self._policy(key, published_policy, value, shareable, (*at, key))
            if value is not None:
                found[key] = CapacityFact(value, policy)
        return found

    def _policy(
        self,
        key: str,
        published: Mapping[str, Any],
        value: Quantity | None,
        shareable: bool,
        at: Steps,
    ) -> RequestPolicy | None:
        place = (*at, "requestPolicy")
        try:
            policy = RequestPolicy.from_object(published)
        except ValueError as reason:
            self.faults.add("INV010", place, f"request policy of {key}: {reason}", key=True)
            return None
        if not shareable:
            message = f"request policy of {key} on a device without allowMultipleAllocations"
            self.faults.add("INV010", place, message, key=True)
        values = len(policy.valid_values)
        self.check_number(
            "valid values", values, self.limits.request_policy_values, (*place, "validValues")
        )
        if value is not None:
            for refusal in _policy_refusals(policy, value):
                self.faults.add("INV010", place, f"request policy of {key}: {refusal}", key=True)
        return policy

    def _consumptions(
        self, published: Iterable[Mapping[str, Any]], at: Steps
    ) -> tuple[CounterConsumption, ...]:
        return tuple(
            CounterConsumption(
                part["counterSet"],
                self.counters(part["counters"], (*at, "consumesCounters", number, "counters")),
                tuple(part.get("compatibilityGroups", ())),
            )
            for number, part in enumerate(published)
        )

    def _taints(self, published: Iterable[Mapping[str, Any]], at: Steps) -> tuple[Taint, ...]:
        taints = []
        for number, part in enumerate(published):
            here = (*at, "taints", number)
            taint = Taint(part["key"], part.get("value", ""), part["effect"])
            self.check_name(check_label_key, "taint key", taint.key, (*here, "key"), key=False)
            self.check_name(
                check_label_value, "taint value", taint.value, (*here, "value"), key=False
            )
            if taint.effect not in EFFECTS:
                message = f"taint effect {taint.effect!r} is none of {', '.join(EFFECTS)}"
                self.faults.add("INV008", (*here, "effect"), message)
            taints.append(taint)
        return tuple(taints)

    def _names_and_numbers(self, content: Mapping[str, Any], at: Steps) -> None:
        """What the API refuses of a device although every value of it can be read."""
        limits = self.limits
        attributes, capacity = content.get("attributes", {}), content.get("capacity", {})
        for what, keys in (("attribute", attributes), ("capacity", capacity)):
            place = "attributes" if what == "attribute" else what
            for key in keys:
                if (reason := _key_refusal(key)) is not None:
                    self.faults.add(
                        "INV006", (*at, place, key), f"{what} {key!r} {reason}", key=True
                    )
                elif "/" not in key and f"{self.driver}/{key}" in keys:
                    self._two_names(what, key, (*at, place, key))
        number = len(attributes) + len(capacity)
        most = limits.attributes_and_capacities_per_device
        self.check_number("attributes and capacities", number, most, (*at, "attributes"))
        values = sum(_size(typed) for typed in attributes.values())
        most_values = limits.attribute_values_per_device
        self.check_number("attribute values", values, most_values, (*at, "attributes"))
        self.check_number(
            "taints", len(content.get("taints", ())), limits.taints_per_device, (*at, "taints")
        )
        self._bindings(content, at)
        if consumed := content.get("consumesCounters", ()):
            self._consumption_names(consumed, (*at, "consumesCounters"))

    def _two_names(self, what: str, key: str, at: Steps) -> None:
        if what == "attribute":
            message = f"attributes {key} and {self.driver}/{key} are one name; the second one holds"
        else:
            message = (
                f"capacity {key} and {self.driver}/{key} are one name in selectors, two in requests"
            )
        self.faults.add("INV016", at, message, key=True)

    def _bindings(self, content: Mapping[str, Any], at: Steps) -> None:
        wanted = content.get("bindingConditions", ())
        failing = content.get("bindingFailureConditions", ())
        most = self.limits.binding_conditions_per_device
        self.check_number("binding conditions", len(wanted), most, (*at, "bindingConditions"))
        place = (*at, "bindingFailureConditions")
        self.check_number("binding failure conditions", len(failing), most, place)
        if bool(wanted) != bool(failing):
            message = "bindingConditions and bindingFailureConditions need each other"
            name = "bindingConditions" if wanted else "bindingFailureConditions"
            self.faults.add("INV008", (*at, name), message, key=True)
        for both in sorted(set(wanted) & set(failing)):
            message = f"{both!r} is both a binding condition and a binding failure condition"
            self.faults.add("INV008", place, message, key=True)

    def _consumption_names(self, published: Iterable[Mapping[str, Any]], at: Steps) -> None:
        limits = self.limits
        parts = list(published)
        self.check_number("counter sets", len(parts), limits.counter_consumptions_per_device, at)
        total = sum(len(part["counters"]) for part in parts)
        self.check_number("counters", total, limits.consumed_counters_per_device, at)
        for number, part in enumerate(parts):
            here = (*at, number)
            self.check_name(
                check_dns_label, "counter set", part["counterSet"], (*here, "counterSet"), key=False
            )
            self.check_counter_names(part["counters"], (*here, "counters"))
            most = limits.counters_per_consumption
            self.check_number("counters", len(part["counters"]), most, (*here, "counters"))
            groups = part.get("compatibilityGroups", ())
            place = (*here, "compatibilityGroups")
            self.check_number(
                "compatibility groups",
                len(groups),
                limits.compatibility_groups_per_consumption,
                place,
            )
            for group in groups:
                self.check_name(check_dns_label, "compatibility group", group, place, key=True)

    def check_counter_names(self, counters: Iterable[str], at: Steps) -> None:
        """A finding for each counter whose name is no DNS label."""
        for name in counters:
            self.check_name(check_dns_label, "counter", name, (*at, name), key=True)

    def _quantity(self, published: Any, at: Steps) -> Quantity | None:
        try:
            return _parse_quantity(str(published))
        except ValueError as reason:
            self.faults.add("INV007", at, str(reason))
            return None


@lru_cache(maxsize=4096)
def _parse_quantity(text: str) -> Quantity:
    return Quantity.parse(text)


@lru_cache(maxsize=4096)
def _key_refusal(key: str) -> str | None:
    return check_attribute_name(key)


def _attribute(typed: Mapping[str, Any], longest: int) -> tuple[Attribute | None, str]:
    """The one value of an attribute, or why it has none that Kubernetes takes."""
    held = [kind for kind in TYPES if kind in typed]
    if len(held) != 1:
        return None, f"must hold exactly one value, it holds {', '.join(held) or 'none'}"
    kind, value = held[0], typed[held[0]]
    if kind in ("string", "version", "strings", "versions"):
        for text in value if isinstance(value, list) else (value,):
            if len(text) > longest:
                return None, f"has a text of {len(text)} characters, the API takes {longest}"
            if kind in ("version", "versions") and not _VERSION.fullmatch(text):
                return None, f"has the version {text!r}, which is not semantic versioning 2.0.0"
    return Attribute(kind, tuple(value) if isinstance(value, list) else value), ""


def _size(typed: Mapping[str, Any]) -> int:
    return sum(len(value) if isinstance(value, list) else 1 for value in typed.values())


def _policy_refusals(policy: RequestPolicy, value: Quantity) -> Iterable[str]:
    """What kube-apiserver refuses of a policy for a capacity of this value (KEP-5075)."""
    default, values, bounds = policy.default, policy.valid_values, policy.valid_range
    if default is None and (values or bounds is not None):
        yield "default is required beside validValues and validRange"
    if any(later <= earlier for earlier, later in pairwise(values)):
        yield "validValues must ascend"
    if values and default is not None and default not in values:
        yield f"default {default} is none of validValues"
    if values and values[-1] > value:
        yield f"valid value {values[-1]} is above the capacity {value}"
    if bounds is None:
        return
    if bounds.max is not None and bounds.max > value:
        yield f"max {bounds.max} is above the capacity {value}"
    if default is not None and not (
        bounds.min <= default and (bounds.max is None or default <= bounds.max)
    ):
        yield f"default {default} is outside validRange"
    if bounds.step is not None:
        for name, limit in (("default", default), ("max", bounds.max)):
            if limit is not None and (limit.nano - bounds.min.nano) % bounds.step.nano:
                yield f"{name} {limit} is not min plus a multiple of step {bounds.step}"
        if bounds.min + bounds.step > value:
            yield f"min plus step is above the capacity {value}"
