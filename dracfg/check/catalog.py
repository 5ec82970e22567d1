"""Every rule over the catalog, in one tuple: what runs is what stands here."""

from __future__ import annotations

from dracfg.check import (
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
    kueue,
    metadata,
    metadatareads,
    metadataswitches,
    metadatawatch,
    multiples,
    names,
    offers,
    owners,
    podsecurity,
    priorities,
    quarantine,
    reclaim,
    references,
    rolloutplans,
    rollouts,
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
)
from dracfg.check.rule import Rule
from dracfg.diagnostics import Diagnostic
from dracfg.link.catalog import Catalog

RULES: tuple[Rule, ...] = (
    *names.RULES,
    *references.RULES,
    *capacity.RULES,
    *configs.RULES,
    *deadwords.RULES,
    *distinction.RULES,
    *claims.RULES,
    *grounds.RULES,
    *tolerations.RULES,
    *bounds.RULES,
    *sizes.RULES,
    *sharing.RULES,
    *enforcement.RULES,
    *units.RULES,
    *multiples.RULES,
    *reclaim.RULES,
    *owners.RULES,
    *schedulers.RULES,
    *quarantine.RULES,
    *targets.RULES,
    *rollouts.RULES,
    *rolloutplans.RULES,
    *tenancy.RULES,
    *offers.RULES,
    *colocation.RULES,
    *priorities.RULES,
    *identity.RULES,
    *sharedclaims.RULES,
    *kueue.RULES,
    *selectors.RULES,
    *spellings.RULES,
    *drivergates.RULES,
    *driverfacts.RULES,
    *metadata.RULES,
    *metadatareads.RULES,
    *metadataswitches.RULES,
    *metadatawatch.RULES,
    *podsecurity.RULES,
)


def check_catalog(catalog: Catalog) -> tuple[Diagnostic, ...]:
    """The findings of every rule, in the order of the rules; a finding made twice is kept once."""
    found = (finding for rule in RULES for finding in rule(catalog))
    return tuple(dict.fromkeys(found))
