"""What is watched on a cluster → the words by which alerts, objectives and dashboards are filled in.

A metric's word is its purpose in dracfg/kube/data/metrics.yaml, or the field by which a Driver or Cluster
declares it; what a cluster does not export has no word, and so no rule and no panel.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dracfg.kube.features import feature_matrix
from dracfg.kube.grpc import codes_by_class
from dracfg.kube.metrics import Metric, metrics
from dracfg.link.catalog import Cluster, Tier
from dracfg.link.driver import Driver
from dracfg.lower.alerts import Subject
from dracfg.lower.tierplaces import SERIES
from dracfg.model.base import Spec

_COUNTED = {"devicesPublished": "published"}
"""Purpose -> the declared gauge that says the same; the driver's own word comes first."""


def cluster_subject(cluster: Cluster) -> Subject:
    """The cluster as a whole."""
    here = {"cluster": cluster.name}
    declared = _named(cluster.document.spec.metrics)
    return Subject("cluster", here, {**here, **_constants(), **metric_words(cluster), **declared})


def driver_subjects(cluster: Cluster) -> Iterator[Subject]:
    """Every driver whose devices claims get here, now or in some stage of a rollout."""
    for driver in watched_drivers(cluster):
        yield driver_subject(cluster, driver)


def driver_subject(cluster: Cluster, driver: Driver) -> Subject:
    """One driver on a cluster."""
    base = cluster_subject(cluster)
    labels = {**base.labels, **driver_labels(driver)}
    spec = driver.document.spec
    counted = {
        word: f'{base.words[purpose]}{{driver="{driver.name}"}}'
        for purpose, word in _COUNTED.items()
        if purpose in base.words
    }
    declared = _named(spec.device_metrics) | _named(spec.metadata_metrics)
    devices = {"devices": str(count)} if (count := catalogued(cluster, driver)) else {}
    return Subject("driver", labels, {**base.words, **labels, **devices, **counted, **declared})


def tier_subject(cluster: Cluster, tier: Tier) -> Subject:
    """One tier on a cluster; its driver's words hold for it as well."""
    base = driver_subject(cluster, tier.driver)
    labels = {**base.labels, "tier": tier.name}
    places = {"tierPlaces": f'{SERIES}{{tier="{tier.name}"}}'}
    return Subject("tier", labels, {**base.words, **labels, **places})


def watched_tiers(cluster: Cluster) -> tuple[Tier, ...]:
    """Tiers that claims get devices of here, now or in some stage of a rollout, by name."""
    return tuple(tier for tier in cluster.tiers if cluster.has_claims_ever(tier))


def watched_drivers(cluster: Cluster) -> tuple[Driver, ...]:
    """The drivers of those tiers, by name."""
    found = {tier.driver.name: tier.driver for tier in watched_tiers(cluster)}
    return tuple(found[name] for name in sorted(found))


def metric_words(cluster: Cluster) -> dict[str, str]:
    """Metrics of Kubernetes and kube-state-metrics by purpose, as the cluster exports them."""
    return {
        purpose: metric.name
        for metric in metrics(cluster.minor).values()
        if is_exported(cluster, metric)
        for purpose in metric.purposes
    }


def is_exported(cluster: Cluster, metric: Metric) -> bool:
    """Whether a metric of the minor has series: its gate is on, and who must be told to export it is."""
    if metric.declared and not cluster.document.spec.addons.claim_metrics:
        return False
    if metric.gate is None:
        return True
    gate = feature_matrix().gate(metric.gate)
    default = gate is not None and bool(gate.at(cluster.minor).default)
    return cluster.document.spec.feature_gates.get(metric.gate, default)


def catalogued(cluster: Cluster, driver: Driver) -> int:
    """Whole devices that the catalog has of a driver in pools that DRA hands out, spare ones included."""
    return sum(
        devices.per_node * pool.document.spec.nodes
        for pool, devices in cluster.offers()
        if devices.tier.driver is driver and pool.owner(driver) == "dra"
    )


def driver_labels(driver: Driver) -> dict[str, str]:
    """Name and release, so that alerts of two releases differ."""
    version = driver.document.spec.version
    return {"driver": driver.name} | ({"release": version} if version is not None else {})


def _constants() -> Mapping[str, str]:
    codes = codes_by_class()
    return {
        "any": "<any>",
        "places": SERIES,
        "retriedCodes": "|".join(codes["transient"]),
        "refusedCodes": "|".join(codes["parameters"]),
    }


def _named(declared: Spec | None) -> dict[str, str]:
    """The metrics that a document declares, by the key that it uses."""
    if declared is None:
        return {}
    said: dict[str, str] = declared.model_dump(by_alias=True, exclude_none=True)
    return said
