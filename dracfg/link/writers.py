"""Which tenants write a field that most leave out, so that a rule on it walks none of the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from operator import attrgetter

from dracfg.link.catalog import Catalog, Tenant
from dracfg.link.grouping import grouped_by
from dracfg.link.memo import per_catalog
from dracfg.link.outlines import outline
from dracfg.model.base import Spec

_fields = attrgetter("model_fields_set")


def writers(catalog: Catalog, *fields: str) -> Sequence[Tenant]:
    """The tenants that write one of these fields somewhere, in their order.

    A field is named as in the model, and may be left out: one of the tenant's spec, of its namespaces,
    entitlements or profiles, or of their requests. What is not written has its default, so a rule that
    finds nothing by the defaults asks no other tenant.
    """
    wanted = set(fields)
    found = [numbered for written, numbered in _alike(catalog).items() if written & wanted]
    return [tenant for _, tenant in sorted(chain.from_iterable(found))]


@per_catalog
def _alike(catalog: Catalog) -> Mapping[frozenset[str], tuple[tuple[int, Tenant], ...]]:
    """Tenants and their positions by all the fields that they write: few differ in that."""
    return grouped_by(enumerate(catalog.tenants.values()), lambda one: _written(one[1]))


@outline
def _written(tenant: Tenant) -> frozenset[str]:
    spec = tenant.document.spec
    parts: list[Spec] = [*spec.namespaces, *spec.entitlements, *spec.profiles]
    for profile in spec.profiles:
        parts += profile.requests
    # `namespaces` is the field of profiles: those of the spec are in every tenant.
    return frozenset(_fields(spec) - {"namespaces"}).union(*map(_fields, parts))
