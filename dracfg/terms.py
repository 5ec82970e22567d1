"""The terms on which a state is judged: which part of it, and by whom it is read, linked, checked and built.

Judges nothing; who asks says what differs from a whole state that one process works out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date

from dracfg.allocate import Inventory
from dracfg.building import Builder, Form, build_all
from dracfg.checking import Checked, check_all
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic
from dracfg.emit.stage import Stage
from dracfg.link.catalog import Catalog
from dracfg.link.index import Index
from dracfg.link.linker import Linked, link
from dracfg.reading import read
from dracfg.source import Sources
from dracfg.source.records import Record
from dracfg.source.seen import Seen
from dracfg.source.standing import Standing
from dracfg.source.tree import Tree

Rules = Callable[
    [
        Catalog,
        Mapping[str, Inventory],
        Mapping[str, Sequence[Record]],
        date | None,
        Collection[str] | None,
        Callable[[], None],
    ],
    Checked,
]
"""Who tells what all rules find, as `checking.check_all` does."""
Linker = Callable[[Index, frozenset[tuple[str, str]]], Linked]
"""Who links documents; `linker.link` can take over what another state has in common."""
Reader = Callable[[Tree, Seen, int], Sources]
"""Who reads a tree's documents, as `reading.read` does, which may have begun before."""


@dataclass(frozen=True, slots=True)
class Extent:
    """The tenants that are judged of a state; in another one all others are the same.

    `only` they are lowered and validated. `others` is what rules find of the others, one by one, where
    the other state has told; then they aren't asked again. `places` are the clusters that any of `only`
    works on, where no other is to be built; joint claims, which may lie anywhere, aren't judged then.
    `stands` is what stands of these tenants, where that was read already, and `told` what is found of all
    that is emitted, where it is the same.
    """

    only: frozenset[str]
    others: Sequence[Diagnostic] | None = None
    places: Collection[str] | None = None
    stands: Standing | None = None
    told: Sequence[Diagnostic] | None = None


@dataclass(frozen=True, slots=True)
class Means:
    """By whom a state is worked out, and what is kept of it.

    `form` says as what units are kept; as files alone they take the least memory. With more than one of
    `jobs` tenants' files are read side by side, and `rules` run beside the `builder`. The `linker`
    makes the catalog of the documents, which the `reader` reads. Where the `builder` leaves clusters
    out, what belongs to all together is neither made nor judged. In the `stage`, if there is one, it has
    put files together for the tree.
    """

    form: Form = "units"
    jobs: int = 1
    reader: Reader = read
    linker: Linker = link
    rules: Rules = check_all
    builder: Builder = build_all
    stage: Stage | None = None


ALONE = Means()
"""All of it in this process, units kept as objects."""
TO_FILES = Means(form="files")
"""The same, units kept as files alone."""
