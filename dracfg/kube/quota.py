"""The keys of a ResourceQuota that count devices of a class.

Source: kubernetes/api v0.35.0 core/v1/types.go (ResourceImplicitExtendedClaimsPerClass), KEP-4381,
KEP-5004. It may not know of tenants or numbers.
"""

from __future__ import annotations

from functools import lru_cache

from dracfg.kube.features import feature_matrix
from dracfg.kube.names import check_qualified_name

__all__ = ["IMPLICIT_RESOURCE_PREFIX", "counts_by_name", "quota_keys"]

IMPLICIT_RESOURCE_PREFIX = "deviceclass.resource.kubernetes.io/"
CLASS_SUFFIX = ".deviceclass.resource.k8s.io/devices"
BY_NAME_SINCE = "1.35"


@lru_cache(maxsize=4096)
def quota_keys(
    class_name: str, extended_resource_name: str | None, minor: str, er_enabled: bool
) -> tuple[str, ...]:
    """Every key of `spec.hard` that one class is charged under, the class's own key first.

    With DRAExtendedResource (`er_enabled`) pods of the class are also charged under its explicit
    name, and where quota `counts_by_name` claims as well, and both under its implicit one. A class
    name that does not fit into a key (over 225 characters, or over 63 for the implicit name) has no
    such key.
    """
    keys = [class_name + CLASS_SUFFIX]
    if er_enabled:
        if counts_by_name(minor):
            keys.append(f"requests.{IMPLICIT_RESOURCE_PREFIX}{class_name}")
        if extended_resource_name is not None:
            keys.append(f"requests.{extended_resource_name}")
    return tuple(key for key in keys if check_qualified_name(key) is None)


def counts_by_name(minor: str) -> bool:
    """Whether claims are charged under names of extended resources, and implicit names are counted.

    Source: kubernetes/kubernetes@v1.34.4 and v1.35.4: pkg/quota/v1/evaluator/core/pods.go
    (isExtendedResourceNameForQuota) and resource_claims.go (addExtendedResourceQuota).
    """
    minors = feature_matrix().minors
    return minors.index(minor) >= minors.index(BY_NAME_SINCE)
