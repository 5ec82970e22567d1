"""`out/` of one cluster held against its API server: dry run, drift, and the verdict.

The way through this package for the command line and Python. Reads the tree as it is on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic
from dracfg.kube.objects import ObjectKey, object_key
from dracfg.link.catalog import Catalog, Cluster
from dracfg.live.connection import Connection, Unanswered
from dracfg.live.discovery import Discovery
from dracfg.live.drift import find_drift, find_leftovers
from dracfg.live.dryrun import FIELD_MANAGER, Outcome, dry_run
from dracfg.live.dryrunfindings import dry_run_findings
from dracfg.live.outcomes import server_version, unanswered_finding, version_finding
from dracfg.live.places import Places
from dracfg.live.tree import read_tree
from dracfg.lower.artifact import Unit

Verdict = Literal["proven", "refuted", "unknown"]

_UNASKED = frozenset({"LIV001", "LIV002", "LIV003", "LIV004", "LIV005", "LIV006", "LIV009"})
"""Errors by which nothing is refuted: the question did not come through."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What came of it. `version` is None where the server never told it.

    Of `objects` under `out/` the server accepts `accepted`; the others are refused or undecided.
    `compared` and `drifted` are None where drift was not asked for.
    """

    address: str
    version: str | None
    objects: int
    accepted: int
    compared: int | None
    drifted: int | None
    findings: tuple[Diagnostic, ...]

    @property
    def verdict(self) -> Verdict:
        """refuted where the server or a difference says so, unknown where anything stayed open."""
        errors = {finding.code for finding in self.findings if finding.is_error}
        if errors - _UNASKED:
            return "refuted"
        is_open = errors or any(finding.severity == "unknown" for finding in self.findings)
        return "unknown" if is_open else "proven"


def verify(
    root: Path,
    catalog: Catalog,
    cluster: Cluster,
    units: Iterable[Unit],
    connection: Connection,
    *,
    holds: Callable[[str], bool] | None = None,
    drift: bool = False,
    manager: str = FIELD_MANAGER,
) -> Verification:
    """Sends every object of the cluster's units that `holds` admits as a dry run.

    `units` are what the sources lower to now; they lead from fields to places. With `drift` live
    objects are compared too, and where nothing was left out, those that `out/` no longer has.
    """
    manifests, faults = read_tree(root, cluster, holds or (lambda _unit: True))
    listed = tuple(units)
    places = Places.of(catalog, cluster, listed)
    discovery = Discovery(connection)
    findings = [*faults]
    outcomes: list[Outcome] = []
    version = compared = drifted = broken = None
    try:
        told = server_version(connection)
        version = told.full if told is not None else None
        findings += [one for one in (version_finding(cluster, told),) if one is not None]
        for outcome in dry_run(discovery, cluster, manifests, manager):
            outcomes.append(outcome)  # noqa: PERF402  what was asked counts though the next fails
        if drift:
            found = find_drift(discovery, cluster, manifests, places)
            compared, drifted = found.compared, found.drifted
            findings += found.findings
            if holds is None:
                findings += find_leftovers(discovery, cluster, manifests, _handed_out(listed))
    except Unanswered as fault:
        broken = unanswered_finding(cluster, connection.address, fault)
    findings += dry_run_findings(outcomes, cluster, places)
    return Verification(
        connection.address,
        version,
        len(manifests),
        sum(outcome.is_accepted for outcome in outcomes),
        compared,
        drifted,
        tuple(findings) if broken is None else (*findings, broken),
    )


def _handed_out(units: Iterable[Unit]) -> Iterator[ObjectKey]:
    """What stands in units that no engine applies: taints of nodes, rights of appliers."""
    for unit in units:
        if not unit.synced:
            yield from (object_key(artifact.object) for artifact in unit.artifacts)
