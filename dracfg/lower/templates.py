"""Claim plans → ResourceClaimTemplates, and ResourceClaims that several pods share.

Template and claim specs can't be edited in place, so a template's name carries its revision or
the digest of its spec. Everything that the API server would default is written out.
Source: kubernetes/api@v0.36.3 resource/v1/types.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dracfg.link.catalog import Cluster, Place, Tenant, Tier
from dracfg.link.claims import Ask, ClaimPlan, ClaimRequest, claim_plan
from dracfg.link.classes import ClassPlan, admin_class_name
from dracfg.link.parts import digest
from dracfg.lower.artifact import Artifact, K8sObject, Origin, make, origin_of
from dracfg.lower.classes import RESOURCE_API, plain_map
from dracfg.lower.selectors import request_selectors
from dracfg.model.tenant import AdminAccess, Profile, ProfileConfig, Toleration

TEMPLATES_FILE = "claim-templates.yaml"
CLAIMS_FILE = "claims.yaml"
REQUESTS = "dracfg.dev/requests"
PRIORITY = "dracfg.dev/priority"
"""The PriorityClass that pods of a template are meant to have; nothing reads it but people."""
TENANT = "dracfg.dev/tenant"
PROFILE = "dracfg.dev/profile"


@dataclass(frozen=True, slots=True)
class Context:
    """What the lowering of one tenant's claims on one cluster looks at."""

    cluster: Cluster
    tenant: Tenant
    classes: Mapping[str, ClassPlan]

    @property
    def tolerates_taints(self) -> bool:
        """Device taints are on by default from 1.36; before, tolerations would be dropped."""
        gates = self.cluster.document.spec.feature_gates
        return gates.get("DRADeviceTaints", self.cluster.minor not in ("1.34", "1.35"))


def template_artifacts(context: Context) -> tuple[Artifact, ...]:
    """Every template of the tenant on the cluster: profiles by namespace, then admin access."""
    found = []
    for i, profile in enumerate(context.tenant.document.spec.profiles):
        plan = claim_plan(context.tenant, profile, context.cluster, context.classes)
        if plan is None:
            continue
        origin, via = origin_of(context.tenant.document, "spec", "profiles", i), _via(plan)
        found += [
            Artifact(made, TEMPLATES_FILE, origin, via)
            for made in _templates(context, plan, origin)
        ]
    found += _admin_templates(context)
    return tuple(found)


def claim_artifacts(context: Context) -> tuple[Artifact, ...]:
    """The claims that several pods of one namespace share.

    Where a rollout has not brought the tenant every class of one, it is left out: admission refuses it.
    """
    spec = context.tenant.document.spec
    profiles = {profile.name: profile for profile in spec.profiles}
    found = []
    for i, shared in enumerate(spec.shared_claims):
        here = {place.name for place in context.tenant.places_on(context.cluster.name)}
        profile = profiles.get(shared.profile)
        if profile is None or shared.namespace not in here:
            continue
        plan = claim_plan(context.tenant, profile, context.cluster, context.classes)
        if plan is None or not all(_is_open(request) for request in plan.requests):
            continue
        origin = origin_of(context.tenant.document, "spec", "sharedClaims", i)
        made = make(
            RESOURCE_API,
            "ResourceClaim",
            shared.name,
            origin,
            {"spec": claim_spec(plan)},
            namespace=shared.namespace,
            labels=_labels(context.tenant, profile),
            annotations={REQUESTS: requests_note(plan), "dracfg.dev/pods": str(shared.pods)},
        )
        found.append(Artifact(made, CLAIMS_FILE, origin, _via(plan)))
    return tuple(found)


def _is_open(request: ClaimRequest) -> bool:
    """Whether the tenant may claim every class of a request now."""
    return all(ask.grant.uses_claims for ask in request.asks)


def profile_places(tenant: Tenant, profile: Profile, cluster: str) -> tuple[Place, ...]:
    """The namespaces of a cluster in which a profile is emitted."""
    return tuple(
        place
        for place in tenant.places_on(cluster)
        if profile.namespaces is None or place.name in profile.namespaces
    )


def template_name(stem: str, revision: int, spec: Mapping[str, Any], naming: str) -> str:
    """`<stem>` with `-v2`, `-v3` … from its revision, or `<stem>-<digest of the spec>`."""
    if naming == "digest":
        return f"{stem}-{digest(spec)}"
    return stem if revision == 1 else f"{stem}-v{revision}"


def claim_spec(plan: ClaimPlan) -> dict[str, Any]:
    """ResourceClaimSpec of a plan; lists keep the author's order, which has a meaning."""
    devices: dict[str, Any] = {"requests": [_request(request) for request in plan.requests]}
    if plan.constraints:
        devices["constraints"] = [
            {
                "requests": list(constraint.requests),
                "distinctAttribute" if constraint.distinct else "matchAttribute": (
                    constraint.attribute
                ),
            }
            for constraint in plan.constraints
        ]
    if plan.config:
        devices["config"] = [_config(requests, config) for requests, config in plan.config]
    return {"devices": devices}


def requests_note(plan: ClaimPlan) -> str:
    """`gpu=<entitlement>/<tier>/<sharing>/<size>/<policy version>` for each request of the profile.

    Alternatives are named `<request>/<alternative>`; `-` stands where there is no size or version.
    """
    notes: dict[str, None] = {}
    for request in plan.requests:
        for ask in request.asks:
            name = f"{request.origin}/{ask.name}" if request.has_alternatives else request.origin
            policy = ask.grant.policy
            size = ask.part.name or "-"
            value = "/".join(
                (ask.grant.name, ask.grant.tier.name, policy.name, size, policy.version or "-")
            )
            notes[f"{name}={value}"] = None
    return ",".join(notes)


def _templates(context: Context, plan: ClaimPlan, origin: Origin) -> Iterator[K8sObject]:
    """The same template in each namespace of the profile."""
    naming = context.cluster.document.spec.gitops.template_names
    labels = _labels(context.tenant, plan.profile)
    note = {REQUESTS: requests_note(plan)}
    spec = {
        "metadata": {"labels": _claim_labels(context.tenant, plan.profile), "annotations": note},
        "spec": claim_spec(plan),
    }
    priority = plan.profile.priority
    name = template_name(plan.profile.name, plan.profile.revision, spec, naming)
    for place in profile_places(context.tenant, plan.profile, context.cluster.name):
        yield make(
            RESOURCE_API,
            "ResourceClaimTemplate",
            name,
            origin,
            {"spec": spec},
            namespace=place.name,
            labels=labels,
            annotations=note if priority is None else {**note, PRIORITY: priority},
        )


def _admin_templates(context: Context) -> list[Artifact]:
    """A template a watched tier: every device on the node, in use or not, without taking it."""
    found = []
    for i, access in enumerate(context.tenant.document.spec.admin_access):
        here = {place.name for place in context.tenant.places_on(context.cluster.name)}
        if access.namespace not in here:
            continue
        origin = origin_of(context.tenant.document, "spec", "adminAccess", i)
        for name in access.tiers:
            plan = context.classes.get(admin_class_name(name))
            if plan is not None:
                made = _admin_template(context, plan, access, origin)
                found.append(Artifact(made, TEMPLATES_FILE, origin, _tier_via(plan.tier)))
    return found


def _admin_template(
    context: Context, plan: ClassPlan, access: AdminAccess, origin: Origin
) -> K8sObject:
    exactly: dict[str, Any] = {
        "deviceClassName": plan.name,
        "allocationMode": "All",
        "adminAccess": True,
    }
    if context.tolerates_taints:
        exactly["tolerations"] = [{"operator": "Exists"}]
    if plan.capacity:
        exactly["capacity"] = {"requests": _amounts(plan)}
    labels = {TENANT: context.tenant.name, PROFILE: plan.name}
    spec = {
        "metadata": {"labels": dict(sorted(labels.items()))},
        "spec": {"devices": {"requests": [{"name": "devices", "exactly": exactly}]}},
    }
    naming = context.cluster.document.spec.gitops.template_names
    return make(
        RESOURCE_API,
        "ResourceClaimTemplate",
        template_name(plan.name, access.revision, spec, naming),
        origin,
        {"spec": spec},
        namespace=access.namespace,
        labels=labels,
    )


def _request(request: ClaimRequest) -> dict[str, Any]:
    if request.has_alternatives:
        return {
            "name": request.name,
            "firstAvailable": [
                {"name": ask.name, **_asked(ask, request.tolerations)} for ask in request.asks
            ],
        }
    return {"name": request.name, "exactly": _asked(request.asks[0], request.tolerations)}


def _asked(ask: Ask, tolerations: Iterable[Toleration]) -> dict[str, Any]:
    asked: dict[str, Any] = {"deviceClassName": ask.plan.name}
    selectors = [{"cel": {"expression": text}} for text in request_selectors(ask)]
    if selectors:
        asked["selectors"] = selectors
    asked |= {"allocationMode": "ExactCount", "count": ask.count}
    listed = [_toleration(toleration) for toleration in tolerations]
    if listed:
        asked["tolerations"] = listed
    if ask.plan.capacity:
        asked["capacity"] = {"requests": _amounts(ask.plan)}
    return asked


def _amounts(plan: ClassPlan) -> dict[str, str]:
    return {key: str(amount) for key, amount in plan.capacity.items()}


def _toleration(toleration: Toleration) -> dict[str, Any]:
    said = {
        "key": toleration.key,
        "operator": toleration.operator,
        "value": toleration.value,
        "effect": toleration.effect,
        "tolerationSeconds": toleration.toleration_seconds,
    }
    return {key: value for key, value in said.items() if value is not None}


def _config(requests: tuple[str, ...], config: ProfileConfig) -> dict[str, Any]:
    head = {"apiVersion": config.api_version, "kind": config.kind}
    values = {key: value for key, value in head.items() if value is not None} | plain_map(
        config.values
    )
    opaque = {"opaque": {"driver": config.driver, "parameters": values}}
    return {"requests": list(requests), **opaque} if requests else opaque


def _labels(tenant: Tenant, profile: Profile) -> dict[str, str]:
    return {TENANT: tenant.name, PROFILE: profile.name}


def _claim_labels(tenant: Tenant, profile: Profile) -> dict[str, str]:
    """Labels that each generated claim gets; nothing by which an engine tracks objects."""
    return dict(sorted(_labels(tenant, profile).items()))


def _via(plan: ClaimPlan) -> tuple[Origin, ...]:
    places: dict[Origin, None] = {}
    for request in plan.requests:
        for ask in request.asks:
            places.update(dict.fromkeys(_tier_via(ask.grant.tier)))
            document = ask.grant.policy.document
            if document is not None:
                places[origin_of(document, "spec")] = None
    return tuple(places)


def _tier_via(tier: Tier) -> tuple[Origin, ...]:
    return (origin_of(tier.document, "spec"), origin_of(tier.driver.document, "spec"))
