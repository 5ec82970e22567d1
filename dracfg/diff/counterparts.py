"""What stands on both sides of a pair, and whether it is the same: most comparisons end here early.

Knows the linked catalog; nothing of what a difference means.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from dracfg.diff.pair import Pair
from dracfg.link.catalog import Catalog, Cluster, Tenant
from dracfg.link.driver import Driver
from dracfg.model.base import Spec

Linked = tuple[Cluster, Cluster]
"""A cluster as it was and as it is."""


def clusters(pair: Pair) -> Iterator[Linked]:
    """The clusters of both sides, but for those that a side could not compile."""
    before, after = pair.base.judgement.catalog, pair.head.judgement.catalog
    for name, cluster in before.clusters.items():
        if name in after.clusters and not pair.blocked(f"{name}/platform"):
            yield cluster, after.clusters[name]


def tenants(
    pair: Pair, cluster: str, among: Collection[str] | None = None
) -> Iterator[tuple[Tenant, Tenant]]:
    """The tenants that are on a cluster on both sides, but for those that did not compile.

    With `among`, those of them alone.
    """
    after = pair.head.judgement.catalog.tenants
    for tenant in pair.base.judgement.catalog.tenants_on(cluster):
        if among is not None and tenant.name not in among:
            continue
        other = after.get(tenant.name)
        if other is None or cluster not in other.clusters:
            continue
        if not pair.blocked(f"{cluster}/tenants/{tenant.name}"):
            yield tenant, other


def drivers(pair: Pair) -> Iterator[tuple[Driver, Driver]]:
    """The drivers of both sides."""
    before, after = pair.base.judgement.catalog, pair.head.judgement.catalog
    for name, driver in before.drivers.items():
        if name in after.drivers:
            yield driver, after.drivers[name]


def alike(before: object, after: object) -> bool:
    """Whether two specs say the same, wherever they were read from.

    Lists are compared in their order: what is alike means the same, not the other way round.
    """
    if before is after:
        return True
    if isinstance(before, Spec):
        return type(before) is type(after) and alike(before.__dict__, after.__dict__)
    if isinstance(before, Mapping):
        return (
            isinstance(after, Mapping)
            and before.keys() == after.keys()
            and all(alike(value, after[key]) for key, value in before.items())
        )
    if isinstance(before, tuple | list):
        return (
            isinstance(after, tuple | list)
            and len(before) == len(after)
            and all(map(alike, before, after))
        )
    return before == after and isinstance(before, bool) is isinstance(after, bool)


def same_platform(before: Cluster, after: Cluster) -> bool:
    """Whether a cluster and all that its pools hold is described alike on both sides."""
    return before is after or (
        alike(before.document.spec, after.document.spec)
        and alike(_platform(before), _platform(after))
    )


def changed_tenants(pair: Pair) -> frozenset[str]:
    """Tenants that came, went or say something else, with those that borrow from them.

    Files of equal text are passed over without a look at what they say.
    """
    before, after = pair.base.judgement.catalog, pair.head.judgement.catalog
    apart = [
        (name, before.tenants.get(name), after.tenants.get(name))
        for name in linked_otherwise(before, after)
    ]
    names = {name for name, old, new in apart if not _says_the_same(pair, old, new)}
    return frozenset(names | {name for name, *both in apart if _borrows(both, names)})


def linked_otherwise(before: Catalog, after: Catalog) -> frozenset[str]:
    """Tenants that are not the same object in both catalogs; all others are linked to the same.

    Not even borrowers of others are among the rest, where one catalog was linked after the other.
    """
    old, new = before.tenants, after.tenants
    return frozenset(name for name in old.keys() | new.keys() if old.get(name) is not new.get(name))


def _says_the_same(pair: Pair, before: Tenant | None, after: Tenant | None) -> bool:
    if before is None or after is None:
        return False
    old, new = before.document, after.document
    path = new.source_path
    return (old.source_path == path and is_same_file(pair, path)) or alike(old.spec, new.spec)


def is_same_file(pair: Pair, path: str) -> bool:
    """Whether both sides have a file, and it is of the same text."""
    old, new = (side.judgement.sources.files.get(path) for side in (pair.base, pair.head))
    return old is new or (old is not None and new is not None and old.text == new.text)


def _borrows(sides: Iterable[Tenant | None], lenders: set[str]) -> bool:
    return any(
        offer.from_ in lenders
        for tenant in sides
        if tenant is not None
        for offer in tenant.document.spec.accepted_offers
    )


def _platform(cluster: Cluster) -> dict[str, Spec]:
    """The specs of everything but tenants that a cluster's objects come from."""
    found: dict[str, Spec] = {}
    for pool in cluster.pools:
        for move in pool.moves:
            found[f"Rollout/{move.rollout.name}"] = move.rollout.spec
    for pool, devices in cluster.offers():
        found[f"NodePool/{pool.name}"] = pool.document.spec
        found[f"HardwareTier/{devices.tier.name}"] = devices.tier.document.spec
        found[f"Driver/{devices.tier.driver.name}"] = devices.tier.driver.document.spec
        for policy in devices.policies:
            if policy.document is not None:
                found[f"SharingPolicy/{policy.name}"] = policy.document.spec
    return found
