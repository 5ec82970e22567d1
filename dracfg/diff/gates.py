"""Feature gates and API versions that components are told of: what flips, and what restarts for it.

Only what is written under `control-plane/` and into the kubelets' drop-ins counts: a provider's control
plane is nobody's to restart. Gate plans are made again only where such a file differs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dracfg.check.places import place
from dracfg.diagnostics import Span
from dracfg.diff.change import Change, Flag, change
from dracfg.diff.counterparts import clusters
from dracfg.diff.pair import Pair, Side
from dracfg.diff.words import few
from dracfg.kube.features import feature_matrix
from dracfg.link.catalog import Cluster
from dracfg.lower.gates import GatePlan
from dracfg.lower.nodes import KUBELET_FILE
from dracfg.lower.units import gate_plan

_API_SERVER = "kube-apiserver"


def gate_changes(pair: Pair) -> Iterator[Change]:
    """Clusters of both sides whose components are told something else."""
    for before, after in clusters(pair):
        if _written(pair.base, before) == _written(pair.head, after):
            continue
        old = gate_plans_of(pair.base, (before,))[before.name]
        new = gate_plans_of(pair.head, (after,))[after.name]
        yield from _gates(before, after, old, new)
        yield from _served(after, old, new)


def gate_plans_of(side: Side, wanted: Iterable[Cluster]) -> Mapping[str, GatePlan]:
    """The gate plans of some clusters of a side, by name; each reads every object of its cluster."""
    return {cluster.name: gate_plan(cluster, side.judgement.units) for cluster in wanted}


def _written(side: Side, cluster: Cluster) -> Mapping[str, Any]:
    """What components are told, by file."""
    found: dict[str, Any] = {}
    for unit in side.judgement.units:
        if not unit.path.startswith(f"{cluster.name}/"):
            continue
        here = unit.path.removeprefix(f"{cluster.name}/")
        for artifact in unit.artifacts:
            if here == "control-plane" or artifact.file == KUBELET_FILE:
                found[f"{here}/{artifact.file}"] = artifact.object
    return found


def _gates(before: Cluster, after: Cluster, old: GatePlan, new: GatePlan) -> Iterator[Change]:
    """A line a gate whose value differs on a component, with every component that it restarts.

    A gate that is no longer written because it is the default of the new minor has not flipped.
    """
    names = dict.fromkeys(
        name for plan in (old, new) for gates in plan.by_component.values() for name in gates
    )
    for name in names:
        was, now = old.is_on(name), new.is_on(name)
        parts = sorted(
            component
            for component in {*old.by_component, *new.by_component}
            if old.by_component.get(component, {}).get(name)
            != new.by_component.get(component, {}).get(name)
        )
        if not parts or (was is now and before.minor != after.minor):
            continue
        gate = feature_matrix().gate(name)
        stage = gate.at(after.minor).stage if gate is not None else "absent"
        flags: tuple[Flag, ...] = ("alpha",) if now and stage == "alpha" else ()
        reasons = (new if now else old).reasons(name)
        yield change(
            "gate-flipped",
            f"gate {name}",
            "on" if was else "off",
            "on" if now else "off",
            flags=flags,
            cluster=after.name,
            span=_place(after, name),
            details=(
                f"{stage} in Kubernetes {after.minor}",
                f"restarts {few(parts)}",
                *reasons[:1],
            ),
        )


def _served(after: Cluster, old: GatePlan, new: GatePlan) -> Iterator[Change]:
    """API versions that kube-apiserver is told to serve, or no longer is."""
    moved = sorted({*old.runtime_config} ^ {*new.runtime_config})
    for version in moved:
        served = version in new.runtime_config
        yield change(
            "api-served",
            f"API version {version}",
            "not served" if served else "served",
            "served" if served else "not served",
            cluster=after.name,
            span=place(after.document, "spec", "kubernetes"),
            details=(f"restarts {_API_SERVER}",),
        )


def _place(cluster: Cluster, name: str) -> Span:
    named = name in cluster.document.spec.feature_gates
    steps = ("featureGates", name) if named else ("kubernetes",)
    return place(cluster.document, "spec", *steps)
