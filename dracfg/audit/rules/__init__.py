"""The rules of the live level, a topic a module, each a function from the view to findings."""

from dracfg.audit.finding import LiveRule
from dracfg.audit.rules import (
    access,
    allocations,
    coverage,
    health,
    lostnodes,
    preparation,
    reservations,
    schedulers,
    tenancy,
    terminations,
    trials,
    versions,
)

RULES: tuple[LiveRule, ...] = (
    *coverage.RULES,
    *allocations.RULES,
    *reservations.RULES,
    *lostnodes.RULES,
    *terminations.RULES,
    *preparation.RULES,
    *health.RULES,
    *versions.RULES,
    *tenancy.RULES,
    *access.RULES,
    *schedulers.RULES,
    *trials.RULES,
)

__all__ = ["RULES"]
