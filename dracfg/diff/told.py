"""What rules found of tenants, one by one, in a run before: taken where a state has the files of that run.

Knows no cache; who has one says what the run read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dracfg.check.catalog import check_tenants, tenants_alone
from dracfg.diagnostics import Diagnostic
from dracfg.diff.touched import catalog_of
from dracfg.model.kinds import AnyDocument
from dracfg.source import ROOTS, Sources
from dracfg.source.reader import UNREAD


@dataclass(frozen=True, slots=True)
class Told:
    """`digests` are SHA-256 of the files that a run read, by path; `by_tenant` what it found."""

    digests: Mapping[str, str]
    by_tenant: tuple[Diagnostic, ...]

    def of_others(
        self, sources: Sources, documents: Iterable[AnyDocument], only: frozenset[str]
    ) -> tuple[Diagnostic, ...] | None:
        """What was found of all tenants but these; None where the sources are not those of the run."""
        catalog = catalog_of(documents, only) if self._is_of(sources) else None
        if catalog is None:
            return None
        touched = frozenset(check_tenants(tenants_alone(catalog, only)))
        return tuple(finding for finding in self.by_tenant if finding not in touched)

    def _is_of(self, sources: Sources) -> bool:
        read = {
            path: digest
            for path, digest in self.digests.items()
            if path.startswith(tuple(f"{root}/" for root in ROOTS))
            and not path.startswith(tuple(f"{folder}/" for folder in UNREAD))
        }
        return not sources.faults and read == {
            path: hashlib.sha256(file.text.encode()).hexdigest()
            for path, file in sources.files.items()
        }
