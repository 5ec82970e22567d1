"""Changes as people read them: the same change on several clusters or of several tenants is one row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.diff.change import Impact

Document = Mapping[str, Any]

SYMBOLS = {
    Impact.NONE: " ",
    Impact.ADDITIVE: "+",
    Impact.NEW_CLAIMS: "~",
    Impact.RESTRICTIVE: "-",
    Impact.DISRUPTIVE: "!",
    Impact.DESTRUCTIVE: "x",
}
"""An impact without colour."""

NOTHING = "–"
"""In the place of a value that there is not."""

_SEVERAL = 3
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Row:
    """One change, or many that differ in cluster and tenant only.

    `first` is the document of the first of them, `count` how many there are.
    """

    first: Document
    clusters: tuple[str, ...]
    tenants: tuple[str, ...]
    count: int

    @property
    def impact(self) -> Impact:
        return Impact.of(self.first["impact"])

    @property
    def who(self) -> str:
        """`vision`, `vision, search`, `14 tenants: a, b, c and 11 more`; empty where it is nobody's own."""
        return named(self.tenants, "tenants")

    @property
    def where(self) -> str:
        """The clusters, named the same way; `all` where it is about none in particular."""
        return named(self.clusters, "clusters") or "all"

    @property
    def subject(self) -> str:
        """Whom and what it is about: `vision, entitlement gpu`; a tenant itself is named once."""
        if self.first["object"] == f"Tenant {self.who}":
            return f"Tenant {self.who}"
        return ", ".join(filter(None, (self.who, self.first["object"])))

    @property
    def values(self) -> str | None:
        """`24 -> 16`, with a dash for the side that there isn't."""
        before, after = self.first["before"], self.first["after"]
        if before is None and after is None:
            return None
        return f"{before or NOTHING} -> {after or NOTHING}"

    @property
    def place(self) -> str | None:
        """`tenants/vision.yaml:12`; of what is gone, where it stood."""
        if self.first["file"] is None:
            return None
        return f"{self.first['file']}:{self.first['line']}"


def rows(document: Document) -> tuple[Row, ...]:
    """The changes of a diff in their order, folded: the worst stay first."""
    by_cluster: dict[tuple[Any, ...], list[Document]] = {}
    for change in document["changes"]:
        by_cluster.setdefault((*_same(change), change["tenant"]), []).append(change)
    by_tenant: dict[tuple[Any, ...], list[list[Document]]] = {}
    for group in by_cluster.values():
        clusters = tuple(dict.fromkeys(change["cluster"] for change in group))
        by_tenant.setdefault((*_same(group[0]), clusters), []).append(group)
    found: list[Row] = []
    for groups in by_tenant.values():
        if len(groups) > _SEVERAL:
            found.append(_row([change for group in groups for change in group]))
        else:
            found += map(_row, groups)
    return tuple(sorted(found, key=lambda row: -row.impact))


def counts(document: Document) -> tuple[tuple[str, int], ...]:
    """(impact, number of changes), the mildest first, as in `1 additive, 2 restrictive`."""
    impacts = [change["impact"] for change in document["changes"]]
    return tuple((i.word, impacts.count(i.word)) for i in Impact if i.word in impacts)


def named(names: Sequence[str], noun: str) -> str:
    """Up to three names, or how many there are and the first three."""
    if len(names) <= _NAMED:
        return ", ".join(names)
    shown = ", ".join(names[:_NAMED])
    return f"{len(names):,} {noun}: {shown} and {len(names) - _NAMED:,} more"


def _same(change: Document) -> tuple[Any, ...]:
    """What changes have in common that one row can stand for."""
    return tuple(
        tuple(value) if isinstance(value := change[key], list) else value
        for key in ("kind", "impact", "flags", "object", "before", "after")
    )


def _row(group: Sequence[Document]) -> Row:
    return Row(group[0], _names(group, "cluster"), _names(group, "tenant"), len(group))


def _names(group: Iterable[Document], key: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(change[key] for change in group if change[key] is not None))
