"""The content of one claim, template or class → typed facts, with every fault of its values.

Takes content whose shape holds (types, known fields); judges what the schema cannot say: names,
quantities, what must and must not stand together. Writes the API server's defaults out. Follows
kubernetes/kubernetes@v1.36.3:pkg/apis/resource/v1/defaults.go and validation of resource.k8s.io.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from dracfg.allocate.claims import (
    AllocationMode,
    ClaimAllocation,
    ClaimConstraint,
    ClaimSpec,
    Consumer,
    DeviceRequest,
    DeviceResult,
    OpaqueConfig,
    Request,
    Toleration,
)
from dracfg.allocate.faults import Faults
from dracfg.allocate.nodes import NodeSelector, read_selection
from dracfg.kube.limits import Limits
from dracfg.kube.names import check_dns_label, check_fully_qualified_attribute
from dracfg.kube.quantity import Quantity
from dracfg.source.records import Steps

_OPERATORS: tuple[Literal["Exists", "Equal"], ...] = ("Exists", "Equal")
_MODES: tuple[AllocationMode, ...] = ("ExactCount", "All")
_SOURCES: tuple[Literal["FromClass", "FromClaim"], ...] = ("FromClass", "FromClaim")
_EFFECTS = ("", "None", "NoSchedule", "NoExecute")


class ContentReader:
    """Reads parts of one object; `flat` says that requests have the form of v1beta1."""

    def __init__(self, flat: bool, limits: Limits, faults: Faults) -> None:
        self.flat, self.limits, self.faults = flat, limits, faults

    def spec(self, devices: Mapping[str, Any], at: Steps) -> ClaimSpec:
        """The `devices` of a claim spec."""
        requests = self._requests(devices.get("requests", ()), (*at, "requests"))
        names = {request.name for request in requests} | {
            f"{request.name}/{ask.name}" for request in requests for ask in request.first_available
        }
        constraints, configs = devices.get("constraints", ()), devices.get("config", ())
        for name, listed, most in (
            ("constraints", constraints, self.limits.constraints_per_claim),
            ("config", configs, self.limits.configs_per_claim),
        ):
            self._check_number(f"entries of {name}", listed, most, (*at, name))
        return ClaimSpec(
            requests,
            tuple(
                self._constraint(part, names, (*at, "constraints", number))
                for number, part in enumerate(constraints)
            ),
            self.configs(configs, (*at, "config"), names),
        )

    def selectors(self, listed: Sequence[Mapping[str, Any]], at: Steps) -> tuple[str, ...]:
        """CEL expressions in their order."""
        found = []
        for number, selector in enumerate(listed):
            expression = selector.get("cel", {}).get("expression", "")
            if not expression:
                self._refuse((*at, number), "a selector must hold a CEL expression")
            found.append(expression)
        return tuple(found)

    def configs(
        self,
        listed: Sequence[Mapping[str, Any]],
        at: Steps,
        names: Iterable[str] | None = None,
    ) -> tuple[OpaqueConfig, ...]:
        """Opaque parameters; `names` are the requests that they may name, None for any."""
        found = []
        for number, part in enumerate(listed):
            here = (*at, number)
            opaque, source = part.get("opaque"), part.get("source")
            if opaque is None:
                self._refuse(here, "an entry of config must hold opaque parameters")
                continue
            if source is not None and source not in _SOURCES:
                self._refuse((*here, "source"), _none_of("source", source, _SOURCES))
                continue
            requests = tuple(part.get("requests", ()))
            if names is not None:
                self._check_references(requests, names, (*here, "requests"))
            parameters = opaque.get("parameters", {})
            if not isinstance(parameters, dict):
                self._refuse((*here, "opaque", "parameters"), "parameters must be an object")
                continue
            found.append(OpaqueConfig(opaque["driver"], parameters, requests, source))
        return tuple(found)

    def allocation(self, data: Mapping[str, Any], at: Steps) -> ClaimAllocation:
        """The `allocation` of a claim's status."""
        devices = data.get("devices", {})
        results = devices.get("results", ())
        here = (*at, "devices")
        most = self.limits.devices_per_claim
        self._check_number("results", results, most, (*here, "results"))
        return ClaimAllocation(
            tuple(self._result(part, (*here, "results", n)) for n, part in enumerate(results)),
            self.configs(devices.get("config", ()), (*here, "config")),
            self._node_selector(data, at),
            data.get("allocationTimestamp"),
        )

    def consumers(self, listed: Iterable[Mapping[str, Any]]) -> tuple[Consumer, ...]:
        """The entries of `reservedFor`."""
        return tuple(
            Consumer(part["resource"], part["name"], part["uid"], part.get("apiGroup", ""))
            for part in listed
        )

    def _requests(self, listed: Sequence[Mapping[str, Any]], at: Steps) -> tuple[Request, ...]:
        self._check_number("requests", listed, self.limits.requests_per_claim, at)
        self._check_names("request", listed, at)
        return tuple(self._request(part, (*at, number)) for number, part in enumerate(listed))

    def _request(self, part: Mapping[str, Any], at: Steps) -> Request:
        name, alternatives = part["name"], part.get("firstAvailable", ())
        exactly, here = part.get("exactly"), (*at, "exactly")
        if self.flat:
            own = {k: v for k, v in part.items() if k not in ("name", "firstAvailable")}
            exactly, here = own or None, at
        if (exactly is None) is (not alternatives):
            some = "both" if alternatives else "neither"
            self._refuse(
                at, f"request {name} has {some} of exactly and firstAvailable, one must be there"
            )
            return Request(name)
        if exactly is not None:
            return Request(name, exactly=self._ask(name, exactly, here))
        here = (*at, "firstAvailable")
        most = self.limits.alternatives_per_request
        self._check_number("alternatives", alternatives, most, here)
        self._check_names("alternative", alternatives, here)
        return Request(
            name,
            first_available=tuple(
                self._ask(alternative["name"], alternative, (*here, number))
                for number, alternative in enumerate(alternatives)
            ),
        )

    def _ask(self, name: str, part: Mapping[str, Any], at: Steps) -> DeviceRequest:
        device_class = part.get("deviceClassName", "")
        if not device_class:
            self._refuse(at, f"request {name} names no deviceClassName")
        selectors = part.get("selectors", ())
        most = self.limits.selectors_per_request
        self._check_number("selectors", selectors, most, (*at, "selectors"))
        mode, count = self._amount(part, at)
        requested = part.get("capacity", {}).get("requests", {})
        return DeviceRequest(
            name=name,
            device_class=device_class,
            selectors=self.selectors(selectors, (*at, "selectors")),
            mode=mode,
            count=count,
            admin_access=part.get("adminAccess", False),
            tolerations=self._tolerations(part.get("tolerations", ()), (*at, "tolerations")),
            capacity=self._quantities(requested, (*at, "capacity", "requests")),
            derived_attributes=tuple(
                (one["name"], one["expression"]) for one in part.get("derivedAttributes", ())
            ),
        )

    def _amount(self, part: Mapping[str, Any], at: Steps) -> tuple[AllocationMode, int]:
        """Mode and count; a count of 0 is none, as the API server takes it."""
        mode = part.get("allocationMode") or "ExactCount"
        count = part.get("count", 0)
        if mode not in _MODES:
            self._refuse((*at, "allocationMode"), _none_of("allocationMode", mode, _MODES))
            return "ExactCount", 1
        if mode == "All":
            if count:
                self._refuse((*at, "count"), "count must not stand beside allocationMode All")
            return "All", 1
        if count < 0:
            self._refuse((*at, "count"), f"count must be above 0, it is {count}")
        return "ExactCount", count or 1

    def _tolerations(
        self, listed: Iterable[Mapping[str, Any]], at: Steps
    ) -> tuple[Toleration, ...]:
        found = []
        for number, part in enumerate(listed):
            operator = part.get("operator") or "Equal"
            key, value, effect = (part.get(name, "") for name in ("key", "value", "effect"))
            if operator not in _OPERATORS:
                self._refuse((*at, number, "operator"), _none_of("operator", operator, _OPERATORS))
                continue
            if effect not in _EFFECTS:
                self._refuse((*at, number, "effect"), _none_of("effect", effect, _EFFECTS[1:]))
            if operator == "Exists" and value:
                self._refuse((*at, number, "value"), "value must be empty with operator Exists")
            if operator == "Equal" and not key:
                self._refuse((*at, number), "operator must be Exists where the key is empty")
            found.append(Toleration(key, operator, value, effect))
        return tuple(found)

    def _constraint(
        self, part: Mapping[str, Any], names: Iterable[str], at: Steps
    ) -> ClaimConstraint:
        requests = tuple(part.get("requests", ()))
        self._check_references(requests, names, (*at, "requests"))
        named = {
            kind: part[kind] for kind in ("matchAttribute", "distinctAttribute") if part.get(kind)
        }
        if not named:
            self._refuse(at, "a constraint must hold matchAttribute or distinctAttribute")
        for kind, attribute in named.items():
            reason = check_fully_qualified_attribute(attribute)
            if reason is not None:
                self._refuse((*at, kind), f"{attribute!r} {reason}")
        return ClaimConstraint(
            requests, named.get("matchAttribute"), named.get("distinctAttribute")
        )

    def _result(self, part: Mapping[str, Any], at: Steps) -> DeviceResult:
        consumed = part.get("consumedCapacity", {})
        return DeviceResult(
            request=part["request"],
            driver=part["driver"],
            pool=part["pool"],
            device=part["device"],
            admin_access=part.get("adminAccess", False),
            tolerations=self._tolerations(part.get("tolerations", ()), (*at, "tolerations")),
            share_id=part.get("shareID"),
            consumed_capacity=self._quantities(consumed, (*at, "consumedCapacity")),
            binding_conditions=tuple(part.get("bindingConditions", ())),
            binding_failure_conditions=tuple(part.get("bindingFailureConditions", ())),
        )

    def _node_selector(self, data: Mapping[str, Any], at: Steps) -> NodeSelector | None:
        if not data.get("nodeSelector"):
            return None
        selection, wrong = read_selection({"nodeSelector": data["nodeSelector"]})
        for steps, message in wrong:
            self._refuse((*at, *steps), f"{steps[-1]} {message}")
        return selection.selector if selection is not None else None

    def _quantities(self, amounts: Mapping[str, Any], at: Steps) -> dict[str, Quantity]:
        found = {}
        for key, text in amounts.items():
            try:
                found[key] = Quantity.parse(text)
            except ValueError as error:
                self.faults.add("INV033", (*at, key), str(error), found=str(text))
                continue
            if found[key].nano < 0:
                self.faults.add("INV033", (*at, key), f"{key} must not be negative, it is {text}")
        return found

    def _check_references(self, named: Iterable[str], names: Iterable[str], at: Steps) -> None:
        known = set(names)
        for number, name in enumerate(named):
            if name not in known:
                self._refuse((*at, number), f"no request of the claim is named {name}")

    def _check_names(self, what: str, listed: Iterable[Mapping[str, Any]], at: Steps) -> None:
        seen: set[str] = set()
        for number, part in enumerate(listed):
            name = part["name"]
            reason = check_dns_label(name)
            if name in seen:
                reason = "is the name of another one"
            if reason is not None:
                self._refuse((*at, number, "name"), f"{what} {name!r} {reason}")
            seen.add(name)

    def _check_number(self, what: str, listed: Sequence[Any], most: int, at: Steps) -> None:
        if len(listed) > most:
            self._refuse(at, f"{len(listed)} {what}, Kubernetes takes {most}", key=True)

    def _refuse(self, at: Steps, message: str, *, key: bool = False) -> None:
        self.faults.add("INV034", at, message, key=key)


def _none_of(what: str, found: str, known: Sequence[str]) -> str:
    return f"{what} {found!r} is none of {', '.join(known)}"
