"""Recorded roles and bindings → who in some namespaces may read claims or slices by a service account.

Knows RBAC as far as it is recorded, and no catalog. A role that is bound and not recorded is taken for
what Kubernetes ships under that name, or it says nothing.
Source: kubernetes/kubernetes@v1.36.3:plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Span
from dracfg.source.fields import maps, text, value
from dracfg.source.records import Record, RecordedObject

GROUP = "resource.k8s.io"
WATCHED = ("resourceclaims", "resourceslices")
READING = frozenset({"get", "list", "watch", "*"})
_SHIPPED: Mapping[str, tuple[str, ...]] = {
    "cluster-admin": WATCHED,
    "admin": ("resourceclaims",),
    "edit": ("resourceclaims",),
    "view": ("resourceclaims",),
}
"""What roles of Kubernetes' own may read of it, where the record does not hold them."""
_EVERYBODY = ("system:authenticated", "system:serviceaccounts")


@dataclass(frozen=True, slots=True)
class Reader:
    """A service account, or all of a namespace, that a binding lets read `resources`."""

    namespace: str
    subject: str
    binding: str
    role: str
    resources: tuple[str, ...]
    span: Span

    @property
    def is_ours(self) -> bool:
        """Whether dracfg's own role for exporters is what is bound."""
        return self.role == "dracfg-monitoring"

    def __str__(self) -> str:
        return f"{self.binding} lets {self.subject} read {' and '.join(self.resources)} by role {self.role}"


RBAC_KINDS = ("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding")


def access_objects(records: Sequence[Record]) -> tuple[RecordedObject, ...]:
    """The roles and bindings among recorded objects."""
    return tuple(
        item for record in records for item in record.objects if item.data.get("kind") in RBAC_KINDS
    )


def readers(items: Sequence[RecordedObject], namespaces: frozenset[str]) -> Iterator[Reader]:
    """Each binding by which a service account of the namespaces reads claims or slices, in record order.

    `items` are roles and bindings. A binding whose role is neither recorded nor shipped gives a reader
    without resources.
    """
    roles = {_key(item): _readable(item) for item in items if item.data.get("kind") in _ROLES}
    for item in items:
        if item.data.get("kind") not in ("RoleBinding", "ClusterRoleBinding"):
            continue
        own = text(item.data, "metadata", "namespace") or ""
        if item.data["kind"] == "RoleBinding" and own not in namespaces:
            continue
        kind, name = (
            text(item.data, "roleRef", "kind") or "",
            text(item.data, "roleRef", "name") or "",
        )
        resources = roles.get((kind, own if kind == "Role" else "", name))
        if resources is None and (kind == "Role" or name not in _SHIPPED):
            yield from _subjects(item, own, name, (), namespaces)
            continue
        resources = _SHIPPED[name] if resources is None else resources
        if own:  # slices have no namespace, so that a RoleBinding shows none
            resources = tuple(one for one in resources if one != "resourceslices")
        if resources:
            yield from _subjects(item, own, name, resources, namespaces)


_ROLES = ("Role", "ClusterRole")


def _subjects(
    item: RecordedObject,
    own: str,
    role: str,
    resources: tuple[str, ...],
    namespaces: frozenset[str],
) -> Iterator[Reader]:
    binding = f"{item.data['kind']} {own + '/' if own else ''}{text(item.data, 'metadata', 'name')}"
    for number, subject in enumerate(maps(item.data, "subjects")):
        kind, name = text(subject, "kind"), text(subject, "name") or ""
        if kind == "ServiceAccount":
            space = text(subject, "namespace") or own
            named = f"service account {space}/{name}"
        elif kind == "User" and name.startswith("system:serviceaccount:"):
            space, _, account = name.removeprefix("system:serviceaccount:").partition(":")
            named = f"service account {space}/{account}"
        elif kind == "Group" and name.startswith("system:serviceaccounts:"):
            space = name.removeprefix("system:serviceaccounts:")
            named = f"every service account of {space}"
        elif kind == "Group" and name in _EVERYBODY:
            space, named = own or next(iter(sorted(namespaces)), ""), f"group {name}"
        else:
            continue
        if space in namespaces:
            yield Reader(space, named, binding, role, resources, item.span("subjects", number))


def _readable(item: RecordedObject) -> tuple[str, ...]:
    """Which of claims and slices the rules of a role show."""
    rules = list(maps(item.data, "rules"))
    return tuple(
        resource
        for resource in WATCHED
        if any(
            _holds(rule, "apiGroups", (GROUP,))
            and _holds(rule, "resources", (resource,))
            and _holds(rule, "verbs", READING)
            for rule in rules
        )
    )


def _holds(rule: Mapping[str, Any], key: str, wanted: Iterable[str]) -> bool:
    listed = value(rule, key)
    return isinstance(listed, list) and bool({*wanted, "*"}.intersection(map(str, listed)))


def _key(item: RecordedObject) -> tuple[str, str, str]:
    kind = str(item.data["kind"])
    space = text(item.data, "metadata", "namespace") or "" if kind == "Role" else ""
    return kind, space, text(item.data, "metadata", "name") or ""
