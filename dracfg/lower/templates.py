"""Claim plans → ResourceClaimTemplates, and ResourceClaims that several pods share.

Template and claim specs can't be edited in place, so a template's name carries its revision or
the digest of its spec. Everything that the API server would default is written out.
Source: kubernetes/api@v0.36.3 resource/v1/types.go.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.link.catalog import Catalog, Cluster, Policy, Tenant, Tier
from dracfg.link.claims import Ask, ClaimPlan, ClaimRequest
from dracfg.link.classes import ClassPlan, admin_class_name
from dracfg.link.memo import per_catalog
from dracfg.link.parts import digest
from dracfg.lower.artifact import Artifact, K8sObject, Origin, Shared, in_namespaces, origin_of
from dracfg.lower.classes import RESOURCE_API, plain_map
from dracfg.lower.selectors import request_selectors
from dracfg.lower.sync import make_synced
from dracfg.lower.tenancy import Tenancy
from dracfg.model.tenant import AdminAccess, Profile, ProfileConfig, Toleration

TEMPLATES_FILE = "claim-templates.yaml"
CLAIMS_FILE = "claims.yaml"
REQUESTS = "dracfg.dev/requests"
PRIORITY = "dracfg.dev/priority"
"""The PriorityClass that pods of a template are meant to have; nothing reads it but people."""
TENANT = "dracfg.dev/tenant"
PROFILE = "dracfg.dev/profile"


def template_artifacts(tenancy: Tenancy) -> tuple[Artifact, ...]:
    """Every template of the tenant on the cluster: profiles by namespace, then admin access."""
    found = []
    forms = _forms(tenancy.catalog, tenancy.cluster)
    for i, plan in enumerate(tenancy.plans):
        places = () if plan is None else tenancy.places_of(plan.profile)
        if plan is None or not places:
            continue
        origin, form = tenancy.origin.at("spec", "profiles", i), _form(tenancy, plan, forms)
        made = _template(tenancy, plan.profile, form, origin)
        named = [(place.name, form.via) for place in places]
        found += in_namespaces(made, TEMPLATES_FILE, origin, named)
    found += _admin_templates(tenancy)
    return tuple(found)


def claim_artifacts(tenancy: Tenancy) -> tuple[Artifact, ...]:
    """The claims that several pods of one namespace share.

    Where a rollout has not brought the tenant every class of one, it is left out: admission refuses it.
    """
    spec = tenancy.tenant.document.spec
    if not spec.shared_claims:
        return ()
    here = {place.name for place in tenancy.places}
    plans = {profile.name: plan for profile, plan in zip(spec.profiles, tenancy.plans, strict=True)}
    found = []
    forms = _forms(tenancy.catalog, tenancy.cluster)
    for i, shared in enumerate(spec.shared_claims):
        plan = plans.get(shared.profile) if shared.namespace in here else None
        if plan is None or not all(_is_open(request) for request in plan.requests):
            continue
        origin, form = tenancy.origin.at("spec", "sharedClaims", i), _form(tenancy, plan, forms)
        made = make_synced(
            tenancy.cluster,
            RESOURCE_API,
            "ResourceClaim",
            shared.name,
            origin,
            {"spec": form.spec},
            namespace=shared.namespace,
            labels=_labels(tenancy.tenant, plan.profile),
            annotations={**form.note, "dracfg.dev/pods": str(shared.pods)},
        )
        found.append(Artifact(made, CLAIMS_FILE, origin, form.via))
    return tuple(found)


def _is_open(request: ClaimRequest) -> bool:
    """Whether the tenant may claim every class of a request now."""
    return all(ask.grant.uses_claims for ask in request.asks)


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


@dataclass(frozen=True, slots=True)
class _Form:
    """What the claims of profiles that ask for the same have in common, the same objects for all of them.

    `via` is every document that a claim's content depends on beside the tenant's.
    """

    spec: dict[str, Any]
    note: dict[str, str]
    via: tuple[Origin, ...]


@per_catalog
def _forms(_catalog: Catalog, _cluster: Cluster) -> dict[Hashable, _Form]:
    """The forms that were met so far on a cluster, by what they ask for: a few dozen of thousands."""
    return {}


def _form(tenancy: Tenancy, plan: ClaimPlan, known: dict[Hashable, _Form]) -> _Form:
    """The form of a plan, one of those that are `known` on the cluster or a new one."""
    if plan.config:
        return _formed(tenancy.catalog, plan)
    asked = _asked_by(plan)
    form = known.get(asked)
    if form is None:
        form = known[asked] = _formed(tenancy.catalog, plan)
    return form


def _formed(catalog: Catalog, plan: ClaimPlan) -> _Form:
    asked = [
        (ask.grant.tier, ask.grant.policy) for request in plan.requests for ask in request.asks
    ]
    via = _sources(catalog, *dict.fromkeys(asked))
    return _Form(Shared(claim_spec(plan)), {REQUESTS: requests_note(plan)}, via)


def _asked_by(plan: ClaimPlan) -> Hashable:
    """All that the form of a plan without parameters of its own depends on."""
    requests = [
        (
            request.name,
            request.origin,
            request.has_alternatives,
            request.tolerations,
            *[
                (
                    ask.name,
                    ask.plan,
                    ask.grant.name,
                    ask.grant.tier,
                    ask.grant.policy,
                    ask.part,
                    ask.count,
                    *request_selectors(ask),
                )
                for ask in request.asks
            ],
        )
        for request in plan.requests
    ]
    return plan.constraints, *requests


def _template(tenancy: Tenancy, profile: Profile, form: _Form, origin: Origin) -> K8sObject:
    """The template of a profile, the same in each of its namespaces."""
    naming = tenancy.cluster.document.spec.gitops.template_names
    labels = _labels(tenancy.tenant, profile)
    note = form.note
    spec = {"metadata": {"labels": labels, "annotations": note}, "spec": form.spec}
    return make_synced(
        tenancy.cluster,
        RESOURCE_API,
        "ResourceClaimTemplate",
        template_name(profile.name, profile.revision, spec, naming),
        origin,
        {"spec": spec},
        labels=labels,
        annotations=note if profile.priority is None else {**note, PRIORITY: profile.priority},
    )


def _admin_templates(tenancy: Tenancy) -> list[Artifact]:
    """A template a watched tier: every device on the node, in use or not, without taking it."""
    found = []
    for i, access in enumerate(tenancy.tenant.document.spec.admin_access):
        if all(place.name != access.namespace for place in tenancy.places):
            continue
        origin = tenancy.origin.at("spec", "adminAccess", i)
        for name in access.tiers:
            plan = tenancy.classes.get(admin_class_name(name))
            if plan is not None:
                made = _admin_template(tenancy, plan, access, origin)
                found.append(Artifact(made, TEMPLATES_FILE, origin, _tier_via(plan.tier)))
    return found


def _admin_template(
    tenancy: Tenancy, plan: ClassPlan, access: AdminAccess, origin: Origin
) -> K8sObject:
    exactly: dict[str, Any] = {
        "deviceClassName": plan.name,
        "allocationMode": "All",
        "adminAccess": True,
    }
    if _tolerates_taints(tenancy.cluster):
        exactly["tolerations"] = [{"operator": "Exists"}]
    if plan.capacity:
        exactly["capacity"] = {"requests": _amounts(plan)}
    labels = {PROFILE: plan.name, TENANT: tenancy.tenant.name}
    spec = {
        "metadata": {"labels": labels},
        "spec": {"devices": {"requests": [{"name": "devices", "exactly": exactly}]}},
    }
    naming = tenancy.cluster.document.spec.gitops.template_names
    return make_synced(
        tenancy.cluster,
        RESOURCE_API,
        "ResourceClaimTemplate",
        template_name(plan.name, access.revision, spec, naming),
        origin,
        {"spec": spec},
        namespace=access.namespace,
        labels=labels,
    )


def _tolerates_taints(cluster: Cluster) -> bool:
    """Device taints are on by default from 1.36; before, tolerations would be dropped."""
    gates = cluster.document.spec.feature_gates
    return gates.get("DRADeviceTaints", cluster.minor not in ("1.34", "1.35"))


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
    """Sorted, as everywhere."""
    return {PROFILE: profile.name, TENANT: tenant.name}


@per_catalog
def _sources(_catalog: Catalog, *asked: tuple[Tier, Policy]) -> tuple[Origin, ...]:
    places: dict[Origin, None] = {}
    for tier, policy in asked:
        places.update(dict.fromkeys(_tier_via(tier)))
        if policy.document is not None:
            places[origin_of(policy.document, "spec")] = None
    return tuple(places)


def _tier_via(tier: Tier) -> tuple[Origin, ...]:
    return (origin_of(tier.document, "spec"), origin_of(tier.driver.document, "spec"))
