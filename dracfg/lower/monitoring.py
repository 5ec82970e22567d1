"""All that Prometheus and Grafana are told of a cluster: rules as a file and as objects, and dashboards.

Files are for `promtool check rules` and for a Prometheus without the operator; objects say the same in the
units that they belong to. Either way a tenant's namespaces stand in what is the tenant's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dracfg.link.catalog import Catalog, Cluster
from dracfg.lower.alerts import FILE, Group, rule_file, rule_object
from dracfg.lower.artifact import Artifact, Unit, origin_of
from dracfg.lower.dashboards import dashboard_objects, dashboard_texts
from dracfg.lower.fleetalerts import fleet_alerts
from dracfg.lower.gatealerts import gate_alerts
from dracfg.lower.metadataalerts import metadata_alerts
from dracfg.lower.objectives import objective_groups
from dracfg.lower.tenancy import Tenancy
from dracfg.lower.tierplaces import place_group

FOLDER = "monitoring"
TENANTS = "tenants"


def monitoring_objects(catalog: Catalog, cluster: Cluster) -> tuple[Artifact, ...]:
    """What the platform's unit carries of it: rules of the operator, dashboards for the sidecar."""
    return (*rule_object(cluster, cluster_groups(catalog, cluster)), *dashboard_objects(cluster))


def monitoring_units(
    catalog: Catalog, cluster: Cluster, tenancies: Iterable[Tenancy]
) -> tuple[Unit, ...]:
    """The folder for people who load rules and dashboards themselves; none without any rule."""
    rules = (
        *rule_file(FILE, origin_of(cluster.document), cluster_groups(catalog, cluster)),
        *_places(tenancies),
    )
    if not rules:
        return ()
    return (Unit(f"{cluster.name}/{FOLDER}", rules, dashboard_texts(cluster), synced=False),)


def cluster_groups(catalog: Catalog, cluster: Cluster) -> tuple[Group, ...]:
    """Every group of a cluster but those of tenants' namespaces, in the order of the file."""
    return (
        *objective_groups(cluster),
        *fleet_alerts(cluster),
        *metadata_alerts(cluster),
        gate_alerts(catalog, cluster),
    )


def _places(tenancies: Iterable[Tenancy]) -> Iterator[Artifact]:
    for tenancy in tenancies:
        group = place_group(tenancy.tenant, tenancy.tiers)
        yield from rule_file(f"{TENANTS}/{tenancy.tenant.name}/{FILE}", tenancy.origin, [group])
