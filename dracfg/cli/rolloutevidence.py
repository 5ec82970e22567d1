"""Options that name what was measured, and what comes of them: answers to gates, and evidence."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
import yaml

from dracfg.cli import options
from dracfg.link.catalog import Catalog
from dracfg.link.gates import AskedGate, asked_gates, rollout_gates, waits_for
from dracfg.link.steps import Step
from dracfg.model.kinds import Rollout
from dracfg.model.rollout import Direction, Evidence
from dracfg.rollout.gates import Judged, verdict_of
from dracfg.rollout.measuring import EVERY, Measured, measure
from dracfg.rollout.prometheus import Server
from dracfg.rollout.recorded import EvidenceFile, NotEvidence, Recorded, read_evidence

_F = TypeVar("_F", bound=Callable[..., Any])


def measured(function: _F) -> _F:
    """Adds `--prometheus`, `--evidence` and `--timeout`."""
    for option in (
        click.option(
            "--timeout", type=click.FloatRange(min=0.1), default=30.0, show_default=True,
            metavar="SECONDS", envvar="DRACFG_PROMETHEUS_TIMEOUT",
            help="How long to wait for an answer.",
        ),
        click.option(
            "--evidence", type=click.Path(path_type=Path, exists=True, dir_okay=False),
            multiple=True, envvar="DRACFG_EVIDENCE",
            help="What was measured, from a file: values of gates, or a report of dracfg audit or test "
            "in JSON; repeatable.",
        ),
        options.prometheus("The server to ask, or one for each cluster"),
    ):  # fmt: skip
        function = option(function)
    return function


def gates_now(
    catalog: Catalog, rollout: Rollout, direction: Direction
) -> tuple[tuple[AskedGate, ...], dict[str, str]]:
    """The gates of a way that have something to measure, and for what each of the others waits."""
    every = asked_gates(rollout_gates(catalog, rollout.spec), direction)
    waiting = {gate.name: waits_for(catalog, rollout.spec, gate) for gate in every}
    later = {name: why for name, why in waiting.items() if why is not None}
    return tuple(gate for gate in every if gate.name not in later), later


def measured_gates(
    catalog: Catalog,
    rollout: Rollout,
    gates: Sequence[AskedGate],
    prometheus: Sequence[str],
    recorded: Recorded | None,
    timeout: float,
) -> Measured | None:
    """What was measured, from wherever it is asked for; None where nothing is named."""
    if not prometheus and recorded is None:
        return None
    servers = named_servers(prometheus, timeout, catalog.clusters)
    return measure(catalog, rollout, gates, servers, recorded)


def proof(rollout: Rollout, taken: Step, answers: Measured, judged: Sequence[Judged]) -> Evidence:
    """The evidence of a step. What is older than the last piece was measured before that step."""
    if answers.at is None:
        raise click.ClickException(
            "nothing tells when it was measured: neither a server nor a file with `at`"
        )
    kept = rollout.spec.evidence
    if kept and answers.at < kept[-1].at:
        raise click.ClickException(
            f"what was named was measured at {answers.at}, before the last step at {kept[-1].at}"
        )
    return Evidence(
        stage=taken.before.stage,
        phase=taken.before.phase,
        direction=taken.before.direction,
        verdict=verdict_of(judged),
        at=answers.at,
        source=_short(answers.source),
        digest=f"sha256:{hashlib.sha256(answers.raw).hexdigest()}",
        readings=tuple(one.reading for one in judged),
    )


def _short(source: str) -> str:
    return source if len(source) <= 300 else f"{source[:299]}…"


def named_servers(
    named: Sequence[str], timeout: float, clusters: Collection[str]
) -> Mapping[str, Server]:
    """By cluster. An address has an equals sign of its own at most behind a slash."""
    header, sign, value = os.environ.get("DRACFG_PROMETHEUS_HEADER", "").partition(":")
    headers = {header.strip(): value.strip()} if sign else {}
    found: dict[str, Server] = {}
    for text in named:
        cluster, equals, address = text.partition("=")
        if not equals or "/" in cluster:
            cluster, address = EVERY, text
        if cluster and cluster not in clusters:
            raise click.UsageError(f"--prometheus {text}: there is no Cluster {cluster}")
        if not address.startswith(("http://", "https://")):
            raise click.UsageError(
                f"{address} is not the address of a server: write http:// or https://"
            )
        if cluster in found:
            raise click.UsageError(f"--prometheus names two servers for {cluster or 'all'}")
        found[cluster] = Server(address, headers, timeout)
    if EVERY in found and len(found) > 1:
        raise click.UsageError(
            "--prometheus names one server for all clusters, and others for some"
        )
    return found


def recorded_evidence(paths: Sequence[Path]) -> Recorded | None:
    """What the files of `--evidence` hold; None without one."""
    if not paths:
        return None
    files = []
    for path in paths:
        raw = path.read_bytes()
        try:
            files.append(EvidenceFile(path.as_posix(), raw, _data(raw)))
        except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
            raise click.ClickException(f"{path} is neither YAML nor JSON") from None
    try:
        return read_evidence(files)
    except NotEvidence as missing:
        raise click.ClickException(str(missing)) from None


def _data(raw: bytes) -> Any:
    """JSON is tried first: reports are large, and its parser is the faster one."""
    try:
        return json.loads(raw)
    except ValueError:
        return yaml.safe_load(raw)
