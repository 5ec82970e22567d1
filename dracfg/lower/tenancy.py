"""A tenant on one cluster: what all of its objects there are made of, found once.

Knows nothing of objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from dracfg.dataclass import dataclass
from dracfg.link.catalog import Catalog, Cluster, Place, Tenant
from dracfg.link.claims import ClaimPlan, plans_of
from dracfg.link.classes import ClassPlan, classes_by_name
from dracfg.lower.artifact import Origin, origin_of
from dracfg.model.tenant import Profile


@dataclass(frozen=True, eq=False)
class Tenancy:
    """One tenant on one cluster."""

    catalog: Catalog
    cluster: Cluster
    tenant: Tenant

    @property
    def is_removed(self) -> bool:
        """Whether the tenant has no rights any more."""
        return self.tenant.document.spec.state == "removed"

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Its namespaces on the cluster."""
        return self.tenant.places_on(self.cluster.name)

    @cached_property
    def classes(self) -> Mapping[str, ClassPlan]:
        """The cluster's classes by name."""
        return classes_by_name(self.catalog, self.cluster)

    @cached_property
    def plans(self) -> tuple[ClaimPlan | None, ...]:
        """The claim of each of its profiles, None for one that can't be made on the cluster."""
        return plans_of(self.catalog, self.cluster, self.tenant)

    @cached_property
    def origin(self) -> Origin:
        """Where the tenant is described."""
        return origin_of(self.tenant.document)

    @cached_property
    def origins(self) -> Mapping[Place, Origin]:
        """Where each of its namespaces is described."""
        spaces = self.origin.at("spec", "namespaces")
        return {place: spaces.at(place.position) for place in self.places}

    def places_of(self, profile: Profile) -> tuple[Place, ...]:
        """The namespaces of the cluster in which a profile is emitted."""
        if profile.namespaces is None:
            return self.places
        return profile_places(self.tenant, profile, self.cluster.name)

    @cached_property
    def tiers(self) -> Mapping[str, tuple[str, ...]]:
        """The tiers that its profiles ask for, by namespace of the cluster; both sorted."""
        # Most profiles are emitted in the same namespaces, namely all of them.
        asked: dict[tuple[Place, ...], set[str]] = {}
        for plan in self.plans if not self.is_removed else ():
            if plan is not None:
                tiers = {ask.grant.tier.name for request in plan.requests for ask in request.asks}
                asked.setdefault(self.places_of(plan.profile), set()).update(tiers)
        found: dict[str, set[str]] = {}
        for places, tiers in asked.items():
            for place in places:
                found.setdefault(place.name, set()).update(tiers)
        return {name: tuple(sorted(found[name])) for name in sorted(found)}


def profile_places(tenant: Tenant, profile: Profile, cluster: str) -> tuple[Place, ...]:
    """The namespaces of a cluster in which a profile is emitted."""
    if profile.namespaces is None:
        return tenant.places_on(cluster)
    return tuple(place for place in tenant.places_on(cluster) if place.name in profile.namespaces)
