"""What of a linked catalog holds for other documents as well, so that it need not be linked again.

Two states of a repository have most documents in common. Those are known by being the same objects: who
reads both states makes each file's documents once.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from dracfg.link.catalog import Catalog, Tenant
from dracfg.link.index import Index
from dracfg.model import kinds
from dracfg.model.kinds import AnyDocument

TENANT = "Tenant"


def platform_stays(index: Index, since: Catalog) -> bool:
    """Whether all documents but tenants are those of a catalog, and none of them was left out of it.

    Tenants have no part in what the others are linked to.
    """
    known = _platform(since)
    return all(
        named.keys() == known[kind].keys()
        and all(document is known[kind][name] for name, document in named.items())
        for kind, named in index.by_kind.items()
        if kind != TENANT
    )


def tenants_that_stay(index: Index, since: Catalog) -> Mapping[str, Tenant]:
    """The tenants of the catalog that would be linked to the same again, where its platform stays.

    A tenant is made of its own document, those of the platform, and what those that it borrows from are
    entitled to by theirs. What it names besides has to be there, or it would have to be told.
    """
    documents = index.by_kind[TENANT]
    same = {
        name: tenant
        for name, tenant in since.tenants.items()
        if documents.get(name) is tenant.document
    }
    return {
        name: tenant
        for name, tenant in same.items()
        if _leads_there(tenant.document, same, documents, since.tiers)
    }


def _leads_there(
    document: kinds.Tenant,
    lenders: Container[str],
    tenants: Container[str],
    tiers: Container[str],
) -> bool:
    spec = document.spec
    return (
        all(accepted.from_ in lenders for accepted in spec.accepted_offers)
        and all(offer.to in tenants for offer in spec.offers)
        and all(tier in tiers for access in spec.admin_access for tier in access.tiers)
    )


def _platform(catalog: Catalog) -> Mapping[str, Mapping[str, AnyDocument]]:
    """The documents of everything but tenants, by kind and name; what is built in has none."""
    return {
        "Cluster": {name: one.document for name, one in catalog.clusters.items()},
        "Driver": {name: one.document for name, one in catalog.drivers.items()},
        "HardwareTier": {name: one.document for name, one in catalog.tiers.items()},
        "NodePool": {name: one.document for name, one in catalog.pools.items()},
        "Rollout": catalog.rollouts,
        "SharingPolicy": {
            name: one.document for name, one in catalog.policies.items() if one.document is not None
        },
    }
