"""`dracfg verify`: a server-side dry run of `out/`, and drift of what stands on the cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dracfg.cli import options
from dracfg.cli.output import (
    FORMS,
    OutputFile,
    annotates,
    counted,
    exit_code,
    plural,
    show_findings,
)
from dracfg.cli.repository import hint, repository_errors

if TYPE_CHECKING:
    from dracfg.diagnostics import Diagnostic
    from dracfg.link.catalog import Catalog, Cluster
    from dracfg.live.verification import Verification
    from dracfg.pipeline import Compiled

_MOST_UNITS = 5


@click.command(name="verify")
@options.kubeconfig(required=True)
@options.context
@click.option(
    "--cluster", "name", metavar="NAME", envvar="DRACFG_VERIFY_CLUSTER",
    help="The Cluster that the server is; needed where the catalog has several.",
)  # fmt: skip
@click.option(
    "--drift", is_flag=True, envvar="DRACFG_DRIFT",
    help="Also tell where live objects differ from out/, and who changed them.",
)  # fmt: skip
@click.option(
    "--field-manager", default="dracfg", show_default=True, envvar="DRACFG_FIELD_MANAGER",
    help="In whose name fields are applied.",
)  # fmt: skip
@options.request_timeout
@options.tenants
@options.root
@options.form
@options.outputs(FORMS)
@options.colour
@options.select
@options.ignore
@options.fail_on
@options.quiet
def command(
    kubeconfig: Path,
    context: str | None,
    name: str | None,
    drift: bool,
    field_manager: str,
    request_timeout: float,
    tenants: tuple[str, ...],
    root: Path,
    form: str,
    outputs: tuple[OutputFile, ...],
    colour: str,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    fail_on: str,
    quiet: bool,
) -> int:
    """Ask a real API server whether it would take out/ of one cluster; nothing is changed there.

    Every object is sent as a server-side apply that is a dry run. What is on disk is verified,
    whether or not it is fresh.

    Example: dracfg verify --kubeconfig ~/.kube/prod-east --cluster prod-east --drift
    """
    from dracfg.diagnostics import sort_key
    from dracfg.diagnostics.render.document import report
    from dracfg.diagnostics.selection import Selection
    from dracfg.live.kubeconfig import Access, BadKubeconfig, NoClient, connect
    from dracfg.live.verification import verify
    from dracfg.pipeline import compile_repository
    from dracfg.scope import Scope
    from dracfg.terms import Means

    with repository_errors():
        compiled = compile_repository(root, check=True, by=Means(form="both"))
    judged = compiled.judgement
    cluster = _cluster(judged.catalog, name)
    try:
        connection = connect(Access(kubeconfig, context, request_timeout), cluster.name)
    except (BadKubeconfig, NoClient) as unusable:
        raise click.ClickException(str(unusable)) from None
    scope = Scope((cluster.name,), tenants)
    done = verify(
        root,
        judged.catalog,
        cluster,
        judged.units,
        connection,
        holds=scope.holds if tenants else None,
        drift=drift,
        manager=field_manager,
    )
    if not done.objects:
        what = f"for {', '.join(tenants)} on {cluster.name}" if tenants else f"for {cluster.name}"
        raise click.ClickException(f"out/ holds no object {what}; run dracfg compile")
    stale = _stale(compiled, cluster)
    every = sorted((*done.findings, *_staleness(stale, cluster)), key=sort_key)
    findings = tuple(Selection(select, ignore).of(every))
    show_findings(
        findings,
        form,
        colour,
        _lines(judged.lines, root),
        lambda: report(
            "VerifyReport",
            done.verdict,
            findings,
            cluster=cluster.name,
            server={"address": done.address, "version": done.version},
            stale=None if stale is None else bool(stale),
            objects=done.objects,
            accepted=done.accepted,
            drift=None
            if done.compared is None
            else {"compared": done.compared, "drifted": done.drifted},
            notSelected=len(every) - len(findings),
        ),
        root=root,
        outputs=(*outputs, *((OutputFile("github", None),) if annotates() else ())),
    )
    if not quiet:
        for line in _summary(done, cluster, findings):
            click.echo(line, err=True)
        if stale is None:
            errors = counted(judged.findings)
            click.echo(f"whether out/ is fresh is not known: {errors} in the catalog", err=True)
    return exit_code(findings, fail_on)


def _lines(sources: Callable[[str], Sequence[str]], root: Path) -> Callable[[str], Sequence[str]]:
    """The lines of a file of the repository, those below out/ as they are on disk."""

    @cache
    def emitted(path: str) -> Sequence[str]:
        try:
            return (root / path).read_text(encoding="utf-8").split("\n")
        except (OSError, ValueError):
            return ()

    return lambda path: emitted(path) if path.startswith("out/") else sources(path)


def _cluster(catalog: Catalog, name: str | None) -> Cluster:
    """The Cluster that is meant: the one that is named, else the only one."""
    known = tuple(catalog.clusters)
    if name is None:
        if len(known) != 1:
            raise click.UsageError(f"say which Cluster the server is: --cluster {'|'.join(known)}")
        return catalog.clusters[known[0]]
    if name not in catalog.clusters:
        raise click.UsageError(f"there is no Cluster {name}{hint(name, known)}")
    return catalog.clusters[name]


def _stale(compiled: Compiled, cluster: Cluster) -> tuple[str, ...] | None:
    """The cluster's units that a compile would change; None where the catalog has errors."""
    from dracfg.live.tree import is_applied

    if compiled.tree is None:
        return None
    return tuple(
        unit.path
        for unit in compiled.tree.units
        if unit.status != "unchanged" and is_applied(cluster, unit.path)
    )


def _staleness(stale: tuple[str, ...] | None, cluster: Cluster) -> Iterator[Diagnostic]:
    from dracfg.diagnostics import diagnose
    from dracfg.live.outcomes import cluster_place

    if stale:
        shown = ", ".join(f"out/{path}" for path in stale[:_MOST_UNITS])
        more = len(stale) - _MOST_UNITS
        yield diagnose(
            "LIV023",
            cluster_place(cluster),
            f"out/ is older than the catalog, and was verified as it is: {shown}"
            + (f" and {plural(more, 'unit')} more" if more > 0 else ""),
            help="run dracfg compile and verify again",
        )


def _summary(
    done: Verification, cluster: Cluster, findings: tuple[Diagnostic, ...]
) -> Iterator[str]:
    server = f"Kubernetes {done.version}" if done.version else done.address
    yield (
        f"{done.accepted:,} of {plural(done.objects, 'object')} accepted by {cluster.name} "
        f"({server}); {counted(findings)}"
    )
    if done.compared is not None:
        yield f"{done.drifted:,} of {plural(done.compared, 'live object')} differ from out/"
