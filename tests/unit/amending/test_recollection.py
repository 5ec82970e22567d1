"""Rules find the same, whether tenants that stay are linked or known by what a run before saw of them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from dracfg.amending.inputs import changed_files
from dracfg.amending.recollection import Forgotten, Recollection
from dracfg.amending.states import States, states_of
from dracfg.cache.documents import KnownFiles
from dracfg.cache.questions import AskedTree
from dracfg.cache.store import Store
from dracfg.cache.tenants import KnownTenants, from_bytes, to_bytes
from dracfg.checking import check_all
from dracfg.link.catalog import Catalog
from dracfg.link.index import index
from dracfg.link.linker import link
from dracfg.link.recalled import RecalledTenant
from dracfg.model.kept import parse_files
from dracfg.model.kinds import AnyDocument
from dracfg.model.parse import parse
from dracfg.source import Sources, read_repository
from dracfg.source.seen import Seen
from dracfg.source.tree import DiskTree
from tests.unit.amending.changes import described, edit, meetings, tenants
from tests.unit.amending.runs import TODAY


def states(root: Path) -> States | None:
    store = Store(root, "out", (str(TODAY),))
    last = store.last()
    assert last is not None
    known, kept = store.tenants(last), KnownFiles.recall(root)
    assert known is not None
    tree, seen = AskedTree(DiskTree(root), aside="out"), Seen(kept=kept.kept)
    changed = changed_files(tree, last.notes)
    assert changed is not None
    return states_of(tree, changed, Recollection.of(known, last.notes, changed, kept, seen), seen)


def amended(found: States) -> Catalog:
    named, _ = index(documents(found.now, found.seen))
    return found.left.link(named, frozenset()).catalog


def documents(sources: Sources, seen: Seen) -> Iterator[AnyDocument]:
    return iter(parse_files(sources.files.values(), seen).documents)


def whole(root: Path) -> Catalog:
    parsed = parse(read_repository(root).documents)
    named, _ = index(parsed.documents)
    return link(named, parsed.poisoned).catalog


def unlinked(catalog: Catalog) -> set[str]:
    """The tenants of which nobody has asked for more than their outlines."""
    return {
        name
        for name, tenant in catalog.tenants.items()
        if isinstance(tenant, RecalledTenant) and "grants" not in vars(tenant)
    }


@pytest.mark.parametrize("seed", range(24))
def test_rules_find_the_same(seed: int, root: Path) -> None:
    rng = random.Random(seed)
    changes = meetings(rng, root)
    for _ in range(rng.randint(1, 4)):
        next(changes)()
    found = states(root)
    if found is None:
        return
    recalled, linked = amended(found), whole(root)
    first, second = (check_all(one, {}, {}, TODAY) for one in (recalled, linked))
    assert set(first.whole) == set(second.whole)
    assert set(first.by_tenant) == set(second.by_tenant)
    assert first.outlines.by_name() == second.outlines.by_name()


def test_tenants_that_stay_are_not_linked(root: Path) -> None:
    edit(tenants(root)[0], described)
    found = states(root)
    assert found is not None
    catalog = amended(found)
    check_all(catalog, {}, {}, TODAY, only=found.only)
    assert len(unlinked(catalog)) >= len(catalog.tenants) - len(found.only) - 2
    assert found.changed.keys() & {tenants(root)[0].relative_to(root).as_posix()}


def test_a_tenant_is_linked_once_it_is_asked_for(root: Path) -> None:
    edit(tenants(root)[0], described)
    found = states(root)
    assert found is not None
    catalog, linked = amended(found), whole(root)
    for name in sorted(unlinked(catalog)):
        mine, other = catalog.tenants[name], linked.tenants[name]
        assert mine.document.model_dump(warnings=False) == other.document.model_dump(warnings=False)
        assert [place.name for place in mine.places] == [place.name for place in other.places]
        assert [(one.name, one.numbers, one.owners) for one in mine.grants] == [
            (one.name, one.numbers, one.owners) for one in other.grants
        ]


def test_what_is_not_kept_is_forgotten(root: Path) -> None:
    edit(tenants(root)[0], described)
    found = states(root)
    assert found is not None
    (root / ".cache" / "dracfg" / "documents").unlink()
    left = Recollection(
        found.left.names, found.left.digests, found.left.outlines, KnownFiles.recall(root), Seen()
    )
    with pytest.raises(Forgotten):
        left.file(next(iter(left.names)))


def test_what_is_known_of_tenants_is_read_as_it_was_written(root: Path) -> None:
    store = Store(root, "out", (str(TODAY),))
    last = store.last()
    assert last is not None
    known = store.tenants(last)
    assert known is not None
    assert len(known.files) == len(tenants(root))
    assert from_bytes(to_bytes(known)) == known
    assert from_bytes(b"nothing of the kind") is None
    assert from_bytes(to_bytes(KnownTenants())) == KnownTenants()
    (root / ".cache" / "dracfg").joinpath(
        next(path.name for path in (root / ".cache" / "dracfg").glob("*.tenants"))
    ).write_bytes(b"")
    assert store.tenants(last) is None
