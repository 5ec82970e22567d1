"""Which tenants can differ between two states: the others need be lowered on neither side.

Looks at documents before anything is linked. Knows that tenants meet in offers and in what all of
them share, and nothing else of what they mean.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from collections.abc import Set as AbstractSet

from dracfg.check.catalog import check_tenants, tenants_alone
from dracfg.diagnostics import Diagnostic
from dracfg.diff.objects import ObjectDifference, unit_differences
from dracfg.diff.pair import Pair
from dracfg.link.catalog import Catalog
from dracfg.link.index import index
from dracfg.link.linker import link
from dracfg.link.partners import partners, with_partners
from dracfg.lower.rights import TENANT
from dracfg.model.kinds import AnyDocument, Tenant
from dracfg.model.parse import identity_of
from dracfg.pipeline import Judgement
from dracfg.plan.jointdemand import joint_demands
from dracfg.source import Sources


def touched_tenants(
    base: Sources, head: Sources, documents: Iterable[AnyDocument]
) -> frozenset[str] | None:
    """Tenants whose documents are not the same in both, and those that lend to or borrow from them.

    `documents` are those of both. None where more than tenants differ: then nobody is known to be left
    alone. Files that are the same have to be the same objects in both.
    """
    differing = differing_tenants(base, head)
    if differing is None:
        return None
    tenants = (document for document in documents if isinstance(document, Tenant))
    return touched(differing, ((one.name, partners(one)) for one in tenants))


def differing_tenants(base: Sources, head: Sources) -> frozenset[str] | None:
    """Tenants whose documents are not the same in both; None where more than tenants differ.

    Files that are the same have to be the same objects in both.
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
    return frozenset(differing)


def touched(
    differing: AbstractSet[str], partners: Iterable[tuple[str, Collection[str]]]
) -> frozenset[str]:
    """Those that differ with their neighbours, by who names whom as a partner."""
    found = set(differing)
    for name, others in partners:
        if not others:
            continue
        if name in differing:
            found.update(others)
        elif not differing.isdisjoint(others):
            found.add(name)
    return frozenset(found)


def catalog_of(documents: Iterable[AnyDocument], names: frozenset[str]) -> Catalog | None:
    """The catalog with these tenants and their partners; None where a name stands twice."""
    listed = tuple(documents)
    wanted = with_partners(names, {one.name: one for one in listed if isinstance(one, Tenant)}.get)
    some = (one for one in listed if not isinstance(one, Tenant) or one.name in wanted)
    named, twice = index(some)
    return None if twice else link(named, frozenset()).catalog


def of_others(judged: Judgement, only: frozenset[str]) -> tuple[Diagnostic, ...]:
    """What rules that judge tenants one by one find of those that are not touched."""
    touched = frozenset(check_tenants(tenants_alone(judged.catalog, only)))
    return tuple(finding for finding in judged.by_tenant if finding not in touched)


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
