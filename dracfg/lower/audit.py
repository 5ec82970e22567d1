"""The audit policy of a cluster's API server: claims, shares, rights and denials in one log.

The file is for the people who run the control plane; its rules go in front of their own. Knows
nothing of tenants, so that the file does not change with them.
Source: kubernetes/apiserver pkg/apis/audit/v1/types.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from dracfg.kube.distributions import distribution
from dracfg.link.catalog import Cluster
from dracfg.lower.artifact import Artifact, origin_of
from dracfg.packaged import read_data

FILE = "audit-policy.yaml"
AUDIT_API = "audit.k8s.io/v1"


def audit_policy(cluster: Cluster) -> tuple[Artifact, ...]:
    """The Policy (audit.k8s.io/v1); none where nobody can hand the API server a file."""
    target = distribution(cluster.document.spec.distribution)
    if target is None or not target.sets_gates:
        return ()
    facts = _facts()
    content = {
        "apiVersion": AUDIT_API,
        "kind": "Policy",
        "omitStages": facts["omitStages"],
        "omitManagedFields": facts["omitManagedFields"],
        "rules": facts["rules"],
    }
    return (Artifact(content, FILE, origin_of(cluster.document, "spec")),)


@cache
def _facts() -> Mapping[str, Any]:
    facts: Mapping[str, Any] = read_data("dracfg.lower", "data/audit.yaml")
    return facts
