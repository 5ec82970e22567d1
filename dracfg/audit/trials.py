"""Results of trials → whether shares are held to their size, by how much, and the record to cite.

The share that asks for more is held against its size; the others against what they had in the run in
which nobody asked for more. Shares are told apart by their ShareID where claims are on record, else by
their container. The bounds and their reasons lie in data/trials.yaml.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from functools import cache
from typing import Any, Literal

from dracfg.audit.sharedresults import by_share
from dracfg.audit.trialresults import GOOD_END, ShareResult, TrialPod
from dracfg.dataclass import dataclass
from dracfg.packaged import read_data
from dracfg.source.times import format_time

Outcome = Literal["enforced", "notEnforced", "undecided"]


@dataclass(frozen=True, slots=True)
class Judged:
    """The outcome for one capacity. `why` is a clause for people; figures are None where unknown.

    `ceiling` is a multiple of the size, `neighbours` the least part of its throughput that another
    share kept.
    """

    capacity: str
    outcome: Outcome
    why: str
    ceiling: float | None = None
    neighbours: float | None = None
    recovery: float | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """All runs of one tier, policy and driver version on record. `digest` is that of the results."""

    tier: str
    policy: str
    driver: str
    version: str
    nodes: tuple[str, ...]
    finished: datetime | None
    pods: tuple[TrialPod, ...]
    capacities: tuple[Judged, ...]
    digest: str

    @property
    def results(self) -> tuple[ShareResult, ...]:
        """What each share measured in each run."""
        return tuple(by_share(share for pod in self.pods for share in pod.shares))

    def record(self, judged: Judged) -> dict[str, Any] | None:
        """The entry for `trials` of the Driver; None where nothing was decided."""
        if judged.outcome == "undecided" or self.finished is None:
            return None
        return {
            "capacity": judged.capacity,
            "version": self.version,
            "date": self.finished.date().isoformat(),
            "digest": self.digest,
            "enforced": judged.outcome == "enforced",
        }


def trials_of(pods: Iterable[TrialPod]) -> tuple[Trial, ...]:
    """The trials on record by their names; of several runs of one phase the last one counts."""
    found: dict[tuple[str, str, str, str], dict[str, TrialPod]] = {}
    for pod in pods:
        runs = found.setdefault((pod.tier, pod.policy, pod.driver, pod.version), {})
        before = runs.get(pod.run)
        if before is None or _when(pod) > _when(before):
            runs[pod.run] = pod
    return tuple(_trial(*key, list(runs.values())) for key, runs in sorted(found.items()))


def _when(pod: TrialPod) -> tuple[str, str]:
    return format_time(pod.finished) if pod.finished is not None else "", pod.name


def _trial(tier: str, policy: str, driver: str, version: str, pods: list[TrialPod]) -> Trial:
    ordered = tuple(sorted(pods, key=lambda pod: pod.run))
    nodes = tuple(sorted({pod.node for pod in ordered}))
    shares = [share for pod in ordered for share in pod.shares]
    times = [pod.finished for pod in ordered if pod.finished is not None]
    head = {"tier": tier, "policy": policy, "driver": driver, "version": version}
    keys = sorted({key for share in shares for key, amount in share.amounts.items() if amount})
    return Trial(
        **head,
        nodes=nodes,
        finished=max(times, default=None),
        pods=ordered,
        capacities=tuple(_judged(key, list(by_share(shares)), nodes) for key in keys),
        digest=_digest({**head, "nodes": nodes, "results": [_measures(one) for one in shares]}),
    )


def _measures(share: ShareResult) -> dict[str, Any]:
    """What a container measured, whether or not its claim is still on record."""
    told = asdict(share)
    del told["share_id"], told["device"]
    return told


def _judged(capacity: str, shares: list[ShareResult], nodes: tuple[str, ...]) -> Judged:
    """Undecided where a run is missing, or tells too little to go by."""
    missing = tuple(_missing(capacity, shares))
    if missing:
        return Judged(capacity, "undecided", f"there is no result of {', '.join(missing)}")
    if len(nodes) != 1:
        return Judged(capacity, "undecided", f"it ran on {len(nodes)} nodes, which may differ")
    runs = _runs(capacity, shares)
    apart = next(_apart(shares, {"shared", *runs}), None)
    if apart is not None:
        return Judged(capacity, "undecided", apart)
    calm = {share.share: share for share in shares if share.run == "shared"}
    run = [share for share in shares if share.run in runs]
    asking = next(share for share in run if share.phase == "exceed")
    others = [share for share in run if share is not asking]
    measured = asking.measured
    size = asking.amounts.get(capacity)
    if measured is None or measured.ceiling is None or not size:
        return Judged(
            capacity, "undecided", f"{asking.share} ended with {asking.ended} and tells no ceiling"
        )
    ceiling = measured.ceiling / size
    kept = [_kept(share, calm.get(share.share)) for share in others]
    if any(part is None for part in kept):
        silent = next(s.share for s, part in zip(others, kept, strict=True) if part is None)
        return Judged(capacity, "undecided", f"{silent} tells no throughput", ceiling)
    least = min((part for part in kept if part is not None), default=1.0)
    lost = [s for s in others if s.measured is not None and (s.measured.lost or 0) > _bound("lost")]
    ended = [share for share in others if share.ended != GOOD_END]
    why = list(_breaches(ceiling, least, lost, ended))
    return Judged(
        capacity,
        "notEnforced" if why else "enforced",
        "; ".join(why) or _held(ceiling, least),
        ceiling,
        least,
        measured.recovery,
    )


def _apart(shares: list[ShareResult], runs: set[str]) -> Iterator[str]:
    """Runs whose shares were on several devices: there they have nothing to take from each other."""
    for run in sorted(runs):
        devices = {one.device for one in shares if one.run == run and one.device is not None}
        if len(devices) > 1:
            yield f"in {run} its shares were on {len(devices)} devices"


def _runs(capacity: str, shares: list[ShareResult]) -> set[str]:
    return {share.run for share in shares if share.phase == "exceed" and share.capacity == capacity}


def _missing(capacity: str, shares: list[ShareResult]) -> Iterator[str]:
    runs = {share.run for share in shares}
    if not any(share.phase == "alone" for share in shares):
        yield "alone"
    yield from (name for name in ("shared", "whole") if name not in runs)
    if not _runs(capacity, shares):
        yield f"exceed for {capacity}"


def _kept(share: ShareResult, calm: ShareResult | None) -> float | None:
    """The part of its throughput that a share kept; None where one of the runs does not tell it."""
    now = share.measured.throughput if share.measured is not None else None
    before = calm.measured.throughput if calm is not None and calm.measured is not None else None
    return now / before if now is not None and before else None


def _breaches(
    ceiling: float, least: float, lost: list[ShareResult], ended: list[ShareResult]
) -> Iterator[str]:
    if ceiling > _bound("ceiling"):
        yield f"a share came to {ceiling:.2f} times its size"
    if least < _bound("neighbours"):
        yield f"another share fell to {least:.0%} of its throughput"
    for share in lost:
        if share.measured is not None and share.measured.lost is not None:
            yield f"{share.share} of {share.size} lost {share.measured.lost:g} operations"
    for share in ended:
        yield f"{share.share} of {share.size} ended with {share.ended}"


def _held(ceiling: float, least: float) -> str:
    return f"a share came to {ceiling:.2f} times its size, and others kept {least:.0%} or more"


def _bound(name: str) -> float:
    return float(_criteria()[name]["bound"])


@cache
def _criteria() -> Mapping[str, Mapping[str, Any]]:
    criteria: Mapping[str, Mapping[str, Any]] = read_data("dracfg.audit", "data/trials.yaml")[
        "criteria"
    ]
    return criteria


def _digest(data: Any) -> str:
    """SHA-256 over canonical JSON: the same dump gives the same digest, on any machine."""
    told = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(told.encode()).hexdigest()}"


def trial_document(trial: Trial) -> dict[str, Any]:
    """The trial as JSON."""
    return {
        "tier": trial.tier,
        "policy": trial.policy,
        "driver": trial.driver,
        "version": trial.version,
        "nodes": list(trial.nodes),
        "finished": None if trial.finished is None else format_time(trial.finished),
        "digest": trial.digest,
        "capacities": [
            {**asdict(judged), "record": trial.record(judged)} for judged in trial.capacities
        ],
        "results": [
            {
                **_measures(share),
                "shareID": share.share_id,
                "device": None if share.device is None else "/".join(share.device),
            }
            for share in trial.results
        ],
    }
