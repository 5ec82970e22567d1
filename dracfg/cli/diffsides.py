"""The two sides of a diff as the command line names them, compared.

Turns what keeps a side from being read into a plain message and exit code 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import click

from dracfg.cli.output import plural
from dracfg.cli.repository import hint, repository_errors
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic
from dracfg.diff.narrowing import narrow, unmatched
from dracfg.diff.plan import DiffPlan, EndState, compare, sorted_changes
from dracfg.diff.states import (
    NoState,
    State,
    choose_states,
    folder_state,
    holds_repository,
)
from dracfg.link.catalog import Cluster
from dracfg.passes import Timings
from dracfg.pipeline import OUT, InventoryFile, Judgement, judge
from dracfg.source.git import GitFault, ObjectReader

_ENDINGS = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class Server:
    """How to reach an API server."""

    kubeconfig: Path
    context: str | None
    timeout: float


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for: which part of the plan, and how the repository is judged."""

    root: Path
    clusters: tuple[str, ...]
    tenants: tuple[str, ...]
    inventories: tuple[InventoryFile, ...]
    today: date | None
    clock: Timings


def diff_states(wanted: Wanted, base: str | None, head: str | None) -> DiffPlan:
    """Of two states of the repository."""
    with repository_errors(), _state_errors(), ObjectReader(wanted.root) as objects:
        return _compared(wanted, *choose_states(wanted.root, objects, base, head))


def diff_against(wanted: Wanted, other: Path) -> DiffPlan:
    """Of another repository, of another tree of its kind, or of recorded objects with `out/`."""
    if holds_repository(other):
        return _diff_folders(wanted, other)
    from dracfg.diff.trees import is_tree

    return _diff_trees(wanted, other) if is_tree(other) else _diff_record(wanted, other)


def diff_live(wanted: Wanted, server: Server) -> DiffPlan:
    """Of a cluster, asked object by object, with `out/`."""
    from dracfg.diff.clusterstate import live_diff
    from dracfg.live.discovery import Discovery
    from dracfg.live.kubeconfig import Access, BadKubeconfig, NoClient, connect
    from dracfg.live.tree import read_tree

    judged, cluster = _judged_cluster(wanted)
    try:
        access = Access(server.kubeconfig, server.context, server.timeout)
        connection = connect(access, cluster.name)
    except (BadKubeconfig, NoClient) as unusable:
        raise click.ClickException(str(unusable)) from None
    manifests, faults = read_tree(judged.root, cluster)
    found = live_diff(cluster, manifests, Discovery(connection))
    _tell_untold(found.untold, "the server serves or lets us read")
    plan = DiffPlan(
        EndState(f"cluster {cluster.name}", findings=found.findings),
        EndState(f"{OUT}/", findings=faults),
        sorted_changes(found.changes),
    )
    return narrow(plan, (), wanted.tenants)


def _diff_folders(wanted: Wanted, other: Path) -> DiffPlan:
    with repository_errors(), _state_errors():
        return _compared(wanted, folder_state(other), folder_state(wanted.root))


def _compared(wanted: Wanted, base: State, head: State) -> DiffPlan:
    from dracfg.amending.pairs import judge_pair

    pair = judge_pair(
        wanted.root, base, head, wanted.inventories, timings=wanted.clock, today=wanted.today
    )
    catalogs = [side.judgement.catalog for side in (pair.base, pair.head)]
    _require_known(
        "--cluster", wanted.clusters, {name for one in catalogs for name in one.clusters}
    )
    _require_known("--tenant", wanted.tenants, {name for one in catalogs for name in one.tenants})
    if not pair.base.judgement.documents and not pair.base.judgement.sources.faults:
        click.echo(f"{base.name} holds no catalog yet: everything is new", err=True)
    return narrow(compare(pair), wanted.clusters, wanted.tenants)


def _diff_trees(wanted: Wanted, other: Path) -> DiffPlan:
    from dracfg.diff.trees import is_tree, read_objects, tree_changes

    own = wanted.root / OUT
    if not is_tree(own):
        raise click.ClickException(f"{other} is a compiled tree, and {own} is none to compare with")
    before, after = read_objects(other), read_objects(own)
    plan = DiffPlan(
        EndState(other.as_posix(), findings=before.faults),
        EndState(own.as_posix(), findings=after.faults),
        sorted_changes(tree_changes(before, after)),
    )
    return narrow(plan, wanted.clusters, wanted.tenants)


def _diff_record(wanted: Wanted, other: Path) -> DiffPlan:
    from dracfg.diff.clusterstate import recorded_diff
    from dracfg.live.tree import read_tree
    from dracfg.source.records import Record, read_record

    files = [other] if other.is_file() else sorted(other.rglob("*"))
    named = [file for file in files if file.suffix.lower() in _ENDINGS and file.is_file()]
    if not named:
        raise click.ClickException(
            f"{other} is no repository, no tree that dracfg compiled, and holds no recorded objects"
        )
    records: list[Record] = []
    faults: list[Diagnostic] = []
    for file in named:
        record, found = read_record(Path(), file.as_posix())
        records.append(record)
        faults += found
    judged, cluster = _judged_cluster(wanted)
    manifests, unread = read_tree(judged.root, cluster)
    done = recorded_diff(cluster, manifests, records)
    _tell_untold(done.untold, f"{other} has any of")
    plan = DiffPlan(
        EndState(f"cluster {cluster.name} as in {other.as_posix()}", findings=tuple(faults)),
        EndState(f"{OUT}/", findings=unread),
        sorted_changes(done.changes),
    )
    return narrow(plan, (), wanted.tenants)


def _judged_cluster(wanted: Wanted) -> tuple[Judgement, Cluster]:
    """The repository, and the one Cluster that is meant."""
    with repository_errors():
        judged = judge(wanted.root, wanted.clock, level="intent", today=wanted.today)
    known = judged.catalog.clusters
    if not wanted.clusters and len(known) == 1:
        return judged, next(iter(known.values()))
    if len(wanted.clusters) != 1:
        raise click.UsageError(f"say which Cluster it is: --cluster {'|'.join(known)}")
    (name,) = wanted.clusters
    if name not in known:
        raise click.UsageError(f"there is no Cluster {name}{hint(name, tuple(known))}")
    return judged, known[name]


def _tell_untold(count: int, what: str) -> None:
    if count:
        click.echo(f"{plural(count, 'object')} not compared: of no kind that {what}", err=True)


def _require_known(option: str, globs: tuple[str, ...], known: set[str]) -> None:
    """Refuses globs that name nothing on either side: a slip would look like silence."""
    for glob in unmatched(globs, known):
        near = hint(glob, sorted(known))
        raise click.ClickException(f"nothing is named by {option} {glob}{near}")


@contextmanager
def _state_errors() -> Iterator[None]:
    try:
        yield
    except (GitFault, NoState) as fault:
        raise click.ClickException(str(fault)) from None
