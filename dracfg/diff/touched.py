"""Which tenants can differ between two states: the others need be lowered on neither side.

Looks at documents as they were read, before anything is linked. Knows that tenants meet in offers
and in what all of them share, and nothing else of what they mean.
"""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.diff.objects import ObjectDifference, unit_differences
from dracfg.diff.pair import Pair
from dracfg.lower.rights import TENANT
from dracfg.model.parse import identity_of
from dracfg.plan.jointdemand import joint_demands
from dracfg.source import Document, Map, Node, Scalar, Seq, Sources, follow

_OFFERS = (("offers", "to"), ("acceptedOffers", "from"))


def touched_tenants(base: Sources, head: Sources) -> frozenset[str] | None:
    """Tenants whose documents are not the same in both, and those that lend to or borrow from them.

    None where more than tenants differ: then nobody is known to be left alone. Files that are the
    same have to be the same objects in both.
    """
    differing: set[str] = set()
    for path in {*base.files, *head.files}:
        files = base.files.get(path), head.files.get(path)
        if files[0] is files[1]:
            continue
        for file in files:
            for document in file.documents if file is not None else ():
                kind, name = identity_of(document.root) or ("", "")
                if kind != "Tenant" or not document.sound:
                    return None
                differing.add(name)
    if base.faults or head.faults:
        return None
    neighbours = {
        name
        for sources in (base, head)
        for document in sources.documents
        for name in _neighbours(document, differing)
    }
    return frozenset(differing | neighbours)


def _neighbours(document: Document, differing: set[str]) -> Iterator[str]:
    """Whom a tenant that differs lends to or borrows from."""
    kind, name = identity_of(document.root) or ("", "")
    if kind != "Tenant" or name not in differing:
        return
    spec, _ = follow(document.root, ("spec",))
    for key, whom in _OFFERS:
        offers = spec.entries.get(key) if isinstance(spec, Map) else None
        for offer in _items(offers.value if offers is not None else None):
            other = offer.entries.get(whom) if isinstance(offer, Map) else None
            if other is not None and isinstance(other.value, Scalar):
                yield str(other.value.value)


def _items(node: Node | None) -> tuple[Node, ...]:
    return tuple(node.items) if isinstance(node, Seq) else ()


def tells_all(pair: Pair, only: frozenset[str]) -> bool:
    """Whether a pair in which only these tenants were lowered shows what a whole one would.

    What tenants share is the union of what they need. Where it is the same for these on both sides
    it is so for all; where it differs, the others may have needed it before. With an error, and
    with claims whose proofs ask for the gates of the whole cluster, everything has to be judged.
    """
    sides = (pair.base.judgement, pair.head.judgement)
    if any(side.has_errors or joint_demands(side.catalog) for side in sides):
        return False
    return all(_is_of(one, only) for one in unit_differences(pair))


def _is_of(one: ObjectDifference, only: frozenset[str]) -> bool:
    """Whether an object belongs to a single tenant, by its unit or by its own marks."""
    if one.tenant is not None:
        return True
    metadata = (one.after or one.before or {}).get("metadata", {})
    marks = (metadata.get(key, {}).get(TENANT) for key in ("annotations", "labels"))
    return any(mark in only for mark in marks)
