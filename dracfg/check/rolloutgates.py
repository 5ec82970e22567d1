"""ROL008, ROL011-ROL014: whether the gates of a rollout can be asked, and hold what they should."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dracfg.check.rule import Rule, listed, suggestion
from dracfg.diagnostics import Diagnostic, Span, diagnose
from dracfg.link.catalog import Catalog, Cluster, Tier
from dracfg.link.gates import (
    AskedGate,
    clusters_of,
    gates_of,
    in_units,
    lacking,
    metric_words,
    rollout_gates,
)
from dracfg.link.measures import fits, measures, protection
from dracfg.model import kinds
from dracfg.model.base import at

_PLACES = frozenset(
    f"{side}{what}" for side in ("moved", "baseline", "fenced") for what in ("Nodes", "Devices")
)
_BY_STAGE = _PLACES | {"cluster", "driver", "tier", "namespaces", "tenants"}
"""Words that pools, tenants and names fill; a gate waits for those that a later stage brings."""
_MENDS: Mapping[str, str] = {
    "legacy": "name `legacyResource` in the HardwareTier",
    "driverNamespace": "name `serviceAccount` in the Driver",
    "driverAccount": "name `serviceAccount` in the Driver",
    "utilisation": "name `deviceMetrics.utilisation` in the Driver",
    "unhealthy": "name `deviceMetrics.unhealthy` in the Driver",
    "trainingRestarts": "name `metrics.trainingRestarts` in the Cluster",
    "checkpointRestores": "name `metrics.checkpointRestores` in the Cluster",
    "devicesPublished": "say `addons.claimMetrics` in the Cluster where kube-state-metrics has it",
}


def halts_before_it_holds(catalog: Catalog) -> Iterator[Diagnostic]:
    """ROL008: the limit that halts lies at or above the one that lets on."""
    for rollout in catalog.rollouts.values():
        for gate in rollout_gates(catalog, rollout.spec):
            if gate.halt is None or not _has_units(gate):
                continue
            if isinstance(gate.max, str) != isinstance(gate.halt, str):
                wrong = "one is a number, the other a length of time"
            elif in_units(gate.halt) < in_units(gate.max):
                wrong = f"it would halt at {gate.halt} and go on up to {gate.max}"
            else:
                continue
            said = _place_of_limit(rollout, gate, "halt")
            yield diagnose(
                "ROL008",
                said if said is not None else _place_of_limit(rollout, gate, "max"),
                f"gate {gate.name}: {wrong}",
                found=str(gate.halt),
                expected=f"at least {gate.max}",
                help="write a `halt` that is worse than `max`",
            )


def _has_units(gate: AskedGate) -> bool:
    """Whether limits have the unit of their measure; ROL014 tells where not."""
    return gate.measure is None or all(
        fits(gate.measure, limit) for limit in (gate.max, gate.halt) if limit is not None
    )


def has_no_metric(catalog: Catalog) -> Iterator[Diagnostic]:
    """ROL011: a measure is answered on every cluster, by a metric or by documents."""
    for rollout in catalog.rollouts.values():
        tier = catalog.tiers.get(rollout.spec.tier)
        if tier is None:
            continue
        for gate in gates_of(rollout.spec):
            if gate.measure is None or gate.measure.query is None or gate.measure.documents:
                continue
            for cluster in clusters_of(catalog, rollout.spec):
                missing = [
                    word
                    for word in lacking(gate.measure, _words(cluster, tier))
                    if word not in _BY_STAGE
                ]
                if missing:
                    yield _no_metric(rollout, gate, cluster, missing)


def _words(cluster: Cluster, tier: Tier) -> Mapping[str, str]:
    """What documents and the minor fill, whatever the stage."""
    found = dict(metric_words(cluster, tier))
    if tier.legacy_resource is not None:
        found["legacy"] = tier.legacy_resource
    if tier.driver.document.spec.service_account is not None:
        found |= {"driverNamespace": "", "driverAccount": ""}
    return found


def _no_metric(
    rollout: kinds.Rollout, gate: AskedGate, cluster: Cluster, missing: list[str]
) -> Diagnostic:
    mends = dict.fromkeys(_MENDS[word] for word in missing if word in _MENDS)
    unexported = [word for word in missing if word not in _MENDS]
    if unexported:
        what = f"Kubernetes {cluster.minor} exports no metric for {listed(unexported)}"
    else:
        what = f"nothing names {listed(missing)}"
    assert gate.measure is not None
    return diagnose(
        "ROL011",
        _place(rollout, gate, "measure"),
        f"{gate.name} can't be measured on {cluster.name}: {what}",
        found=gate.measure.id,
        help="; ".join(mends)
        or "take another measure, or write `promql` with a metric of your own",
    )


def is_no_measure(catalog: Catalog) -> Iterator[Diagnostic]:
    """ROL012: a gate names a measure that there is."""
    for rollout in catalog.rollouts.values():
        for i, gate in enumerate(rollout.spec.gates):
            if gate.measure is not None and gate.measure not in measures():
                help_, fix = suggestion(gate.measure, measures())
                yield diagnose(
                    "ROL012",
                    at(rollout, "spec", "gates", i, "measure"),
                    f"there is no measure {gate.measure}",
                    found=gate.measure,
                    help=help_ or "the measures stand in docs/rollouts.md",
                    fix=fix,
                )


def never_halts(catalog: Catalog) -> Iterator[Diagnostic]:
    """ROL013: what protects running work says when to stop."""
    for rollout in catalog.rollouts.values():
        if not protection(rollout.spec.protects).must_halt:
            continue
        for gate in gates_of(rollout.spec):
            if gate.measure is None and gate.halt is None and "forward" in gate.directions:
                yield diagnose(
                    "ROL013",
                    _place(rollout, gate, "name"),
                    f"{rollout.name} protects {rollout.spec.protects}, and gate {gate.name} never halts "
                    "it",
                    expected="a `halt`",
                    help="write the value above which the rollout must stop, or ask it on the way back "
                    "alone",
                )


def has_another_unit(catalog: Catalog) -> Iterator[Diagnostic]:
    """ROL014: limits have the unit of their measure."""
    for rollout in catalog.rollouts.values():
        for gate in gates_of(rollout.spec):
            if gate.measure is None or gate.place is None:
                continue
            for key, limit in (("max", gate.max), ("halt", gate.halt)):
                if limit is None or fits(gate.measure, limit):
                    continue
                wanted = "a length of time" if gate.measure.unit == "seconds" else "a number"
                yield diagnose(
                    "ROL014",
                    at(rollout, "spec", "gates", gate.place, key),
                    f"{gate.measure.id} is {_UNITS[gate.measure.unit]}, and `{key}` says {limit}",
                    found=str(limit),
                    expected=f"{wanted}, such as {gate.measure.max}",
                    help=f"write {wanted}, or leave `{key}` to the measure",
                )


_UNITS = {"seconds": "a length of time", "ratio": "a ratio", "count": "a count"}


def _place_of_limit(rollout: kinds.Rollout, gate: AskedGate, key: str) -> Span | None:
    """Where a limit of a gate is written; None where it is that of its measure."""
    if gate.place is None or getattr(rollout.spec.gates[gate.place], key) is None:
        return None
    return at(rollout, "spec", "gates", gate.place, key)


def _place(rollout: kinds.Rollout, gate: AskedGate, key: str) -> Span:
    """Where a gate is written; one that `protects` picks is written there."""
    if gate.place is None:
        return at(rollout, "spec", "protects")
    return at(rollout, "spec", "gates", gate.place, key)


RULES: tuple[Rule, ...] = (
    halts_before_it_holds,
    has_no_metric,
    is_no_measure,
    never_halts,
    has_another_unit,
)
