"""Tenants' numbers → Kueue's objects: one flavor and cohort a cluster, a queue a tenant and namespace.

What is guaranteed is a queue's own; up to its limit it may borrow what others leave idle, and their
owners take it back. Each class is one logical resource, counted in devices or shares as quota counts
them. Shapes differ by Kueue's version, see data/kueue.yaml.
Source: kubernetes-sigs/kueue apis/kueue/v1beta2.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dracfg.kube.kueue import KueueGate, kueue_gate
from dracfg.link.catalog import Catalog, Cluster, Tenant
from dracfg.link.classes import ClassPlan, class_name
from dracfg.lower.artifact import Artifact, origin_of
from dracfg.lower.kueuefacts import ignored_prefixes, kueue_facts, restart_command
from dracfg.lower.rights import TENANT
from dracfg.lower.sync import make_synced
from dracfg.model.sharing import Exclusive, Partitioned

FILE = "kueue.yaml"
QUEUES_FILE = "queues.yaml"
FLAVOR = "dracfg-devices"
COHORT = "dracfg-devices"
LOCAL_QUEUE = "devices"
"""What workloads name in the label kueue.x-k8s.io/queue-name."""

RESOURCE = "devices.dracfg.dev/"
"""What the logical resource of a class starts with; the name of the class follows."""

_HEAD = """\
# For Kueue's Configuration (ConfigMap kueue-manager-config, key controller_manager_config.yaml):
# which resource a class is counted as. Merge it into what stands there.
# Kueue reads it at its start only. After each change:
#   {restart}
# A class that is missing here makes Kueue refuse every workload with claims of it.
"""


def queue_name(tenant: str) -> str:
    """The ClusterQueue of a tenant."""
    return f"dracfg-{tenant}"


def logical_resource(plan: ClassPlan) -> str:
    """What Kueue counts a class as: its extended name where it has one, else a mapped name.

    One class must not be on both paths: Kueue would merge them, and the numbers could be wrong.
    """
    return plan.extended_name or f"{RESOURCE}{plan.name}"


def kueue_artifacts(
    catalog: Catalog, cluster: Cluster, counted: Sequence[ClassPlan]
) -> tuple[Artifact, ...]:
    """ResourceFlavor and Cohort; none without Kueue, for an unknown version, or without `counted`."""
    facts = kueue_facts(cluster.document.spec.addons.kueue)
    if facts is None or not counted:
        return ()
    origin = origin_of(cluster.document, "spec", "addons", "kueue")
    cohort: dict[str, Any] = {}
    left = _left_over(catalog, cluster, counted)
    if left:
        cohort["resourceGroups"] = [_group({name: {"nominalQuota": n} for name, n in left.items()})]
    made: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("ResourceFlavor", FLAVOR, {"spec": {}}),
        ("Cohort", COHORT, {"spec": cohort}),
    )
    return tuple(
        Artifact(make_synced(cluster, facts.api, kind, name, origin, body), FILE, origin)
        for kind, name, body in made
    )


def cluster_queues(
    cluster: Cluster, tenant: Tenant, counted: Sequence[ClassPlan]
) -> tuple[Artifact, ...]:
    """The tenant's ClusterQueue, or none where it holds nothing that Kueue counts.

    A tenant that is frozen or on its way out gets nothing new; what runs may end.
    """
    facts = kueue_facts(cluster.document.spec.addons.kueue)
    queues = _queues(cluster, tenant, counted) if facts is not None else {}
    if facts is None or not queues:
        return ()
    quotas = {
        name: {"nominalQuota": guaranteed, "borrowingLimit": limit - guaranteed}
        for name, (guaranteed, limit) in queues.items()
    }
    origin = origin_of(tenant.document, "spec", "entitlements")
    spec = {
        "resourceGroups": [_group(quotas)],
        facts.cohort_field: COHORT,
        "queueingStrategy": "BestEffortFIFO",
        "namespaceSelector": {"matchLabels": {TENANT: tenant.name}},
        "flavorFungibility": {
            "whenCanBorrow": facts.when_can_borrow,
            "whenCanPreempt": "TryNextFlavor",
        },
        "preemption": {
            "reclaimWithinCohort": "Any",
            "borrowWithinCohort": {"policy": "Never"},
            "withinClusterQueue": "LowerPriority",
        },
        "stopPolicy": "None" if tenant.document.spec.state == "active" else "Hold",
    }
    made = make_synced(
        cluster,
        facts.api,
        "ClusterQueue",
        queue_name(tenant.name),
        origin,
        {"spec": spec},
        labels={TENANT: tenant.name},
    )
    via = (origin_of(cluster.document, "spec", "addons", "kueue"),)
    return (Artifact(made, FILE, origin, via),)


def local_queues(
    cluster: Cluster, tenant: Tenant, counted: Sequence[ClassPlan]
) -> tuple[Artifact, ...]:
    """The LocalQueue of each of the tenant's namespaces. `spec.clusterQueue` can't be changed."""
    facts = kueue_facts(cluster.document.spec.addons.kueue)
    if facts is None or not _queues(cluster, tenant, counted):
        return ()
    found = []
    for place in tenant.places_on(cluster.name):
        origin = origin_of(tenant.document, "spec", "namespaces", place.position)
        made = make_synced(
            cluster,
            facts.api,
            "LocalQueue",
            LOCAL_QUEUE,
            origin,
            {"spec": {"clusterQueue": queue_name(tenant.name), "stopPolicy": "None"}},
            namespace=place.name,
            labels={TENANT: tenant.name},
        )
        found.append(Artifact(made, QUEUES_FILE, origin))
    return tuple(found)


def counted_classes(
    catalog: Catalog, cluster: Cluster, classes: Iterable[ClassPlan]
) -> tuple[ClassPlan, ...]:
    """Classes that some tenant may hold devices of, in the order of their names."""
    held = {
        name
        for tenant in catalog.tenants_on(cluster.name)
        for name, (_, limit) in numbers_of(cluster, tenant).items()
        if limit
    }
    return tuple(plan for plan in classes if plan.name in held and not plan.admin)


def numbers_of(cluster: Cluster, tenant: Tenant) -> Mapping[str, tuple[int, int]]:
    """(guaranteed, limit) of a tenant on the cluster by class; nothing for one that was removed."""
    found: dict[str, tuple[int, int]] = {}
    for grant in tenant.grants_on(cluster.name) if tenant.document.spec.state != "removed" else ():
        numbers = grant.on("dra")
        for part in grant.policy.parts:
            if part.name in numbers:
                name = class_name(grant.tier.name, grant.policy, part)
                guaranteed, limit = found.get(name, (0, 0))
                here = numbers[part.name]
                found[name] = (guaranteed + here.guaranteed, limit + here.limit)
    return found


def kueue_configuration(cluster: Cluster, counted: Sequence[ClassPlan]) -> str | None:
    """The part of Kueue's Configuration that counts the cluster's classes, with a note on top.

    None without Kueue, for a version that is not known, and where nobody may hold anything.
    """
    facts = kueue_facts(cluster.document.spec.addons.kueue)
    if facts is None or not counted:
        return None
    lines = [f"apiVersion: {facts.configuration}", "kind: Configuration"]
    gates = [gate.name for gate in _gates(facts.version, counted) if not gate.default]
    if gates:
        lines += ["featureGates:", *(f"  {name}: true" for name in gates)]
    lines += ["resources:", "  excludeResourcePrefixes:"]
    lines += [f"  - {prefix}" for prefix in ignored_prefixes()]
    mapped = [plan for plan in counted if plan.extended_name is None]
    if mapped:
        lines.append("  deviceClassMappings:")
    for plan in mapped:
        lines += [
            f"  - name: {logical_resource(plan)}",
            "    deviceClassNames:",
            f"    - {json.dumps(plan.name)}",
        ]
    return _HEAD.format(restart=restart_command()) + "\n".join(lines) + "\n"


def _gates(version: str, counted: Iterable[ClassPlan]) -> list[KueueGate]:
    found = [kueue_gate("claims", version)]
    if any(plan.extended_name is not None for plan in counted):
        found.append(kueue_gate("extendedResources", version))
    return [gate for gate in found if gate is not None]


def _queues(
    cluster: Cluster, tenant: Tenant, counted: Iterable[ClassPlan]
) -> dict[str, tuple[int, int]]:
    """(guaranteed, limit) by logical resource, for what the tenant may hold."""
    numbers = numbers_of(cluster, tenant)
    return {
        logical_resource(plan): numbers[plan.name]
        for plan in counted
        if numbers.get(plan.name, (0, 0))[1]
    }


def _group(quotas: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    """A resource group with the one flavor: devices are found by claims, not by labels of nodes."""
    names = sorted(quotas)
    resources = [
        {"name": name, **{key: str(number) for key, number in quotas[name].items()}}
        for name in names
    ]
    return {
        "coveredResources": names,
        "flavors": [{"name": FLAVOR, "resources": resources}],
    }


def _left_over(catalog: Catalog, cluster: Cluster, counted: Iterable[ClassPlan]) -> dict[str, int]:
    """Devices that nobody is guaranteed, by logical resource: what all of the cohort may borrow.

    Only where a pool hands its devices out whole, or in parts that all fit at the same time: how many
    shares of other kinds remain depends on how they lie.
    """
    left = {}
    for plan in counted:
        devices = 0
        for pool, held in cluster.offers():
            if held.tier is not plan.tier or pool.owner(plan.tier.driver) != "dra":
                continue
            if not pool.is_closed and all(policy is plan.policy for policy in held.policies):
                spec = pool.document.spec
                nodes = max(0, spec.nodes - spec.spare.nodes)
                devices += nodes * held.per_node * _a_device(plan)
        promised = sum(
            numbers_of(cluster, tenant).get(plan.name, (0, 0))[0]
            for tenant in catalog.tenants_on(cluster.name)
        )
        if devices > promised:
            left[logical_resource(plan)] = devices - promised
    return left


def _a_device(plan: ClassPlan) -> int:
    """How many of the class one device always holds; 0 where that hangs on what else is on it."""
    spec = plan.policy.spec
    if isinstance(spec, Exclusive):
        return 1
    if not isinstance(spec, Partitioned) or plan.part.partition is None:
        return 0
    counters = plan.tier.document.spec.device.counters
    drawn: Counter[str] = Counter()
    for partition in spec.partitions:
        for key, amount in partition.consumes.items():
            drawn[key] += amount.nano * (partition.per_device or 0)
    bounded = all(partition.per_device and partition.consumes for partition in spec.partitions)
    fits = all(key in counters and need <= counters[key].nano for key, need in drawn.items())
    return plan.part.partition.per_device or 0 if bounded and fits else 0
