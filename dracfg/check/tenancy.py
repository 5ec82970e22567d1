"""TEN001, TEN002, TEN013, TEN014, TEN015: what a tenant may have and can't get where it lives."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

from dracfg.check.claims import emitted_in
from dracfg.check.rule import Rule, listed
from dracfg.check.uses import entitled
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.link.catalog import Catalog, Cluster, Tenant
from dracfg.link.claims import claim_plan
from dracfg.link.classes import ClassPlan, device_classes, policies_in_force
from dracfg.link.grouping import grouped
from dracfg.link.rights import namespaces_of
from dracfg.link.writers import writers
from dracfg.lower.namespaces import OWN_NAMESPACE
from dracfg.model.base import at
from dracfg.model.tenant import Alternative, Profile, Request
from dracfg.plan.asks import asks, unserved

_K = TypeVar("_K", bound=Hashable)

_NOWHERE: frozenset[str] = frozenset()
_SYSTEM = ("default", OWN_NAMESPACE)


def is_entitled_to_nothing(catalog: Catalog) -> Iterator[Diagnostic]:
    """TEN001."""
    if not catalog.is_complete("NodePool"):
        return
    held = _clusters_by(catalog, lambda cluster: (tier.name for tier in cluster.tiers))
    for tenant in catalog.tenants.values():
        here = tenant.clusters
        for i, entitlement in enumerate(tenant.document.spec.entitlements):
            if not held.get(entitlement.tier, _NOWHERE).isdisjoint(here):
                continue
            tier = catalog.tiers[entitlement.tier]
            elsewhere = sorted(
                {p.cluster for p in catalog.pools.values() for d in p.devices if d.tier is tier}
            )
            if elsewhere:
                help_ = f"it is held on {listed(elsewhere)}: give {tenant.name} a namespace there"
            else:
                help_ = f"no pool holds {tier.name}: describe one, or remove the entitlement"
            yield diagnose(
                "TEN001",
                at(tenant.document, "spec", "entitlements", i, "tier"),
                f"no pool on {listed(here, 'or')} holds {tier.name}",
                related=[Related(at(tier.document, "metadata", "name"), "the tier")],
                help=help_,
            )


def shares_a_namespace(catalog: Catalog) -> Iterator[Diagnostic]:
    """TEN002: a namespace belongs to one tenant, and to no part of the platform."""
    first: dict[tuple[str, str], tuple[Tenant, int]] = {}
    kept = {name: _kept(cluster) for name, cluster in catalog.clusters.items()}
    for tenant in catalog.tenants.values():
        for i, (name, clusters) in enumerate(namespaces_of(tenant)):
            place = ("spec", "namespaces", i, "name")
            if name in _SYSTEM or name.startswith("kube-"):
                yield diagnose(
                    "TEN002",
                    at(tenant.document, *place),
                    f"{name} belongs to the platform, no tenant can have it",
                    help=f"use a namespace of the tenant's own, such as {tenant.name}",
                )
                continue
            for cluster in clusters:
                owner, j = first.setdefault((cluster, name), (tenant, i))
                if owner is not tenant:
                    other = at(owner.document, "spec", "namespaces", j, "name")
                    yield diagnose(
                        "TEN002",
                        at(tenant.document, *place),
                        f"{name} on {cluster} belongs to tenant {owner.name} already",
                        related=[Related(other, f"named by {owner.name}")],
                        help="a namespace has one tenant: rename it, or remove it here",
                    )
                if name in kept[cluster]:
                    yield from _exempt(catalog.clusters[cluster], tenant, i)


def contested_namespaces(catalog: Catalog) -> frozenset[tuple[str, str]]:
    """(cluster, namespace) that two tenants name, or that holds what is dracfg's own."""
    owners: dict[tuple[str, str], set[str]] = {}
    for tenant in catalog.tenants.values():
        for name, clusters in namespaces_of(tenant):
            for cluster in clusters:
                owners.setdefault((cluster, name), set()).add(tenant.name)
    return frozenset(
        place for place, names in owners.items() if len(names) > 1 or place[1] == OWN_NAMESPACE
    )


def _kept(cluster: Cluster) -> frozenset[str]:
    """The namespaces of a cluster that are no tenant's, by its own word."""
    spec = cluster.document.spec
    applier = spec.gitops.applier
    names = {exempt.name for exempt in spec.exempt_namespaces}
    return frozenset(
        names | ({applier.service_account.namespace} if applier is not None else set())
    )


def _exempt(cluster: Cluster, tenant: Tenant, position: int) -> Iterator[Diagnostic]:
    name = tenant.document.spec.namespaces[position].name
    place = ("spec", "namespaces", position, "name")
    spec = cluster.document.spec
    for i, exempt in enumerate(spec.exempt_namespaces):
        if exempt.name == name:
            listed_at = at(cluster.document, "spec", "exemptNamespaces", i, "name")
            yield diagnose(
                "TEN002",
                at(tenant.document, *place),
                f"{name} is exempt from the tenants' rules on {cluster.name}",
                related=[Related(listed_at, "exempt here")],
                help="remove it from exemptNamespaces, or from the tenant",
            )
    applier = spec.gitops.applier
    if applier is not None and applier.service_account.namespace == name:
        account = at(cluster.document, "spec", "gitops", "applier", "serviceAccount", "namespace")
        yield diagnose(
            "TEN002",
            at(tenant.document, *place),
            f"{name} holds the identity that applies everything on {cluster.name}",
            related=[Related(account, "the applier")],
            help="a tenant there could act as the applier: use another namespace",
        )


def cannot_be_emitted(catalog: Catalog) -> Iterator[Diagnostic]:
    """TEN013: a profile that no cluster of its tenant can serve, where no other finding says so."""
    if not catalog.is_complete("NodePool"):
        return
    classes = {
        name: {plan.name: plan for plan in device_classes(catalog, cluster)}
        for name, cluster in catalog.clusters.items()
    }
    for tenant in unserved(catalog):
        clusters = [catalog.clusters[name] for name in tenant.clusters]
        emitted = {i for one in clusters for i in asks(catalog, tenant, one).charged}
        for i, profile in enumerate(tenant.document.spec.profiles):
            if i in emitted or not _is_sound(catalog, tenant, profile):
                continue
            reasons = [_lacking(tenant, profile, c, classes[c.name]) for c in clusters]
            plugin = any(by_plugin for _, by_plugin in reasons)
            yield diagnose(
                "TEN013",
                at(tenant.document, "spec", "profiles", i, "name"),
                f"profile {profile.name} can be emitted on no cluster",
                label="; ".join(text for text, _ in reasons),
                help="take the request out until the tier has moved to DRA; workloads use the "
                "extended resource meanwhile"
                if plugin
                else "a claim needs all of its devices on one cluster: split the profile",
            )


def _is_sound(catalog: Catalog, tenant: Tenant, profile: Profile) -> bool:
    """Whether every name and size in a profile is one that exists, and is to be had somewhere."""
    known = entitled(catalog, tenant)
    for request in profile.requests:
        wanted: tuple[Request | Alternative, ...] = request.any_of or (request,)
        for entry in wanted:
            _, policy = known.get(entry.entitlement or "", (None, None))
            if policy is None or policy.part(entry.size) is None:
                return False
            grants = [grant for grant in tenant.grants if grant.name == entry.entitlement]
            if not any(
                (grant.tier.name, policy.name) in _sharing(grant.cluster) for grant in grants
            ):
                return False
    return True


def _lacking(
    tenant: Tenant, profile: Profile, cluster: Cluster, classes: Mapping[str, ClassPlan]
) -> tuple[str, bool]:
    """The first reason why a cluster can't serve a profile, and whether a device plugin is it."""
    for request in profile.requests:
        entry = (request.any_of or (request,))[0]
        alone = profile.model_copy(update={"requests": (request,), "align": (), "distinct": ()})
        if claim_plan(tenant, alone, cluster, classes) is not None:
            continue
        grant = tenant.grant(cluster.name, entry.entitlement or "")
        if grant is None:
            return f"{cluster.name} has no devices for {entry.entitlement}", False
        if not grant.uses_claims:
            return f"{grant.tier.name} is handed out by device plugin on {cluster.name}", True
        if grant.policy not in policies_in_force(cluster, grant.tier):
            return f"{cluster.name} hands out no {grant.policy.name} of {grant.tier.name}", False
    return f"{cluster.name} lacks one of its devices", False


def is_not_in_force(catalog: Catalog) -> Iterator[Diagnostic]:
    """TEN014."""
    if not catalog.is_complete("NodePool"):
        return
    in_force = _clusters_by(catalog, _sharing)
    for tenant in catalog.tenants.values():
        here = tenant.clusters
        for i, entitlement in enumerate(tenant.document.spec.entitlements):
            sharing = entitlement.tier, entitlement.sharing
            if not in_force.get(sharing, _NOWHERE).isdisjoint(here):
                continue
            tier = catalog.tiers[entitlement.tier]
            clusters = [catalog.clusters[name] for name in here]
            held = [cluster for cluster in clusters if cluster.pools_of(tier)]
            if not held:
                continue
            stated = "sharing" in entitlement.model_fields_set
            pools = [pool for cluster in held for pool in cluster.pools_of(tier)]
            offered = sorted(
                {p.name for c in held for _, d in c.offers() if d.tier is tier for p in d.policies}
            )
            yield diagnose(
                "TEN014",
                at(
                    tenant.document,
                    "spec",
                    "entitlements",
                    i,
                    "sharing" if stated else "tier",
                ),
                f"no pool of {tier.name} hands out {entitlement.sharing} "
                f"on {listed((c.name for c in held), 'or')}",
                related=[
                    Related(at(pool.document, "metadata", "name"), "a pool of it") for pool in pools
                ],
                found=entitlement.sharing,
                expected=", ".join(offered) or None,
                help=f"name {listed(offered, 'or')}, or list {entitlement.sharing} on a pool"
                if offered
                else f"list {entitlement.sharing} in `sharing` of a pool",
            )


def _clusters_by(
    catalog: Catalog, keys: Callable[[Cluster], Iterable[_K]]
) -> Mapping[_K, frozenset[str]]:
    """The names of the clusters that have each of the keys."""
    found = grouped(catalog.clusters.values(), keys)
    return {key: frozenset(one.name for one in clusters) for key, clusters in found.items()}


def _sharing(cluster: Cluster) -> Iterator[tuple[str, str]]:
    """(tier, policy) that some pool of the cluster lists, whoever hands it out."""
    for _, devices in cluster.offers():
        yield from ((devices.tier.name, policy.name) for policy in devices.policies)


def shares_what_is_not_emitted(catalog: Catalog) -> Iterator[Diagnostic]:
    """TEN015."""
    for tenant in writers(catalog, "shared_claims"):
        spec = tenant.document.spec
        profiles = {profile.name: i for i, profile in enumerate(spec.profiles)}
        for i, claim in enumerate(spec.shared_claims):
            position = profiles.get(claim.profile)
            if position is None:
                continue
            profile = spec.profiles[position]
            if not emitted_in(profile, claim.namespace):
                place = at(tenant.document, "spec", "profiles", position, "namespaces")
                yield diagnose(
                    "TEN015",
                    at(tenant.document, "spec", "sharedClaims", i, "namespace"),
                    f"profile {profile.name} is not emitted in {claim.namespace}",
                    related=[Related(place, "emitted here alone")],
                    found=claim.namespace,
                    expected=listed(profile.namespaces or (), "or"),
                    help=f"add {claim.namespace} to the profile's namespaces",
                )


RULES: tuple[Rule, ...] = (shares_a_namespace,)
TENANT_RULES: tuple[Rule, ...] = (
    is_entitled_to_nothing,
    cannot_be_emitted,
    is_not_in_force,
    shares_what_is_not_emitted,
)
