"""REF004, REF006: names that stand twice inside one document, and names that are taken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dracfg.check.rule import Rule
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.link.catalog import Catalog, Cluster, Tier
from dracfg.link.claims import alternative_name
from dracfg.link.classes import admin_class_name, class_name, policies_in_force
from dracfg.link.gates import gates_of
from dracfg.link.writers import writers
from dracfg.model import kinds
from dracfg.model.base import Spec, at
from dracfg.model.sharing import Consumable, NamedSize, Partitioned

Steps = tuple[str | int, ...]
Named = tuple[str, Steps]

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
        exempt = cluster.document.spec.exempt_namespaces
        yield from _twice(
            cluster.document,
            "exempt namespace",
            ((entry.name, ("exemptNamespaces", i, "name")) for i, entry in enumerate(exempt)),
        )
    for rollout in catalog.rollouts.values():
        yield from _twice(
            rollout,
            "stage",
            ((s.name, ("stages", i, "name")) for i, s in enumerate(rollout.spec.stages)),
        )
        yield from _twice(
            rollout,
            "gate",
            (
                (gate.name, ("gates", gate.place, "name"))
                for gate in gates_of(rollout.spec)
                if gate.place is not None
            ),
        )


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
    yield from _twice(
        document,
        "entitlement",
        ((e.name, ("entitlements", i, "name")) for i, e in enumerate(spec.entitlements)),
    )
    yield from _twice(
        document,
        "profile",
        ((p.name, ("profiles", i, "name")) for i, p in enumerate(spec.profiles)),
    )
    yield from _twice(
        document,
        "namespace",
        (
            (f"{namespace.name} on {cluster}", ("namespaces", i, "clusters", j))
            for i, namespace in enumerate(spec.namespaces)
            for j, cluster in enumerate(namespace.clusters)
        ),
    )
    for i, profile in enumerate(spec.profiles):
        if len(profile.requests) > 1:
            above = ("profiles", i, "requests")
            yield from _twice(
                document,
                f"request of profile {profile.name}",
                ((r.name, (*above, j, "name")) for j, r in enumerate(profile.requests)),
            )


def _beside_profiles(document: kinds.Tenant) -> Iterator[Diagnostic]:
    spec = document.spec
    yield from _twice(
        document,
        "shared claim",
        (
            (f"{claim.namespace}/{claim.name}", ("sharedClaims", i, "name"))
            for i, claim in enumerate(spec.shared_claims)
        ),
    )
    yield from _twice(
        document,
        "offer",
        (
            (
                f"of {offer.entitlement} {offer.size or ''} to {offer.to}",
                ("offers", i, "entitlement"),
            )
            for i, offer in enumerate(spec.offers)
        ),
    )
    yield from _twice(
        document,
        "accepted offer",
        (
            (
                f"of {accepted.entitlement} {accepted.size or ''} from {accepted.from_}",
                ("acceptedOffers", i, "entitlement"),
            )
            for i, accepted in enumerate(spec.accepted_offers)
        ),
    )


def _among_alternatives(document: kinds.Tenant) -> Iterator[Diagnostic]:
    for i, profile in enumerate(document.spec.profiles):
        for j, request in enumerate(profile.requests):
            above = ("profiles", i, "requests", j, "anyOf")
            yield from _twice(
                document,
                f"alternative of request {request.name}",
                (
                    (
                        alternative_name(alternative, k),
                        (*above, k, "name" if alternative.name else "entitlement"),
                    )
                    for k, alternative in enumerate(request.any_of or ())
                ),
            )


def _in_pool(document: kinds.NodePool) -> Iterator[Diagnostic]:
    spec = document.spec
    yield from _twice(
        document, "tier", ((d.tier, ("devices", i, "tier")) for i, d in enumerate(spec.devices))
    )
    yield from _twice(
        document, "sharing policy", ((name, ("sharing", i)) for i, name in enumerate(spec.sharing))
    )
    for i, devices in enumerate(spec.devices):
        yield from _twice(
            document,
            "sharing policy",
            ((name, ("devices", i, "sharing", j)) for j, name in enumerate(devices.sharing or ())),
        )


def _in_policy(document: kinds.SharingPolicy) -> Iterator[Diagnostic]:
    spec = document.spec
    if isinstance(spec, Partitioned):
        yield from _twice(
            document,
            "partition",
            ((p.name, ("partitions", i, "name")) for i, p in enumerate(spec.partitions)),
        )
    if isinstance(spec, Consumable):
        yield from _twice(
            document,
            "size",
            (
                (size.name, ("sizes", i, "name"))
                if isinstance(size, NamedSize)
                else (str(size), ("sizes", i))
                for i, size in enumerate(spec.sizes)
            ),
        )


def _twice(document: Spec, what: str, names: Iterable[Named]) -> Iterator[Diagnostic]:
    first: dict[str, Steps] = {}
    for name, steps in names:
        if name in first:
            yield diagnose(
                "REF004",
                at(document, "spec", *steps),
                f"{what} {' '.join(name.split())} stands twice",
                related=[Related(at(document, "spec", *first[name]), "first stands here")],
                help="rename one of the two, or remove it",
            )
        else:
            first[name] = steps


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
