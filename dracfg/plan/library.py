"""What a pod's claims are made from on one cluster: classes, templates, claims, extended resources.

Gathered from what dracfg emits for the cluster, from the file that is asked about, and from what
is recorded. Knows no node and no device.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from dracfg.allocate.claimobjects import (
    KINDS,
    ClaimObjects,
    ClaimTemplate,
    in_memory,
    read_claims,
)
from dracfg.allocate.claims import Claim, DeviceClass
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic
from dracfg.kube.quota import IMPLICIT_RESOURCE_PREFIX
from dracfg.link.catalog import Catalog, Cluster
from dracfg.link.claims import ClaimPlan, claim_plan
from dracfg.link.classes import device_classes
from dracfg.lower.artifact import K8sObject, Unit
from dracfg.lower.templates import PROFILE, TENANT
from dracfg.lower.units import RETIRED

ObjectName = tuple[str, str]
"""(namespace, name)."""


@dataclass(frozen=True, slots=True)
class Library:
    """What can be named on one cluster.

    `plans` holds the claim plans of templates that stand for a profile of today, `closed` the
    classes that take no new claims. `extended` leads from resource names to classes; it is None
    where DRAExtendedResource is off.
    """

    classes: Mapping[str, DeviceClass]
    templates: Mapping[ObjectName, ClaimTemplate]
    claims: Mapping[ObjectName, Claim]
    plans: Mapping[ObjectName, ClaimPlan] = field(default_factory=dict)
    closed: frozenset[str] = frozenset()
    extended: Mapping[str, str] | None = None


def library(
    catalog: Catalog,
    cluster: Cluster,
    units: Iterable[Unit],
    file: ClaimObjects,
    recorded: ClaimObjects,
    *,
    namespaces: Iterable[str],
    extended: bool,
) -> tuple[Library, tuple[Diagnostic, ...]]:
    """What pods of some namespaces can name; and faults of retired objects that were written over.

    Emitted classes come before those of the file and recorded ones; templates of the file before
    emitted ones, also retired ones; and a claim that is allocated before one that is not.
    """
    wanted = {"", *namespaces}
    listed = tuple(_emitted(cluster, units, wanted))
    emitted, faults = read_claims(
        [in_memory((thing for thing, _ in listed), f"out/{cluster.name}")], cluster.minor
    )
    plans = {plan.name: plan for plan in device_classes(catalog, cluster)}
    classes = {one.name: one for one in (*recorded.classes, *file.classes, *emitted.classes)}
    allocated = [one for one in recorded.claims if one.allocation is not None]
    found = Library(
        classes,
        {
            (one.namespace, one.name): one
            for one in (*recorded.templates, *emitted.templates, *file.templates)
        },
        {
            (one.namespace, one.name): one
            for one in (*recorded.claims, *emitted.claims, *file.claims, *allocated)
        },
        dict(_plans(catalog, cluster, (thing for thing, active in listed if active))),
        frozenset(name for name, plan in plans.items() if plan.closed),
        _extended(classes.values(), implicit=cluster.minor != "1.34") if extended else None,
    )
    return found, faults


def _emitted(
    cluster: Cluster, units: Iterable[Unit], namespaces: set[str]
) -> Iterator[tuple[K8sObject, bool]]:
    """The objects of the three kinds, and whether they are of today, not retired."""
    for unit in units:
        if unit.synced and unit.path.startswith(f"{cluster.name}/"):
            for artifact in unit.artifacts:
                thing = artifact.object
                namespace = thing["metadata"].get("namespace", "")
                if thing["kind"] in KINDS and namespace in namespaces:
                    yield thing, not artifact.file.startswith(f"{RETIRED}/")


def _plans(
    catalog: Catalog, cluster: Cluster, things: Iterable[K8sObject]
) -> Iterator[tuple[ObjectName, ClaimPlan]]:
    classes = {plan.name: plan for plan in device_classes(catalog, cluster)}
    for thing in things:
        metadata = thing["metadata"]
        labels = metadata.get("labels", {})
        tenant = catalog.tenants.get(labels.get(TENANT, ""))
        profiles = tenant.document.spec.profiles if tenant is not None else ()
        profile = next((one for one in profiles if one.name == labels.get(PROFILE)), None)
        if tenant is not None and profile is not None:
            plan = claim_plan(tenant, profile, cluster, classes)
            if plan is not None:
                yield (metadata["namespace"], metadata["name"]), plan


def _extended(classes: Iterable[DeviceClass], *, implicit: bool) -> dict[str, str]:
    """Class by resource name, explicit and, where the minor knows them, implicit.

    The scheduler of 1.34 binds a pod that asks for an implicit name without any device.

    Of two classes with one explicit name the newer one wins in a cluster; where they are of one
    age, as is taken here, that with the smaller name.
    """
    found: dict[str, str] = {}
    for name in sorted((one.name for one in classes), reverse=True) if implicit else ():
        found[f"{IMPLICIT_RESOURCE_PREFIX}{name}"] = name
    for one in sorted(classes, key=lambda one: one.name, reverse=True):
        if one.extended_resource_name is not None:
            found[one.extended_resource_name] = one.name
    return found
