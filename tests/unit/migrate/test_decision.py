"""Which container gets which claim, in every kind of workload."""

from typing import Any

import pytest
import yaml

from dracfg.link.driver import Driver
from dracfg.migrate.migration import migrate_file, reverse_file
from dracfg.migrate.tenancy import Tenancy

POD = "spec:\n  containers: [{name: main, resources: {limits: {nvidia.com/gpu: 2}}}]\n"


def nested(text: str, depth: int) -> str:
    return "".join(f"{'  ' * depth}{line}\n" for line in text.splitlines())


KINDS = {
    "Pod": ("v1", POD),
    "ReplicaSet": ("apps/v1", f"spec:\n  template:\n{nested(POD, 2)}"),
    "Deployment": ("apps/v1", f"spec:\n  template:\n{nested(POD, 2)}"),
    "StatefulSet": ("apps/v1", f"spec:\n  template:\n{nested(POD, 2)}"),
    "DaemonSet": ("apps/v1", f"spec:\n  template:\n{nested(POD, 2)}"),
    "Job": ("batch/v1", f"spec:\n  template:\n{nested(POD, 2)}"),
    "CronJob": ("batch/v1", f"spec:\n  jobTemplate:\n    spec:\n      template:\n{nested(POD, 4)}"),
    "JobSet": (
        "jobset.x-k8s.io/v1alpha2",
        (
            "spec:\n  replicatedJobs:\n  - name: w\n    template:\n      spec:\n        template:\n"
            f"{nested(POD, 5)}"
        ),
    ),
    "LeaderWorkerSet": (
        "leaderworkerset.x-k8s.io/v1",
        (
            f"spec:\n  leaderWorkerTemplate:\n    leaderTemplate:\n{nested(POD, 3)}"
            f"    workerTemplate:\n{nested(POD, 3)}"
        ),
    ),
    "RayCluster": (
        "ray.io/v1",
        f"spec:\n  headGroupSpec:\n    template:\n{nested(POD, 3)}",
    ),
    "MPIJob": (
        "kubeflow.org/v2beta1",
        f"spec:\n  mpiReplicaSpecs:\n    Worker:\n      template:\n{nested(POD, 4)}",
    ),
    "TrainJob": (
        "trainer.kubeflow.org/v1alpha1",
        f"spec:\n  podTemplate:\n{nested(POD, 2)}",
    ),
    "Anything": ("example.com/v1", f"some:\n  - deep:\n      place:\n{nested(POD, 4)}"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_pods_are_found_by_shape(kind: str, tenancy: Tenancy) -> None:
    version, body = KINDS[kind]
    text = f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: w}}\n{body}"
    done = migrate_file("w.yaml", text.encode(), tenancy)
    assert done.outcome == "rewritten", done.findings
    assert done.after.count(b"resourceClaimTemplateName: gpu-x2") == body.count("containers")
    assert reverse_file("w.yaml", done.after).after == text.encode()


def test_lists_and_several_documents(tenancy: Tenancy) -> None:
    text = (
        f"apiVersion: v1\nkind: List\nitems:\n- kind: Pod\n  apiVersion: v1\n{nested(POD, 1)}"
        "---\n# nothing\n---\n"
        f"apiVersion: v1\nkind: PodList\nitems:\n- metadata: {{name: a}}\n{nested(POD, 1)}"
        f"---\napiVersion: v1\nkind: Pod\n{POD}"
    )
    done = migrate_file("w.yaml", text.encode(), tenancy)
    assert done.outcome == "rewritten"
    assert len(done.changes) == 3
    assert reverse_file("w.yaml", done.after).after == text.encode()


def spec(text: str, tenancy: Tenancy) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Templates by the names of claims, and claims by the names of containers."""
    body = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec:\n{text}"
    done = migrate_file("w.yaml", body.encode(), tenancy)
    assert done.outcome == "rewritten", done.findings
    read: dict[str, Any] = yaml.safe_load(done.after)["spec"]
    listed = [*read.get("initContainers", []), *read["containers"]]
    return (
        {one["name"]: one["resourceClaimTemplateName"] for one in read["resourceClaims"]},
        {
            one["name"]: [claim["name"] for claim in one.get("resources", {}).get("claims", [])]
            for one in listed
        },
    )


def test_each_container_has_devices_of_its_own(tenancy: Tenancy) -> None:
    claims, used = spec(
        "  containers:\n"
        "  - {name: a, resources: {limits: {nvidia.com/gpu: 1}}}\n"
        "  - {name: b, resources: {limits: {nvidia.com/gpu: 1}}}\n"
        "  - {name: c, resources: {requests: {cpu: 1}}}\n"
        "  - {name: d, resources: {requests: {nvidia.com/gpu: 4}}}\n",
        tenancy,
    )
    assert claims == {"gpu": "gpu-x1", "gpu-2": "gpu-x1", "gpu-3": "gpu-x4"}
    assert used == {"a": ["gpu"], "b": ["gpu-2"], "c": [], "d": ["gpu-3"]}


def test_an_init_container_hands_its_devices_on(tenancy: Tenancy) -> None:
    claims, used = spec(
        "  initContainers:\n"
        "  - {name: probe, resources: {limits: {nvidia.com/gpu: 2}}}\n"
        "  - {name: proxy, restartPolicy: Always, resources: {limits: {nvidia.com/gpu: 1}}}\n"
        "  containers:\n"
        "  - {name: main, resources: {limits: {nvidia.com/gpu: 2}}}\n",
        tenancy,
    )
    assert claims == {"gpu": "gpu-x1", "gpu-2": "gpu-x2"}
    assert used == {"probe": ["gpu-2"], "proxy": ["gpu"], "main": ["gpu-2"]}


def test_an_init_container_alone_has_a_claim(tenancy: Tenancy) -> None:
    claims, used = spec(
        "  initContainers:\n"
        "  - {name: probe, resources: {limits: {nvidia.com/gpu: 2}}}\n"
        "  - {name: again, resources: {limits: {nvidia.com/gpu: 2}}}\n"
        "  containers: [{name: main}]\n",
        tenancy,
    )
    assert claims == {"gpu": "gpu-x2"}
    assert used == {"probe": ["gpu"], "again": ["gpu"], "main": []}


def test_several_resources_of_one_container(tenancy: Tenancy) -> None:
    claims, used = spec(
        "  containers:\n"
        "  - {name: a, resources: {limits: {nvidia.com/gpu: 1, intel.com/x700_gtp: 1}}}\n",
        tenancy,
    )
    assert claims == {"device": "vf-gtp-x1", "gpu": "gpu-x1"}
    assert used == {"a": ["device", "gpu"]}


@pytest.mark.parametrize(
    ("resources", "template"),
    [
        ("{limits: {nvidia.com/mig-1g.12gb: 1}}", "part"),
        ("{limits: {nvidia.com/gpu: 1, nvidia.com/gpumem: 3000}}", "slice-3000mi"),
        ("{limits: {nvidia.com/gpu: 2, nvidia.com/gpumem-percentage: 10}}", "slice-8000mi"),
        ("{limits: {deviceclass.resource.kubernetes.io/h100: 8}}", "gpu-x8"),
        ("{limits: {deviceclass.resource.kubernetes.io/h100-mig-1g-12gb: 1}}", "part"),
        ("{limits: {huawei.com/Ascend910A: 1, huawei.com/Ascend910A-memory: 2000}}",
         "ascend-910a-2000mi"),
    ],
)  # fmt: skip
def test_names_of_parts_shares_and_classes(resources: str, template: str, tenancy: Tenancy) -> None:
    claims, _ = spec(f"  containers: [{{name: a, resources: {resources}}}]\n", tenancy)
    assert list(claims.values()) == [template]


ARGO = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: w-}
spec:
  entrypoint: train
  templates:
  - name: train
    inputs: {parameters: [{name: size}]}
    container:
      image: "app:{{inputs.parameters.size}}"
      resources:
        limits:
          nvidia.com/gpu: 2
  - name: check
    script: {image: app, source: print(1)}
"""


def test_a_workflow_template_takes_claims_as_text(tenancy: Tenancy) -> None:
    done = migrate_file("w.yaml", ARGO.encode(), tenancy)
    assert done.outcome == "rewritten", done.findings
    template = yaml.safe_load(done.after)["spec"]["templates"][0]
    assert yaml.safe_load(template["podSpecPatch"]) == {
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu-x2"}]
    }
    assert template["container"]["resources"] == {"claims": [{"name": "gpu"}]}
    assert reverse_file("w.yaml", done.after).after == ARGO.encode()


def test_a_workflow_template_with_a_patch_of_its_own(tenancy: Tenancy) -> None:
    text = ARGO.replace("    inputs:", "    podSpecPatch: '{priority: 1}'\n    inputs:")
    done = migrate_file("w.yaml", text.encode(), tenancy)
    assert done.outcome == "patch"
    assert '{\\"priority\\": 1, \\"resourceClaims\\": [' in done.patch
    unknown = text.replace("{priority: 1}", "{priority: {{x}}}")
    done = migrate_file("w.yaml", unknown.encode(), tenancy)
    assert (done.outcome, [f.code for f in done.findings]) == ("left", ["ROL058"])


def test_a_driver_that_lets_one_container_use_a_claim(
    tenancy: Tenancy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Driver, "shares_one_allocation", "no")
    text = (
        "apiVersion: v1\nkind: Pod\nspec:\n"
        "  initContainers: [{name: a, resources: {limits: {nvidia.com/gpu: 2}}}]\n"
        "  containers: [{name: b, resources: {limits: {nvidia.com/gpu: 2}}}]\n"
    )
    done = migrate_file("w.yaml", text.encode(), tenancy)
    assert [f.code for f in done.findings] == ["ROL043"]
