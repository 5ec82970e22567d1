"""Recorded pods of trials → what each of their containers measured.

A container tells it in its termination message, in the form of docs/trials.md. The status of a claim
says nothing here: it tells what was given out, not what was held.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.lower.trials import POLICY, TIER, TRIAL, VERSION
from dracfg.source.fields import maps, text, texts
from dracfg.source.records import RecordedObject
from dracfg.source.times import parse_time


@dataclass(frozen=True, slots=True)
class Measured:
    """What one container measured. `throughput` is in operations a second, `p99` and `recovery` in seconds,
    `lost` in operations, `ceiling` in the base unit of its capacity. None: it does not tell."""

    throughput: float | None = None
    p99: float | None = None
    lost: float | None = None
    ceiling: float | None = None
    recovery: float | None = None


@dataclass(frozen=True, slots=True)
class ShareResult:
    """One share in one run. `ended` is the reason of its end, `Completed` for a good one."""

    run: str
    share: str
    phase: str
    size: str
    amounts: Mapping[str, float]
    capacity: str
    ended: str
    measured: Measured | None


@dataclass(frozen=True, slots=True)
class TrialPod:
    """The results of one pod that ran to its end, with what it was a trial of."""

    namespace: str
    name: str
    tier: str
    policy: str
    driver: str
    version: str
    node: str
    run: str
    finished: datetime | None
    shares: tuple[ShareResult, ...]
    item: RecordedObject


def trial_pods(items: Iterable[RecordedObject]) -> Iterator[TrialPod]:
    """Every recorded pod of a trial whose containers have all ended."""
    for item in items:
        data = item.data
        labels = texts(data, "metadata", "labels")
        if data["kind"] != "Pod" or not {TRIAL, TIER, POLICY} <= labels.keys():
            continue
        ended = {
            text(status, "name") or "": status["state"]["terminated"]
            for status in maps(data, "status", "containerStatuses")
            if isinstance(_at(status, "state", "terminated"), Mapping)
        }
        containers = maps(data, "spec", "containers")
        environments = [(text(one, "name") or "", _environment(one)) for one in containers]
        if not environments or any(name not in ended for name, _ in environments):
            continue
        run = labels[TRIAL]
        times = [parse_time(text(state, "finishedAt")) for state in ended.values()]
        yield TrialPod(
            text(data, "metadata", "namespace") or "default",
            text(data, "metadata", "name") or "",
            labels[TIER],
            labels[POLICY],
            environments[0][1].get("DRACFG_DRIVER", ""),
            texts(data, "metadata", "annotations").get(VERSION, "unknown"),
            text(data, "spec", "nodeName") or "",
            run,
            max((moment for moment in times if moment is not None), default=None),
            tuple(_result(run, name, env, ended[name]) for name, env in environments),
            item,
        )


def _result(run: str, name: str, env: Mapping[str, str], state: Mapping[str, Any]) -> ShareResult:
    amounts = _numbers(env.get("DRACFG_AMOUNTS", ""))
    reason = text(state, "reason") or "unknown"
    return ShareResult(
        run,
        name,
        env.get("DRACFG_PHASE", ""),
        env.get("DRACFG_SIZE", ""),
        {key: value for key, value in amounts.items() if value is not None},
        env.get("DRACFG_CAPACITY", ""),
        reason,
        _measured(text(state, "message") or ""),
    )


def _measured(message: str) -> Measured | None:
    """The last line that is a JSON object; None where there is none."""
    for line in reversed(message.strip().splitlines()):
        told = _numbers(line)
        if told:
            return Measured(**{key: told.get(key) for key in Measured.__dataclass_fields__})
    return None


def _numbers(line: str) -> dict[str, float | None]:
    """The keys of a JSON object; what is no number of 0 or more is None."""
    try:
        told = json.loads(line, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(told, dict):
        return {}
    return {
        str(key): float(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
        else None
        for key, value in told.items()
    }


def _environment(container: Mapping[str, Any]) -> dict[str, str]:
    return {
        name: text(one, "value") or ""
        for one in maps(container, "env")
        if (name := text(one, "name")) is not None
    }


def _at(data: Mapping[str, Any], *steps: str) -> Any:
    found: Any = data
    for step in steps:
        found = found.get(step) if isinstance(found, Mapping) else None
    return found
