"""Tables of a page that may be long: the first rows as HTML, all rows as data for its script.

Cells that repeat are written once per column, so that ten thousand rows stay small.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from markupsafe import Markup

from dracfg.audit.words import count, named
from dracfg.dataclass import dataclass
from dracfg.picture.figures import parted
from dracfg.report.document import DeviceUse, Holding, PoolLedger, Report, TenantRights
from dracfg.report.proofdocument import JointProof, Proof
from dracfg.report.words import QUESTIONS

Kind = Literal["text", "long", "name", "number", "word", "holdings"]
Part = tuple[str, int, int, str]
"""(size, guaranteed, limit, remark)."""
Cell = str | int | tuple[Part, ...] | None


@dataclass(frozen=True, slots=True)
class Head:
    """A column; `below` is a second line of its name."""

    title: str
    kind: Kind = "text"
    below: str = ""


@dataclass(frozen=True, slots=True)
class PageTable:
    """`noun` names what a row is, `per_page` how many stand there at a time."""

    ident: str
    caption: str
    noun: str
    heads: tuple[Head, ...]
    rows: tuple[tuple[Cell, ...], ...]
    per_page: int = 25

    @property
    def first(self) -> tuple[tuple[Cell, ...], ...]:
        """The rows that stand there without a script."""
        return self.rows[: self.per_page]

    @property
    def left(self) -> int:
        return len(self.rows) - len(self.first)

    @property
    def data(self) -> Markup:
        """All rows for the script, as JSON that ends no element."""
        columns = [_column(list(column)) for column in zip(*self.rows, strict=True)]
        columns = columns or [_column([]) for _ in self.heads]
        return embedded(
            {
                "noun": self.noun,
                "perPage": self.per_page,
                "kinds": [head.kind for head in self.heads],
                "words": [words for words, _ in columns],
                "rows": list(zip(*(cells for _, cells in columns), strict=True)),
            }
        )


def embedded(value: Any) -> Markup:
    """JSON for the inside of a `<script>` element: no character in it can end the element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Markup(text)


def _column(cells: list[Cell]) -> tuple[list[Cell] | None, list[Any]]:
    """(words, cells as positions among them) where few words make many cells, else (None, cells)."""
    words = {cell: i for i, cell in enumerate(dict.fromkeys(cells))}
    if 2 * len(words) > len(cells) or all(isinstance(cell, int) for cell in cells):
        return None, list(cells)
    return list(words), [words[cell] for cell in cells]


def rights_table(report: Report) -> PageTable:
    """Tenants by tiers: a column for each tier of each cluster that somebody may hold of."""
    places = dict.fromkeys(
        (one.cluster, one.tier) for tenant in report.tenants for one in tenant.holdings
    )
    ordered = sorted(places)
    return PageTable(
        "tenants",
        "Guaranteed / limit of each tenant, by tier",
        "tenant",
        (
            Head("Tenant", "name"),
            Head("State"),
            Head("Proofs", "word"),
            *(Head(tier, "holdings", cluster) for cluster, tier in ordered),
        ),
        tuple(
            (tenant.name, tenant.state, tenant.verdict, *_by_place(tenant, ordered))
            for tenant in report.tenants
        ),
        per_page=50,
    )


def _by_place(
    tenant: TenantRights, places: Sequence[tuple[str, str]]
) -> Iterator[tuple[Part, ...] | None]:
    held: dict[tuple[str, str], list[Part]] = {}
    for one in tenant.holdings:
        held.setdefault((one.cluster, one.tier), []).append(_part(one))
    for place in places:
        parts = held.get(place)
        if parts is not None and len(parts) > 1:
            parts = [(size or "whole", least, most, remark) for size, least, most, remark in parts]
        yield tuple(parts) if parts is not None else None


def _part(one: Holding) -> Part:
    remarks = [f"from {one.borrowed_from}"] if one.borrowed_from is not None else []
    if one.guaranteed and not one.promised:
        remarks.append("not a guarantee")
    return one.size or "", one.guaranteed, one.limit, ", ".join(remarks)


def proofs_table(report: Report) -> PageTable:
    """Every proof with its evidence in words; what is refuted comes first."""
    rank = {"refuted": 0, "unknown": 1, "proven": 2}
    found = [(rank[one.verdict], _proof(report, one)) for one in report.proofs]
    found += [(rank[one.verdict], _joint_proof(report, one)) for one in report.joint_proofs]
    rows = [row for _, row in sorted(found, key=lambda one: one[0])]
    heads = (
        Head("Tenant", "name"),
        Head("Tier"),
        Head("Guaranteed"),
        Head("Question"),
        Head("Verdict", "word"),
        Head("Remarks"),
        Head("Evidence", "long"),
    )
    return PageTable("proofs", "Every guarantee with its proof", "proof", heads, tuple(rows))


def _proof(report: Report, one: Proof) -> tuple[Cell, ...]:
    several = f" × {one.devices:,}" if one.devices > 1 else ""
    remarks = ["after reclaim"] if one.after_reclaim else []
    remarks += ["conditional"] if one.conditional else []
    return (
        one.tenant,
        f"{one.tier} on {one.cluster}",
        f"{one.guaranteed:,} {one.entitlement}",
        f"{QUESTIONS[one.question]}{several}",
        one.verdict,
        ", ".join(remarks),
        _evidence(report, one.evidence),
    )


def _joint_proof(report: Report, one: JointProof) -> tuple[Cell, ...]:
    """Claims of one shape take the place of a guarantee; their tenants may be several.

    What each asks for stands in the column that may be long.
    """
    each = "for" if one.claims == 1 else "each for"
    return (
        named(asker.tenant for asker in one.askers),
        f"profile {named(asker.profile for asker in one.askers)} on {one.cluster}",
        count(one.claims, "claim"),
        QUESTIONS[one.question],
        one.verdict,
        "nodes as described" if one.modelled else "",
        f"{each} {one.asks}: {_evidence(report, one.evidence)}",
    )


def _evidence(report: Report, place: int) -> str:
    evidence = report.evidence[place]
    return f"{evidence.text}{f'; {evidence.mend}' if evidence.mend is not None else ''}"


def offers_table(report: Report) -> PageTable:
    """What tenants lend each other."""
    rows = tuple(
        (
            one.giver,
            one.taker,
            f"{one.entitlement} {one.size}" if one.size else one.entitlement,
            one.tier,
            one.offered,
            one.accepted,
            sum(one.held.values()) if one.held else None,
        )
        for one in report.offers
    )
    heads = (
        Head("From", "name"),
        Head("To"),
        Head("What"),
        Head("Tier"),
        Head("Offered", "number"),
        Head("Accepted", "number"),
        Head("Held now", "number"),
    )
    return PageTable("offers", "What tenants lend each other", "offer", heads, rows)


def devices_table(report: Report) -> PageTable:
    """Every recorded device with who holds it."""
    heads = (
        Head("Device", "name"),
        Head("Node"),
        Head("Pool"),
        Head("Tier"),
        Head("State"),
        Head("Used"),
        Head("Claims", "long"),
        Head("Tenants"),
        Head("Remark", "long"),
    )
    rows = tuple(_device(ledger, one) for ledger in report.ledger for one in ledger.devices)
    return PageTable("ledger", "Recorded devices and who holds them", "device", heads, rows)


def _device(ledger: PoolLedger, one: DeviceUse) -> tuple[Cell, ...]:
    used = (f"{use.key} {parted(use.used)} of {parted(use.total)}" for use in one.capacity)
    return (
        one.device,
        one.node,
        ledger.pool,
        one.tier,
        one.state,
        ", ".join(used) if one.holders else None,
        ", ".join(dict.fromkeys(holder.claim for holder in one.holders)),
        ", ".join(dict.fromkeys(holder.tenant or "no tenant" for holder in one.holders)),
        one.reason,
    )
