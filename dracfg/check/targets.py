"""OBJ024 and OWN010: what must not be shared: the place a tree is applied to, and the nodes of a pool."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from dracfg.check.rule import Rule
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.link.catalog import Catalog
from dracfg.model.base import at
from dracfg.model.cluster import ArgoCD


def is_applied_twice(catalog: Catalog) -> Iterator[Diagnostic]:
    """OBJ024: two trees on one cluster would overwrite each other's objects for ever."""
    seen: dict[tuple[str | None, str | None], str] = {}
    for cluster in catalog.clusters.values():
        gitops = cluster.document.spec.gitops
        if not isinstance(gitops, ArgoCD):
            continue
        key = (gitops.destination.name, gitops.destination.server)
        first = seen.setdefault(key, cluster.name)
        if first != cluster.name:
            place = ("spec", "gitops", "destination")
            yield diagnose(
                "OBJ024",
                at(cluster.document, *place),
                f"clusters {first} and {cluster.name} are applied to the same destination",
                related=[Related(at(catalog.clusters[first].document, *place), f"of {first}")],
                found=gitops.destination.name or gitops.destination.server,
                help="give each cluster its own destination; both trees would hold the same objects",
            )


def shares_nodes(catalog: Catalog) -> Iterator[Diagnostic]:
    """OWN010: a node that carries the labels of two pools would have its devices counted twice."""
    for one, other in combinations(catalog.pools.values(), 2):
        if one.cluster != other.cluster:
            continue
        mine, theirs = one.document.spec.node_selector, other.document.spec.node_selector
        common = mine.keys() & theirs.keys()
        if not common or any(mine[key] != theirs[key] for key in common):
            continue
        yield diagnose(
            "OWN010",
            at(other.document, "spec", "nodeSelector"),
            f"a node can belong to pool {one.name} and to pool {other.name}",
            related=[Related(at(one.document, "spec", "nodeSelector"), f"of {one.name}")],
            help="select each pool by a label of which it alone has the value",
        )


RULES: tuple[Rule, ...] = (is_applied_twice, shares_nodes)
