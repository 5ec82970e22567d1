"""A request as the API server knows it: who, what, where, on which resource and version.

Knows Kubernetes' words for requests and nothing of policies, roles or quotas.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from dracfg.dataclass import dataclass
from dracfg.kube.kinds import kind_of
from dracfg.lower.access import plural
from dracfg.lower.artifact import K8sObject

Operation = Literal["CREATE", "UPDATE", "DELETE"]

_SERVICE_ACCOUNT = "system:serviceaccount:"
NAMESPACE_NAME = "kubernetes.io/metadata.name"
"""The label that the API server sets on every Namespace and holds equal to its name (KEP-2161)."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request that has passed authentication.

    `object` is None for a deletion, `old` for a creation. `namespace` is the Namespace that the
    object lies in, None for objects of the cluster. `groups` are all groups of the user.
    """

    operation: Operation
    user: str
    groups: tuple[str, ...]
    object: K8sObject | None
    old: K8sObject | None
    namespace: K8sObject | None = None
    subresource: str = ""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    options: Mapping[str, Any] | None = None
    resource_name: str | None = None

    @property
    def subject(self) -> K8sObject:
        """What the request is about: the object, or the one that it deletes."""
        found = self.object if self.object is not None else self.old
        if found is None:
            raise ValueError("a request has an object or an old object")
        return found

    @property
    def kind(self) -> str:
        return str(self.subject["kind"])

    @property
    def group(self) -> str:
        return str(self.subject["apiVersion"]).rpartition("/")[0]

    @property
    def version(self) -> str:
        return str(self.subject["apiVersion"]).rpartition("/")[2]

    @property
    def resource(self) -> str:
        """The plural, as it stands in the path of the request."""
        return self.resource_name or plural(self.kind)

    @property
    def name(self) -> str:
        """The object's name; "" where the API server still has to make one up."""
        return str(self.subject.get("metadata", {}).get("name", ""))

    @property
    def namespace_name(self) -> str:
        """The namespace of the request; a Namespace that stands lies in itself."""
        if self.is_namespace:
            return "" if self.operation == "CREATE" else self.name
        return "" if self.namespace is None else str(self.namespace["metadata"]["name"])

    @property
    def is_namespace(self) -> bool:
        return (self.group, self.kind) == ("", "Namespace")


def authenticated_groups(user: str, groups: tuple[str, ...]) -> tuple[str, ...]:
    """The groups of a user with those that the API server adds.

    Source: kubernetes/apiserver@v0.34.2:pkg/authentication/serviceaccount/util.go and
    pkg/authentication/group/authenticated_group_adder.go.
    """
    added: list[str] = []
    if user.startswith(_SERVICE_ACCOUNT):
        namespace = user.removeprefix(_SERVICE_ACCOUNT).partition(":")[0]
        added += ["system:serviceaccounts", f"system:serviceaccounts:{namespace}"]
    added.append("system:unauthenticated" if user == "system:anonymous" else "system:authenticated")
    return tuple(dict.fromkeys((*groups, *added)))


def named_namespace(name: str, found: K8sObject | None = None) -> K8sObject:
    """The Namespace as it stands in the cluster: the emitted one, or one that carries nothing."""
    thing = found or {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    labels = thing["metadata"].get("labels", {}) | {NAMESPACE_NAME: name}
    return {**thing, "metadata": {**thing["metadata"], "labels": labels}}


def is_namespaced(thing: K8sObject) -> bool | None:
    """Whether objects of the kind lie in a namespace; None where dracfg does not know the kind."""
    known = kind_of(str(thing.get("apiVersion", "")), str(thing.get("kind", "")))
    return None if known is None else known.namespaced
