"""All that `dracfg audit` looks at, read from a server, with the moment by the server's own clock."""

from __future__ import annotations

from datetime import datetime

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic
from dracfg.link.catalog import Cluster
from dracfg.live.connection import Connection, Unanswered
from dracfg.live.outcomes import server_version, unanswered_finding, version_finding
from dracfg.live.reading import AUDIT_KINDS, read_live
from dracfg.source.records import Record, served_record


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was read. `kinds` were listed to the end; `at` is None where the server does not tell."""

    record: Record
    findings: tuple[Diagnostic, ...]
    kinds: tuple[str, ...]
    at: datetime | None


def take_snapshot(connection: Connection, cluster: Cluster) -> Snapshot:
    """Lists are read one after the other, so that the last is younger than the first by seconds."""
    try:
        wrong = version_finding(cluster, server_version(connection))
    except Unanswered as fault:
        finding = unanswered_finding(cluster, connection.address, fault)
        return Snapshot(served_record(connection.cluster, ()), (finding,), (), None)
    reading = read_live(connection, cluster, AUDIT_KINDS)
    findings = (*([wrong] if wrong is not None else []), *reading.findings)
    return Snapshot(reading.record, findings, reading.kinds, _moment(connection))


def _moment(connection: Connection) -> datetime | None:
    try:
        return connection.get("/version").moment
    except Unanswered:
        return None
