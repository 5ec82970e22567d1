"""What rules found in a run before: taken where a state has the files of that run.

Knows no cache; who has one says what the run read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date

from dracfg.allocate import Inventory
from dracfg.check.catalog import check_tenants, tenants_alone
from dracfg.checking import Checked, check_all
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic
from dracfg.diff.touched import catalog_of
from dracfg.link.catalog import Catalog
from dracfg.model.kinds import AnyDocument
from dracfg.source import ROOTS, SourceFile, Sources
from dracfg.source.reader import UNREAD
from dracfg.source.records import Record


def documents_of(digests: Mapping[str, str]) -> dict[str, str]:
    """Of digests of files by path those of files that are read for their documents."""
    roots, unread = (tuple(f"{folder}/" for folder in folders) for folders in (ROOTS, UNREAD))
    return {
        path: digest
        for path, digest in digests.items()
        if path.startswith(roots) and not path.startswith(unread)
    }


def has_digest(file: SourceFile, digest: str) -> bool:
    """Whether the bytes of a file that is read without a word have this SHA-256."""
    return hashlib.sha256(file.text.encode()).hexdigest() == digest


@dataclass(frozen=True, slots=True)
class Told:
    """`digests` are SHA-256 of the files that a run read, by path, `checked` is what rules found."""

    digests: Mapping[str, str]
    checked: Checked

    def rules(
        self,
        catalog: Catalog,
        inventories: Mapping[str, Inventory],
        records: Mapping[str, Sequence[Record]],
        today: date | None,
        _only: Collection[str] | None = None,
        _meanwhile: Callable[[], None] | None = None,
    ) -> Checked:
        """What `check_all` finds of a state that is the run's own, of all tenants in any case.

        With records, what needs the whole catalog is asked anew.
        """
        if not records:
            return self.checked
        return replace(
            self.checked, whole=check_all(catalog, inventories, records, today, only=()).whole
        )

    def of_others(
        self, documents: Iterable[AnyDocument], only: frozenset[str]
    ) -> tuple[Diagnostic, ...] | None:
        """What was found of all tenants but these; `documents` are those of the run's own state.

        None where that can't be told.
        """
        catalog = catalog_of(documents, only)
        if catalog is None:
            return None
        touched = frozenset(check_tenants(tenants_alone(catalog, only)))
        return tuple(finding for finding in self.checked.by_tenant if finding not in touched)

    def is_of(self, sources: Sources) -> bool:
        """Whether these are the files that the run read."""
        read = documents_of(self.digests)
        return (
            not sources.faults
            and read.keys() == sources.files.keys()
            and all(has_digest(file, read[path]) for path, file in sources.files.items())
        )
