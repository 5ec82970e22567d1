"""Capacity that crosses tenants: what is lent on a cluster by offers, and how much of it is held.

Only capacity crosses: no claim and no device is shared over namespaces.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dracfg.audit.ledger import Ledger
from dracfg.dataclass import dataclass
from dracfg.link.catalog import Catalog, Cluster
from dracfg.link.classes import class_name
from dracfg.model.tenant import AcceptedOffer


@dataclass(frozen=True, slots=True)
class Lent:
    """An accepted offer: devices of one class that `taker` may hold of what was `giver`'s. `held`
    counts what the taker holds of that class.
    """

    giver: str
    taker: str
    entitlement: str
    size: str
    device_class: str
    count: int
    held: int


def lent(catalog: Catalog | None, cluster: Cluster | None, ledger: Ledger) -> tuple[Lent, ...]:
    """Every offer that is accepted on the cluster, by taker; none without a catalog."""
    if catalog is None or cluster is None:
        return ()
    return tuple(_lent(catalog, cluster, ledger))


def _lent(catalog: Catalog, cluster: Cluster, ledger: Ledger) -> Iterator[Lent]:
    for tenant in catalog.tenants_on(cluster.name):
        for grant in tenant.grants_on(cluster.name):
            for part, numbers in grant.numbers.items():
                found = grant.policy.part(part)
                if found is None or not isinstance(grant.source, AcceptedOffer):
                    continue
                name = class_name(grant.tier.name, grant.policy, found)
                held = sum(
                    share.tenant == tenant.name and share.device_class == name
                    for entry in ledger.entries
                    for share in entry.shares
                )
                yield Lent(
                    grant.source.from_,
                    tenant.name,
                    grant.source.entitlement,
                    part,
                    name,
                    numbers.limit,
                    held,
                )


def lent_document(one: Lent) -> dict[str, Any]:
    """An entry of `offers` in the report."""
    return {
        "from": one.giver,
        "to": one.taker,
        "entitlement": one.entitlement,
        "size": one.size or None,
        "deviceClass": one.device_class,
        "count": one.count,
        "held": one.held,
    }
