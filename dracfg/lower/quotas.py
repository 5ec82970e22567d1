"""Grants → ResourceQuotas: every class of the cluster under every key by which it can be reached.

ResourceQuota counts devices of a class and knows no capacity: a share counts as a whole device.
A key that is missing means unlimited, so classes without a grant get 0. The numbers of claims and
templates are bounded as well, so that nobody fills the API server with objects that hold nothing.
Source: kubernetes pkg/quota/v1/evaluator/core/resource_claims.go; kubernetes/api@v0.36.3 core/v1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache

from dracfg.kube.quota import quota_keys
from dracfg.link.catalog import Cluster, Grant, Place, Tenant
from dracfg.link.classes import ClassPlan, admin_class_name, class_name
from dracfg.link.grants import whole_part
from dracfg.lower.artifact import Artifact, make, origin_of
from dracfg.packaged import read_data

FILE = "quotas.yaml"
NAME = "dracfg-devices"
CLAIMS = "count/resourceclaims.resource.k8s.io"
TEMPLATES = "count/resourceclaimtemplates.resource.k8s.io"


def quota_artifacts(
    cluster: Cluster,
    tenant: Tenant,
    classes: Iterable[ClassPlan],
    *,
    extended: bool,
    templates: Mapping[str, int],
) -> tuple[Artifact, ...]:
    """One ResourceQuota a namespace. `extended` says whether DRAExtendedResource is on there.

    `templates` is how many templates stand in a namespace, retired ones included.
    """
    plans = tuple(classes)
    found = []
    for place in tenant.places_on(cluster.name):
        origin = origin_of(
            tenant.document,
            "spec",
            "namespaces",
            tenant.document.spec.namespaces.index(place.namespace),
        )
        hard = quota_numbers(cluster, tenant, place, plans, extended=extended)
        hard |= object_numbers(cluster, tenant, place, templates.get(place.name, 0))
        made = make(
            "v1",
            "ResourceQuota",
            NAME,
            origin,
            {"spec": {"hard": {key: str(hard[key]) for key in sorted(hard)}}},
            namespace=place.name,
            labels={"dracfg.dev/tenant": tenant.name},
        )
        via = tuple(
            origin_of(tenant.document, "spec", "entitlements", i)
            for i, _ in enumerate(tenant.document.spec.entitlements)
        )
        found.append(Artifact(made, FILE, origin, via))
    return tuple(found)


def quota_numbers(
    cluster: Cluster,
    tenant: Tenant,
    place: Place,
    classes: Iterable[ClassPlan],
    *,
    extended: bool,
) -> dict[str, int]:
    """`spec.hard` of a namespace: devices by quota key."""
    by_class = class_limits(cluster, tenant, place)
    watched = _watched(tenant, place)
    hard: Counter[str] = Counter()
    for plan in classes:
        if plan.admin and plan.name in watched:
            continue
        for key in quota_keys(plan.name, plan.extended_name, cluster.minor, extended):
            hard[key] += by_class.get(plan.name, 0)
    for resource, number in _plugin_limits(cluster, tenant, place).items():
        hard[f"requests.{resource}"] += number
    return dict(hard)


def object_numbers(
    cluster: Cluster, tenant: Tenant, place: Place, templates: int
) -> dict[str, int]:
    """How many claims and templates a namespace may have, by quota key.

    Each claim takes at least one device or share of the limits, but for claims of admin access,
    which exporters have on every node. A profile has room for as many retired templates as its
    cluster keeps, even where none stands yet, so that the number moves little.
    """
    spec = tenant.document.spec
    if spec.state == "removed":
        return {CLAIMS: 0, TEMPLATES: templates}
    margin = _margins()
    watched = sum(len(a.tiers) for a in spec.admin_access if a.namespace == place.name)
    nodes = sum(pool.document.spec.nodes for pool in cluster.pools)
    claims = sum(class_limits(cluster, tenant, place).values()) + watched * nodes
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
    limits: Counter[str] = Counter()
    if tenant.document.spec.state == "removed":
        return limits
    places = tenant.places_on(cluster.name)
    for grant in tenant.grants_on(cluster.name):
        for part in grant.policy.parts:
            if part.name in (numbers := grant.on("dra")):
                limit = numbers[part.name].limit
                name = class_name(grant.tier.name, grant.policy, part)
                limits[name] += whole_part(limit, place, places)
    return limits


def _plugin_limits(cluster: Cluster, tenant: Tenant, place: Place) -> Mapping[str, int]:
    """What a namespace may hold by device plugin, for every name that a plugin serves here."""
    limits: Counter[str] = Counter()
    for tier in cluster.tiers:
        if tier.legacy_resource is not None and "devicePlugin" in cluster.owners_of(tier):
            limits[tier.legacy_resource] += 0
    if tenant.document.spec.state == "removed":
        return limits
    places = tenant.places_on(cluster.name)
    for grant in tenant.grants_on(cluster.name):
        resource = grant.tier.legacy_resource
        if resource is not None and "devicePlugin" in grant.owners:
            total = sum(numbers.limit for numbers in grant.on("devicePlugin").values())
            limits[resource] += whole_part(total, place, places)
    return limits


def _watched(tenant: Tenant, place: Place) -> frozenset[str]:
    """Admin classes that a namespace may use: they take nothing, so nothing bounds them."""
    return frozenset(
        admin_class_name(tier)
        for access in tenant.document.spec.admin_access
        if access.namespace == place.name and tenant.document.spec.state != "removed"
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
