"""A gate plan → the control plane's configuration, in the form that its distribution reads.

The files are for the people or tools that install the control plane, never applied to a cluster,
and hold dracfg's settings alone, to be merged into what stands there.
Sources: kubernetes/kubernetes cmd/kubeadm/app/apis/kubeadm/v1beta4/types.go (extraArgs are name and
value since v1beta4); kubernetes-sigs/kind pkg/apis/config/v1alpha4/types.go; k3s-io/docs
installation/configuration (config.yaml: one list a flag that may repeat).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dracfg.kube.distributions import Distribution, distribution
from dracfg.link.catalog import Cluster
from dracfg.lower.artifact import Artifact, Unit, origin_of
from dracfg.lower.gates import GatePlan

API_SERVER = "kube-apiserver"


def control_plane(cluster: Cluster, plan: GatePlan) -> Unit | None:
    """The unit `<cluster>/control-plane`; None where there is nothing to set, or nobody may."""
    target = distribution(cluster.document.spec.distribution)
    if target is None or not target.sets_gates or not (plan.by_component or plan.runtime_config):
        return None
    file, write = WRITERS[target.name]
    content = write(target, plan)
    if not content:
        return None
    artifact = Artifact(content, file, origin_of(cluster.document, "spec"))
    return Unit(f"{cluster.name}/control-plane", (artifact,), synced=False)


def _kubeadm(target: Distribution, plan: GatePlan) -> dict[str, Any]:
    """ClusterConfiguration; the kubelet's gates stand in the drop-ins of the pools."""
    parts: dict[str, Any] = {}
    for component, form in target.gates.items():
        kind, field, *_ = form.split(".")
        flags = _flags(component, plan)
        if kind == "ClusterConfiguration" and flags:
            args = [{"name": name, "value": value} for name, value in flags.items()]
            parts[field] = {"extraArgs": args}
    if not parts:
        return {}
    return {"apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "ClusterConfiguration", **parts}


def _k3s(target: Distribution, plan: GatePlan) -> dict[str, Any]:
    return {
        form: [f"{name}={value}" for name, value in flags.items()]
        for component, form in target.gates.items()
        if (flags := _flags(component, plan))
    }


def _kind(_: Distribution, plan: GatePlan) -> dict[str, Any]:
    """kind hands every gate to every component; all of them know all gates of Kubernetes."""
    gates = {name: value for part in plan.by_component.values() for name, value in part.items()}
    content: dict[str, Any] = {"apiVersion": "kind.x-k8s.io/v1alpha4", "kind": "Cluster"}
    if gates:
        content["featureGates"] = dict(sorted(gates.items()))
    if plan.runtime_config:
        content["runtimeConfig"] = dict.fromkeys(plan.runtime_config, "true")
    return content


def _generic(target: Distribution, plan: GatePlan) -> dict[str, Any]:
    return {
        component: [f"--{name}={value}" for name, value in flags.items()]
        for component in target.gates
        if (flags := _flags(component, plan))
    }


def _flags(component: str, plan: GatePlan) -> dict[str, str]:
    """Flag -> value for one component, without what it would do anyway."""
    flags = {}
    gates = plan.by_component.get(component)
    if gates:
        flags["feature-gates"] = _pairs(gates)
    if component == API_SERVER and plan.runtime_config:
        flags["runtime-config"] = _pairs(dict.fromkeys(plan.runtime_config, True))
    return flags


def _pairs(values: Mapping[str, bool]) -> str:
    return ",".join(f"{name}={'true' if value else 'false'}" for name, value in values.items())


WRITERS: Mapping[str, tuple[str, Callable[[Distribution, GatePlan], dict[str, Any]]]] = {
    "kubeadm": ("kubeadm.yaml", _kubeadm),
    "k3s": ("config.yaml", _k3s),
    "kind": ("kind.yaml", _kind),
    "generic": ("flags.yaml", _generic),
}
"""Distribution -> the file and who fills it."""
