"""Clusters → what runs there, what they are held to, and the feature gates that what is emitted needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dracfg.check.gateview import GateView
from dracfg.link.catalog import Catalog, Cluster
from dracfg.lower.artifact import Unit
from dracfg.lower.objectives import measures, shown
from dracfg.lower.units import gate_plan
from dracfg.report.document import ClusterVersions, DriverVersion, FeatureGate, StatedObjective
from dracfg.show.gatetable import gate_table


def cluster_versions(catalog: Catalog, cluster: Cluster, units: Sequence[Unit]) -> ClusterVersions:
    """One cluster with its drivers and its gates by name."""
    spec = cluster.document.spec
    table = gate_table(GateView(catalog, cluster, gate_plan(cluster, units), units))
    return ClusterVersions(
        name=cluster.name,
        description=cluster.document.metadata.description or None,
        kubernetes=spec.kubernetes,
        distribution=spec.distribution,
        engine=spec.gitops.engine,
        kueue=spec.addons.kueue,
        drivers=tuple(
            DriverVersion(driver.name, driver.document.spec.version) for driver in cluster.drivers
        ),
        objectives=tuple(
            StatedObjective(
                objective=one.key,
                tier=one.subject.labels.get("tier"),
                title=one.title,
                limit=shown(one),
                measured=one.expr is not None,
            )
            for one in measures(cluster)
        ),
        gates=tuple(map(_gate, table["gates"])),
    )


def _gate(row: Mapping[str, Any]) -> FeatureGate:
    return FeatureGate(
        name=row["name"],
        stage=row["stage"],
        default=row["default"],
        wanted=row["wanted"],
        components=tuple(row["components"]),
        not_written=row.get("notWritten"),
        allow_alpha=row.get("allowAlpha"),
        reasons=tuple(dict.fromkeys(reason["reason"] for reason in row["reasons"])),
    )
