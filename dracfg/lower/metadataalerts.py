"""What of device metadata is watched on a cluster → its group of alerts.

No library up to 1.37 exports metrics of the files, so those of a driver are as the Driver declares them.
What the kubelet counts of the calls in which files are written is watched with all claims.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dracfg.link.catalog import Cluster
from dracfg.link.exposure import Exposure, exposures
from dracfg.lower.alerts import Group, Subject, alert_group, runbooks
from dracfg.lower.subjects import driver_subject, tier_subject
from dracfg.model.devicemetadata import StartupProbeFallback
from dracfg.source.times import parse_length

GROUP = "metadata"


def metadata_alerts(cluster: Cluster) -> tuple[Group, ...]:
    """The group of a cluster; none where no tier of it exposes anything."""
    exposed = exposures(cluster)
    if not exposed:
        return ()
    return (alert_group(GROUP, _subjects(cluster, exposed), runbooks(cluster)),)


def _subjects(cluster: Cluster, exposed: Sequence[Exposure]) -> Iterator[Subject]:
    drivers = {one.tier.driver.name: one.tier.driver for one in exposed}
    for driver in drivers.values():
        yield driver_subject(cluster, driver)
    for one in exposed:
        subject = tier_subject(cluster, one.tier)
        yield replace(subject, words={**subject.words, **_patience(one)})


def _patience(exposure: Exposure) -> dict[str, str]:
    """How long the tier's startup probe waits, as Prometheus writes it."""
    match exposure.settings.fallback:
        case StartupProbeFallback(within=within):
            return {"within": f"{int(parse_length(within).total_seconds())}s"}
        case _:
            return {}
