"""Class plans → DeviceClass objects (resource.k8s.io/v1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dracfg.link.catalog import Cluster
from dracfg.link.classes import ClassPlan
from dracfg.lower.artifact import Artifact, K8sObject, make, origin_of
from dracfg.lower.selectors import class_selectors
from dracfg.lower.sync import with_engine
from dracfg.model.sharing import Parameters

FILE = "device-classes.yaml"
RESOURCE_API = "resource.k8s.io/v1"


def device_class_artifacts(
    plans: Iterable[ClassPlan], cluster: Cluster | None = None
) -> tuple[Artifact, ...]:
    """One DeviceClass a plan, in the order of the plans; as a `cluster`'s engine is to see it, if any.

    DeviceClass.spec is mutable and read at allocation time only, so a class keeps its name when
    its content changes. Source: kubernetes registry/resource/deviceclass/strategy.go.
    """
    return tuple(
        Artifact(
            _device_class(plan) if cluster is None else with_engine(cluster, _device_class(plan)),
            FILE,
            origin_of(plan.tier.document, "spec"),
            via=() if plan.policy.document is None else (origin_of(plan.policy.document, "spec"),),
        )
        for plan in plans
    )


def _device_class(plan: ClassPlan) -> K8sObject:
    spec: dict[str, Any] = {
        "selectors": [{"cel": {"expression": text}} for text in class_selectors(plan)]
    }
    config = plan.policy.spec.config
    if config is not None and not plan.admin:
        spec["config"] = [
            {"opaque": {"driver": plan.tier.driver.name, "parameters": parameters(config)}}
        ]
    if plan.extended_name is not None:
        spec["extendedResourceName"] = plan.extended_name
    return make(
        RESOURCE_API,
        "DeviceClass",
        plan.name,
        origin_of(plan.tier.document, "spec"),
        {"spec": spec},
        labels={"dracfg.dev/tier": plan.tier.name},
    )


def parameters(config: Parameters) -> dict[str, Any]:
    """Opaque parameters as the driver reads them: the head first, if its kind has one."""
    head = {"apiVersion": config.api_version, "kind": config.kind}
    return {key: value for key, value in head.items() if value is not None} | plain_map(
        config.values
    )


def plain_map(values: Mapping[str, Any]) -> dict[str, Any]:
    """Free-form data as it was written, without the places it carries."""
    return {key: _plain(inner) for key, inner in values.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return plain_map(value)
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value
