"""Who holds which rights: what dracfg says of it, to be put beside the server.

A holder is a user with groups in one place, which is a namespace or, as "", the whole cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dracfg.policytest.rbac import Attributes, Rbac
from dracfg.policytest.requests import authenticated_groups
from tests.cluster.client import Client, Object

BUILT_IN = ("admin", "edit", "view")
"""Bound in a namespace. What they allow beside DRA and workloads is not followed."""
VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")
SOMEBODY, ELSEWHERE = "somebody", "default"
AUTHORIZATION = "authorization.k8s.io/v1"


@dataclass(frozen=True, slots=True)
class Holder:
    """`role` is the one that the user holds beside its bindings, or ""."""

    user: str
    groups: tuple[str, ...]
    place: str
    role: str = ""

    def is_given(self, rbac: Rbac, asked: Attributes) -> bool:
        """What dracfg says."""
        held = (self.role,) if self.role else ()
        return rbac.allows(self.user, self.groups, asked, held)

    def rules(self, admin: Client) -> list[Object]:
        """The rules that the server has for it, in the namespace or bound in the whole cluster."""
        review = {"spec": {"namespace": self.place or ELSEWHERE}}
        client = admin.as_user(self.user, *self.groups)
        found: list[Object] = _review(client, "SelfSubjectRulesReview", review)["resourceRules"]
        return found


def roles(rbac: Rbac) -> list[str]:
    """Those that dracfg emits, and the built-in ones that it follows."""
    return [*(name for name in rbac.roles if name.startswith("dracfg-")), *BUILT_IN]


def place_of(role: str) -> str:
    return ELSEWHERE if role in BUILT_IN else ""


def group_of(role: str) -> str:
    """The group whose members hold the role in these tests."""
    return f"holds-{role}"


def holder_of(role: str) -> Holder:
    groups = authenticated_groups(SOMEBODY, (group_of(role),))
    return Holder(SOMEBODY, groups, place_of(role), role)


def subjects(rbac: Rbac) -> Iterator[Holder]:
    """Each subject of a binding in each namespace with bindings, and in one without."""
    places = {one["metadata"].get("namespace", "") for one in rbac.bindings} - {""} | {ELSEWHERE}
    named = {
        (one["kind"], one.get("namespace", ""), one["name"])
        for binding in rbac.bindings
        for one in binding["subjects"]
    }
    for kind, namespace, name in sorted(named):
        user, groups = _user(kind, namespace, name)
        yield from (Holder(user, groups, place) for place in sorted(places))


def everything(rbac: Rbac, holder: Holder) -> Iterator[Attributes]:
    """Each verb on each resource that an emitted role names.

    A name that some role is limited to is asked for beside none. Of a built-in role what dracfg
    follows.
    """
    asked: dict[tuple[str, str], tuple[set[str], set[str]]] = {}
    for rule in _emitted_rules(rbac):
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                verbs, names = asked.setdefault((group, resource), (set(VERBS), {""}))
                verbs.update(rule["verbs"])
                names.update(rule.get("resourceNames", ()))
    for (group, resource), (verbs, names) in asked.items():
        if holder.role in BUILT_IN and not _is_followed(rbac, group, resource):
            continue
        for verb in sorted(verbs):
            for name in sorted(names):
                yield Attributes(verb, group, resource, holder.place, name)


def probes(rbac: Rbac, holder: Holder) -> list[Attributes]:
    """The first right of each emitted rule, with its name where it has one."""
    found = {
        Attributes(
            rule["verbs"][0],
            rule["apiGroups"][0],
            rule["resources"][0],
            holder.place,
            rule.get("resourceNames", ("",))[0],
        ): None
        for rule in _emitted_rules(rbac)
    }
    return [
        one
        for one in found
        if holder.role not in BUILT_IN or _is_followed(rbac, one.group, one.resource)
    ]


def covers(rules: Iterable[Mapping[str, Any]], asked: Attributes) -> bool:
    """Whether one of the server's rules gives the right."""
    return any(
        {asked.verb, "*"} & set(rule["verbs"])
        and {asked.group, "*"} & set(rule.get("apiGroups", ()))
        and {asked.resource, "*"} & set(rule.get("resources", ()))
        and asked.name in (rule.get("resourceNames") or (asked.name,))
        for rule in rules
    )


def is_allowed(admin: Client, user: str, groups: tuple[str, ...], asked: Attributes) -> bool:
    """What the server says of one request."""
    resource, _, subresource = asked.resource.partition("/")
    attributes = {
        "verb": asked.verb,
        "group": asked.group,
        "resource": resource,
        "subresource": subresource,
        "namespace": asked.namespace,
        "name": asked.name,
    }
    spec = {"user": user, "groups": list(groups), "resourceAttributes": attributes}
    return bool(_review(admin, "SubjectAccessReview", {"spec": spec})["allowed"])


def _review(client: Client, kind: str, body: Object) -> Any:
    path = f"/apis/{AUTHORIZATION}/{kind.lower()}s"
    return client.call("POST", path, {"apiVersion": AUTHORIZATION, "kind": kind, **body}).body[
        "status"
    ]


def _emitted_rules(rbac: Rbac) -> Iterator[Mapping[str, Any]]:
    for name, rules in rbac.roles.items():
        if name.startswith("dracfg-"):
            yield from rules


def _is_followed(rbac: Rbac, group: str, resource: str) -> bool:
    """Whether dracfg says of a built-in role what it allows of the resource."""
    return any(
        group in rule["apiGroups"] and resource in rule["resources"]
        for role in BUILT_IN
        for rule in rbac.roles[role]
    )


def _user(kind: str, namespace: str, name: str) -> tuple[str, tuple[str, ...]]:
    match kind:
        case "Group":
            return SOMEBODY, authenticated_groups(SOMEBODY, (name,))
        case "ServiceAccount":
            account = f"system:serviceaccount:{namespace}:{name}"
            return account, authenticated_groups(account, ())
        case _:
            return name, authenticated_groups(name, ())
