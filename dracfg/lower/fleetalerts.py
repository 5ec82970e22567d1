"""What is watched on every cluster where claims get devices → its groups of alerts, segment by segment."""

from __future__ import annotations

from dracfg.link.catalog import Cluster
from dracfg.lower.alerts import Group, alert_group, runbooks
from dracfg.lower.subjects import cluster_subject, driver_subjects, tier_subject, watched_tiers

GROUPS = ("claims", "admission", "devices", "workloads")


def fleet_alerts(cluster: Cluster) -> tuple[Group, ...]:
    """The groups in their order; none where no claim ever gets a device."""
    tiers = watched_tiers(cluster)
    if not tiers:
        return ()
    subjects = (
        cluster_subject(cluster),
        *driver_subjects(cluster),
        *(tier_subject(cluster, tier) for tier in tiers),
    )
    return tuple(alert_group(name, subjects, runbooks(cluster)) for name in GROUPS)
