"""What a proof rests on: API stages of the minor, the driver's release, what holds shares to sizes.

A ground is conditional where it may give way without anybody's commit: an alpha feature, or a word of
the driver that no trial has borne out. `accepted` is the reason with which a document takes it on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from dracfg.dataclass import dataclass
from dracfg.kube.features import feature_matrix
from dracfg.link.catalog import Cluster, Policy, Tier
from dracfg.link.driver import Driver
from dracfg.lower.gates import CONSUMABLE, PARTITIONABLE, publishes_counters
from dracfg.model.driver import EnforcementTrial
from dracfg.model.sharing import Consumable, Partitioned
from dracfg.plan.promises import Holding
from dracfg.plan.supply import Supply, enforced_shares

Stage = Literal[
    "stable", "beta", "alpha", "released", "measured", "declared", "refuted", "enforced", "scope"
]
"""`scope` says what a proof leaves out."""


@dataclass(frozen=True, slots=True)
class Ground:
    """`what` is a phrase that reads after "rests on"."""

    what: str
    stage: Stage
    accepted: str | None = None

    @property
    def is_conditional(self) -> bool:
        return self.stage in ("alpha", "declared")


@dataclass(frozen=True, slots=True)
class Enforcement(Ground):
    """What holds shares to their amount of one capacity, `by` hardware or driver."""

    capacity: str = ""
    by: str = ""
    trial: EnforcementTrial | None = None


def basis(supply: Supply, holding: Holding, *, reclaimed: bool) -> tuple[Ground, ...]:
    """Everything that a proof of the holding's guarantee rests on."""
    if supply.owner == "devicePlugin":
        plugin = Ground(f"the device plugin of {supply.tier.driver.name}", "released")
        return (plugin, *_reclaim(supply.cluster, reclaimed))
    return (
        *_apis(supply.cluster, supply.tier, holding.policy),
        *_driver(supply.cluster, supply.tier.driver),
        *enforcements(supply.tier, holding.policy),
        *_shares(supply.tier, holding.policy),
        *_scope(holding),
        *_reclaim(supply.cluster, reclaimed),
    )


def enforcements(tier: Tier, policy: Policy) -> Iterator[Enforcement]:
    """What holds each capacity that a policy divides; a record of the release in use counts as one."""
    spec, driver = policy.spec, tier.driver
    if not isinstance(spec, Consumable):
        return
    for key in spec.capacity:
        by = driver.enforcement(key)
        trial = trial_of(driver, key)
        stage: Stage = "declared"
        if trial is not None:
            stage = "measured" if trial.enforced else "refuted"
        seen = f", measured {trial.date} on {trial.version}" if trial is not None else ""
        what = f"{driver.name}: {key} held by {by}{seen}"
        yield Enforcement(what, stage, spec.accepts_declared, key, by, trial)


def trial_of(driver: Driver, capacity: str) -> EnforcementTrial | None:
    """The latest trial of a capacity with the release in use."""
    spec = driver.document.spec
    key = driver.spelling(capacity)
    held = [
        trial
        for trial in spec.trials
        if driver.spelling(trial.capacity) == key and trial.version == spec.version
    ]
    return max(held, key=lambda trial: trial.date, default=None)


def _apis(cluster: Cluster, tier: Tier, policy: Policy) -> Iterator[Ground]:
    yield _gate(cluster, "DynamicResourceAllocation")
    if isinstance(policy.spec, Consumable):
        yield _gate(cluster, CONSUMABLE)
    counters = publishes_counters(tier.driver)
    if isinstance(policy.spec, Partitioned) and counters:
        yield _gate(cluster, PARTITIONABLE)


def _gate(cluster: Cluster, name: str) -> Ground:
    gate = feature_matrix().gate(name)
    stage = gate.at(cluster.minor).stage if gate is not None else "alpha"
    words: dict[str, Stage] = {"ga": "stable", "beta": "beta"}
    accepted = cluster.document.spec.allow_alpha.get(name)
    return Ground(f"{name} of Kubernetes {cluster.minor}", words.get(stage, "alpha"), accepted)


def _driver(cluster: Cluster, driver: Driver) -> Iterator[Ground]:
    version = driver.document.spec.version
    yield Ground(f"{driver.name} {version}" if version else driver.name, "released")
    for name, reason in cluster.document.spec.allow_alpha.items():
        owner, _, gate = name.rpartition("/")
        if owner == driver.name:
            yield Ground(f"gate {gate} of {driver.name}", "alpha", reason)


def _shares(tier: Tier, policy: Policy) -> Iterator[Ground]:
    bound = enforced_shares(policy, tier)
    if bound is not None:
        yield Ground(f"at most {bound.most} shares a device: {bound.carried_by}", "enforced")


def _scope(holding: Holding) -> Iterator[Ground]:
    """Each entitlement is proven by itself; claims for several at once in `jointassurance`."""
    if holding.is_combined:
        yield Ground(
            f"claims for {holding.what} by itself: that devices of other entitlements are free on the "
            "same node, or agree in an attribute, is proven apart, on empty nodes",
            "scope",
        )


def _reclaim(cluster: Cluster, reclaimed: bool) -> Iterator[Ground]:
    if reclaimed:
        version = cluster.document.spec.addons.kueue
        yield Ground(
            f"Kueue {version}, which takes back what workloads in its queues have borrowed",
            "released",
        )
