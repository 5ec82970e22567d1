"""The report as flat tables, one a section: what a spreadsheet reads, and what a picture shows.

Every table is made from the report alone. A cell is text, a number, or nothing.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence

from dracfg.dataclass import dataclass
from dracfg.report.document import Report

Cell = str | int | bool | None
Row = tuple[Cell, ...]
DEDUCTIONS = ("reserve", "spare", "quarantine", "closed", "step", "fragmentation")
"""What a figure may lose, in the order in which it is taken off."""


@dataclass(frozen=True, slots=True)
class Table:
    """Columns are named as the keys of the report's document."""

    columns: tuple[str, ...]
    rows: Callable[[Report], Iterator[Row]]


def csv_text(report: Report, name: str) -> str:
    """One table as CSV (RFC 4180) with a line of names. Raises KeyError for an unknown one.

    Text that a spreadsheet would take for a formula begins with an apostrophe.
    """
    table = TABLES[name]
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(table.columns)
    for row in table.rows(report):
        writer.writerow([_plain(cell) for cell in row])
    return out.getvalue()


def _plain(cell: Cell) -> str | int:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        return f"'{cell}"
    return cell


def _capacity(report: Report) -> Iterator[Row]:
    for one in report.capacity:
        taken = {deduction.name: deduction.amount for deduction in one.deductions}
        yield (
            one.cluster,
            one.tier,
            one.owner,
            _joined(one.pools),
            one.key,
            one.devices,
            one.a_device,
            one.physical,
            *(taken.get(name, "0") for name in DEDUCTIONS),
            one.promiseable,
            one.promised,
            one.limit,
            one.overcommit,
        )


def _devices(report: Report) -> Iterator[Row]:
    for ledger in report.ledger:
        for one in ledger.devices:
            yield (
                ledger.cluster,
                ledger.pool,
                ledger.tier,
                one.node,
                one.driver,
                one.slices,
                one.device,
                one.state,
                _joined(f"{use.key} {use.used} of {use.total}" for use in one.capacity),
                _joined(holder.claim for holder in one.holders),
                _joined(dict.fromkeys(holder.tenant or "" for holder in one.holders)),
                one.reason,
            )


def _tenants(report: Report) -> Iterator[Row]:
    for tenant in report.tenants:
        for one in tenant.holdings:
            yield (
                tenant.name,
                tenant.state,
                one.cluster,
                one.tier,
                one.entitlement,
                one.sharing,
                one.size,
                one.borrowed_from,
                one.guaranteed,
                one.limit,
                one.promised,
                tenant.verdict,
            )


def _proofs(report: Report) -> Iterator[Row]:
    for one in report.proofs:
        evidence = report.evidence[one.evidence]
        yield (
            one.cluster,
            one.tier,
            one.tenant,
            one.entitlement,
            one.guaranteed,
            one.question,
            one.devices,
            one.verdict,
            one.after_reclaim,
            one.conditional,
            evidence.form,
            evidence.text,
            evidence.mend,
            _joined(report.grounds[i].what for i in one.rests_on),
        )


def _joint_proofs(report: Report) -> Iterator[Row]:
    for one in report.joint_proofs:
        evidence = report.evidence[one.evidence]
        yield (
            one.cluster,
            _joined(f"{asker.tenant}/{asker.profile} {asker.claims}" for asker in one.askers),
            one.claims,
            one.asks,
            one.question,
            one.verdict,
            one.modelled,
            evidence.form,
            evidence.text,
            evidence.mend,
        )


def _offers(report: Report) -> Iterator[Row]:
    for one in report.offers:
        held = sum(one.held.values()) if one.held else None
        yield (
            one.giver,
            one.taker,
            one.entitlement,
            one.tier,
            one.sharing,
            one.size,
            one.offered,
            one.accepted,
            held,
        )


def _rollouts(report: Report) -> Iterator[Row]:
    for rollout in report.rollouts:
        for stage in rollout.stages:
            yield (
                rollout.name,
                rollout.tier,
                rollout.subject,
                rollout.phase,
                rollout.direction,
                stage.name,
                stage.place,
                _joined(stage.pools),
                _joined(stage.tenants),
            )


def _rollout_gates(report: Report) -> Iterator[Row]:
    for rollout in report.rollouts:
        for one in rollout.gates:
            yield (
                rollout.name,
                one.name,
                one.max,
                one.halt,
                _joined(one.directions),
                one.value,
                one.at,
                one.holds,
                one.waits_for,
            )


def _versions(report: Report) -> Iterator[Row]:
    for cluster in report.clusters:
        for driver in cluster.drivers:
            yield (
                cluster.name,
                cluster.kubernetes,
                cluster.distribution,
                cluster.engine,
                cluster.kueue,
                driver.name,
                driver.version,
            )


def _objectives(report: Report) -> Iterator[Row]:
    for cluster in report.clusters:
        for one in cluster.objectives:
            yield (cluster.name, one.tier, one.objective, one.title, one.limit, one.measured)


def _gates(report: Report) -> Iterator[Row]:
    for cluster in report.clusters:
        for one in cluster.gates:
            yield (
                cluster.name,
                cluster.kubernetes,
                one.name,
                one.stage,
                one.default,
                one.wanted,
                _joined(one.components),
                one.not_written,
                one.allow_alpha,
                _joined(one.reasons),
            )


def _findings(report: Report) -> Iterator[Row]:
    for one in report.findings:
        place = one.places[0] if one.places else None
        yield (
            one.severity,
            one.code,
            one.message,
            one.cluster,
            None if place is None else place.file,
            None if place is None else place.line,
            None if place is None else place.column,
            one.found,
            one.expected,
            one.help,
            one.handling,
            one.waived,
        )


def _joined(texts: Iterator[str] | Sequence[str] | Mapping[str, object]) -> str:
    return "; ".join(texts)


TABLES: Mapping[str, Table] = {
    "capacity": Table(
        (
            "cluster", "tier", "owner", "pools", "key", "devices", "aDevice", "physical",
            *DEDUCTIONS, "promiseable", "promised", "limit", "overcommit",
        ),
        _capacity,
    ),
    "devices": Table(
        (
            "cluster", "pool", "tier", "node", "driver", "slices", "device", "state", "used",
            "claims", "tenants", "reason",
        ),
        _devices,
    ),
    "tenants": Table(
        (
            "tenant", "state", "cluster", "tier", "entitlement", "sharing", "size",
            "borrowedFrom", "guaranteed", "limit", "promised", "verdict",
        ),
        _tenants,
    ),
    "proofs": Table(
        (
            "cluster", "tier", "tenant", "entitlement", "guaranteed", "question", "devices",
            "verdict", "afterReclaim", "conditional", "form", "evidence", "mend", "restsOn",
        ),
        _proofs,
    ),
    "jointproofs": Table(
        (
            "cluster", "askers", "claims", "asks", "question", "verdict", "modelled", "form",
            "evidence", "mend",
        ),
        _joint_proofs,
    ),
    "offers": Table(
        (
            "giver", "taker", "entitlement", "tier", "sharing", "size", "offered", "accepted",
            "held",
        ),
        _offers,
    ),
    "rollouts": Table(
        (
            "rollout", "tier", "subject", "phase", "direction", "stage", "place", "pools",
            "tenants",
        ),
        _rollouts,
    ),
    "rolloutgates": Table(
        ("rollout", "gate", "max", "halt", "directions", "value", "at", "holds", "waitsFor"), _rollout_gates
    ),
    "versions": Table(
        (
            "cluster", "kubernetes", "distribution", "engine", "kueue", "driver", "version",
        ),
        _versions,
    ),
    "objectives": Table(
        ("cluster", "tier", "objective", "title", "limit", "measured"), _objectives
    ),
    "gates": Table(
        (
            "cluster", "kubernetes", "gate", "stage", "default", "wanted", "components",
            "notWritten", "allowAlpha", "reasons",
        ),
        _gates,
    ),
    "findings": Table(
        (
            "severity", "code", "message", "cluster", "file", "line", "column", "found",
            "expected", "help", "handling", "waived",
        ),
        _findings,
    ),
}  # fmt: skip
"""Every table by its name."""
