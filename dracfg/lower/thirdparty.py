"""Roles for what others install: DRA drivers and schedulers beside kube-scheduler.

dracfg doesn't run them, so their roles lie among the snippets, for operators to compare with what a
chart brings. Only where a driver's document names its service account is there a binding as well.
Knows nothing of tenants.
"""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.link.catalog import Cluster
from dracfg.link.driver import Driver
from dracfg.lower.artifact import K8sObject, Origin, make, origin_of
from dracfg.lower.roles import (
    RBAC_API,
    RBAC_GROUP,
    SCHEDULER,
    FixedRole,
    driver_role,
    fixed_roles,
)


def third_party_roles(cluster: Cluster) -> tuple[K8sObject, ...]:
    """A ClusterRole for each DRA driver of the cluster, then one for schedulers.

    A driver's binding follows its role. Nothing where DRA hands out no devices.
    """
    made = [thing for driver in cluster.drivers for thing in _of_driver(cluster, driver)]
    if not made:
        return ()
    return (*made, _role(fixed_roles()[SCHEDULER], origin_of(cluster.document)))


def _of_driver(cluster: Cluster, driver: Driver) -> Iterator[K8sObject]:
    tiers = [tier for tier in cluster.tiers if tier.driver is driver]
    if not driver.has_dra_driver or not any("dra" in cluster.owners_of(tier) for tier in tiers):
        return
    role = driver_role(driver.name)
    yield _role(role, origin_of(driver.document))
    account = driver.document.spec.service_account
    if account is not None:
        subject = {
            "kind": "ServiceAccount",
            "name": account.name,
            "namespace": account.namespace,
        }
        yield make(
            RBAC_API,
            "ClusterRoleBinding",
            role.name,
            origin_of(driver.document, "spec", "serviceAccount"),
            {
                "subjects": [subject],
                "roleRef": {"apiGroup": RBAC_GROUP, "kind": "ClusterRole", "name": role.name},
            },
        )


def _role(role: FixedRole, origin: Origin) -> K8sObject:
    return make(RBAC_API, "ClusterRole", role.name, origin, {"rules": list(role.rules)})
