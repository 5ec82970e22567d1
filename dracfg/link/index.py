"""Typed documents → documents by kind and name. Finds what is named twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.model.base import at
from dracfg.model.kinds import KINDS, AnyDocument


@dataclass(frozen=True, slots=True)
class Index:
    """Documents by kind, then by name in the order of the names."""

    by_kind: Mapping[str, Mapping[str, AnyDocument]]

    def names(self, kind: str) -> tuple[str, ...]:
        return tuple(self.by_kind[kind])


def index(documents: Iterable[AnyDocument]) -> tuple[Index, tuple[Diagnostic, ...]]:
    """All documents by kind and name; the first by path and place keeps a name, others are findings."""
    found: dict[str, dict[str, AnyDocument]] = {kind: {} for kind in KINDS}
    faults: list[Diagnostic] = []
    for document in documents:
        kept = found[document.kind].setdefault(document.name, document)
        if kept is not document:
            faults.append(
                diagnose(
                    "REF002",
                    at(document, "metadata", "name"),
                    f"there are two documents {document.kind}/{document.name}",
                    related=[Related(at(kept, "metadata", "name"), "the first one")],
                    help="rename one of them, or remove it",
                )
            )
    ordered = {kind: dict(sorted(named.items())) for kind, named in found.items()}
    return Index(ordered), tuple(faults)
