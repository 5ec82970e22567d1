"""What of device metadata is watched on a cluster → its group of alerts.

No library up to 1.37 exports metrics of the files, so those of a driver are as the Driver declares them.
What the kubelet counts of the calls in which files are written is watched everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dracfg.kube.metrics import metric_name
from dracfg.link.catalog import Catalog, Cluster
from dracfg.link.claims import claim_plan
from dracfg.link.classes import ClassPlan
from dracfg.link.driver import Driver
from dracfg.link.exposure import Exposure, exposures
from dracfg.lower.alerts import Group, Subject, alert_group
from dracfg.lower.templates import profile_places
from dracfg.model.devicemetadata import StartupProbeFallback
from dracfg.source.times import parse_length

GROUP = "metadata"


def metadata_alerts(
    catalog: Catalog, cluster: Cluster, classes: Sequence[ClassPlan]
) -> tuple[Group, ...]:
    """The group of a cluster; none where no tier of it exposes anything."""
    exposed = exposures(cluster)
    if not exposed:
        return ()
    return (alert_group(GROUP, _subjects(catalog, cluster, classes, exposed)),)


def _subjects(
    catalog: Catalog,
    cluster: Cluster,
    classes: Sequence[ClassPlan],
    exposed: Sequence[Exposure],
) -> Iterator[Subject]:
    here = {"cluster": cluster.name}
    kubelet = {
        purpose: name
        for purpose in ("driverCallSeconds", "prepareSeconds")
        if (name := metric_name(purpose, cluster.minor)) is not None
    }
    yield Subject("cluster", here, here | kubelet)
    drivers = {one.tier.driver.name: one.tier.driver for one in exposed}
    for driver in drivers.values():
        labels = here | _driver_labels(driver)
        yield Subject("driver", labels, labels | kubelet | _declared(driver))
    readers = _namespaces(catalog, cluster, classes, exposed)
    for one in exposed:
        spaces = readers[one.tier.name]
        if spaces:
            labels = here | {"tier": one.tier.name} | _driver_labels(one.tier.driver)
            words = {"namespaces": "|".join(spaces)}
            yield Subject("tier", labels, labels | words | _patience(one))


def _driver_labels(driver: Driver) -> dict[str, str]:
    version = driver.document.spec.version
    return {"driver": driver.name} | ({"release": version} if version is not None else {})


def _declared(driver: Driver) -> dict[str, str]:
    metrics = driver.document.spec.metadata_metrics
    if metrics is None:
        return {}
    declared = {
        "generationFailures": metrics.generation_failures,
        "generationSeconds": metrics.generation_seconds,
        "validationFailures": metrics.validation_failures,
    }
    return {word: name for word, name in declared.items() if name is not None}


def _patience(exposure: Exposure) -> dict[str, str]:
    """How long the tier's startup probe waits, as Prometheus writes it."""
    match exposure.settings.fallback:
        case StartupProbeFallback(within=within):
            return {"within": f"{int(parse_length(within).total_seconds())}s"}
        case _:
            return {}


def _namespaces(
    catalog: Catalog,
    cluster: Cluster,
    classes: Sequence[ClassPlan],
    exposed: Sequence[Exposure],
) -> Mapping[str, Sequence[str]]:
    """Where profiles ask for each tier, sorted."""
    by_name = {plan.name: plan for plan in classes}
    found: dict[str, set[str]] = {one.tier.name: set() for one in exposed}
    for tenant in catalog.tenants_on(cluster.name):
        spec = tenant.document.spec
        for profile in () if spec.state == "removed" else spec.profiles:
            plan = claim_plan(tenant, profile, cluster, by_name)
            if plan is None:
                continue
            spaces = {place.name for place in profile_places(tenant, profile, cluster.name)}
            for request in plan.requests:
                for ask in request.asks:
                    if ask.grant.tier.name in found:
                        found[ask.grant.tier.name] |= spaces
    return {tier: sorted(spaces) for tier, spaces in found.items()}
