"""Every rule over the catalog, in two tuples: what runs is what stands here.

A rule that judges one tenant at a time stands in TENANT_RULES of its module: what it finds in a catalog
is what it finds of each of its tenants, beside whom that one lends to and borrows from. What adds tenants up,
holds one against another, or looks at none stands in RULES.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from dracfg.check import (
    alignment,
    bounds,
    capacity,
    claims,
    colocation,
    configs,
    deadwords,
    distinction,
    driverfacts,
    drivergates,
    enforcement,
    grounds,
    identity,
    installers,
    kueue,
    metadata,
    metadatareads,
    metadataswitches,
    metadatawatch,
    multiples,
    names,
    objectives,
    offers,
    owners,
    podsecurity,
    priorities,
    quarantine,
    rebalance,
    reclaim,
    references,
    rolloutgates,
    rolloutplans,
    rollouts,
    schedulerdefects,
    schedulers,
    selectors,
    sharedclaims,
    sharing,
    sizes,
    spellings,
    targets,
    tenancy,
    tolerations,
    units,
    waysback,
)
from dracfg.check.rule import Rule
from dracfg.diagnostics import Diagnostic
from dracfg.link.catalog import Catalog
from dracfg.link.partners import with_partners
from dracfg.model import kinds

RULES: tuple[Rule, ...] = (
    *names.RULES,
    *references.RULES,
    *capacity.RULES,
    *deadwords.RULES,
    *schedulerdefects.RULES,
    *grounds.RULES,
    *bounds.RULES,
    *sizes.RULES,
    *sharing.RULES,
    *enforcement.RULES,
    *units.RULES,
    *reclaim.RULES,
    *owners.RULES,
    *installers.RULES,
    *schedulers.RULES,
    *quarantine.RULES,
    *targets.RULES,
    *rollouts.RULES,
    *rolloutplans.RULES,
    *waysback.RULES,
    *rolloutgates.RULES,
    *rebalance.RULES,
    *tenancy.RULES,
    *colocation.RULES,
    *priorities.RULES,
    *identity.RULES,
    *kueue.RULES,
    *selectors.RULES,
    *spellings.RULES,
    *drivergates.RULES,
    *driverfacts.RULES,
    *metadata.RULES,
    *metadataswitches.RULES,
    *metadatawatch.RULES,
    *objectives.RULES,
)
TENANT_RULES: tuple[Rule, ...] = (
    *names.TENANT_RULES,
    *references.TENANT_RULES,
    *capacity.TENANT_RULES,
    *configs.TENANT_RULES,
    *deadwords.TENANT_RULES,
    *distinction.TENANT_RULES,
    *alignment.TENANT_RULES,
    *schedulerdefects.TENANT_RULES,
    *claims.TENANT_RULES,
    *grounds.TENANT_RULES,
    *tolerations.TENANT_RULES,
    *sizes.TENANT_RULES,
    *multiples.TENANT_RULES,
    *rollouts.TENANT_RULES,
    *tenancy.TENANT_RULES,
    *offers.TENANT_RULES,
    *priorities.TENANT_RULES,
    *identity.TENANT_RULES,
    *sharedclaims.TENANT_RULES,
    *kueue.TENANT_RULES,
    *selectors.TENANT_RULES,
    *metadatareads.TENANT_RULES,
    *podsecurity.TENANT_RULES,
)


def check_catalog(
    catalog: Catalog, meanwhile: Callable[[], None] = lambda: None
) -> tuple[Diagnostic, ...]:
    """What rules find that need the whole catalog; a finding made twice is kept once.

    `meanwhile` is called between them.
    """
    return _found(RULES, catalog, meanwhile)


def check_tenants(
    catalog: Catalog, meanwhile: Callable[[], None] = lambda: None
) -> tuple[Diagnostic, ...]:
    """What rules find of the catalog's tenants, one by one; a finding made twice is kept once.

    `meanwhile` is called between them.
    """
    return _found(TENANT_RULES, catalog, meanwhile)


def tenants_alone(catalog: Catalog, names: Iterable[str]) -> Catalog:
    """The catalog with these tenants alone, and their partners (`link.partners.with_partners`)."""

    def document(name: str) -> kinds.Tenant | None:
        tenant = catalog.tenants.get(name)
        return None if tenant is None else tenant.document

    wanted = with_partners(names, document)
    tenants = {name: one for name, one in catalog.tenants.items() if name in wanted}
    return replace(catalog, tenants=tenants)


def _found(
    rules: Iterable[Rule], catalog: Catalog, meanwhile: Callable[[], None]
) -> tuple[Diagnostic, ...]:
    found: dict[Diagnostic, None] = {}
    for rule in rules:
        found |= dict.fromkeys(rule(catalog))
        meanwhile()
    return tuple(found)
