"""What the API server of one cluster knows once all that dracfg emits is applied, and its verdict.

The stages stand in the API server's order: roles, defaults and gates, policies, quota, the store.
The first that refuses decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Any, Literal

from dracfg.cel import Authorizer, Check, Decision
from dracfg.dataclass import dataclass
from dracfg.kube.objects import ObjectKey, UnknownKind, object_key, schema_faults
from dracfg.link.catalog import Catalog, Cluster
from dracfg.link.classes import device_classes
from dracfg.lower.access import applier_role
from dracfg.lower.admission.facts import facts
from dracfg.lower.artifact import K8sObject, Unit
from dracfg.lower.gates import GatePlan
from dracfg.lower.thirdparty import third_party_roles
from dracfg.lower.units import extended_resources, gate_plan
from dracfg.policytest.admission import (
    Admitted,
    Failure,
    Policy,
    Validation,
    admit,
    code_of,
    policies_of,
)
from dracfg.policytest.defaults import defaulted, prepared
from dracfg.policytest.quota import Quotas
from dracfg.policytest.rbac import Attributes, Rbac
from dracfg.policytest.requests import Request, named_namespace
from dracfg.policytest.strategy import refusal
from dracfg.policytest.versions import is_served

RBAC, QUOTA = "RBAC", "QUOTA"
"""What denies without a code of its own."""
_VERBS = ("get", "list", "watch", "create", "update", "patch", "delete")

Answer = Literal["allow", "deny", "unknown"]


@dataclass(frozen=True, slots=True)
class Denial:
    """Why a request is refused. `rule` is the code of a policy's message, RBAC or QUOTA.

    It is None where the API server itself refuses, or a policy's message has no code.
    """

    rule: str | None
    message: str
    validation: Validation | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a request. `denials` are all that the deciding stage gives, in order.

    `notes` say what the user is not told: fields that the API server drops. `held` are the
    validations that were asked and hold.
    """

    answer: Answer
    denials: tuple[Denial, ...] = ()
    warnings: tuple[Denial, ...] = ()
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    held: tuple[Validation, ...] = ()


@dataclass(frozen=True, slots=True)
class World:
    """One cluster."""

    name: str
    minor: str
    gates: GatePlan = field(repr=False)
    objects: Mapping[ObjectKey, K8sObject] = field(repr=False)
    policies: tuple[Policy, ...] = field(repr=False)
    rbac: Rbac = field(repr=False)
    quotas: Quotas = field(repr=False)
    facts: Mapping[str, Any] = field(repr=False)
    """What the policies' expressions hold of the catalog, see `lower.admission.facts`."""

    def namespace(self, name: str) -> K8sObject:
        """The Namespace of that name as it stands in the cluster."""
        return named_namespace(name, self.objects.get(ObjectKey("v1", "Namespace", "", name)))

    def standing(self, thing: K8sObject) -> K8sObject | None:
        """The emitted object of the same kind, namespace and name, if there is one."""
        return self.objects.get(object_key(thing))

    def without(self, policy: str) -> World:
        """The same cluster after somebody deletes a policy."""
        return replace(self, policies=tuple(p for p in self.policies if p.name != policy))

    def judge(
        self,
        request: Request,
        *,
        roles: Iterable[str] = (),
        used: Mapping[str, int] | None = None,
    ) -> Verdict:
        """What becomes of a request.

        `roles` are ClusterRoles that the user holds beside the emitted bindings, `used` what its
        namespace holds before, by quota key. Raises rbac.UnknownRole.
        """
        held = tuple(roles)
        refused = self.rbac.refusal(request, held)
        if refused is not None:
            return Verdict("deny", (Denial(RBAC, refused),))
        if not is_served(request.group, request.version, request.kind, self.minor):
            text = (
                f"the server could not find the requested resource {request.subject['apiVersion']}"
            )
            return Verdict("deny", (Denial(None, text),))
        made, notes, refused = self._stored(request)
        if refused is not None:
            return Verdict("deny", (Denial(None, refused),), notes=notes)
        said = admit(self.policies, made, self.minor, self._authorizer)
        warnings = tuple(_denial(failure) for failure in said.of("Warn"))
        denials = tuple(_denial(failure) for failure in _first_by_policy(said))
        if denials:
            return Verdict("deny", denials, warnings, said.unknown, notes, said.held)
        if said.unknown:
            return Verdict("unknown", (), warnings, said.unknown, notes, said.held)
        exceeded = self.quotas.refusal(made, used or {})
        if exceeded is not None:
            return Verdict("deny", (Denial(QUOTA, exceeded),), warnings, (), notes, said.held)
        if self._exists(made):
            resource = ".".join(filter(None, (request.resource, request.group)))
            text = f'{resource} "{request.name}" already exists'
            return Verdict("deny", (Denial(None, text),), warnings, (), notes, said.held)
        return Verdict("allow", (), warnings, (), notes, said.held)

    def _exists(self, request: Request) -> bool:
        """Whether what is to be made is emitted; the store says so, after all others have spoken."""
        if request.operation != "CREATE" or request.subresource or not request.name:
            return False
        return self.standing(request.subject) is not None

    def _stored(self, request: Request) -> tuple[Request, tuple[str, ...], str | None]:
        """The request as admission sees it, what was dropped without a word, and a refusal."""
        old = None if request.old is None else defaulted(request.old)
        if request.object is None:
            return replace(request, old=old), (), None
        stored = prepared(request.object, old, self.minor, self.gates.is_on)
        notes = tuple(f"{use.pointer}: {use.reason}" for use in stored.dropped)
        if stored.refusal is not None:
            return request, notes, stored.refusal
        faults = schema_faults(stored.object, self.minor)
        if not isinstance(faults, UnknownKind) and faults and not request.subresource:
            first = faults[0]
            text = f"{request.kind} is invalid: {first.pointer or '/'}: {first.message}"
            return request, notes, text
        made = replace(request, object=stored.object, old=old)
        return made, notes, refusal(made)

    def _authorizer(self, request: Request) -> Authorizer:
        """Decisions for policies that ask; only what is emitted is known."""
        if not any("authorizer" in str(policy.spec) for policy in self.policies):
            return Authorizer()
        places = {(request.group, request.resource)}
        places |= {
            (group, resource)
            for rules in self.rbac.roles.values()
            for rule in rules
            for group in rule.get("apiGroups", ())
            for resource in rule.get("resources", ())
        }
        return Authorizer(
            {
                Check(
                    group=group,
                    resource=resource.partition("/")[0],
                    subresource=resource.partition("/")[2],
                    namespace=namespace,
                    name=name,
                    verb=verb,
                ): Decision(
                    self.rbac.allows(
                        request.user,
                        request.groups,
                        Attributes(verb, group, resource, namespace, name),
                    )
                )
                for group, resource in places
                for namespace in {request.namespace_name, ""}
                for name in {request.name, ""}
                for verb in _VERBS
            }
        )


def world_of(catalog: Catalog, cluster: Cluster, units: Iterable[Unit]) -> World:
    """The cluster with everything that is synced to it, and the roles that operators apply."""
    listed = tuple(units)
    things = [
        artifact.object
        for unit in listed
        if unit.synced and unit.path.startswith(f"{cluster.name}/")
        for artifact in unit.artifacts
    ]
    roles = [*things, *applier_role(cluster, things), *third_party_roles(cluster)]
    classes = device_classes(catalog, cluster)
    plan = gate_plan(cluster, listed)
    return World(
        cluster.name,
        cluster.minor,
        plan,
        {object_key(thing): thing for thing in things},
        policies_of(things, cluster.minor),
        Rbac.of(roles),
        Quotas.of(
            things,
            cluster.minor,
            extended=extended_resources(cluster, classes),
        ),
        facts(catalog, cluster, classes),
    )


def _first_by_policy(said: Admitted) -> list[Failure]:
    """A policy shows its first failure; in which order policies are asked is not fixed."""
    first: dict[str, Failure] = {}
    for failure in said.of("Deny"):
        first.setdefault(failure.validation.policy, failure)
    return list(first.values())


def _denial(failure: Failure) -> Denial:
    rule = code_of(failure.message) or failure.validation.code
    return Denial(rule, failure.message, failure.validation)
