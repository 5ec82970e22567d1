"""Which units a run looks at: those that were named, less those that an error touches.

Knows the layout of `out/`: `<cluster>/guard`, `<cluster>/tenants/<tenant>`, `gitops/…`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from dracfg.diagnostics import Diagnostic, Span
from dracfg.link.catalog import Catalog
from dracfg.model.kinds import AnyDocument, Tenant

_NUMBER = re.compile(r"\.[0-9]+$")


@dataclass(frozen=True, slots=True)
class Scope:
    """Names or globs of clusters and tenants; without any, everything.

    A tenant names only the tenant's own units: what it shares with others (guard, gitops) is
    written when everything is.
    """

    clusters: tuple[str, ...] = ()
    tenants: tuple[str, ...] = ()

    def holds(self, path: str) -> bool:
        if not self.clusters and not self.tenants:
            return True
        cluster, _, rest = path.partition("/")
        if cluster == "gitops" or (self.clusters and not _matches(cluster, self.clusters)):
            return False
        return not self.tenants or _matches(tenant_of(rest), self.tenants)


def tenant_of(rest: str) -> str:
    """The tenant of a path below a cluster's folder; empty for what tenants share."""
    layer, _, name = rest.partition("/")
    return _NUMBER.sub("", name.split("/")[0]) if layer == "tenants" else ""


def _matches(name: str, globs: Iterable[str]) -> bool:
    return bool(name) and any(fnmatchcase(name, glob) for glob in globs)


def blocked_units(
    catalog: Catalog,
    documents: Iterable[AnyDocument],
    findings: Iterable[Diagnostic],
    poisoned: Iterable[tuple[str, str]],
) -> Callable[[str], bool]:
    """Tells which units an error touches: a tenant's own and the guards beside it, or all of a cluster.

    Errors in what all share (drivers, tiers, policies), and files that could not be understood,
    touch every cluster.
    """
    tenants: set[str] = set()
    clusters: set[str] = set()
    everything = False
    read = tuple(documents)
    for finding in findings:
        if not finding.is_error:
            continue
        document = _document_at(read, finding.span)
        if isinstance(document, Tenant):
            tenants.add(document.name)
        elif document is not None and document.kind == "Cluster":
            clusters.add(document.name)
        elif document is not None and document.kind == "NodePool":
            clusters.add(document.spec.cluster)
        else:
            everything = True
    everything = everything or any(kind != "Tenant" for kind, _ in poisoned)
    lost = {name for kind, name in poisoned if kind == "Tenant"}
    guards = {c for t in tenants & catalog.tenants.keys() for c in catalog.tenants[t].clusters}

    def blocked(path: str) -> bool:
        cluster, _, rest = path.partition("/")
        if everything or cluster in clusters:
            return True
        if cluster == "gitops":
            return bool(tenants or lost or clusters)
        if (tenant := tenant_of(rest)) != "":
            return tenant in tenants or tenant in lost
        return cluster in guards or bool(lost)

    return blocked


def _document_at(documents: Iterable[AnyDocument], span: Span | None) -> AnyDocument | None:
    """The document that a finding points into."""
    if span is None:
        return None
    for document in documents:
        place = document.read_from.span
        if place.path == span.path and place.line <= span.line <= place.end_line:
            return document
    return None
