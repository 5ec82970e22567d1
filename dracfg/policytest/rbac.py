"""Whether a user may send a request, by the roles and bindings that dracfg emits.

Roles that others bind are known only where a test says so. Knows nothing of policies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.lower.artifact import K8sObject
from dracfg.packaged import read_data
from dracfg.policytest.requests import Request

MASTERS = "system:masters"
_VERBS = {"CREATE": ("create",), "UPDATE": ("update", "patch"), "DELETE": ("delete",)}
"""A change needs either verb: which of the two is sent is the client's choice."""

Rule = Mapping[str, Any]


class UnknownRole(Exception):
    """A test names a ClusterRole that is neither built in nor dracfg's."""


@dataclass(frozen=True, slots=True)
class Attributes:
    """What is asked: a verb on a resource, `namespace` "" for the whole cluster."""

    verb: str
    group: str
    resource: str
    namespace: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Rbac:
    """The roles and bindings of one cluster. `roles` are the ClusterRoles by name."""

    roles: Mapping[str, tuple[Rule, ...]]
    local_roles: Mapping[tuple[str, str], tuple[Rule, ...]]
    bindings: tuple[K8sObject, ...]

    @classmethod
    def of(cls, objects: Iterable[K8sObject]) -> Rbac:
        """The roles and bindings among objects, with the roles that every cluster has."""
        roles = {name: tuple(entry["rules"]) for name, entry in _built_in()["roles"].items()}
        local: dict[tuple[str, str], tuple[Rule, ...]] = {}
        bindings = []
        for thing in objects:
            metadata = thing["metadata"]
            match thing["kind"]:
                case "ClusterRole":
                    roles[metadata["name"]] = tuple(thing.get("rules", ()))
                case "Role":
                    place = (metadata["namespace"], metadata["name"])
                    local[place] = tuple(thing.get("rules", ()))
                case "ClusterRoleBinding" | "RoleBinding":
                    bindings.append(thing)
        return cls(roles, local, tuple(bindings))

    def refusal(self, request: Request, held: Iterable[str] = ()) -> str | None:
        """Why the user may not send the request, in the API server's words; None where it may.

        `held` are the names of ClusterRoles that the user has beside the bindings, see `rules_of`.
        """
        resource = "/".join(filter(None, (request.resource, request.subresource)))
        asked = [
            Attributes(verb, request.group, resource, request.namespace_name, request.name)
            for verb in _VERBS[request.operation]
        ]
        if any(self.allows(request.user, request.groups, one, held) for one in asked):
            return None
        where = (
            f'in the namespace "{request.namespace_name}"'
            if request.namespace_name
            else "at the cluster scope"
        )
        return (
            f'User "{request.user}" cannot {asked[0].verb} resource "{resource}" '
            f'in API group "{request.group}" {where}'
        )

    def allows(
        self, user: str, groups: Iterable[str], asked: Attributes, held: Iterable[str] = ()
    ) -> bool:
        """Whether some rule allows it. The group system:masters may do anything."""
        listed = tuple(groups)
        if MASTERS in listed or user.startswith(tuple(_built_in()["components"])):
            return True
        rules = [*self.rules_of(user, listed, asked.namespace), *self._held(held, asked.namespace)]
        return any(_allows(rule, asked) for rule in rules)

    def rules_of(self, user: str, groups: tuple[str, ...], namespace: str) -> Iterator[Rule]:
        """The rules that bindings give a user in a namespace, or in the whole cluster for ""."""
        for binding in self.bindings:
            local = binding["kind"] == "RoleBinding"
            if local and binding["metadata"]["namespace"] != namespace:
                continue
            if any(_is_subject(subject, user, groups) for subject in binding.get("subjects", ())):
                reference = binding["roleRef"]
                if reference["kind"] == "ClusterRole":
                    yield from self.roles.get(reference["name"], ())
                else:
                    yield from self.local_roles.get((namespace, reference["name"]), ())

    def _held(self, names: Iterable[str], namespace: str) -> Iterator[Rule]:
        """Rules of roles that a test names. Those bound in the namespace don't reach the cluster."""
        for name in names:
            if name not in self.roles:
                raise UnknownRole(name)
            if namespace or not _built_in()["roles"].get(name, {}).get("namespaced", False):
                yield from self.roles[name]


def _allows(rule: Rule, asked: Attributes) -> bool:
    """Source: kubernetes/kubernetes@v1.36.3:pkg/apis/rbac/v1/evaluation_helpers.go."""
    names = rule.get("resourceNames", ())
    _, _, subresource = asked.resource.partition("/")
    resources = rule.get("resources", ())
    return (
        _has(rule.get("verbs", ()), asked.verb)
        and _has(rule.get("apiGroups", ()), asked.group)
        and (
            _has(resources, asked.resource) or bool(subresource and f"*/{subresource}" in resources)
        )
        and (not names or asked.name in names)
    )


def _has(words: Iterable[str], word: str) -> bool:
    listed = tuple(words)
    return word in listed or "*" in listed


def _is_subject(subject: Mapping[str, str], user: str, groups: tuple[str, ...]) -> bool:
    match subject["kind"]:
        case "User":
            return subject["name"] == user
        case "Group":
            return subject["name"] in groups
        case _:
            return user == f"system:serviceaccount:{subject['namespace']}:{subject['name']}"


@cache
def _built_in() -> Mapping[str, Any]:
    document: Mapping[str, Any] = read_data("dracfg.policytest", "data/built-in-roles.yaml")
    return document
