"""Recorded pods of trials → what each of their containers measured.

A container tells it in its termination message, in the form of docs/trials.md. The status of a claim
tells what was given out, not what was held: where it is recorded, it says which share of which device the
container had, and nothing of whether that was held.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from dracfg.allocate.claims import DeviceResult
from dracfg.audit.heldclaims import HeldClaim
from dracfg.audit.pods import pod_claims
from dracfg.dataclass import dataclass
from dracfg.lower.trials import POLICY, TIER, TRIAL, VERSION
from dracfg.source.fields import maps, text, texts
from dracfg.source.records import RecordedObject
from dracfg.source.times import parse_time

GOOD_END = "Completed"


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
    """One share in one run. `ended` is the reason of its end, `Completed` for a good one.

    `share_id` and `device` are those of its allocation, None where no claim tells them any more.
    """

    run: str
    share: str
    phase: str
    size: str
    amounts: Mapping[str, float]
    capacity: str
    ended: str
    measured: Measured | None
    share_id: str | None = None
    device: tuple[str, str, str] | None = None


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


def trial_pods(
    items: Iterable[RecordedObject], held: Mapping[tuple[str, str], HeldClaim]
) -> Iterator[TrialPod]:
    """Every recorded pod of a trial whose containers have all ended; `held` are claims by their names."""
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
        given = _given(data, held)
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
            tuple(_result(run, name, env, ended[name], given) for name, env in environments),
            item,
        )


def _given(
    data: Mapping[str, Any], held: Mapping[tuple[str, str], HeldClaim]
) -> Mapping[str, DeviceResult]:
    """What was allocated to each container: it names one request of one claim of the pod."""
    namespace = text(data, "metadata", "namespace") or "default"
    claims = {one.name: held.get((namespace, one.claim or "")) for one in pod_claims(data)}
    found: dict[str, DeviceResult] = {}
    for container in maps(data, "spec", "containers"):
        for named in maps(container, "resources", "claims"):
            claim, request = claims.get(text(named, "name") or ""), text(named, "request")
            for result in claim.results if claim is not None else ():
                if request in (None, result.request.partition("/")[0]):
                    found.setdefault(text(container, "name") or "", result)
    return found


def _result(
    run: str,
    name: str,
    env: Mapping[str, str],
    state: Mapping[str, Any],
    given: Mapping[str, DeviceResult],
) -> ShareResult:
    allocated = given.get(name)
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
        allocated.share_id if allocated is not None else None,
        allocated.device_id if allocated is not None else None,
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
