"""An audit for a terminal: the verdict, who waits and why, and the ledger as aligned tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dracfg.audit.ledger import Entry, Ledger, Share, State, Total
from dracfg.audit.report import AuditReport
from dracfg.audit.trialresults import Measured
from dracfg.cli.output import plural
from dracfg.source.times import format_time

_MOST_ROWS = 40
_GAP = "  "
_STATES: tuple[State, ...] = ("idle", "allocated", "shared", "unknown", "unpublished")
_OUTCOMES = {"enforced": "enforced", "notEnforced": "not enforced", "undecided": "undecided"}
_VERDICTS = {
    "proven": "every bound holds on what was recorded",
    "refuted": "a bound does not hold",
    "unknown": "not everything could be decided",
}


def headline(done: AuditReport) -> str:
    """`prod-east at 2026-11-29T22:00:00Z: refuted, a bound does not hold (61 of 96 devices held)`."""
    entries = done.ledger.entries
    held = sum(bool(entry.shares) for entry in entries)
    where = done.cluster or "the recorded cluster"
    when = f" at {format_time(done.at)}" if done.at is not None else ""
    return (
        f"{where}{when}: {done.verdict}, {_VERDICTS[done.verdict]} "
        f"({held:,} of {plural(len(entries), 'device')} held)"
    )


def causes_text(done: AuditReport) -> str:
    """The pods that wait, each with its one cause; empty where none does."""
    if not done.causes:
        return ""
    rows = [["", "cause", "what is said"]]
    rows += [[cause.subject, cause.cause or "unknown", cause.text] for cause in done.causes]
    return "".join(f"{_safe(line)}\n" for line in ("waiting for devices", *_table(rows)))


def trials_text(done: AuditReport) -> str:
    """The outcome of each trial, then what every share in it measured; empty where none is on record."""
    if not done.trials:
        return ""
    rows = [["", "driver", "capacity", "outcome", "what is said"]]
    measures = [
        [
            "",
            "run",
            "share",
            "ShareID",
            "size",
            "ops/s",
            "p99 s",
            "lost",
            "ceiling",
            "recovery s",
            "end",
        ]
    ]
    for trial in done.trials:
        name = f"{trial.tier} {trial.policy}"
        for one in trial.capacities:
            release = f"{trial.driver} {trial.version}"
            rows.append([name, release, one.capacity, _OUTCOMES[one.outcome], one.why])
        for share in trial.results:
            told = share.measured or Measured()
            figures = (told.throughput, told.p99, told.lost, told.ceiling, told.recovery)
            shown = ["-" if figure is None else f"{figure:,g}" for figure in figures]
            which = [share.run, share.share, share.share_id or "-", share.size]
            measures.append([name, *which, *shown, share.ended])
    lines = ("trials", *_table(rows), "", *_table(measures))
    return "".join(f"{_safe(line)}\n" for line in lines)


def offers_text(done: AuditReport) -> str:
    """What tenants lend each other, and what of it is held; empty where nothing is lent."""
    if not done.offers:
        return ""
    rows = [["", "from", "to", "lent", "held"]]
    for one in done.offers:
        what = " ".join(filter(None, (one.entitlement, one.size)))
        rows.append([what, one.giver, one.taker, str(one.count), str(one.held)])
    return "".join(f"{_safe(line)}\n" for line in ("lent to other tenants", *_table(rows)))


def ledger_text(ledger: Ledger, *, all_devices: bool = False) -> str:
    """The totals of each tier, what is used of its capacities, then the devices that somebody holds or
    nobody can tell of."""
    lines = ["devices", *_table([_total_head(), *map(_total_row, ledger.totals)])]
    capacities = [row for total in ledger.totals for row in _capacity_rows(total)]
    if capacities:
        head = ["", "capacity", "total", "used", "free", "fragmented", "unknown"]
        lines += ["", *_table([head, *capacities])]
    shown = [entry for entry in ledger.entries if all_devices or entry.state != "idle"]
    if shown:
        rows = [row for entry in shown for row in _device_rows(entry)]
        more = len(rows) - _MOST_ROWS
        head = ["device", "state", "claim", "tenant", "pods", "share", "amount", "version"]
        lines += ["", *_table([head, *(rows if all_devices else rows[:_MOST_ROWS])])]
        if more > 0 and not all_devices:
            lines.append(f"  and {more:,} more: --all-devices or --format json")
    return "".join(f"{_safe(line)}\n" for line in lines)


def _total_head() -> list[str]:
    return ["", "devices", *_STATES, "holders"]


def _total_row(total: Total) -> list[str]:
    counts = [str(total.states.get(state, 0)) for state in _STATES]
    return [total.name, f"{total.devices:,}", *counts, str(total.shares)]


def _capacity_rows(total: Total) -> Iterator[list[str]]:
    touched = {key: one for key, one in total.capacity.items() if one.used or one.fragmented}
    for number, (key, amount) in enumerate(touched.items()):
        amounts = (amount.total, amount.used, amount.free, amount.fragmented, amount.unknown)
        yield [total.name if not number else "", key, *map(str, amounts)]


def _device_rows(entry: Entry) -> Iterator[list[str]]:
    name = "/".join(entry.id[1:])
    if not entry.shares:
        yield [name, entry.state, entry.reason or "", "", "", "", "", ""]
    for number, share in enumerate(entry.shares):
        yield [name if not number else "", entry.state if not number else "", *_share_cells(share)]


def _share_cells(share: Share) -> list[str]:
    amount = ", ".join(f"{key} {value}" for key, value in share.consumed.items())
    watching = "watches" if share.admin_access else ""
    return [
        share.claim,
        share.tenant or "-",
        ", ".join(share.pods) or "none",
        (share.share_id or "-")[:8],
        amount or watching or "whole",
        share.version or "-",
    ]


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        yield f"  {_GAP.join(cells)}".rstrip()


def _safe(line: str) -> str:
    """Text of a record as a terminal may get it."""
    return "".join(char if char.isprintable() else "?" for char in line)
