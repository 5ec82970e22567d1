"""Every rule of workloads: a manifest that trips it, and one that comes close and does not."""

import dataclasses

import pytest

from dracfg.diagnostics.registry import rules
from dracfg.link.catalog import Catalog
from dracfg.migrate.bump import Names, bump_file
from dracfg.migrate.migration import migrate_file, reverse_file
from dracfg.migrate.packages import migrate_path
from dracfg.migrate.result import FileResult
from dracfg.migrate.tenancy import Tenancy

FROM_ELSEWHERE = {"ROL045", "ROL046", "ROL051"}
"""What depends on more than the manifest: tried below, one by one."""


def pod(resources: str, *, spec: str = "", more: str = "", metadata: str = "name: p") -> str:
    return (
        f"apiVersion: v1\nkind: Pod\nmetadata: {{{metadata}}}\nspec:\n{spec}  containers:\n"
        f"  - name: main\n{more}    resources: {resources}\n"
    )


def gpus(count: int | str, name: str = "nvidia.com/gpu") -> str:
    return f"{{limits: {{{name}: {count}}}}}"


def with_init(first: str, main: str, extra: str = "") -> str:
    spec = f"  initContainers:\n  - name: first\n{extra}    resources: {first}\n"
    return pod(main, spec=spec)


def ray(params: str, minimum: int = 1) -> str:
    return (
        "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: r}\nspec:\n  workerGroupSpecs:\n"
        f"  - groupName: g\n    minReplicas: {minimum}\n    rayStartParams: {{{params}}}\n"
        "    template:\n      spec:\n        containers:\n        - name: w\n"
        "          resources: {limits: {nvidia.com/gpu: 2}}\n"
    )


def job(kind: str, group: str, spec: str) -> str:
    return (
        f"apiVersion: {group}\nkind: {kind}\nmetadata: {{name: j}}\nspec:\n{spec}"
        "    spec:\n      containers: [{name: main, resources: {limits: {nvidia.com/gpu: 1}}}]\n"
    )


TRAIN = (
    "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: t}\nspec:\n"
    "  trainer: {numNodes: 2, resourcesPerNode: {limits: {%s: 1}}}\n"
)
CLAIMED = "  resourceClaims: [{name: gpu, resourceClaimTemplateName: %s}]\n"
LABEL = "  nodeSelector: {%s: x}\n"
TOLERATION = "  tolerations: [{key: %s, operator: Exists}]\n"
ENV = "    env: [{name: %s, value: all}]\n"
NETS = "name: p, annotations: {k8s.v1.cni.cncf.io/networks: net}"
TOKEN = "  automountServiceAccountToken: false\n"
SHARED = (
    "spec: {containers: [{name: a, resources: &r {limits: {nvidia.com/gpu: 1}}}, "
    "{name: b, resources: %s}]}\n"
)
HEAD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"

CASES = {
    "ROL040": (pod(gpus(3)), pod(gpus(4))),
    "ROL041": (pod(gpus(1, "nvidia.com/gpu.shared")), pod(gpus(1))),
    "ROL042": (pod(gpus(2, "nvidia.com/gpu.shared")), pod(gpus(2))),
    "ROL043": (with_init(gpus(1), gpus(2)), with_init(gpus(2), gpus(2))),
    "ROL044": (pod(gpus(1, "nobody.example.com/x")), pod("{limits: {kubernetes.io/x: 1, cpu: 1}}")),
    "ROL047": (pod(gpus(2), spec=CLAIMED % "gpu-x2"), pod(gpus(2), spec=CLAIMED % "channel")),
    "ROL048": (
        pod(gpus(1), more=ENV % "NVIDIA_VISIBLE_DEVICES"),
        pod(gpus(1), more=ENV % "ROCR_VISIBLE_DEVICES"),
    ),
    "ROL049": (
        pod(gpus(1), spec=LABEL % "nvidia.com/gpu.product"),
        pod(gpus(1), spec=LABEL % "node.example.com/pool"),
    ),
    "ROL050": (
        pod(gpus(1), spec=TOLERATION % "nvidia.com/gpu"),
        pod(gpus(1), spec=TOLERATION % "amd.com/gpu"),
    ),
    "ROL052": (
        pod("{limits: {nvidia.com/gpu: 1, nvidia.com/gpumem: 3000, nvidia.com/gpucores: 30}}"),
        pod("{limits: {nvidia.com/gpu: 1, nvidia.com/gpumem: 3000}}"),
    ),
    "ROL053": (
        pod(gpus(1, "intel.com/x700_gtp"), metadata=NETS),
        pod(gpus(1, "intel.com/x700_gtp")),
    ),
    "ROL054": (pod(gpus(1)), pod(gpus(1), spec=TOKEN)),
    "ROL055": (
        job("Job", "batch/v1", "  template:\n"),
        job("Deployment", "apps/v1", "  template:\n"),
    ),
    "ROL056": (ray("num-gpus: '2'", 0), ray("num-gpus: '2'", 1)),
    "ROL057": (ray(""), ray("num-gpus: '2'")),
    "ROL058": (TRAIN % "nvidia.com/gpu", TRAIN % "nobody.example.com/gpu"),
    "ROL059": (HEAD + SHARED % "*r", HEAD + SHARED % "{limits: {nvidia.com/gpu: 1}}"),
}


def codes(done: FileResult) -> set[str]:
    return {finding.code for finding in done.findings}


def test_each_rule_is_tried() -> None:
    ours = {code for code in rules() if "ROL040" <= code <= "ROL059"}
    assert ours == CASES.keys() | FROM_ELSEWHERE


@pytest.mark.parametrize("code", CASES)
def test_trips(code: str, tenancy: Tenancy) -> None:
    done = migrate_file("w.yaml", CASES[code][0].encode(), tenancy)
    assert code in codes(done)
    if rules()[code].severity == "error":
        assert (done.outcome, done.after) == ("left", done.before)


@pytest.mark.parametrize("code", CASES)
def test_comes_close(code: str, tenancy: Tenancy) -> None:
    done = migrate_file("w.yaml", CASES[code][1].encode(), tenancy)
    assert code not in codes(done)
    assert done.outcome == ("unchanged" if code in ("ROL044", "ROL058") else "rewritten")


def test_no_profile_says_what_is_near_and_what_to_add(tenancy: Tenancy) -> None:
    done = migrate_file("w.yaml", pod(gpus(3)).encode(), tenancy)
    (finding,) = done.findings
    assert finding.found == "profile gpu-x2 holds 2 of h100"
    assert finding.help == (
        "add to tenant team: a profile with `requests: [{name: gpu, entitlement: gpu, count: 3}]`"
    )
    assert str(finding.span) == "w.yaml:7:26"


def test_no_entitlement_names_the_tiers(lab: Catalog) -> None:
    tenant = lab.tenants["team"]
    poor = dataclasses.replace(
        tenant, grants=tuple(one for one in tenant.grants if one.name not in ("gpu", "part"))
    )
    done = migrate_file("w.yaml", pod(gpus(1)).encode(), Tenancy(lab, ("lab",), poor))
    (finding,) = done.findings
    assert "an entitlement to what nvidia.com/gpu means (h100, shared)" in (finding.help or "")


@pytest.mark.parametrize("amount", ["${COUNT}", "1.5", "x"])
def test_an_amount_that_is_no_number(amount: str, tenancy: Tenancy) -> None:
    text = pod(f"{{limits: {{nvidia.com/gpu: '{amount}'}}}}")
    assert codes(migrate_file("w.yaml", text.encode(), tenancy)) == {"ROL040"}


def test_several_profiles_are_named_and_one_is_taken_by_name(tenancy: Tenancy) -> None:
    text = pod(gpus(1, "nvidia.com/gpu.shared")).encode()
    (finding,) = migrate_file("w.yaml", text, tenancy).findings
    assert finding.found == "slice-1024mi-x1, slice-3000mi"
    chosen = dataclasses.replace(tenancy, wanted=("slice-3000mi",))
    assert migrate_file("w.yaml", text, chosen).outcome == "rewritten"


def test_a_profile_by_name_may_hold_more(tenancy: Tenancy) -> None:
    chosen = dataclasses.replace(tenancy, wanted=("gpu-x8",))
    done = migrate_file("w.yaml", pod(gpus(3)).encode(), chosen)
    assert b"gpu-x8" in done.after
    fewer = dataclasses.replace(tenancy, wanted=("gpu-x2",))
    assert codes(migrate_file("w.yaml", pod(gpus(3)).encode(), fewer)) == {"ROL040"}


def test_whose_it_is(lab: Catalog) -> None:
    nobody = Tenancy(lab, ("lab",))
    assert codes(migrate_file("w.yaml", pod(gpus(1)).encode(), nobody)) == {"ROL045"}
    foreign = pod(gpus(1), metadata="name: p, namespace: elsewhere").encode()
    assert codes(migrate_file("w.yaml", foreign, nobody)) == {"ROL045"}
    own = pod(gpus(1), metadata="name: p, namespace: team").encode()
    assert migrate_file("w.yaml", own, nobody).outcome == "rewritten"
    said = Tenancy(lab, ("lab",), namespace="team")
    assert migrate_file("w.yaml", pod(gpus(1)).encode(), said).outcome == "rewritten"
    other = dataclasses.replace(lab.tenants["team"], name="other")
    assert codes(migrate_file("w.yaml", own, Tenancy(lab, ("lab",), other))) == {"ROL045"}


def test_a_namespace_without_the_template(tenancy: Tenancy) -> None:
    foreign = pod(gpus(1), metadata="name: p, namespace: elsewhere").encode()
    done = migrate_file("w.yaml", foreign, tenancy)
    assert "ROL046" in codes(done)
    assert done.outcome == "rewritten"
    own = pod(gpus(1), metadata="name: p, namespace: team").encode()
    assert "ROL046" not in codes(migrate_file("w.yaml", own, tenancy))


def test_a_template_that_is_not_known() -> None:
    names = Names({"team": frozenset({"gpu-x1"})}, {})
    text = pod("{}", spec=CLAIMED % "gpu-x0", metadata="name: p, namespace: team").encode()
    (finding,) = bump_file("w.yaml", text, names, None).findings
    assert (finding.code, finding.help) == ("ROL046", "did you mean gpu-x1?")
    known = text.replace(b"gpu-x0", b"gpu-x1")
    assert bump_file("w.yaml", known, names, None).findings == ()


def test_marks_that_do_not_lead_back(tenancy: Tenancy) -> None:
    text = (
        f"{HEAD}spec:\n  containers:\n  - name: a\n    resources:\n      limits:\n"
        "        nvidia.com/gpu: 1\n"
    )
    done = migrate_file("w.yaml", text.encode(), tenancy)
    broken = done.after.replace(b"# dracfg: was limits:", b"# dracfg: was limits: {")
    back = reverse_file("w.yaml", broken)
    assert (back.outcome, codes(back), back.after) == ("left", {"ROL051"}, broken)
    assert reverse_file("w.yaml", done.after).findings == ()


JSON = (
    '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": '
    '[{"name": "a", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}}'
)


def test_json_gets_a_patch(tenancy: Tenancy) -> None:
    done = migrate_path("p.json", JSON.encode(), tenancy, lambda _: None)
    assert (done.outcome, done.after) == ("patch", done.before)
    assert "JSON" in next(f for f in done.findings if f.code == "ROL059").message
    assert '"path": "/spec/containers/0/resources/limits"' in done.patch


def test_an_error_in_one_pod_keeps_the_file(tenancy: Tenancy) -> None:
    text = f"{pod(gpus(1))}---\n{pod(gpus(3))}".encode()
    assert migrate_file("w.yaml", text, tenancy).outcome == "left"
