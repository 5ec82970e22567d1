"""A plan as far as some clusters and tenants are concerned. What is illegal or broken always stays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dracfg.diff.change import Change
from dracfg.diff.objects import ObjectDifference
from dracfg.diff.plan import DiffPlan
from dracfg.diff.shown import fits


def narrow(plan: DiffPlan, clusters: Iterable[str], tenants: Iterable[str]) -> DiffPlan:
    """The changes of the clusters and tenants that the globs name; without globs, all.

    What is about all clusters is about each of them; what is about no tenant is about none. Capacity
    is a matter of clusters.
    """
    of_clusters, of_tenants = tuple(clusters), tuple(tenants)

    def holds(found: Change) -> bool:
        here = not of_clusters or found.cluster is None or fits(found.cluster, of_clusters)
        return here and (not of_tenants or fits(found.tenant, of_tenants))

    def is_shown(one: ObjectDifference) -> bool:
        here = not of_clusters or fits(one.cluster, of_clusters)
        return here and (not of_tenants or fits(one.tenant, of_tenants))

    rows = (row for row in plan.capacity if not of_clusters or fits(row.cluster, of_clusters))
    shown = plan.shown
    if shown is not None:
        shown = replace(shown, clusters=of_clusters, tenants=of_tenants)
    return replace(
        plan,
        changes=tuple(filter(holds, plan.changes)),
        capacity=() if of_tenants else tuple(rows),
        objects=tuple(filter(is_shown, plan.objects)),
        shown=shown,
    )


def unmatched(globs: Iterable[str], names: Iterable[str]) -> tuple[str, ...]:
    """The globs that fit none of the names."""
    known = tuple(names)
    return tuple(glob for glob in globs if not any(fits(name, (glob,)) for name in known))
