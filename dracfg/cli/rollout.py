"""`dracfg rollout`: where a move stands, and its next step, with what was measured before it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from dracfg.cli import exits, options
from dracfg.cli.fix import replace_file
from dracfg.cli.output import show_facts
from dracfg.cli.rebalance import rebalance_plan, recorded
from dracfg.cli.repository import hint, repository_errors
from dracfg.cli.rolloutevidence import (
    gates_now,
    measured,
    measured_gates,
    proof,
    recorded_evidence,
)
from dracfg.cli.rollouttext import status_document, status_text
from dracfg.dataclass import dataclass
from dracfg.link.moves import pools_at, position
from dracfg.link.steps import Command, Refused, Step, step
from dracfg.model.kinds import Rollout
from dracfg.model.rollout import Evidence
from dracfg.pipeline import Judgement, judge
from dracfg.rollout.drifting import drift_before
from dracfg.rollout.gates import judge_gates, verdict_of
from dracfg.rollout.rebalancetext import plan_document, plan_text
from dracfg.rollout.recorded import Recorded
from dracfg.rollout.runbook import RECORD, rollout_runbook
from dracfg.rollout.writing import CannotEdit, edits_of, holds
from dracfg.source.edits import ChangedFile, edit_file
from dracfg.source.lineends import with_line_feeds
from dracfg.source.records import read_record
from dracfg.source.times import format_time, newest_time

_F = TypeVar("_F", bound=Callable[..., Any])
_NEEDED = ("ResourceClaim", "Pod", "ResourceSlice")
"""Kinds that a record must hold some of, or claims and pods could have been left out of it."""


@dataclass(frozen=True, slots=True)
class Found:
    """A rollout with the repository that it is part of."""

    judged: Judgement
    rollout: Rollout


@click.group(name="rollout")
def command() -> None:
    """Move a tier from stage to stage, or back; the Rollout's file is edited, comments kept.

    Example: dracfg rollout status a100-to-claims --prometheus http://localhost:9090
    """


def _with_runbook(function: _F) -> _F:
    """Adds `--runbook`: the page of where the rollout stands once the command is done."""

    @wraps(function)
    def run(*, name: str, root: Path, runbook: Path | None, **rest: Any) -> int:
        code: int = function(name=name, root=root, **rest)
        if runbook is not None:
            found = _find(root, name)
            judged = found.judged
            text = rollout_runbook(judged.catalog, judged.units, found.rollout)
            try:
                runbook.write_text(text, encoding="utf-8")
            except OSError as fault:
                raise click.ClickException(f"{runbook}: {fault.strerror}") from None
        return code

    option = click.option(
        "--runbook", type=click.Path(path_type=Path, dir_okay=False), envvar="DRACFG_RUNBOOK",
        help="Write steps, checks, when to stop and the way back, as Markdown.",
    )  # fmt: skip
    return cast("_F", option(run))


@command.command(name="status")
@click.argument("name", shell_complete=options.named("Rollout"))
@options.root
@_with_runbook
@measured
@recorded
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True,
    envvar="DRACFG_ROLLOUT_FORMAT", help="The same facts for people or for programs.",
)  # fmt: skip
@options.colour
def status(
    name: str,
    root: Path,
    prometheus: tuple[str, ...],
    evidence: tuple[Path, ...],
    timeout: float,
    records: tuple[Path, ...],
    form: str,
    colour: str,
) -> int:
    """Show where a rollout stands, what its gates say, and which steps may follow.

    With --record, a rebalance lists which claims may be made anew, and in which order.
    Exit code 1 where a gate is beyond the limit at which the rollout must be halted.
    """
    found = _find(root, name)
    spec = found.rollout.spec
    catalog = found.judged.catalog
    gates, later = gates_now(catalog, found.rollout, spec.direction)
    told = recorded_evidence(evidence)
    answers = measured_gates(catalog, found.rollout, gates, prometheus, told, timeout)
    judged = None if answers is None else judge_gates(gates, answers.by_gate)
    following = step(spec, "advance")
    drift = _drift(found, following, told) if isinstance(following, Step) else ()
    document = status_document(catalog, found.rollout, judged, later, drift)
    plan = rebalance_plan(found.judged, found.rollout, records)
    if plan is not None:
        document["rebalance"] = plan_document(plan)
    planned = "" if plan is None else plan_text(plan)
    show_facts(
        form,
        colour,
        (),
        lambda: document,
        lambda has_colour: status_text(document, colour=has_colour) + planned,
    )
    halted = judged is not None and any(one.halts for one in judged)
    if halted and spec.direction != "halted":
        click.echo(f"halt it: dracfg rollout halt {name} --record record.json", err=True)
        return exits.FINDINGS
    return exits.DONE


@command.command(name="advance")
@click.argument("name", shell_complete=options.named("Rollout"))
@options.root
@_with_runbook
@measured
def advance(
    name: str,
    root: Path,
    prometheus: tuple[str, ...],
    evidence: tuple[Path, ...],
    timeout: float,
) -> int:
    """Take the next step, if every gate of the way holds; their readings are written down.

    A step forward is also blocked while catalog, slices and nodes of its pools disagree.
    """
    found = _find(root, name)
    taken = _step(found, "advance")
    if taken.asks is None:
        return _write(found, taken, None)
    catalog = found.judged.catalog
    gates, later = gates_now(catalog, found.rollout, taken.asks)
    if not gates:
        waiting = "".join(f"\n  {gate}: {why}" for gate, why in later.items())
        raise click.ClickException(
            f"no gate of {name} is asked on the way {taken.asks}: what nobody measures can't be passed"
            f"{waiting}"
        )
    told = recorded_evidence(evidence)
    answers = measured_gates(catalog, found.rollout, gates, prometheus, told, timeout)
    if answers is None:
        raise click.UsageError("name what was measured: --prometheus URL or --evidence FILE")
    judged = judge_gates(gates, answers.by_gate)
    for gate, why in later.items():
        click.echo(f"later   {gate}: {why}", err=True)
    for one in judged:
        click.echo(f"{'holds ' if one.holds else 'blocks'}  {one.gate.name}: {one.says}", err=True)
    drift = _drift(found, taken, told)
    for line in drift:
        click.echo(f"blocks  drift: {line}", err=True)
    if drift or verdict_of(judged) != "passed":
        click.echo(f"{name} stays at {taken.before}; nothing was written", err=True)
        return exits.FINDINGS
    return _write(found, taken, proof(found.rollout, taken, answers, judged))


def _drift(found: Found, taken: Step, told: Recorded | None) -> tuple[str, ...]:
    """What blocks a step beside its gates."""
    reports = told.reports if told is not None else None
    judged = found.judged
    return drift_before(judged.catalog, found.rollout, taken, judged.findings, reports)


def _turn(what: Command, name: str, root: Path, records: Sequence[Path], without: bool) -> int:
    found = _find(root, name)
    taken = _step(found, what)
    if not records and not without:
        raise click.UsageError(
            f"events expire and claims go with their pods, so take a record first:\n  {RECORD}\n"
            "and name it with --record; --without-record goes on without"
        )
    return _write(found, taken, _recorded(taken, records) if records else None)


def _turning(function: _F) -> _F:
    for option in (
        click.option(
            "--without-record", is_flag=True, help="Go on though nothing was recorded."
        ),
        click.option(
            "--record", "records", multiple=True, envvar="DRACFG_RECORD",
            type=click.Path(path_type=Path, exists=True, dir_okay=False),
            help="Recorded claims, pods, events and slices; repeatable.",
        ),
    ):  # fmt: skip
        function = option(function)
    return function


@command.command(name="halt")
@click.argument("name", shell_complete=options.named("Rollout"))
@options.root
@_with_runbook
@_turning
def halt(name: str, root: Path, records: tuple[Path, ...], without_record: bool) -> int:
    """Stop a rollout where it stands; what has moved stays."""
    return _turn("halt", name, root, records, without_record)


@command.command(name="rollback")
@click.argument("name", shell_complete=options.named("Rollout"))
@options.root
@_with_runbook
@_turning
def rollback(name: str, root: Path, records: tuple[Path, ...], without_record: bool) -> int:
    """Turn a rollout back: the last stage's pools let nothing new in, and are handed back once empty."""
    return _turn("rollback", name, root, records, without_record)


def _find(root: Path, name: str) -> Found:
    with repository_errors():
        judged = judge(root)
    rollout = judged.catalog.rollouts.get(name)
    if rollout is None:
        near = hint(name, tuple(judged.catalog.rollouts))
        raise click.ClickException(f"there is no Rollout {name}{near}")
    return Found(judged, rollout)


def _step(found: Found, what: Command) -> Step:
    taken = step(found.rollout.spec, what)
    if isinstance(taken, Refused):
        raise click.ClickException(f"{found.rollout.name}: {taken.why}; {taken.instead}")
    place = found.rollout.read_from.span
    wrong = [
        finding
        for finding in found.judged.findings
        if finding.is_error and finding.span is not None and finding.span.path == place.path
        and place.line <= finding.span.line <= place.end_line
    ]  # fmt: skip
    if wrong and what == "advance":
        raise click.ClickException(
            f"{found.rollout.name} has errors, the first at {wrong[0].span}: {wrong[0].message}"
        )
    return taken


def _recorded(taken: Step, records: Sequence[Path]) -> Evidence:
    """The evidence of recorded dumps: their digest, and the newest moment that they tell of."""
    digest, read = hashlib.sha256(), []
    for path in records:
        digest.update(path.read_bytes())
        record, faults = read_record(path.parent, path.name)
        if not record.objects:
            why = faults[0].message if faults else "it holds no object"
            raise click.ClickException(f"{path} is no record: {why}")
        read.append(record)
    kinds = {one.data["kind"] for record in read for one in record.objects}
    missing = [kind for kind in _NEEDED if kind not in kinds]
    if missing:
        raise click.ClickException(
            f"the record holds no {', no '.join(missing)}; take it with\n  {RECORD}"
        )
    moment = newest_time(read)
    if moment is None:
        raise click.ClickException("nothing in the record tells when it was taken")
    return Evidence(
        stage=taken.before.stage,
        phase=taken.before.phase,
        direction=taken.before.direction,
        verdict="passed",
        at=format_time(moment),
        source=", ".join(path.name for path in records),
        digest=f"sha256:{digest.hexdigest()}",
    )


def _write(found: Found, taken: Step, evidence: Evidence | None) -> int:
    """Edits the document, and says what is to be done with it."""
    rollout, sources = found.rollout, found.judged.sources
    file = sources.files[rollout.source_path]
    try:
        edits = edits_of(file, rollout, taken.after, evidence)
        edited = edit_file(sources.root, file, edits)
    except (CannotEdit, ChangedFile) as refused:
        raise click.ClickException(str(refused)) from None
    text = with_line_feeds(edited.data.decode("utf-8").removeprefix("\ufeff"))
    if len(edited.made) < len(edits) or not holds(text, file.path, rollout, taken.after, evidence):
        raise click.ClickException(
            f"{file.path} is written in a form that can't be edited here; write `stage: "
            f"{taken.after.stage}`, `phase: {taken.after.phase}` and `direction: "
            f"{taken.after.direction}` by hand"
        )
    replace_file(sources.root / file.path, edited.data)
    click.echo(f"{rollout.name}: {taken.before} -> {taken.after} ({file.path})", err=True)
    if taken.flips:
        pools = {name: pool.document for name, pool in found.judged.catalog.pools.items()}
        before = pools_at(rollout.spec, position(rollout.spec), pools)
        moved = rollout.spec.model_copy(update={"stage": taken.after.stage})
        turned = sorted(before ^ pools_at(moved, position(moved), pools))
        click.echo(
            f"changes hands: {', '.join(turned) or 'no pool'}; see their RUNBOOK.md", err=True
        )
    click.echo("now: dracfg compile, and commit both", err=True)
    return exits.DONE
