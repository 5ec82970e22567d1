"""What people wrote: every difference between two states of the documents, as the table of fields says.

A document that is new or gone is one change. Knows nothing of what follows from it for others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from dracfg.diff.change import Change
from dracfg.diff.counterparts import alike, is_same_file
from dracfg.diff.fieldplace import place_of
from dracfg.diff.fieldtable import field_table
from dracfg.diff.fieldvalues import shown
from dracfg.diff.fieldwalk import differences, kind_at
from dracfg.diff.pair import Pair
from dracfg.model.kinds import AnyDocument, Cluster, NodePool, Tenant
from dracfg.pipeline import Judgement

Key = tuple[str, str]
"""(kind, name)."""


def compare_documents(pair: Pair) -> Iterator[Change]:
    """The changes of all documents but those that a side could not understand or compile."""
    base, head = pair.base.judgement, pair.head.judgement
    shared = {id(one) for one in base.documents} & {id(one) for one in head.documents}
    had, has = _documents(base, pair, shared), _documents(head, pair, shared)
    lost = base.poisoned | head.poisoned
    for key in sorted(had.keys() | has.keys()):
        before, after = had.get(key), has.get(key)
        if alike(before, after) or key in lost or _is_blocked(pair, before, after):
            continue
        yield from _changes(pair, before, after)


def _changes(pair: Pair, before: AnyDocument | None, after: AnyDocument | None) -> Iterator[Change]:
    catalogs = (pair.base.judgement.catalog, pair.head.judgement.catalog)
    place = place_of(before, after, catalogs)
    kinds = field_table().documents[place.path].kinds
    if before is None and after is not None:
        yield place.tell(kind_at(kinds["added"], after), "", shown(after))
    elif after is None and before is not None:
        yield place.tell(kind_at(kinds["removed"], before), shown(before), "", gone=True)
    elif before is not None and after is not None:
        yield from differences(place, before, after)


def _documents(
    judgement: Judgement, pair: Pair, shared: Collection[int]
) -> Mapping[Key, AnyDocument]:
    """Documents of changed files by kind and name; of two the first, as linking has it.

    Those that both sides `shared`, by their ids, are of files that read the same.
    """
    found: dict[Key, AnyDocument] = {}
    for document in judgement.documents:
        if id(document) not in shared and not is_same_file(pair, document.source_path):
            found.setdefault((document.kind, document.name), document)
    return found


def _is_blocked(pair: Pair, before: AnyDocument | None, after: AnyDocument | None) -> bool:
    """Whether no unit that the document goes into could be compiled on both sides."""
    found = after or before
    match found:
        case Tenant():
            clusters = {name for space in found.spec.namespaces for name in space.clusters}
            return all(pair.blocked(f"{name}/tenants/{found.name}") for name in clusters)
        case Cluster():
            return pair.blocked(f"{found.name}/platform")
        case NodePool():
            return pair.blocked(f"{found.spec.cluster}/platform")
        case _:
            sides = (pair.base.judgement.catalog, pair.head.judgement.catalog)
            everywhere = {name for catalog in sides for name in catalog.clusters} or {"-"}
            return all(pair.blocked(f"{name}/platform") for name in everywhere)
