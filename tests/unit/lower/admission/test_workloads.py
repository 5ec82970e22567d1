"""Pods and pod templates: extended resources, names of claims, tolerations of fences."""

from __future__ import annotations

from typing import Any

import pytest

from dracfg.link.catalog import Catalog

POLICY = "dracfg-workloads"
UNMANAGED = "dracfg-unmanaged-workloads"
IMPLICIT = "deviceclass.resource.kubernetes.io/"
LEGACY = "example.org/gpu"

KINDS = """  podTemplateKinds:
    - apiGroup: ray.io
      versions: [v1]
      resource: rayclusters
      podSpecs: [spec.headGroupSpec.template.spec, "spec.workerGroupSpecs[].template.spec"]
    - apiGroup: kubeflow.org
      versions: [v1, v2beta1]
      resource: mpijobs
      podSpecs: [spec.mpiReplicaSpecs.*.template.spec]
    - {apiGroup: batch.example.org, versions: [v1], resource: bags, podSpecs: ["spec.namespace[]"]}
"""


def asking(name: str, amount: Any = "1", where: str = "containers") -> dict[str, Any]:
    listed = [{"name": "c", "resources": {"requests": {"cpu": "500m"}}}]
    listed.append({"name": "d", "resources": {"limits": {name: amount}}})
    return {"containers": [{"name": "main"}]} | {where: listed}


def pod(spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "here"},
        "spec": spec,
    }


def thing(api: str, kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {**pod(spec), "apiVersion": api, "kind": kind}


WRAPPED = {
    "Pod": lambda spec: pod(spec),
    "Deployment": lambda spec: thing("apps/v1", "Deployment", {"template": {"spec": spec}}),
    "StatefulSet": lambda spec: thing("apps/v1", "StatefulSet", {"template": {"spec": spec}}),
    "DaemonSet": lambda spec: thing("apps/v1", "DaemonSet", {"template": {"spec": spec}}),
    "ReplicaSet": lambda spec: thing("apps/v1", "ReplicaSet", {"template": {"spec": spec}}),
    "ReplicationController": lambda spec: thing(
        "v1", "ReplicationController", {"template": {"spec": spec}}
    ),
    "Job": lambda spec: thing("batch/v1", "Job", {"template": {"spec": spec}}),
    "CronJob": lambda spec: thing(
        "batch/v1", "CronJob", {"jobTemplate": {"spec": {"template": {"spec": spec}}}}
    ),
    "RayCluster head": lambda spec: thing(
        "ray.io/v1", "RayCluster", {"headGroupSpec": {"template": {"spec": spec}}}
    ),
    "RayCluster worker": lambda spec: thing(
        "ray.io/v1",
        "RayCluster",
        {"workerGroupSpecs": [{"name": "bare"}, {"template": {"spec": spec}}]},
    ),
    "MPIJob": lambda spec: thing(
        "kubeflow.org/v2beta1",
        "MPIJob",
        {"mpiReplicaSpecs": {"Launcher": {}, "Worker": {"template": {"spec": spec}}}},
    ),
    "Bag": lambda spec: thing("batch.example.org/v1", "Bag", {"namespace": [{}, spec]}),
}


@pytest.fixture
def platform(platform: str) -> str:
    """A100s answer to their legacy name, notebooks' cards are served by a plugin as well."""
    return (
        platform.replace("kubeadm\n", f"kubeadm\n{KINDS}", 1)
        .replace("shareable: true}", f"shareable: true, devicePlugin: {{resources: [{LEGACY}]}}}}")
        .replace(
            "match: {attributes: {model: A100}}",
            "match: {attributes: {model: A100}}\n"
            f"  legacyResource: {LEGACY}\n  takesOverLegacyName: true",
        )
    )


@pytest.fixture
def catalog(catalog_of: Any, platform: str, vision: str) -> Catalog:
    linked: Catalog = catalog_of(platform, vision)
    return linked


@pytest.fixture
def judge(policies_of: Any, rights_of: Any) -> Any:
    """The messages with which requests in one of vision's namespaces are denied."""

    def denials(
        catalog: Catalog, made: dict[str, Any], namespace: str = "vision-train", **more: Any
    ) -> list[str]:
        here = rights_of(catalog, namespace)
        found: list[str] = policies_of(catalog).denials(made, here, policy=POLICY, **more)
        return found

    return denials


def claiming(**names: str) -> dict[str, Any]:
    return {"containers": [], "resourceClaims": [{"name": "c", **names}]}


def mounting(path: str) -> dict[str, Any]:
    volumes = [{"name": "scratch", "emptyDir": {}}, {"name": "v", "hostPath": {"path": path}}]
    return {"containers": [], "volumes": volumes}


ALLOWED = {
    "nothing": {"containers": []},
    "implicit name": asking(f"{IMPLICIT}a100", "2"),
    "explicit name": asking(LEGACY, "8"),
    "what is nobody's": asking("example.org/licence", "1"),
    "a longer name": asking(f"{LEGACY}s"),
    "in an init container": asking(f"{IMPLICIT}a100", "1", "initContainers"),
    "thousands": asking(f"{IMPLICIT}a100", "1k"),
    "a number": asking(f"{IMPLICIT}a100", 2),
    "template of the tenant": claiming(resourceClaimTemplateName="train"),
    "other tolerations": {"tolerations": [{"key": "gpu", "operator": "Exists"}]},
    "toleration of a name alike": {"tolerations": [{"key": "dracfg.development/x"}]},
    "a folder of another name": mounting("/var/lib/kubelet-data"),
    "a folder beside the pods'": mounting("/var/lib/kubelet/podsx"),
    "a folder elsewhere": mounting("/data/var/lib/kubelet/plugins"),
}

DENIED = {
    "implicit name of nobody": (asking(f"{IMPLICIT}h100"), ["TEN030"]),
    "no name of a class": (asking(IMPLICIT), ["TEN030"]),
    "size by an implicit name": (asking(f"{IMPLICIT}l40s-slices-10gi"), ["TEN031"]),
    "admin class": (asking(f"{IMPLICIT}a100-admin"), ["TEN030"]),
    "half": (asking(f"{IMPLICIT}a100", "500m"), ["TEN032"]),
    "half of an explicit name": (asking(LEGACY, "1500m"), ["TEN032"]),
    "no amount": (asking(f"{IMPLICIT}a100", "many"), ["TEN032"]),
    "in an init container": (asking(f"{IMPLICIT}h100", "1", "initContainers"), ["TEN030"]),
    "claim": (claiming(resourceClaimName="train"), ["TEN033"]),
    "template": (claiming(resourceClaimTemplateName="theirs"), ["TEN033"]),
    "fence": ({"tolerations": [{"key": "dracfg.dev/pool", "operator": "Exists"}]}, ["TEN034"]),
    "quarantine": (
        {"tolerations": [{"key": "dracfg.dev/quarantine", "value": "true"}]},
        ["TEN034"],
    ),
    "everything": ({"tolerations": [{"operator": "Exists"}]}, ["TEN034"]),
    "everything with a key": ({"tolerations": [{"key": "", "operator": "Exists"}]}, ["TEN034"]),
    "plugin folder": (mounting("/var/lib/kubelet/plugins"), ["TEN038"]),
    "a claim's folder": (mounting("/var/lib/kubelet/plugins/d/dra-device-metadata/x"), ["TEN038"]),
    "pod folder": (mounting("/var/lib/kubelet/pods/"), ["TEN038"]),
    "the folder above": (mounting("/var/lib/kubelet"), ["TEN038"]),
    "a folder far above": (mounting("/var"), ["TEN038"]),
    "the root": (mounting("/"), ["TEN038"]),
    "a CDI folder": (mounting("/etc/cdi"), ["TEN038"]),
    "a CDI folder by its other name": (mounting("/run/cdi/x.json"), ["TEN038"]),
    "the root of a process": (mounting("/proc/1/root/var"), ["TEN038"]),
    "steps that lead nowhere": (mounting("//var/./lib//kubelet/plugins/."), ["TEN038"]),
    "two at once": (
        {**asking(f"{IMPLICIT}h100", "500m"), "tolerations": [{"operator": "Exists"}]},
        ["TEN030", "TEN032", "TEN034"],
    ),
}


def codes(messages: list[str]) -> list[str]:
    return [message[:6] for message in messages]


@pytest.mark.parametrize("kind", WRAPPED)
@pytest.mark.parametrize("name", ALLOWED)
def test_allowed(catalog: Catalog, judge: Any, name: str, kind: str) -> None:
    assert judge(catalog, WRAPPED[kind](ALLOWED[name])) == []


@pytest.mark.parametrize("kind", WRAPPED)
@pytest.mark.parametrize("name", DENIED)
def test_denied(catalog: Catalog, judge: Any, name: str, kind: str) -> None:
    spec, expected = DENIED[name]
    assert codes(judge(catalog, WRAPPED[kind](spec))) == expected


def test_controllers_are_held_to_it(catalog: Catalog, judge: Any) -> None:
    made = pod(DENIED["half"][0])
    controller = "system:serviceaccount:kube-system:replicaset-controller"
    assert codes(judge(catalog, made, user=controller)) == ["TEN032"]


def test_kube_system_is_left_out(catalog: Catalog, policies_of: Any) -> None:
    policies = policies_of(catalog)
    made = pod(asking(LEGACY))
    assert len(policies.denials(made, {}, policy=UNMANAGED)) == 1
    assert policies.denials(made, {}, policy=UNMANAGED, namespace="kube-system") == []


@pytest.mark.parametrize("kind", WRAPPED)
def test_namespaces_of_no_tenant_ask_for_nothing(
    catalog: Catalog, policies_of: Any, kind: str
) -> None:
    policies = policies_of(catalog)
    for name in (LEGACY, f"{IMPLICIT}vendor"):
        (message,) = policies.denials(WRAPPED[kind](asking(name)), {})
        assert message == (
            f"TEN006: namespace here belongs to no tenant; it asks for {name}=1, it may claim nothing"
        )
    assert policies.denials(WRAPPED[kind](asking("example.org/licence")), {}) == []


def test_names_that_a_plugin_serves_count_with_the_grant(
    catalog_of: Any, platform: str, vision: str, judge: Any
) -> None:
    moved = platform.replace("\n  takesOverLegacyName: true", "").replace(
        "devices: [{tier: a100, perNode: 8}]\n  owner: {gpu.example.org: dra}",
        "devices: [{tier: a100, perNode: 8}]\n  owner: {gpu.example.org: devicePlugin}",
    )
    assert judge(catalog_of(moved, vision), pod(asking(LEGACY))) == []
    without = vision.replace("tier: a100, guaranteed: 16", "tier: l40s, guaranteed: 16").replace(
        "tier: a100, guaranteed: 2", "tier: l40s, guaranteed: 2"
    )
    (message,) = judge(catalog_of(moved, without), pod(asking(LEGACY)))
    assert message == (
        f"TEN030: tenant vision asks for {LEGACY}=1, which it is not entitled to; it may use "
        "l40s-slices-10gi and no device plugin"
    )


def test_tenants_that_write_claims_name_any(
    catalog_of: Any, platform: str, vision: str, judge: Any
) -> None:
    catalog = catalog_of(platform, vision.replace("spec:\n", "spec:\n  ownClaims: true\n", 1))
    assert judge(catalog, pod(claiming(resourceClaimName="mine"))) == []


def test_shared_claims_are_named(catalog_of: Any, platform: str, vision: str, judge: Any) -> None:
    shared = "  sharedClaims: [{name: both, profile: train, namespace: vision-train, pods: 4}]\n"
    catalog = catalog_of(platform, vision + shared)
    assert judge(catalog, pod(claiming(resourceClaimName="both"))) == []
    assert codes(judge(catalog, pod(claiming(resourceClaimTemplateName="both")))) == ["TEN033"]
    assert codes(judge(catalog, pod(claiming(resourceClaimName="both")), "vision-monitor")) == [
        "TEN033"
    ]


def test_who_watches_may_do_so_on_fenced_nodes(catalog: Catalog, judge: Any) -> None:
    assert judge(catalog, pod(DENIED["everything"][0]), "vision-monitor") == []


@pytest.mark.parametrize("name", ["implicit name", "explicit name"])
def test_only_what_is_new_needs_an_active_tenant_and_an_open_class(
    catalog_of: Any, platform: str, vision: str, judge: Any, name: str
) -> None:
    made = pod(ALLOWED[name])
    frozen = catalog_of(platform, vision.replace("spec:\n", "spec:\n  state: frozen\n", 1))
    assert codes(judge(frozen, made)) == ["TEN007"]
    assert judge(frozen, pod({"containers": []})) == []
    closed = catalog_of(
        platform.replace("{pool: training}", "{pool: training}\n  state: draining"), vision
    )
    assert codes(judge(closed, made)) == ["TEN007"]
    newer = {**made, "spec": {**made["spec"], "activeDeadlineSeconds": 9}}
    assert judge(frozen, newer, old=made) == []


@pytest.mark.parametrize("kind", WRAPPED.keys() - {"Pod"})
def test_templates_that_stay_as_they_are_pass(catalog: Catalog, judge: Any, kind: str) -> None:
    old = WRAPPED[kind](DENIED["half"][0])
    scaled = {**old, "spec": {**old["spec"], "replicas": 0}}
    assert judge(catalog, scaled, old=old) == []
    other = WRAPPED[kind](DENIED["no amount"][0])
    assert codes(judge(catalog, other, old=old)) == ["TEN032"]


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"headGroupSpec": {}, "workerGroupSpecs": []},
        {"headGroupSpec": {"template": {}}, "workerGroupSpecs": [{}, {"template": {}}]},
    ],
)
def test_objects_without_pod_specs_pass(catalog: Catalog, judge: Any, spec: dict[str, Any]) -> None:
    made = thing("ray.io/v1", "RayCluster", spec)
    assert judge(catalog, made) == []
    assert judge(catalog, {**made, "spec": {**spec, "x": 1}}, old=made) == []
    job = thing("kubeflow.org/v1", "MPIJob", {"mpiReplicaSpecs": {"Worker": spec}})
    assert judge(catalog, job) == []


def test_messages(catalog: Catalog, judge: Any) -> None:
    (message,) = judge(catalog, pod(DENIED["size by an implicit name"][0]))
    assert message == (
        "TEN031: tenant vision asks for deviceclass.resource.kubernetes.io/l40s-slices-10gi=1; "
        "requests of the class say more than a number, only a claim can"
    )
    (message,) = judge(catalog, pod(DENIED["template"][0]))
    assert message == (
        "TEN033: tenant vision names template/theirs; its pods may name template/either, "
        "template/train"
    )
    (message,) = judge(catalog, pod(DENIED["fence"][0]))
    assert message == (
        "TEN034: tenant vision tolerates the taint dracfg.dev/pool; pods of tenants stay off nodes "
        "that are fenced by dracfg.dev taints"
    )
