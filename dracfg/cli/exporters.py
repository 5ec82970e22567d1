"""`dracfg audit --live --prometheus URL`: what device exporters of the cluster count, asked of a server."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dracfg.check.exporters import exporter_query, not_asked
from dracfg.cli.rolloutevidence import named_servers
from dracfg.diagnostics import Diagnostic
from dracfg.rollout.measuring import EVERY
from dracfg.rollout.prometheus import query
from dracfg.source.records import Record, parse_record


def ask_exporters(
    cluster: str, named: Sequence[str], timeout: float, clusters: Collection[str]
) -> tuple[list[Record], list[Diagnostic]]:
    """The record of the server's answer, or why there is none; nothing where none is named."""
    servers = named_servers(named, timeout, clusters)
    server = servers.get(cluster, servers.get(EVERY))
    if server is None:
        return [], []
    body, trouble = query(server, exporter_query())
    if trouble is not None:
        return [], [not_asked(cluster, trouble)]
    record, faults = parse_record(server.shown, body.decode("utf-8", errors="replace"))
    if faults or not record.is_measured:
        return [], [not_asked(cluster, "the answer is not one of Prometheus")]
    return [record], []
