"""Every rule over the catalog, in one tuple: what runs is what stands here."""

from __future__ import annotations

from dracfg.check import (
    bounds,
    capacity,
    claims,
    enforcement,
    names,
    offers,
    owners,
    reclaim,
    references,
    rollouts,
    selectors,
    sharing,
    sizes,
    tenancy,
)
from dracfg.check.rule import Rule
from dracfg.diagnostics import Diagnostic
from dracfg.link.catalog import Catalog

RULES: tuple[Rule, ...] = (
    *names.RULES,
    *references.RULES,
    *capacity.RULES,
    *claims.RULES,
    *bounds.RULES,
    *sizes.RULES,
    *sharing.RULES,
    *enforcement.RULES,
    *reclaim.RULES,
    *owners.RULES,
    *rollouts.RULES,
    *tenancy.RULES,
    *offers.RULES,
    *selectors.RULES,
)


def check_catalog(catalog: Catalog) -> tuple[Diagnostic, ...]:
    """The findings of every rule, in the order of the rules; a finding made twice is kept once."""
    found = (finding for rule in RULES for finding in rule(catalog))
    return tuple(dict.fromkeys(found))
