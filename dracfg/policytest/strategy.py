"""What the API server refuses by itself, before any policy is asked.

Only what policies are easily taken for: admin access without the namespace's label, and changes of
fields that can't be changed. Schemas are judged elsewhere.
Source: kubernetes/kubernetes@v1.36.3: pkg/registry/resource/resourceclaim/strategy.go
(resourceutils.AuthorizedForAdmin), and the sources of kube/data/kinds.yaml.
"""

from __future__ import annotations

from typing import Any

from dracfg.kube.kinds import kind_of
from dracfg.lower.artifact import K8sObject
from dracfg.lower.rights import ADMIN_LABEL
from dracfg.policytest.requests import Request
from dracfg.policytest.versions import DRA_GROUP, converted


def refusal(request: Request) -> str | None:
    """Why the API server takes a request neither to policies nor to its store; None where it does."""
    if request.object is None or request.subresource:
        return None
    return _without_label(request) or _changed(request)


def _without_label(request: Request) -> str | None:
    """Judged when claims and templates are made; the label may go later."""
    if request.operation != "CREATE" or request.group != DRA_GROUP or request.namespace is None:
        return None
    labels = request.namespace["metadata"].get("labels", {})
    if labels.get(ADMIN_LABEL) == "true" or not _has_admin_access(request.subject):
        return None
    return (
        f"{request.kind} is invalid: admin access to devices requires the "
        f"`{ADMIN_LABEL}: true` label on the containing namespace"
    )


def _has_admin_access(thing: K8sObject) -> bool:
    spec = converted(thing, "v1").get("spec", {})
    claim = spec.get("spec", spec) if thing["kind"] == "ResourceClaimTemplate" else spec
    requests = claim.get("devices", {}).get("requests", ())
    return any(one.get("exactly", {}).get("adminAccess") is True for one in requests)


def _changed(request: Request) -> str | None:
    if request.operation != "UPDATE" or request.object is None or request.old is None:
        return None
    known = kind_of(str(request.subject["apiVersion"]), request.kind)
    old = converted(request.old, request.version)
    for pointer in known.immutable if known is not None else ():
        if _at(request.object, pointer) != _at(old, pointer):
            return f"{request.kind} is invalid: {pointer}: field is immutable"
    return None


def _at(thing: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        thing = thing.get(step) if isinstance(thing, dict) else None
    return thing
