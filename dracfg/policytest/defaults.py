"""What the API server makes of an object before policies see it: defaults, and fields it drops.

Source: kubernetes/kubernetes@v1.36.3: pkg/apis/resource/v1/defaults.go, pkg/apis/core/v1/defaults.go
(requests of extended resources follow limits), and the strategies behind kube/data/gated-fields.yaml.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.kube.gates import GateUse, derive
from dracfg.lower.artifact import K8sObject

_DROPPED = ("dropped", "dropped-then-rejected")


@dataclass(frozen=True, slots=True)
class Stored:
    """The object as admission sees it. `refusal` says why the API server takes none of it."""

    object: K8sObject
    dropped: tuple[GateUse, ...] = ()
    refusal: str | None = None


def defaulted(thing: K8sObject) -> K8sObject:
    """An object as it stands, with the defaults that it got when it was made."""
    made = deepcopy(thing)
    _set_defaults(made)
    return made


def prepared(
    thing: K8sObject, old: K8sObject | None, minor: str, is_on: Callable[[str], bool]
) -> Stored:
    """An object, in the version it was sent in, with defaults and without fields of gates that are off.

    A field stays where the old object uses the gate already. A whole object is never dropped: where
    its gate is off, it is stored and nothing acts on it.
    """
    made = defaulted(thing)
    kept = set() if old is None else {use.gate for use in derive([old], minor)}
    off = [use for use in derive([made], minor) if use.gate not in kept and not is_on(use.gate)]
    dropped: list[GateUse] = []
    refusal = None
    # From the back, so that places in lists stay what they are.
    for use in reversed(off):
        if use.when_off in _DROPPED:
            _remove(made, use.pointer)
            dropped.append(use)
            if use.when_off == "dropped-then-rejected":
                refusal = use.reason
        elif use.when_off == "rejected":
            refusal = use.reason
    return Stored(made, tuple(reversed(dropped)), refusal)


def written_out(thing: K8sObject) -> K8sObject:
    """A claim or template as policies read it: without requests, `requests` stands there as null.

    The field has no omitempty in any version (kubernetes/api@v0.36.3:resource/v1/types.go).
    """
    spec = thing.get("spec")
    if thing.get("kind") == "ResourceClaimTemplate" and isinstance(spec, dict):
        return {**thing, "spec": {**spec, "spec": _with_requests(spec.get("spec"))}}
    if thing.get("kind") == "ResourceClaim":
        return {**thing, "spec": _with_requests(spec)}
    return thing


def _with_requests(spec: Any) -> dict[str, Any]:
    made = spec if isinstance(spec, dict) else {}
    return {**made, "devices": {"requests": None, **(made.get("devices") or {})}}


def _set_defaults(thing: K8sObject) -> None:
    match thing.get("kind"):
        case "ResourceClaim":
            _default_claim(thing.get("spec"))
        case "ResourceClaimTemplate":
            spec = thing.get("spec")
            _default_claim(spec.get("spec") if isinstance(spec, dict) else None)
        case "Pod":
            _default_pod(thing.get("spec"))


def _default_claim(spec: Any) -> None:
    for ask in _asks(spec):
        mode = ask.setdefault("allocationMode", "ExactCount")
        if mode == "ExactCount":
            ask.setdefault("count", 1)
    for request in _requests(spec):
        for ask in [request, *request.get("firstAvailable", ())]:
            for toleration in _of(ask, "tolerations") + _of(ask.get("exactly", {}), "tolerations"):
                toleration.setdefault("operator", "Equal")


def _asks(spec: Any) -> Iterator[dict[str, Any]]:
    for request in _requests(spec):
        if isinstance(request.get("exactly"), dict):
            yield request["exactly"]
        elif request.get("deviceClassName"):  # resource.k8s.io/v1beta1
            yield request
        yield from _of(request, "firstAvailable")


def _requests(spec: Any) -> list[dict[str, Any]]:
    devices = spec.get("devices") if isinstance(spec, dict) else None
    return _of(devices, "requests") if isinstance(devices, dict) else []


def _of(holder: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    found = holder.get(key)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _default_pod(spec: Any) -> None:
    """Requests that are left out follow limits; so an extended resource in limits is asked for."""
    if not isinstance(spec, dict):
        return
    spec.setdefault("terminationGracePeriodSeconds", 30)
    for container in _of(spec, "initContainers") + _of(spec, "containers"):
        resources = container.get("resources")
        if isinstance(resources, dict) and isinstance(resources.get("limits"), dict):
            resources["requests"] = resources["limits"] | (resources.get("requests") or {})


def _remove(thing: K8sObject, pointer: str) -> None:
    """Takes a value out, and the maps that hold nothing else: the API server drops those whole."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    holders: list[Any] = [thing]
    for step in steps[:-1]:
        holder = holders[-1]
        holders.append(holder[int(step)] if isinstance(holder, list) else holder[step])
    while steps:
        holder, step = holders.pop(), steps.pop()
        if isinstance(holder, list):
            del holder[int(step)]
            return
        del holder[step]
        if holder:
            return
