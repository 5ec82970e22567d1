"""Which units a run looks at: those that were named, less those that an error touches.

Knows the layout of `out/`: `<cluster>/guard`, `<cluster>/tenants/<tenant>`, `gitops/…`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Span
from dracfg.link.catalog import Catalog
from dracfg.model.kinds import AnyDocument, Tenant
from dracfg.model.parse import identity_of
from dracfg.source import Sources

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

    def unmatched(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        """(option, glob) of each glob that names nothing among the units at `paths`."""
        units = [path.partition("/") for path in paths if not path.startswith("gitops/")]
        known = {
            "--cluster": (self.clusters, {cluster for cluster, _, _ in units}),
            "--tenant": (self.tenants, {tenant_of(rest) for _, _, rest in units}),
        }
        for option, (globs, names) in known.items():
            for glob in globs:
                if not any(_matches(name, (glob,)) for name in names):
                    yield option, glob


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
    sources: Sources,
) -> Callable[[str], bool]:
    """Tells which units an error touches: a tenant's own and the guards beside it, or all of a cluster.

    Errors in what all share (drivers, tiers, policies), and files that could not be understood,
    touch every cluster. `sources` holds documents without a model too: a Tenant
    that could not be understood touches what it would touch otherwise, tenants that borrow from it,
    and every unit that belongs to no tenant known, since a wrong name may be what is the matter.
    """
    tenants: set[str] = set()
    lost = {name for kind, name in poisoned if kind == "Tenant"}
    clusters: set[str] = set()
    everything = any(kind != "Tenant" for kind, _ in poisoned)
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
        elif (name := _tenant_at(sources, finding.span)) is not None:
            lost.add(name)
        else:
            everything = True
    lenders = tenants | lost
    tenants |= {
        tenant.name
        for tenant in (catalog.tenants.values() if lenders else ())
        if any(offer.from_ in lenders for offer in tenant.document.spec.accepted_offers)
    }
    guards = {c for t in tenants & catalog.tenants.keys() for c in catalog.tenants[t].clusters}

    def blocked(path: str) -> bool:
        cluster, _, rest = path.partition("/")
        if everything or cluster in clusters:
            return True
        if cluster == "gitops":
            return bool(tenants or lost or clusters)
        if (tenant := tenant_of(rest)) != "":
            unknown = bool(lost) and tenant not in catalog.tenants
            return tenant in tenants or tenant in lost or unknown
        return cluster in guards or bool(lost)

    return blocked


def _document_at(documents: Iterable[AnyDocument], span: Span | None) -> AnyDocument | None:
    """The document that a finding points into."""
    if span is None:
        return None
    for document in documents:
        if document.source_path == span.path:
            place = document.read_from.span
            if place.line <= span.line <= place.end_line:
                return document
    return None


def _tenant_at(sources: Sources, span: Span | None) -> str | None:
    """The name of the Tenant that a finding points into, understood or not."""
    file = sources.files.get(span.path) if span is not None else None
    if span is None or file is None:
        return None
    for document in file.documents:
        place = document.root.span
        if place.line <= span.line <= place.end_line:
            kind, name = identity_of(document.root) or ("", "")
            return name if kind == "Tenant" else None
    return None
