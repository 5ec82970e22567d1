"""`dracfg migrate workload`: manifests between extended resources and claims, comments kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import click

from dracfg.cli import options
from dracfg.cli.fix import replace_file
from dracfg.cli.output import (
    FORMS,
    Findings,
    OutputFile,
    counted,
    exit_code,
    plural,
    show_findings,
    text_width,
    wants_colour,
    write_findings,
)
from dracfg.cli.repository import hint, repository_errors
from dracfg.diagnostics import Diagnostic
from dracfg.diagnostics.render.document import report
from dracfg.diagnostics.render.text import render
from dracfg.kube.pointers import escape
from dracfg.migrate.bump import bump_file, template_names
from dracfg.migrate.decision import PodChange
from dracfg.migrate.kustomize import NAMES
from dracfg.migrate.manifest import normal
from dracfg.migrate.migration import reverse_file
from dracfg.migrate.packages import SUFFIXES, migrate_path
from dracfg.migrate.result import FileResult, Outcome
from dracfg.migrate.tenancy import Tenancy
from dracfg.pipeline import Judgement, judge


@click.group(name="migrate")
def command() -> None:
    """Move manifests between device plugins and claims.

    Example: dracfg migrate workload jobs/
    """


@command.command(name="workload")
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...",
    type=click.Path(path_type=Path, exists=True),
)  # fmt: skip
@click.option(
    "--tenant", metavar="NAME", envvar="DRACFG_MIGRATE_TENANT",
    help="Whose workloads they are; else the tenant of each one's namespace.",
)  # fmt: skip
@click.option(
    "-n",
    "--namespace",
    envvar="DRACFG_NAMESPACE",
    help="The namespace of manifests that name none.",
)
@click.option(
    "--profile", "profiles", multiple=True, metavar="NAME", envvar="DRACFG_MIGRATE_PROFILE",
    help="Only these profiles; of them one that holds more than is asked for will do. Repeatable.",
)  # fmt: skip
@click.option("--reverse", is_flag=True, help="Take back what was migrated, by its marks.")
@click.option("--bump", is_flag=True, help="Name the current template in place of a retired one.")
@click.option(
    "--in-place", is_flag=True, envvar="DRACFG_MIGRATE_IN_PLACE",
    help="Write the files; else a diff is printed.",
)  # fmt: skip
@options.root
@options.clusters
@options.form
@options.outputs(FORMS)
@options.colour
@options.fail_on
@options.quiet
def workload(
    files: tuple[Path, ...],
    tenant: str | None,
    namespace: str | None,
    profiles: tuple[str, ...],
    reverse: bool,
    bump: bool,
    in_place: bool,
    root: Path,
    clusters: tuple[str, ...],
    form: str,
    outputs: tuple[OutputFile, ...],
    colour: str,
    fail_on: str,
    quiet: bool,
) -> int:
    """Put claims of the tenant's profiles in the place of extended resources.

    A FILE holds manifests of any kind with pod templates, or is a folder of them. Each container gets
    a claim of the profile that holds exactly what it asks for. Lines that go stay as comments
    `# dracfg: was …`, lines that come end in `# dracfg: added`, and --reverse takes both back to the
    very bytes. Charts and kustomizations are not edited; what does it is printed. A file with an
    error stays as it is.

    Example: dracfg migrate workload train.yaml --tenant vision
    """
    if reverse and bump:
        raise click.UsageError("--reverse and --bump exclude each other")
    paths = [path.as_posix() for path in workload_paths(files)]
    if not paths:
        raise click.ClickException("there is no YAML or JSON file in what was named")
    if reverse:
        results = [reverse_file(path, _read(path) or b"") for path in paths]
    else:
        results = _migrated(paths, root, clusters, tenant, namespace, profiles, bump)
    if in_place:
        _write(results)
    findings = [finding for one in results for finding in one.findings]
    _show(results, findings, form, colour, outputs, in_place=in_place)
    if not quiet:
        click.echo(_summary(results, findings, in_place=in_place), err=True)
    return exit_code(findings, fail_on)


def workload_paths(files: Sequence[Path]) -> list[Path]:
    """The files that are named, and those with manifests below folders that are."""
    found: dict[Path, None] = {}
    for path in files:
        below = sorted(path.rglob("*")) if path.is_dir() else [path]
        found.update(
            dict.fromkeys(
                one
                for one in below
                if one.is_file()
                and (one == path or one.name.endswith(SUFFIXES) or one.name in NAMES)
            )
        )
    return list(found)


def _read(path: str) -> bytes | None:
    try:
        return Path(path).read_bytes() if Path(path).is_file() else None
    except OSError as fault:
        raise click.ClickException(f"{path} can't be read: {fault.strerror}") from None


def _migrated(
    paths: Sequence[str],
    root: Path,
    clusters: tuple[str, ...],
    tenant: str | None,
    namespace: str | None,
    profiles: tuple[str, ...],
    bump: bool,
) -> list[FileResult]:
    with repository_errors():
        judged = judge(root, level="intent")
    if judged.has_errors:
        click.echo(f"{counted(judged.findings)} in the catalog; run dracfg check", err=True)
    if bump:
        names = template_names(judged.units)
        return [bump_file(path, _read(path) or b"", names, namespace) for path in paths]
    tenancy = _tenancy(judged, clusters, tenant, namespace, profiles)
    return [migrate_path(path, _read(path) or b"", tenancy, _read) for path in paths]


def _tenancy(
    judged: Judgement,
    globs: tuple[str, ...],
    tenant: str | None,
    namespace: str | None,
    profiles: tuple[str, ...],
) -> Tenancy:
    catalog = judged.catalog
    if tenant is not None and tenant not in catalog.tenants:
        near = hint(tenant, tuple(catalog.tenants))
        raise click.UsageError(f"there is no Tenant {tenant}{near}")
    known = {one.name for found in catalog.tenants.values() for one in found.document.spec.profiles}
    for profile in profiles:
        if profile not in known:
            raise click.UsageError(f"there is no profile {profile}{hint(profile, sorted(known))}")
    named = tuple(
        name
        for name in catalog.clusters
        if not globs or any(fnmatchcase(name, glob) for glob in globs)
    )
    if not named:
        near = hint(globs[0], tuple(catalog.clusters)) if globs else ""
        raise click.UsageError(f"there is no Cluster {', '.join(globs)}{near}")
    found = catalog.tenants[tenant] if tenant is not None else None
    return Tenancy(catalog, named, found, namespace, profiles)


def _write(results: Sequence[FileResult]) -> None:
    for one in results:
        if one.is_changed:
            try:
                replace_file(Path(one.path), one.after)
            except OSError as fault:
                raise click.ClickException(
                    f"{one.path} can't be written: {fault.strerror}"
                ) from None


def _show(
    results: Sequence[FileResult],
    findings: Sequence[Diagnostic],
    form: str,
    colour: str,
    outputs: Sequence[OutputFile],
    *,
    in_place: bool,
) -> None:
    """Diffs and patches on stdout and findings beside them; another form has both in one document."""
    texts = {one.path: normal(one.before.decode("utf-8", "replace")) for one in results}

    @cache
    def lines(path: str) -> Sequence[str]:
        held = texts.get(path)
        if held is None:
            held = normal((_read(path) or b"").decode("utf-8", "replace"))
        return held.split("\n")

    def document() -> dict[str, Any]:
        return migration_report(results, in_place=in_place)

    if form != "text":
        show_findings(findings, form, colour, lines, document, outputs=outputs)
        return
    for one in results:
        head = f"# {one.path}\n" if one.patch and len(results) > 1 else ""
        click.echo(("" if in_place else one.diff()) + head + one.patch, nl=False)
    told = render(findings, lines, colour=wants_colour(colour), width=text_width())
    click.echo(told, nl=False, err=True)
    write_findings(Findings(findings, lines, document), colour, outputs)


def migration_report(results: Sequence[FileResult], *, in_place: bool) -> dict[str, Any]:
    """A MigrationReport: what came of each file, with the profile of each container that changed."""
    findings = [finding for one in results for finding in one.findings]
    refuted = any(finding.is_error for finding in findings)
    return report(
        "MigrationReport",
        "refuted" if refuted else "proven",
        findings,
        written=in_place,
        files=[
            {
                "file": one.path,
                "outcome": one.outcome,
                "diff": one.diff(),
                "patch": one.patch,
                "pods": [_pod(change) for change in one.changes],
            }
            for one in results
        ],
    )


def _pod(change: PodChange) -> dict[str, Any]:
    entries = {entry.name: entry for entry in change.entries}
    return {
        "object": change.site.name,
        "namespace": change.site.namespace,
        "path": "".join(f"/{escape(step)}" for step in change.site.steps),
        "containers": [
            {
                "container": one.container.name,
                "removed": list(one.removed),
                "claims": [
                    {
                        "name": name,
                        "template": entries[name].template,
                        "profile": entries[name].profile,
                        "beside": entries[name].beside or None,
                    }
                    for name in one.claims
                ],
            }
            for one in change.containers
        ],
    }


def _summary(
    results: Sequence[FileResult], findings: Sequence[Diagnostic], *, in_place: bool
) -> str:
    counts = Counter(one.outcome for one in results)
    words: dict[Outcome, str] = {
        "rewritten": "rewritten" if in_place else "to rewrite",
        "patch": "with a patch",
        "left": "left as before",
        "unchanged": "without a change",
    }
    said = ", ".join(
        f"{plural(counts[key], 'file')} {word}" for key, word in words.items() if counts[key]
    )
    return f"{said}; {counted(findings)}"
