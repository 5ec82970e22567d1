"""REF004, REF006: names that stand twice inside one document, and names that are taken."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dracfg.check.rule import Rule
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.link.catalog import Catalog, Cluster, Tier
from dracfg.link.claims import alternative_name
from dracfg.link.classes import admin_class_name, class_name, policies_in_force
from dracfg.link.gates import gates_of
from dracfg.link.writers import writers
from dracfg.model import kinds
from dracfg.model.base import Spec, at
from dracfg.model.pool import PoolDevices
from dracfg.model.sharing import Consumable, NamedSize, Partitioned
from dracfg.model.tenant import Profile, Request, TenantSpec

Steps = tuple[str | int, ...]

GITOPS = "gitops"
"""The folder beside the clusters' folders under `out/`."""


def stands_twice(catalog: Catalog) -> Iterator[Diagnostic]:
    """REF004 in documents of the platform."""
    for pool in catalog.pools.values():
        yield from _in_pool(pool.document)
    for policy in catalog.policies.values():
        if policy.document is not None:
            yield from _in_policy(policy.document)
    for cluster in catalog.clusters.values():
        exempt = [entry.name for entry in cluster.document.spec.exempt_namespaces]
        what = "exempt namespace"
        yield from _twice(cluster.document, what, exempt, lambda i: ("exemptNamespaces", i, "name"))
    for rollout in catalog.rollouts.values():
        yield from _in_rollout(rollout)


def _in_rollout(document: kinds.Rollout) -> Iterator[Diagnostic]:
    stages = [stage.name for stage in document.spec.stages]
    yield from _twice(document, "stage", stages, lambda i: ("stages", i, "name"))
    gates = [gate for gate in gates_of(document.spec) if gate.place is not None]
    names = [gate.name for gate in gates]
    yield from _twice(document, "gate", names, lambda i: ("gates", gates[i].place or 0, "name"))


def stands_twice_at_a_tenant(catalog: Catalog) -> Iterator[Diagnostic]:
    """REF004 in documents of tenants."""
    for tenant in catalog.tenants.values():
        yield from _in_tenant(tenant.document)
    for tenant in writers(catalog, "shared_claims", "offers", "accepted_offers"):
        yield from _beside_profiles(tenant.document)
    for tenant in writers(catalog, "any_of"):
        yield from _among_alternatives(tenant.document)


def _in_tenant(document: kinds.Tenant) -> Iterator[Diagnostic]:
    spec = document.spec
    names = [entitlement.name for entitlement in spec.entitlements]
    yield from _twice(document, "entitlement", names, lambda i: ("entitlements", i, "name"))
    names = [profile.name for profile in spec.profiles]
    yield from _twice(document, "profile", names, lambda i: ("profiles", i, "name"))
    names = [f"{one.name} on {cluster}" for one in spec.namespaces for cluster in one.clusters]
    yield from _twice(document, "namespace", names, lambda n: _cluster_place(spec, n))
    for i, profile in enumerate(spec.profiles):
        if len(profile.requests) > 1:
            yield from _among_requests(document, i, profile)


def _cluster_place(spec: TenantSpec, number: int) -> Steps:
    """Where a namespace's cluster stands, counted over all of its namespaces."""
    places = [(i, j) for i, one in enumerate(spec.namespaces) for j, _ in enumerate(one.clusters)]
    i, j = places[number]
    return "namespaces", i, "clusters", j


def _among_requests(
    document: kinds.Tenant, position: int, profile: Profile
) -> Iterator[Diagnostic]:
    what, names = f"request of profile {profile.name}", [one.name for one in profile.requests]
    above = ("profiles", position, "requests")
    yield from _twice(document, what, names, lambda j: (*above, j, "name"))


def _beside_profiles(document: kinds.Tenant) -> Iterator[Diagnostic]:
    spec = document.spec
    names = [f"{claim.namespace}/{claim.name}" for claim in spec.shared_claims]
    yield from _twice(document, "shared claim", names, lambda i: ("sharedClaims", i, "name"))
    names = [f"of {offer.entitlement} {offer.size or ''} to {offer.to}" for offer in spec.offers]
    yield from _twice(document, "offer", names, lambda i: ("offers", i, "entitlement"))
    names = [
        f"of {accepted.entitlement} {accepted.size or ''} from {accepted.from_}"
        for accepted in spec.accepted_offers
    ]
    what = "accepted offer"
    yield from _twice(document, what, names, lambda i: ("acceptedOffers", i, "entitlement"))


def _among_alternatives(document: kinds.Tenant) -> Iterator[Diagnostic]:
    for i, profile in enumerate(document.spec.profiles):
        for j, request in enumerate(profile.requests):
            yield from _alternatives(document, ("profiles", i, "requests", j, "anyOf"), request)


def _alternatives(document: kinds.Tenant, above: Steps, request: Request) -> Iterator[Diagnostic]:
    ways = request.any_of or ()
    names = [alternative_name(alternative, k) for k, alternative in enumerate(ways)]
    what = f"alternative of request {request.name}"
    yield from _twice(
        document, what, names, lambda k: (*above, k, "name" if ways[k].name else "entitlement")
    )


def _in_pool(document: kinds.NodePool) -> Iterator[Diagnostic]:
    spec = document.spec
    tiers = [devices.tier for devices in spec.devices]
    yield from _twice(document, "tier", tiers, lambda i: ("devices", i, "tier"))
    yield from _twice(document, "sharing policy", spec.sharing, lambda i: ("sharing", i))
    for i, devices in enumerate(spec.devices):
        yield from _of_devices(document, i, devices)


def _of_devices(
    document: kinds.NodePool, position: int, devices: PoolDevices
) -> Iterator[Diagnostic]:
    above, names = ("devices", position, "sharing"), devices.sharing or ()
    yield from _twice(document, "sharing policy", names, lambda j: (*above, j))


def _in_policy(document: kinds.SharingPolicy) -> Iterator[Diagnostic]:
    spec = document.spec
    if isinstance(spec, Partitioned):
        names = [partition.name for partition in spec.partitions]
        yield from _twice(document, "partition", names, lambda i: ("partitions", i, "name"))
    if isinstance(spec, Consumable):
        sizes = spec.sizes
        names = [one.name if isinstance(one, NamedSize) else str(one) for one in sizes]
        yield from _twice(
            document,
            "size",
            names,
            lambda i: ("sizes", i, *(("name",) if isinstance(sizes[i], NamedSize) else ())),
        )


def _twice(
    document: Spec, what: str, names: Sequence[str], place: Callable[[int], Steps]
) -> Iterator[Diagnostic]:
    """The names that stand before already; `place` leads to a name by its number."""
    if len(set(names)) == len(names):
        return
    first: dict[str, int] = {}
    for i, name in enumerate(names):
        before = first.setdefault(name, i)
        if before != i:
            yield diagnose(
                "REF004",
                at(document, "spec", *place(i)),
                f"{what} {' '.join(name.split())} stands twice",
                related=[Related(at(document, "spec", *place(before)), "first stands here")],
                help="rename one of the two, or remove it",
            )


def is_taken(catalog: Catalog) -> Iterator[Diagnostic]:
    """REF006; a policy named `whole` never comes this far, the linker refuses it."""
    for cluster in catalog.clusters.values():
        if cluster.name == GITOPS:
            yield diagnose(
                "REF006",
                at(cluster.document, "metadata", "name"),
                f"a cluster can't be named {GITOPS}",
                related=(),
                help=f"out/{GITOPS}/ holds the objects of the GitOps engine; name the cluster otherwise",
            )
    yield from _classes_alike(catalog)


def _classes_alike(catalog: Catalog) -> Iterator[Diagnostic]:
    """Two things of one cluster whose classes would have one name."""
    for cluster in catalog.clusters.values():
        holders: dict[str, tuple[Tier, kinds.HardwareTier | kinds.SharingPolicy]] = {}
        for name, tier, document in _claimed(cluster):
            other, other_document = holders.setdefault(name, (tier, document))
            if other_document is document and other is tier:
                continue
            alike = other is tier
            to_rename = document if alike else tier.document
            first = other_document if alike else other.document
            yield diagnose(
                "REF006",
                at(to_rename, "metadata", "name"),
                f"the name {to_rename.name} makes two classes {name}",
                label=f"its devices would be the class {name}",
                related=[
                    Related(at(first, "metadata", "name"), "that class is this one's already")
                ],
                help=f"rename {to_rename.name} or {first.name}",
            )


def _claimed(
    cluster: Cluster,
) -> Iterator[tuple[str, Tier, kinds.HardwareTier | kinds.SharingPolicy]]:
    """Each class name of the cluster with the tier and the document that it comes from."""
    for tier in cluster.tiers:
        yield admin_class_name(tier.name), tier, tier.document
        for policy in policies_in_force(cluster, tier):
            for name in dict.fromkeys(class_name(tier.name, policy, part) for part in policy.parts):
                yield name, tier, policy.document or tier.document


RULES: tuple[Rule, ...] = (stands_twice, is_taken)
TENANT_RULES: tuple[Rule, ...] = (stands_twice_at_a_tenant,)
