"""A cluster's other Kubernetes minor: stages of the gates in use, API versions, metric names.

That the minor changes is told by its field, quota keys that start or stop to count by `limits`, gates
that are written for a component by `gates`. Here stands what else follows for what is emitted or read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from dracfg.check.places import place
from dracfg.diagnostics import Span
from dracfg.diff.change import Change, Flag, Impact, change
from dracfg.diff.counterparts import clusters
from dracfg.diff.gates import gate_plans_of
from dracfg.diff.pair import Pair, Side
from dracfg.diff.words import few
from dracfg.kube.features import feature_matrix
from dracfg.kube.metrics import metric_name, metrics
from dracfg.link.catalog import Cluster
from dracfg.lower.gates import publishes_counters
from dracfg.model.sharing import Partitioned

_LAYOUT_CHANGED = ("1.34", "1.35")
"""Shared counters stand beside devices in one slice up to the first, in slices of their own from the
second on (KEP-4815)."""

_LAYOUTS = ("counters beside devices", "counters in slices of their own")


def minor_changes(pair: Pair) -> Iterator[Change]:
    """Clusters of both sides whose minor differs."""
    for before, after in clusters(pair):
        if before.minor == after.minor:
            continue
        yield from _stages(pair, before, after)
        yield from _api_versions(pair, before, after)
        yield from _metric_names(pair, before, after)
        yield from _slices(before, after)


def partitioned_pools(cluster: Cluster) -> tuple[str, ...]:
    """Pools with devices of which a driver publishes partitions by shared counters."""
    return tuple(
        dict.fromkeys(
            pool.name
            for pool, devices in cluster.offers()
            if pool.owner(devices.tier.driver) == "dra"
            and any(isinstance(policy.spec, Partitioned) for policy in devices.policies)
            and publishes_counters(devices.tier.driver) is not False
        )
    )


def changes_layout(before: Cluster, after: Cluster) -> bool:
    """Whether slices with shared counters have another form after the step."""
    minors = feature_matrix().minors
    old, new = minors.index(before.minor), minors.index(after.minor)
    return min(old, new) <= minors.index(_LAYOUT_CHANGED[0]) < max(old, new)


def _stages(pair: Pair, before: Cluster, after: Cluster) -> Iterator[Change]:
    """The gates that the output needs, where their stage or default differs: one line."""
    plan = gate_plans_of(pair.head, (after,))[after.name]
    matrix = feature_matrix()
    details, flags = [], []
    for name in plan.wanted:
        gate = matrix.gate(name)
        if gate is None or not plan.is_on(name):
            continue
        old, new = gate.at(before.minor), gate.at(after.minor)
        if (old.stage, old.default, old.locked) == (new.stage, new.default, new.locked):
            continue
        details.append(f"{name}: {old.stage} -> {new.stage}{_default(new.default, new.locked)}")
        if new.stage == "alpha" and old.stage != "alpha":
            flags.append(name)
    if details:
        alpha: tuple[Flag, ...] = ("alpha",) if flags else ()
        yield change(
            "minor-gates",
            "feature gates in use",
            f"Kubernetes {before.minor}",
            f"Kubernetes {after.minor}",
            flags=alpha,
            cluster=after.name,
            span=_minor(after),
            details=details,
        )


def _default(default: bool | None, locked: bool | None) -> str:
    if locked:
        return ", locked on" if default else ", locked off"
    return ", on by default" if default else ", off by default"


def _minor(cluster: Cluster) -> Span:
    return place(cluster.document, "spec", "kubernetes")


def _api_versions(pair: Pair, before: Cluster, after: Cluster) -> Iterator[Change]:
    """Kinds that are emitted in another API version."""
    old, new = _versions(pair.base, before), _versions(pair.head, after)
    for kind in sorted(old.keys() & new.keys()):
        if old[kind] != new[kind]:
            yield change(
                "api-version",
                f"API version of {kind}",
                few(sorted(old[kind])),
                few(sorted(new[kind])),
                cluster=after.name,
                span=_minor(after),
            )


def _versions(side: Side, cluster: Cluster) -> Mapping[str, set[str]]:
    found: dict[str, set[str]] = {}
    for unit in side.judgement.units:
        if unit.synced and unit.path.startswith(f"{cluster.name}/"):
            for artifact in unit.artifacts:
                thing = artifact.object
                found.setdefault(thing["kind"], set()).add(thing["apiVersion"])
    return found


def _metric_names(pair: Pair, before: Cluster, after: Cluster) -> Iterator[Change]:
    """Metrics that serve one purpose under another name, and Rollout gates that ask for the old one."""
    purposes = dict.fromkeys(
        purpose
        for minor in (before.minor, after.minor)
        for metric in metrics(minor).values()
        for purpose in metric.purposes
    )
    moved = {}
    for purpose in purposes:
        old, new = metric_name(purpose, before.minor), metric_name(purpose, after.minor)
        if old is not None and old != new:
            moved[old] = new
    if not moved:
        return
    asking = _asking(pair, after, moved)
    yield change(
        "metric-names",
        "metrics of Kubernetes",
        f"Kubernetes {before.minor}",
        f"Kubernetes {after.minor}",
        impact=Impact.RESTRICTIVE if asking else None,
        cluster=after.name,
        span=_minor(after),
        details=(
            *(f"{old} -> {new or 'no longer exported'}" for old, new in moved.items()),
            *(f"gates that ask for the old name: {few(asking)}" for _ in asking[:1]),
        ),
    )


def _asking(pair: Pair, cluster: Cluster, names: Mapping[str, str | None]) -> list[str]:
    word = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in names))
    tiers = {tier.name for tier in cluster.tiers}
    return [
        f"{rollout.name}/{gate.name}"
        for rollout in pair.head.judgement.catalog.rollouts.values()
        if rollout.spec.tier in tiers
        for gate in rollout.spec.gates
        if gate.promql is not None and word.search(gate.promql)
    ]


def _slices(before: Cluster, after: Cluster) -> Iterator[Change]:
    pools = partitioned_pools(after)
    if pools and changes_layout(before, after):
        old, new = _LAYOUTS if before.minor == _LAYOUT_CHANGED[0] else reversed(_LAYOUTS)
        yield change(
            "slices-relaid",
            f"slices with shared counters on {few(pools)}",
            old,
            new,
            cluster=after.name,
            span=_minor(after),
            details=("delete these slices and end pods on such devices before the step",),
        )
