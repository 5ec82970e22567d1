"""`dracfg place`: where one claim of a profile would land, and what is in its way elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dracfg.cli import exits, options
from dracfg.cli.candidates import fitting, profiles
from dracfg.cli.output import OutputFile, counted, show_facts
from dracfg.cli.progress import progress
from dracfg.cli.repository import hint, repository_errors, require_clusters
from dracfg.passes import Timings

if TYPE_CHECKING:
    from dracfg.allocate.funnel import Funnel, NodeFunnel, Step
    from dracfg.link.catalog import Tenant
    from dracfg.model.tenant import Profile
    from dracfg.pipeline import InventoryFile, Judgement

_FORMS = ("text", "json")
_VERDICTS = {"yes": "proven", "no": "refuted", "unknown": "unknown"}


def _profiles(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    return fitting(profiles(context, incomplete), incomplete)


@click.command(name="place")
@click.argument("profile", metavar="TENANT/PROFILE", shell_complete=_profiles)
@options.root
@options.clusters
@options.inventories
@click.option(
    "--format", "form", type=click.Choice(_FORMS), default="text", show_default=True,
    envvar="DRACFG_PLACE_FORMAT", help="The same facts for people or for programs.",
)  # fmt: skip
@options.outputs(_FORMS, "DRACFG_PLACE_OUTPUT")
@options.colour
@options.quiet
def command(
    profile: str,
    root: Path,
    clusters: tuple[str, ...],
    inventories: tuple[InventoryFile, ...],
    form: str,
    outputs: tuple[OutputFile, ...],
    colour: str,
    quiet: bool,
) -> int:
    """Show on which nodes one claim of TENANT/PROFILE could be held, were they empty.

    Each row counts the devices that remain: those of the driver that the node reaches, after the
    selectors of the class, with the capacity, without taints, and under the constraints. Exit code
    0 where some node can hold the claim, 1 where none is known to.

    Example: dracfg place vision/train-x8 --cluster prod-east
    """
    # Imported here, as a shell that completes a name has no need of them.
    from dracfg.allocate.placement import place
    from dracfg.cli.placetext import funnel_text
    from dracfg.lower.units import gate_plans
    from dracfg.pipeline import judge

    clock = Timings()
    with repository_errors(), progress(clock, quiet=quiet):
        judged = judge(root, clock, inventories)
    require_clusters(judged, inventories)
    tenant, found = _find(judged, profile)
    plans = gate_plans(judged.catalog, judged.units)
    funnels = [
        one
        for one in place(judged.catalog, tenant, found, judged.inventories, gates=plans)
        if not clusters or any(fnmatchcase(one.cluster, glob) for glob in clusters)
    ]
    name = f"{tenant.name}/{found.name}"
    if not funnels:
        where = f" on {', '.join(clusters)}" if clusters else ""
        raise click.UsageError(f"profile {name} makes no claim{where}")
    show_facts(
        form,
        colour,
        outputs,
        lambda: _document(judged, name, funnels),
        lambda coloured: "\n".join(funnel_text(name, one, colour=coloured) for one in funnels),
    )
    if judged.has_errors and not quiet:
        click.echo(
            f"{counted(judged.findings)}; what is shown may be incomplete, run dracfg check",
            err=True,
        )
    return exits.DONE if any(one.result == "yes" for one in funnels) else exits.FINDINGS


def _find(judged: Judgement, name: str) -> tuple[Tenant, Profile]:
    tenant_name, _, profile_name = name.partition("/")
    tenants = judged.catalog.tenants
    if not profile_name:
        raise click.UsageError(f"{name} names no profile: write TENANT/PROFILE")
    if tenant_name not in tenants:
        near = hint(tenant_name, tuple(tenants))
        raise click.UsageError(f"there is no Tenant {tenant_name}{near}")
    profiles = {one.name: one for one in tenants[tenant_name].document.spec.profiles}
    if profile_name not in profiles:
        near = hint(profile_name, tuple(profiles))
        raise click.UsageError(f"tenant {tenant_name} has no profile {profile_name}{near}")
    return tenants[tenant_name], profiles[profile_name]


def _document(judged: Judgement, name: str, funnels: Sequence[Funnel]) -> dict[str, Any]:
    from dracfg.diagnostics.render.document import report

    results = {one.result for one in funnels}
    best = next(result for result in ("yes", "unknown", "no") if result in results)
    return report(
        "PlaceReport",
        _VERDICTS[best],
        judged.findings,
        profile=name,
        clusters=[
            {
                "cluster": one.cluster,
                "devices": "modelled" if one.modelled else "recorded",
                "nodes": one.total,
                "canHold": one.count("yes"),
                "notDecided": one.count("unknown"),
                "failure": one.failure,
                "rows": [_row(node) for node in one.nodes],
            }
            for one in funnels
        ],
    )


def _row(node: NodeFunnel) -> dict[str, Any]:
    return {
        "node": node.node,
        "alike": node.count,
        "result": node.result,
        "reason": node.reason,
        "requests": [_step(step) for step in node.steps],
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "request": step.request,
        "alternative": step.alternative,
        "class": step.device_class,
        "wanted": step.wanted,
        "seen": step.seen,
        "selected": list(step.selected),
        "capacity": step.capacity,
        "untainted": step.untainted,
        "constrained": step.constrained,
        "undecided": step.undecided,
        "reason": step.reason,
    }
