"""`dracfg rollout`: where a move stands, and its next step, with what was measured before it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click
import yaml

from dracfg.cli import exits, options
from dracfg.cli.fix import replace_file
from dracfg.cli.repository import hint, repository_errors
from dracfg.cli.rollouttext import status_document, status_text
from dracfg.link.moves import pools_at, position
from dracfg.link.steps import Command, Refused, Step, step
from dracfg.model.kinds import Rollout
from dracfg.model.rollout import Evidence
from dracfg.pipeline import Judgement, judge
from dracfg.rollout.gates import Judged, asked, judge_gates, verdict_of
from dracfg.rollout.prometheus import Answers, Server, ask
from dracfg.rollout.recorded import NotEvidence, answers_of
from dracfg.rollout.writing import CannotEdit, edits_of, holds
from dracfg.source.edits import ChangedFile, edit_file
from dracfg.source.lineends import with_line_feeds
from dracfg.source.records import read_record
from dracfg.source.times import format_time, newest_time

_F = TypeVar("_F", bound=Callable[..., Any])
_RECORD = (
    "kubectl get resourceclaims,pods,events,resourceslices,deviceclasses,nodes "
    "--all-namespaces --output=json > record.json"
)
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


def _measured(function: _F) -> _F:
    for option in (
        click.option(
            "--timeout", type=click.FloatRange(min=0.1), default=30.0, show_default=True,
            metavar="SECONDS", envvar="DRACFG_PROMETHEUS_TIMEOUT",
            help="How long to wait for an answer.",
        ),
        click.option(
            "--evidence", type=click.Path(path_type=Path, exists=True, dir_okay=False),
            envvar="DRACFG_EVIDENCE", help="What was measured, from a file.",
        ),
        click.option(
            "--prometheus", metavar="URL", envvar="DRACFG_PROMETHEUS",
            help="The server to ask; DRACFG_PROMETHEUS_HEADER holds a header `Name: value`.",
        ),
    ):  # fmt: skip
        function = option(function)
    return function


@command.command(name="status")
@click.argument("name")
@options.root
@_measured
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True,
    envvar="DRACFG_ROLLOUT_FORMAT", help="The same facts for people or for programs.",
)  # fmt: skip
def status(
    name: str, root: Path, prometheus: str | None, evidence: Path | None, timeout: float, form: str
) -> int:
    """Show where a rollout stands, what its gates say, and which steps may follow.

    Exit code 1 where a gate is beyond the limit at which the rollout must be halted.
    """
    found = _find(root, name)
    spec = found.rollout.spec
    answers = _answers(found, prometheus, evidence, timeout, spec.direction)
    judged = None
    if answers is not None:
        judged = judge_gates(asked(spec.gates, spec.direction), answers.by_gate)
    document = status_document(found.judged.catalog, found.rollout, judged)
    if form == "json":
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        click.echo(status_text(document), nl=False)
    halted = judged is not None and any(one.halts for one in judged)
    if halted and spec.direction != "halted":
        click.echo(f"halt it: dracfg rollout halt {name} --record record.json", err=True)
        return exits.FINDINGS
    return exits.DONE


@command.command(name="advance")
@click.argument("name")
@options.root
@_measured
def advance(
    name: str, root: Path, prometheus: str | None, evidence: Path | None, timeout: float
) -> int:
    """Take the next step, if every gate of the way holds; their readings are written down."""
    found = _find(root, name)
    taken = _step(found, "advance")
    if taken.asks is None:
        return _write(found, taken, None)
    gates = asked(found.rollout.spec.gates, taken.asks)
    if not gates:
        raise click.ClickException(
            f"no gate of {name} is asked on the way {taken.asks}: what nobody measures can't be passed"
        )
    answers = _answers(found, prometheus, evidence, timeout, taken.asks)
    if answers is None:
        raise click.UsageError("name what was measured: --prometheus URL or --evidence FILE")
    judged = judge_gates(gates, answers.by_gate)
    for one in judged:
        click.echo(f"{'holds ' if one.holds else 'blocks'}  {one.gate.name}: {one.says}", err=True)
    if verdict_of(judged) != "passed":
        click.echo(f"{name} stays at {taken.before}; nothing was written", err=True)
        return exits.FINDINGS
    return _write(found, taken, _proof(taken, answers, judged))


def _turn(what: Command, name: str, root: Path, records: Sequence[Path], without: bool) -> int:
    found = _find(root, name)
    taken = _step(found, what)
    if not records and not without:
        raise click.UsageError(
            f"events expire and claims go with their pods, so take a record first:\n  {_RECORD}\n"
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
@click.argument("name")
@options.root
@_turning
def halt(name: str, root: Path, records: tuple[Path, ...], without_record: bool) -> int:
    """Stop a rollout where it stands; what has moved stays."""
    return _turn("halt", name, root, records, without_record)


@command.command(name="rollback")
@click.argument("name")
@options.root
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


def _answers(
    found: Found, prometheus: str | None, evidence: Path | None, timeout: float, way: str
) -> Answers | None:
    """What was measured, from wherever it is asked for; None where nothing is named."""
    if prometheus is not None and evidence is not None:
        raise click.UsageError("--prometheus and --evidence exclude each other")
    if evidence is not None:
        raw = evidence.read_bytes()
        try:
            return answers_of(yaml.safe_load(raw), raw, evidence.as_posix())
        except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
            raise click.ClickException(f"{evidence} is neither YAML nor JSON") from None
        except NotEvidence as missing:
            raise click.ClickException(str(missing)) from None
    if prometheus is None:
        return None
    if not prometheus.startswith(("http://", "https://")):
        raise click.UsageError(
            f"{prometheus} is not the address of a server: write http:// or https://"
        )
    name, sign, value = os.environ.get("DRACFG_PROMETHEUS_HEADER", "").partition(":")
    headers = {name.strip(): value.strip()} if sign else {}
    gates = asked(found.rollout.spec.gates, "rollback" if way == "rollback" else "forward")
    return ask(Server(prometheus, headers, timeout), gates)


def _proof(taken: Step, answers: Answers, judged: Sequence[Judged]) -> Evidence:
    if answers.at is None:
        raise click.ClickException("the server does not tell its time, so its answers have none")
    return Evidence(
        stage=taken.before.stage,
        phase=taken.before.phase,
        direction=taken.before.direction,
        verdict=verdict_of(judged),
        at=answers.at,
        source=answers.source,
        digest=f"sha256:{hashlib.sha256(answers.raw).hexdigest()}",
        readings=tuple(one.reading for one in judged),
    )


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
            f"the record holds no {', no '.join(missing)}; take it with\n  {_RECORD}"
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
    file = sources.files[rollout.read_from.span.path]
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
