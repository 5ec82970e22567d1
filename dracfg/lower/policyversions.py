"""Sharing policies → a record of each version with its numbers, so that a claim is judged by its own.

A record is an immutable ConfigMap named after policy and version. Versions that are no longer
the policy's own stay under `retired/`: a live claim or a retained template may carry them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from dracfg.link.catalog import Cluster, Policy
from dracfg.link.classes import policies_in_force
from dracfg.link.parts import policy_numbers
from dracfg.lower.artifact import Artifact, K8sObject, origin_of
from dracfg.lower.namespaces import OWN_NAMESPACE
from dracfg.lower.sync import make_synced, with_engine

FILE = "policy-versions.yaml"
RETIRED_FILE = "retired/policy-versions.yaml"
POLICY = "dracfg.dev/policy"
VERSION = "dracfg.dev/policy-version"


def policy_version_artifacts(
    cluster: Cluster, standing: Iterable[K8sObject]
) -> tuple[Artifact, ...]:
    """The versions in force on the cluster, then those that stand from earlier compiles."""
    policies = {
        policy.name: policy for tier in cluster.tiers for policy in policies_in_force(cluster, tier)
    }
    current = [
        _record(cluster, policies[name])
        for name in sorted(policies)
        if policies[name].document is not None
    ]
    names = {record.object["metadata"]["name"] for record in current}
    origin = origin_of(cluster.document)
    old = [
        Artifact(with_engine(cluster, thing), RETIRED_FILE, origin)
        for thing in sorted(standing, key=lambda thing: str(thing["metadata"]["name"]))
        if thing["metadata"]["name"] not in names
    ]
    return (*current, *old)


def _record(cluster: Cluster, policy: Policy) -> Artifact:
    if policy.document is None:
        raise ValueError("the built-in policy has no versions")
    origin = origin_of(policy.document, "spec")
    numbers = policy_numbers(policy.spec)
    made = make_synced(
        cluster,
        "v1",
        "ConfigMap",
        f"policy-{policy.name}-{policy.version}",
        origin,
        {
            "data": {"numbers.json": json.dumps(numbers, sort_keys=True, indent=1) + "\n"},
            "immutable": True,
        },
        namespace=OWN_NAMESPACE,
        labels={POLICY: policy.name, VERSION: policy.version},
    )
    return Artifact(made, FILE, origin)
