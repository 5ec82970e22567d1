"""Which tenants write a field that most leave out, so that a rule on it walks none of the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    found = [tenants for written, tenants in _alike(catalog).items() if written & set(fields)]
    if len(found) < 2:
        return found[0] if found else ()
    names = {tenant.name for tenants in found for tenant in tenants}
    return [tenant for tenant in catalog.tenants.values() if tenant.name in names]


@per_catalog
def _alike(catalog: Catalog) -> Mapping[frozenset[str], tuple[Tenant, ...]]:
    """Tenants by all the fields that they write: of many tenants few differ in that."""
    return grouped_by(catalog.tenants.values(), _written)


@outline
def _written(tenant: Tenant) -> frozenset[str]:
    spec = tenant.document.spec
    parts: list[Spec] = [*spec.namespaces, *spec.entitlements, *spec.profiles]
    for profile in spec.profiles:
        parts += profile.requests
    # `namespaces` is the field of profiles: those of the spec are in every tenant.
    return frozenset(_fields(spec) - {"namespaces"}).union(*map(_fields, parts))
