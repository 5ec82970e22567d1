"""Whom a tenant lends to and borrows from, by its document.

What one tenant has depends on others by this alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dracfg.link.catalog import Tenant
from dracfg.link.outlines import outline
from dracfg.model import kinds


@outline
def partners_of(tenant: Tenant) -> tuple[str, ...]:
    """The names of those that a tenant lends to or borrows from."""
    return partners(tenant.document)


def partners(document: kinds.Tenant) -> tuple[str, ...]:
    """The names of those that a tenant lends to or borrows from."""
    return (*takers(document), *lenders(document))


def takers(document: kinds.Tenant) -> tuple[str, ...]:
    return tuple(dict.fromkeys([offer.to for offer in document.spec.offers]))


def lenders(document: kinds.Tenant) -> tuple[str, ...]:
    return tuple(dict.fromkeys([accepted.from_ for accepted in document.spec.accepted_offers]))


def with_partners(
    names: Iterable[str], document: Callable[[str], kinds.Tenant | None]
) -> frozenset[str]:
    """Tenants with those that they lend to, and all that any of these borrow from, directly or not.

    `document` gives a tenant's, None where there is no such tenant.
    """
    first = [one for name in names if (one := document(name)) is not None]
    left = [
        *first,
        *(one for lender in first for name in takers(lender) if (one := document(name))),
    ]
    wanted: set[str] = set()
    while left:
        one = left.pop()
        if one.name not in wanted:
            wanted.add(one.name)
            left += [other for name in lenders(one) if (other := document(name)) is not None]
    return frozenset(wanted)
