"""Every rule over the catalog, in one tuple: what runs is what stands here."""

from __future__ import annotations

from dracfg.check import (
    bounds,
    capacity,
    claims,
    colocation,
    configs,
    driverfacts,
    drivergates,
    enforcement,
    grounds,
    guarantees,
    identity,
    kueue,
    multiples,
    names,
    offers,
    owners,
    priorities,
    quarantine,
    reclaim,
    references,
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
    *claims.RULES,
    *guarantees.RULES,
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
)


def check_catalog(catalog: Catalog) -> tuple[Diagnostic, ...]:
    """The findings of every rule, in the order of the rules; a finding made twice is kept once."""
    found = (finding for rule in RULES for finding in rule(catalog))
    return tuple(dict.fromkeys(found))
