"""The few objects that the suites create by themselves, with every default written out."""

from __future__ import annotations

from tests.cluster.client import Object
from tests.cluster.drivers import RESOURCE


def device_class(name: str, driver: str) -> Object:
    """All devices of a driver."""
    selector = {"cel": {"expression": f'device.driver == "{driver}"'}}
    return _object(RESOURCE, "DeviceClass", name, spec={"selectors": [selector]})


def claim(namespace: str, name: str, class_name: str, **exactly: object) -> Object:
    """One device, as a request named `gpu`; `exactly` adds to the request."""
    return _object(RESOURCE, "ResourceClaim", name, namespace, spec=_spec(class_name, exactly))


def template(namespace: str, name: str, class_name: str, **exactly: object) -> Object:
    spec = {"spec": _spec(class_name, exactly)}
    return _object(RESOURCE, "ResourceClaimTemplate", name, namespace, spec=spec)


def pod(namespace: str, name: str, **claims: str) -> Object:
    """A pod with one container; `claims` is claim="name" or template="name", or nothing."""
    keys = {"claim": "resourceClaimName", "template": "resourceClaimTemplateName"}
    used = [{"name": "gpu", keys[how]: which} for how, which in claims.items()]
    container: Object = {"name": "main", "image": "none"}
    if used:
        container["resources"] = {"claims": [{"name": "gpu"}]}
    spec = {"containers": [container], "resourceClaims": used}
    return _object("v1", "Pod", name, namespace, spec=spec)


def _spec(class_name: str, exactly: Object) -> Object:
    asked = {"deviceClassName": class_name, "allocationMode": "ExactCount", "count": 1, **exactly}
    if asked["allocationMode"] == "All":
        del asked["count"]
    return {"devices": {"requests": [{"name": "gpu", "exactly": asked}]}}


def _object(api_version: str, kind: str, name: str, namespace: str = "", **parts: Object) -> Object:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **parts}
