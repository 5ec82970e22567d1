"""Objects of older API versions as the newest: what `matchPolicy: Equivalent` shows to a policy.

Only the group resource.k8s.io has several versions among the kinds that policies match.
Source: kubernetes/api@v0.36.3: resource/v1beta1/types.go, resource/v1beta2/types.go, and the
conversions in kubernetes/kubernetes@v1.36.3:pkg/apis/resource/v1beta1/conversion.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dracfg.kube.features import feature_matrix
from dracfg.lower.artifact import K8sObject

DRA_GROUP = "resource.k8s.io"
VERSIONS = ("v1", "v1beta2", "v1beta1", "v1alpha3")
_FLAT = "v1beta1"
_OWN_FIELDS = ("name", "firstAvailable")
_TEMPLATES = ("ResourceClaimTemplate",)
_CLAIMS = ("ResourceClaim", *_TEMPLATES)


def equivalents(group: str, version: str, kind: str, minor: str) -> tuple[str, ...]:
    """Other versions in which the API server holds the same objects, the newest first."""
    if group != DRA_GROUP:
        return ()
    return tuple(
        other for other in VERSIONS if other != version and is_served(group, other, kind, minor)
    )


def is_served(group: str, version: str, kind: str, minor: str) -> bool:
    """Whether the API server may serve the version; groups that dracfg does not follow always."""
    if group != DRA_GROUP:
        return True
    return feature_matrix().served(f"{group}/{version}", kind, minor) != "no"


def converted(thing: K8sObject, version: str) -> K8sObject:
    """The object in another version of its group.

    In v1beta1 the fields of a request lie in the request itself, in the later versions under
    `exactly`; slices of v1beta1 keep what a device has under `basic`.
    """
    group, _, current = str(thing["apiVersion"]).rpartition("/")
    made = {**thing, "apiVersion": f"{group}/{version}"}
    if group != DRA_GROUP or (current == _FLAT) == (version == _FLAT):
        return made
    turn = _flat_request if version == _FLAT else _deep_request
    kind = thing["kind"]
    if kind in _CLAIMS and isinstance(made.get("spec"), Mapping):
        spec = dict(made["spec"])
        if kind in _TEMPLATES:
            if isinstance(spec.get("spec"), Mapping):
                spec["spec"] = _with_requests(spec["spec"], turn)
        else:
            spec = _with_requests(spec, turn)
        made["spec"] = spec
    elif kind == "ResourceSlice" and isinstance(made.get("spec"), Mapping):
        devices = [_turned_device(device, version) for device in made["spec"].get("devices", ())]
        made["spec"] = {**made["spec"], **({"devices": devices} if devices else {})}
    return made


def _with_requests(spec: Mapping[str, Any], turn: Any) -> dict[str, Any]:
    devices = spec.get("devices")
    if not isinstance(devices, Mapping) or not isinstance(devices.get("requests"), list):
        return dict(spec)
    return {
        **spec,
        "devices": {**devices, "requests": [turn(request) for request in devices["requests"]]},
    }


def _deep_request(request: Mapping[str, Any]) -> dict[str, Any]:
    asked = {key: value for key, value in request.items() if key not in _OWN_FIELDS}
    own = {key: request[key] for key in _OWN_FIELDS if key in request}
    return own | ({"exactly": asked} if asked else {})


def _flat_request(request: Mapping[str, Any]) -> dict[str, Any]:
    own = {key: request[key] for key in _OWN_FIELDS if key in request}
    return own | dict(request.get("exactly", {}))


def _turned_device(device: Mapping[str, Any], version: str) -> dict[str, Any]:
    if version == _FLAT:
        rest = {key: value for key, value in device.items() if key != "name"}
        return {"name": device.get("name"), "basic": rest}
    rest = {key: value for key, value in device.items() if key != "basic"}
    return rest | dict(device.get("basic", {}))
