"""The state that the last run saw and the one that is there now, as far as they can differ.

Of both, files of tenants that can't come to anything else are left as the last run knew them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain

from dracfg.amending.recollection import Recollection
from dracfg.dataclass import dataclass
from dracfg.diff.touched import catalog_of, differing_tenants, touched
from dracfg.link.catalog import Catalog
from dracfg.link.index import index
from dracfg.link.partners import partners, with_partners
from dracfg.model.kept import parse_files
from dracfg.model.kinds import Tenant
from dracfg.reading import read
from dracfg.source import Sources
from dracfg.source.seen import Seen
from dracfg.source.tree import Tree


@dataclass(frozen=True, slots=True)
class States:
    """Files that were read, before and now; those that are the same are the same objects.

    `only` are the tenants that can differ, `changed` the files that do, `left` all that was not read.
    """

    before: Sources
    now: Sources
    only: frozenset[str]
    changed: Mapping[str, str]
    left: Recollection
    seen: Seen

    def places(self) -> frozenset[str]:
        """The clusters that tenants who can differ work on, before or now."""
        sides = (parse_files(one.files.values(), self.seen) for one in (self.before, self.now))
        return frozenset(
            cluster
            for side in sides
            for one in side.documents
            if isinstance(one, Tenant) and one.name in self.only
            for namespace in one.spec.namespaces
            for cluster in namespace.clusters
        )

    def catalog_before(self) -> Catalog | None:
        """As the last run had it, with those that can differ and their partners alone."""
        return catalog_of_some(self.before, self.left, self.only, self.seen)


def catalog_of_some(
    sources: Sources, left: Recollection, only: frozenset[str], seen: Seen
) -> Catalog | None:
    """The catalog with these tenants and their partners alone; None where a name stands twice.

    `left` is what was not read. Raises Forgotten.
    """
    listed = parse_files(sources.files.values(), seen).documents
    named, _ = index(listed)
    documents = left.documents(named)
    others = with_partners(only, documents.get) - named.by_kind["Tenant"].keys()
    return catalog_of((*listed, *(documents[name] for name in sorted(others))), only)


def states_of(
    tree: Tree, changed: Mapping[str, str], left: Recollection, seen: Seen
) -> States | None:
    """Both states, of which these files changed, with the SHA-256 of what they held.

    None where something is not understood, more differs than tenants, or some came or went. Raises Forgotten.
    """
    now = read(tree, seen, left_out=left.names)
    before = _files_before(now, changed, left)
    if before is None:
        return None
    differing = differing_tenants(before, now)
    documents = [parse_files(one.files.values(), seen).documents for one in (before, now)]
    names = [sorted(one.name for one in listed if isinstance(one, Tenant)) for listed in documents]
    if differing is None or names[0] != names[1]:
        return None
    trading = ((one.name, partners(one)) for one in chain(*documents) if isinstance(one, Tenant))
    only = touched(differing, chain(trading, left.partners()))
    rest, files = left.without(only)
    before, now = (replace(one, files={**one.files, **files}) for one in (before, now))
    return States(before, now, only, changed, rest, seen)


def _files_before(now: Sources, changed: Mapping[str, str], left: Recollection) -> Sources | None:
    """The files as the last run read them, those that are the same as the same objects as now."""
    old = {path: left.known.file(path, digest) for path, digest in changed.items()}
    if now.faults or not all(old.values()) or not changed.keys() <= now.files.keys():
        return None
    return replace(now, files={path: old.get(path) or file for path, file in now.files.items()})
