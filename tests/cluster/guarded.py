"""A tree in force on a control plane of its own, and requests that are tried on it.

Policies can be lifted for a while, so that things stand that they would not let in.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import quote

from dracfg.policytest.rbac import Attributes
from dracfg.policytest.requests import Request
from tests.cluster.client import Client, Object, Refused
from tests.cluster.controlplane import ControlPlane
from tests.cluster.emitted import Emitted
from tests.cluster.policycases import Case
from tests.cluster.processes import wait_for
from tests.cluster.rights import BUILT_IN, is_allowed

BINDING = "ValidatingAdmissionPolicyBinding"
RBAC_API = "rbac.authorization.k8s.io"
REFUSED_BY_POLICY = re.compile(
    r"ValidatingAdmissionPolicy '(?P<policy>[^']+)' with binding '[^']+' denied request: (?P<text>.*)",
    re.DOTALL,
)
WARNED = re.compile(
    r"Validation failed for ValidatingAdmissionPolicy '(?P<policy>[^']+)' with binding '[^']+': "
    r"(?P<text>.*)",
    re.DOTALL,
)
CANARY = "canary"
SECONDS = 30


@dataclass(frozen=True, slots=True)
class Said:
    """What the server answers: allowed, or refused with a message, by a policy where `policy` is one.

    `warnings` are pairs of a policy and its message.
    """

    allowed: bool
    message: str = ""
    policy: str | None = None
    code: int = 200
    warnings: tuple[tuple[str, str], ...] = ()


@dataclass
class Guarded:
    """The tree stands and its policies are in force; `enter` applies it."""

    plane: ControlPlane
    tree: Emitted
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    @property
    def admin(self) -> Client:
        return self.plane.admin

    def enter(self) -> Guarded:
        """Applies the tree as its applier, and waits until it is in force."""
        applier = self.tree.entered(self.admin)
        for obj in self.tree.roles():
            self.admin.apply(obj)
        for obj in self.tree.objects():
            applier.apply(obj)
        self.admin.apply(_canary_policy())
        self._enforce()
        return self

    @contextmanager
    def lifted(self) -> Iterator[None]:
        """Inside, no policy is in force. The canary comes and goes as the last of the bindings."""
        for binding in self._bindings():
            self.admin.delete(binding)
        wait_for(self._is_open, "policies are lifted", SECONDS)
        yield
        self._enforce()

    @contextmanager
    def standing(self, things: Iterable[Object]) -> Iterator[None]:
        """Inside, these stand with their status; each lies in a namespace that stands."""
        listed = list(things)
        if not listed:
            yield
            return
        spaces = {thing["metadata"].get("namespace") for thing in listed}
        with self.lifted(), self._uncounted(spaces):
            for thing in listed:
                self._place(thing)
        yield
        with self.lifted():
            for thing in listed:
                self._remove(thing)

    def namespaces(self, cases: Iterable[Case]) -> None:
        """Makes the Namespaces that the tree lacks."""
        wanted = [case.request.namespace for case in cases if case.request.namespace is not None]
        named = {one["metadata"]["name"]: one for one in wanted}
        lacking = [one for one in named.values() if self.admin.find(one) is None]
        if lacking:
            with self.lifted():
                for one in lacking:
                    self.admin.create(one)

    def ask(self, case: Case) -> Said:
        """Sends the request of the case as a dry run, in the name of its user."""
        groups = case.request.groups
        if case.roles:
            groups = (*groups, self._group_of(case))
        return self.send(case.request, groups)

    def send(self, request: Request, groups: tuple[str, ...]) -> Said:
        extra = {quote(key, safe=""): values[0] for key, values in request.extra.items()}
        client = self.admin.as_user(request.user, *groups, **extra)
        options = {"dryRun": "All"}
        body: Any = request.object
        method = {"CREATE": "POST", "UPDATE": "PUT", "DELETE": "DELETE"}[request.operation]
        if request.operation == "DELETE":
            chosen = {"dryRun": ["All"], **(request.options or {})}
            body, options = {"apiVersion": "v1", "kind": "DeleteOptions", **chosen}, {}
        try:
            answer = client.call(method, path_of(request), body, options)
        except Refused as refused:
            found = REFUSED_BY_POLICY.search(refused.message)
            if found is None:
                return Said(False, refused.message, code=refused.code)
            return Said(False, found["text"], found["policy"], refused.code)
        warned = [found for one in answer.warnings if (found := WARNED.search(_unquoted(one)))]
        return Said(True, warnings=tuple((one["policy"], one["text"]) for one in warned))

    @contextmanager
    def used(self, case: Case) -> Iterator[None]:
        """Inside, the quotas of the case's namespace say that so much is used."""
        before: list[tuple[Object, Object]] = []
        namespace = case.request.namespace_name
        for quota in self.admin.list("v1", "ResourceQuota", namespace) if case.used else ():
            held = {key: str(case.used[key]) for key in quota["spec"]["hard"] if key in case.used}
            if held:
                counted = wait_for(partial(self._counted, quota), "a counted quota", SECONDS)
                before.append((quota, {key: counted[key] for key in held}))
                self.admin.patch(quota, {"status": {"used": held}}, "status")
        yield
        for quota, held in before:
            self.admin.patch(quota, {"status": {"used": held}}, "status")

    @contextmanager
    def _uncounted(self, namespaces: Collection[str | None]) -> Iterator[None]:
        """Inside, no quota holds in these namespaces; afterwards quotas count what stands."""
        quotas = [
            one
            for one in self.tree.objects()
            if one["kind"] == "ResourceQuota" and one["metadata"]["namespace"] in namespaces
        ]
        for quota in quotas:
            self.admin.delete(quota)
        yield
        for quota in quotas:
            self.admin.apply(quota)
            wait_for(partial(self._counted, quota), "a counted quota", SECONDS)

    def _counted(self, quota: Object) -> Object | None:
        status = self.admin.read(quota).get("status", {})
        return status.get("used") if status.get("hard") == quota["spec"]["hard"] else None

    def _group_of(self, case: Case) -> str:
        """A group that holds the roles of the case: what a user has elsewhere it keeps."""
        namespace = case.request.namespace
        group = f"roles-{next(self._numbers)}"
        for role in case.roles:
            local = namespace is not None and role in BUILT_IN
            self.admin.create(binding(group, role, case.request.namespace_name if local else ""))
        verb = {"CREATE": "create", "UPDATE": "update", "DELETE": "delete"}
        resource = "/".join(filter(None, (case.request.resource, case.request.subresource)))
        asked = Attributes(
            verb[case.request.operation],
            case.request.group,
            resource,
            case.request.namespace_name,
        )
        given = partial(is_allowed, self.admin, case.request.user, (group,), asked)
        wait_for(given, f"the roles of {case.name}")
        return group

    def _bindings(self) -> list[Object]:
        listed = [one for one in self.tree.objects() if one["kind"] == BINDING]
        return [*listed, _canary_binding()]

    def _enforce(self) -> None:
        for binding in self._bindings():
            self.admin.apply(binding)
        wait_for(lambda: not self._is_open(), "policies are in force", SECONDS)

    def _is_open(self) -> bool:
        metadata = {"name": CANARY, "namespace": "default"}
        try:
            probe = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
            self.admin.create(probe, dry_run=True)
        except Refused as refused:
            if REFUSED_BY_POLICY.search(refused.message) is None:
                raise
            return False
        return True

    def _place(self, thing: Object) -> None:
        bare = {key: value for key, value in thing.items() if key != "status"}
        wait_for(partial(self._is_created, bare), f"{thing['kind']} stands", SECONDS)
        if thing.get("status"):
            self.admin.patch(thing, {"status": thing["status"]}, "status")

    def _is_created(self, thing: Object) -> bool:
        """Admission may know a quota for a moment that is gone."""
        try:
            self.admin.create(thing)
        except Refused as refused:
            if "exceeded quota" not in refused.message:
                raise
            return False
        return True

    def _remove(self, thing: Object) -> None:
        if thing["metadata"].get("finalizers"):
            self.admin.patch(thing, {"metadata": {"finalizers": None}})
        self.admin.delete(thing, grace=0)


def path_of(request: Request) -> str:
    """As it stands in the URL, whether or not the server serves it."""
    version = str(request.subject["apiVersion"])
    parts = [f"/apis/{version}" if "/" in version else f"/api/{version}"]
    if request.namespace is not None:
        parts += ["namespaces", request.namespace_name]
    parts.append(request.resource)
    if request.operation != "CREATE":
        parts.append(quote(request.name))
    if request.subresource:
        parts.append(request.subresource)
    return "/".join(parts)


def binding(group: str, role: str, namespace: str) -> Object:
    metadata = {"name": f"{group}-{role}"} | ({"namespace": namespace} if namespace else {})
    return {
        "apiVersion": f"{RBAC_API}/v1",
        "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
        "metadata": metadata,
        "subjects": [{"kind": "Group", "apiGroup": RBAC_API, "name": group}],
        "roleRef": {"apiGroup": RBAC_API, "kind": "ClusterRole", "name": role},
    }


def _canary_policy() -> Object:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": CANARY},
        "spec": {
            "matchConstraints": {
                "resourceRules": [{**rule, "operations": ["CREATE"], "resourceNames": [CANARY]}]
            },
            "validations": [{"expression": "false", "message": "policies are in force"}],
        },
    }


def _canary_binding() -> Object:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": BINDING,
        "metadata": {"name": CANARY},
        "spec": {"policyName": CANARY, "validationActions": ["Deny"]},
    }


def _unquoted(warning: str) -> str:
    """The text of a Warning header: `299 - "text"`."""
    text = warning.partition('"')[2].rpartition('"')[0]
    return text.replace('\\"', '"').replace("\\\\", "\\")
