"""`dracfg capacity`: what can be promised and is; with `--what-if FILE`, what of its pods would land."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from dracfg.building import Building
from dracfg.cache.seen import recall
from dracfg.check.manifests import check_manifest
from dracfg.check.recordedparameters import check_parameters
from dracfg.checking import Checked
from dracfg.cli import exits, options
from dracfg.cli.capacityplan import show_plan
from dracfg.cli.capacitytext import answer_text
from dracfg.cli.capacityusage import recorded
from dracfg.cli.output import OutputFile, counted, show_facts, text_width
from dracfg.cli.progress import progress
from dracfg.cli.repository import (
    chosen_clusters,
    hint,
    repository_errors,
    require_clusters,
    side_by_side,
)
from dracfg.diagnostics.render.document import report
from dracfg.diagnostics.render.text import render
from dracfg.pipeline import InventoryFile, Judgement, Timings, judge
from dracfg.plan.question import Answer, ClusterAnswer, Repository, answer
from dracfg.plan.whatif import Placement
from dracfg.plan.workloads import (
    DEFAULT_NAMESPACE,
    PodGroup,
    UncountedName,
    pod_groups,
)
from dracfg.plan.workloads import (
    counted as with_numbers,
)
from dracfg.source.records import Record, read_record
from dracfg.terms import Extent, Means

_FORMS = ("text", "json")


def _numbers(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, int]:
    found = {}
    for value in values:
        name, _, number = value.partition("=")
        if not name or not number.isdecimal():
            raise click.BadParameter(f"{value} is not NAME=NUMBER")
        found[name] = int(number)
    return found


def _share(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> Fraction | None:
    if value is None:
        return None
    number = value.removesuffix("%")
    if not number.isdecimal() or not 0 < int(number) <= 100:
        raise click.BadParameter(f"{value} is not a percentage such as 70%")
    return Fraction(int(number), 100)


@click.command(name="capacity")
@click.option(
    "--what-if", "file", metavar="FILE", envvar="DRACFG_WHAT_IF",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Manifests: workloads, pods, claims, claim templates.",
)  # fmt: skip
@click.option(
    "--replicas", multiple=True, metavar="NAME=NUMBER", callback=_numbers,
    help="Pods of a workload, or of a template that none uses.",
)  # fmt: skip
@click.option(
    "-n", "--namespace", default=DEFAULT_NAMESPACE, show_default=True, envvar="DRACFG_NAMESPACE",
    help="The namespace of manifests that name none.",
)  # fmt: skip
@click.option(
    "--target", metavar="PERCENT", callback=_share, envvar="DRACFG_TARGET",
    help="A utilisation to plan by, shown beside what can be promised.",
)  # fmt: skip
@click.option(
    "--alternatives", is_flag=True, envvar="DRACFG_ALTERNATIVES",
    help="Also the same entitlements whole, in parts and in shares.",
)  # fmt: skip
@click.option(
    "--usage", "usage", multiple=True, metavar="FILE", envvar="DRACFG_USAGE",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="What Prometheus answered to a range query: use and objectives.",
)  # fmt: skip
@options.root
@options.clusters
@options.inventories
@options.colour
@click.option(
    "--format", "form", type=click.Choice(_FORMS), default="text", show_default=True,
    envvar="DRACFG_CAPACITY_FORMAT", help="The same facts for people or for programs.",
)  # fmt: skip
@options.outputs(_FORMS, "DRACFG_CAPACITY_OUTPUT")
@options.today
@options.quiet
def command(
    file: Path | None,
    replicas: dict[str, int],
    namespace: str,
    target: Fraction | None,
    alternatives: bool,
    usage: tuple[Path, ...],
    root: Path,
    clusters: tuple[str, ...],
    inventories: tuple[InventoryFile, ...],
    colour: str,
    form: str,
    outputs: tuple[OutputFile, ...],
    today: date | None,
    quiet: bool,
) -> int:
    """Show what can be promised of each tier, what is, and what is proven of it.

    With --what-if, place the pods of FILE one after the other instead, and show what lands where and
    what does not. They come on top of the ResourceClaims that the inventory has, on recorded devices
    or, where none are, on modelled ones. Templates are looked up in FILE, then among those that dracfg
    emits. Nodes are tried in the order of their names; kube-scheduler scores them otherwise. Not
    weighed: quota, admission, CPU, memory, affinity, preemption. Without --cluster, pods go to the
    clusters that have their namespace.

    With --usage, also how full tiers were, how long they last at the recorded growth, and whether
    objectives were met. A series needs the labels cluster and tier, and `key` where it is an amount of a
    capacity; the figures of objectives are those that dracfg's rules record. Exit code 0 where every
    guarantee is proven and no objective was missed, or every pod lands, else 1.

    Example: dracfg capacity --what-if jobs.yaml --replicas train=12
    """
    clock = Timings()
    is_document = "json" in (form, *(output.form for output in outputs))
    with repository_errors(), progress(clock, quiet=quiet):
        if file is not None:
            judged = judge(root, clock, inventories, today=today, seen=recall(root))
        elif is_document:
            with side_by_side() as means:
                judged = judge(root, clock, inventories, today=today, seen=recall(root), by=means)
        else:
            judged = _linked(root, clock, inventories, today)
    require_clusters(judged, inventories)
    if file is None:
        if replicas:
            raise click.UsageError("--replicas needs --what-if FILE")
        chosen = chosen_clusters(judged, clusters)
        used = recorded(judged.catalog, usage, chosen)
        return show_plan(judged, chosen, form, outputs, target, alternatives, used)
    if usage:
        raise click.UsageError("--usage says nothing of what --what-if places")
    record, unread = read_record(Path(), file.as_posix())
    groups = _groups(record, namespace, replicas)
    wanted = chosen_clusters(judged, clusters)
    repository = Repository(judged.catalog, judged.units, judged.records, judged.inventories)
    found = answer(repository, record, groups, wanted, namespace)
    own = (
        *unread,
        *check_manifest(record, judged.catalog),
        *check_parameters([record], judged.catalog),
        *found.findings,
    )
    landed = all(one.plan.count("yes") == len(one.plan.placements) for one in found.clusters)
    landed = landed and not found.nowhere and not any(fault.is_error for fault in own)
    verdict = "proven" if landed else "refuted"
    if not landed and _undecided(found):
        verdict = "unknown"
    texts = record.text.split("\n")

    def lines(path: str) -> Sequence[str]:
        return texts if path == record.path else judged.lines(path)

    show_facts(
        form,
        colour,
        outputs,
        lambda: report(
            "CapacityPlan",
            verdict,
            (*judged.findings, *own),
            file=record.path,
            clusters=[_cluster(one) for one in found.clusters],
            nowhere=[_group(one) for one in found.nowhere],
        ),
        lambda has_colour: (
            render(own, lines, colour=has_colour, width=text_width())
            + answer_text(record.path, found)
        ),
    )
    if judged.has_errors and not quiet:
        click.echo(
            f"{counted(judged.findings)}; what is shown may be incomplete, run dracfg check",
            err=True,
        )
    return exits.DONE if landed else exits.FINDINGS


def _linked(
    root: Path, clock: Timings, inventories: Sequence[InventoryFile], today: date | None
) -> Judgement:
    """The catalog with what is recorded, and no findings: the plan in words has none of them."""
    return judge(
        root,
        clock,
        inventories,
        today=today,
        seen=recall(root),
        extent=Extent(frozenset()),
        by=Means(builder=lambda *_: Building(tuple), rules=lambda *_: Checked((), ())),
    )


def _groups(record: Record, namespace: str, replicas: dict[str, int]) -> tuple[PodGroup, ...]:
    try:
        groups = with_numbers(pod_groups(record, namespace), replicas)
    except UncountedName as wrong:
        near = hint(wrong.name, wrong.known)
        raise click.UsageError(
            f"--replicas {wrong.name}: {record.path} has no one kind of pods of that name{near}"
        ) from None
    if record.text and not groups:
        raise click.ClickException(f"{record.path} holds no workload, claim or claim template")
    return groups


def _undecided(found: Answer) -> bool:
    """Whether nothing is known not to land, but something is not known to."""
    return not found.nowhere and found.count("unknown") > 0 and found.count("no") == 0


def _cluster(answer: ClusterAnswer) -> dict[str, Any]:
    plan = answer.plan
    return {
        "cluster": answer.cluster,
        "devices": "modelled" if plan.site.modelled else "recorded",
        "pods": len(plan.placements),
        "land": plan.count("yes"),
        "notDecided": plan.count("unknown"),
        "withoutDevices": plan.idle,
        "placements": [_placement(one) for one in plan.placements],
        "refusals": [_refusal(alike) for alike in plan.refusals()],
        "tiers": [
            {
                "tier": use.tier,
                "partition": use.partition,
                "driver": use.driver,
                "devices": use.devices,
                "inUseBefore": use.before,
                "inUseAfter": use.after,
                "free": use.free,
                "capacity": [
                    {
                        "name": one.key,
                        "total": str(one.total),
                        "inUseBefore": str(one.before),
                        "inUseAfter": str(one.after),
                    }
                    for one in use.capacity
                ],
            }
            for use in answer.tiers
        ],
    }


def _placement(placement: Placement) -> dict[str, Any]:
    return {
        "workload": _group(placement.group),
        "pod": placement.pod,
        "result": placement.result,
        "node": placement.node,
        "claims": [
            {
                "claim": claim.name,
                "allocatedBefore": not claim.is_new,
                "devices": [
                    {
                        "request": result.request,
                        "class": device_class,
                        "driver": result.driver,
                        "pool": result.pool,
                        "device": result.device,
                        "shareID": result.share_id,
                        "consumedCapacity": {
                            key: str(amount) for key, amount in result.consumed_capacity.items()
                        },
                    }
                    for device_class, result in claim.devices
                ],
            }
            for claim in placement.claims
        ],
    }


def _refusal(alike: Sequence[Placement]) -> dict[str, Any]:
    """Why pods of one group don't land: at all, and by node."""
    first = alike[0]
    return {
        "workload": _group(first.group),
        "pods": [one.pod for one in alike],
        "result": first.result,
        "reason": first.reason,
        "nodes": [
            {"node": node, "result": kind, "reason": reason}
            for node, (kind, reason) in sorted(first.nodes.items())
        ],
    }


def _group(group: PodGroup) -> dict[str, Any]:
    return {"kind": group.kind, "namespace": group.namespace, "name": group.name}
