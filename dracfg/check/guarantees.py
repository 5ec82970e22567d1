"""How many guarantees stand without a proof. What is promised and not proven is unknown, never fine."""

from __future__ import annotations

from dracfg.link.catalog import Catalog


def unproven_guarantees(catalog: Catalog) -> int:
    """Grants that promise devices under a policy that asks for a proof; none is made yet."""
    return sum(
        1
        for tenant in catalog.tenants.values()
        for grant in tenant.grants
        if grant.policy.spec.guarantee != "none"
        and any(numbers.guaranteed for numbers in grant.numbers.values())
    )
