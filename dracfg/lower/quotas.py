"""Grants → ResourceQuotas: every class of the cluster under every key by which it can be reached.

ResourceQuota counts devices of a class and knows no capacity: a share counts as a whole device.
A key that is missing means unlimited, so classes without a grant get 0. The numbers of claims and
templates are bounded as well, so that nobody fills the API server with objects that hold nothing.
Source: kubernetes pkg/quota/v1/evaluator/core/resource_claims.go; kubernetes/api@v0.36.3 core/v1.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.kube.quota import quota_keys
from dracfg.link.catalog import Cluster, Grant, Place, Tenant
from dracfg.link.classes import ClassPlan, admin_class_name, class_name
from dracfg.link.grants import whole_part
from dracfg.lower.artifact import Artifact
from dracfg.lower.sync import make_synced
from dracfg.lower.tenancy import Tenancy
from dracfg.packaged import read_data

FILE = "quotas.yaml"
NAME = "dracfg-devices"
CLAIMS = "count/resourceclaims.resource.k8s.io"
TEMPLATES = "count/resourceclaimtemplates.resource.k8s.io"


@dataclass(frozen=True, slots=True)
class QuotaKeys:
    """The keys that charge for a cluster's classes, by class; those of admin access by themselves.

    `nothing` has every key of a cluster's quotas, sorted, with the number of a namespace that has no
    right to anything.
    """

    of_devices: Mapping[str, tuple[str, ...]]
    of_watching: Mapping[str, tuple[str, ...]]
    nothing: Mapping[str, int]


def cluster_keys(cluster: Cluster, classes: Iterable[ClassPlan], *, extended: bool) -> QuotaKeys:
    """`extended` says whether DRAExtendedResource is on there."""
    devices: dict[str, tuple[str, ...]] = {}
    watching: dict[str, tuple[str, ...]] = {}
    for plan in classes:
        keys = quota_keys(plan.name, plan.extended_name, cluster.minor, extended)
        (watching if plan.admin else devices)[plan.name] = keys
    named = {
        CLAIMS,
        TEMPLATES,
        *(key for keys in (*devices.values(), *watching.values()) for key in keys),
        *(f"requests.{resource}" for resource in _served_by_plugin(cluster)),
    }
    return QuotaKeys(devices, watching, dict.fromkeys(sorted(named), 0))


def _served_by_plugin(cluster: Cluster) -> Iterator[str]:
    """Every name that a device plugin serves here."""
    for tier in cluster.tiers:
        if tier.legacy_resource is not None and "devicePlugin" in cluster.owners_of(tier):
            yield tier.legacy_resource


def quota_artifacts(
    tenancy: Tenancy, keys: QuotaKeys, claims: Mapping[str, Sequence[str]]
) -> tuple[Artifact, ...]:
    """One ResourceQuota a namespace.

    `claims` names the claims and templates that stand in each namespace, retired ones included (see
    `rights.claims_by_namespace`).
    """
    cluster, tenant = tenancy.cluster, tenancy.tenant
    via = tuple(
        tenancy.origin.at("spec", "entitlements", i)
        for i, _ in enumerate(tenant.document.spec.entitlements)
    )
    found = []
    # What namespaces with the same part of everything may hold is one object.
    parts: dict[int, Mapping[str, int]] = {}
    specs: dict[Hashable, dict[str, Any]] = {}
    for place in tenancy.places:
        share = place.namespace.share
        if (limits := parts.get(share)) is None:
            limits = parts[share] = class_limits(cluster, tenant, place)
        templates = len([n for n in claims.get(place.name, ()) if n.startswith("template/")])
        numbers = object_numbers(cluster, tenant, place, limits, templates)
        watched = _watched(tenant, place)
        key = (share, watched, *numbers.values())
        if (spec := specs.get(key)) is None:
            hard = _devices(tenancy, place, keys, limits, watched) | numbers
            spec = specs[key] = {"hard": {key: str(hard[key]) for key in sorted(hard)}}
        origin = tenancy.origins[place]
        made = make_synced(
            cluster,
            "v1",
            "ResourceQuota",
            NAME,
            origin,
            {"spec": spec},
            namespace=place.name,
            labels={"dracfg.dev/tenant": tenant.name},
        )
        found.append(Artifact(made, FILE, origin, via))
    return tuple(found)


def _devices(
    tenancy: Tenancy,
    place: Place,
    keys: QuotaKeys,
    limits: Mapping[str, int],
    watched: Iterable[str],
) -> dict[str, int]:
    """`spec.hard` of a namespace with its devices, whichever way they are reached."""
    hard = dict(keys.nothing)
    for name in watched:
        for key in keys.of_watching.get(name, ()):
            hard.pop(key, None)
    for name, limit in limits.items():
        for key in keys.of_devices.get(name, ()):
            hard[key] = hard.get(key, 0) + limit
    for resource, number in _plugin_limits(tenancy.cluster, tenancy.tenant, place).items():
        key = f"requests.{resource}"
        hard[key] = hard.get(key, 0) + number
    return hard


def object_numbers(
    cluster: Cluster, tenant: Tenant, place: Place, limits: Mapping[str, int], templates: int
) -> dict[str, int]:
    """How many claims and templates a namespace may have, by quota key.

    Each claim takes at least one device or share of the `limits` of classes, but for claims of admin
    access, which exporters have on every node. A profile has room for as many retired templates as
    its cluster keeps, even where none stands yet, so that the number moves little.
    """
    spec = tenant.document.spec
    if spec.state == "removed":
        return {CLAIMS: 0, TEMPLATES: templates}
    margin = _margins()
    watched = sum([len(a.tiers) for a in spec.admin_access if a.namespace == place.name])
    nodes = sum(pool.document.spec.nodes for pool in cluster.pools) if watched else 0
    claims = sum(limits.values()) + watched * nodes
    emitted = [p for p in spec.profiles if p.namespaces is None or place.name in p.namespaces]
    kept = 1 + cluster.document.spec.gitops.retain_templates
    room = max(templates, (len(emitted) + watched) * kept)
    own = margin["ownTemplates"] if spec.own_claims else 0
    return {
        CLAIMS: claims + margin["claims"] if claims else 0,
        TEMPLATES: room + margin["templates"] + own if room or own else 0,
    }


def class_limits(cluster: Cluster, tenant: Tenant, place: Place) -> Mapping[str, int]:
    """What a namespace may hold of each class, in devices or shares."""
    limits: dict[str, int] = {}
    if tenant.document.spec.state == "removed":
        return limits
    places = tenant.places_on(cluster.name)
    for grant in tenant.grants_on(cluster.name):
        numbers = grant.on("dra")
        for part in grant.policy.parts:
            if part.name in numbers:
                limit = numbers[part.name].limit
                name = class_name(grant.tier.name, grant.policy, part)
                limits[name] = limits.get(name, 0) + whole_part(limit, place, places)
    return limits


def _plugin_limits(cluster: Cluster, tenant: Tenant, place: Place) -> Mapping[str, int]:
    """What a namespace may hold by device plugin, by the name that the plugin serves."""
    limits: dict[str, int] = {}
    if tenant.document.spec.state == "removed":
        return limits
    places = tenant.places_on(cluster.name)
    for grant in tenant.grants_on(cluster.name):
        if "devicePlugin" not in grant.owners:
            continue
        resource = grant.tier.legacy_resource
        if resource is not None:
            total = sum(numbers.limit for numbers in grant.on("devicePlugin").values())
            limits[resource] = limits.get(resource, 0) + whole_part(total, place, places)
    return limits


def _watched(tenant: Tenant, place: Place) -> frozenset[str]:
    """Admin classes that a namespace may use: they take nothing, so nothing bounds them."""
    spec = tenant.document.spec
    if not spec.admin_access or spec.state == "removed":
        return frozenset()
    return frozenset(
        admin_class_name(tier)
        for access in spec.admin_access
        if access.namespace == place.name
        for tier in access.tiers
    )


def grants_by_class(cluster: Cluster, tenant: Tenant) -> Mapping[str, tuple[Grant, ...]]:
    """The grants that reach each class."""
    found: dict[str, tuple[Grant, ...]] = {}
    for grant in tenant.grants_on(cluster.name):
        if grant.uses_claims:
            for part in grant.policy.parts:
                if part.name in grant.numbers:
                    name = class_name(grant.tier.name, grant.policy, part)
                    found[name] = (*found.get(name, ()), grant)
    return found


@cache
def _margins() -> Mapping[str, int]:
    margins: Mapping[str, int] = read_data("dracfg.lower", "data/quota.yaml")
    return margins
