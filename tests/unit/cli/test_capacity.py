"""`dracfg capacity --what-if`: from manifests to what lands where, in text and as a document."""

import json
import shutil
from pathlib import Path

import pytest

from dracfg.cli.main import invoke

ROOT = Path(__file__).parents[3]
EAST = "catalog/inventory/prod-east.yaml"

JOBS = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: vision-train}
spec:
  parallelism: COUNT
  template:
    spec:
      resourceClaims: [{name: gpu, resourceClaimTemplateName: train-x8}]
      containers: [{name: main, resources: {claims: [{name: gpu}]}}]
"""
TEMPLATE = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: own NAMESPACE}
spec:
  spec:
    devices: {requests: [{name: gpu, exactly: {deviceClassName: a100-40g, count: 5}}]}
"""
HELD = """\
apiVersion: v1
kind: List
items:
- apiVersion: resource.k8s.io/v1
  kind: ResourceClaim
  metadata: {name: old, namespace: vision-train, uid: u-1}
  spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: a100-40g}}]}}
  status:
    allocation:
      devices:
        results: [{request: gpu, driver: gpu.nvidia.com, pool: a100-east-1, device: gpu-3}]
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for folder in ("catalog", "tenants"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


@pytest.fixture(autouse=True)
def _here(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository)


def jobs(count: int) -> str:
    Path("jobs.yaml").write_text(JOBS.replace("COUNT", str(count)), encoding="utf-8")
    return "jobs.yaml"


def template(namespace: str = "") -> str:
    text = TEMPLATE.replace(" NAMESPACE", f", namespace: {namespace}" if namespace else "")
    Path("own.yaml").write_text(text, encoding="utf-8")
    return "own.yaml"


def test_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["capacity", "--what-if", jobs(6)]) == 1
    shown = capsys.readouterr()
    lines = shown.out.splitlines()
    assert lines[0] == "jobs.yaml on prod-east: 4 of 6 pods land"
    assert lines[2].split("  ")[1:] == [
        "vision-train/train-0",
        "a100-east-1",
        "8 a100-40g (gpu-0 … gpu-7), 8 cx7-400g (pci-0000-10-1a-0 … pci-0000-a0-1b-0)",
    ]
    assert "  vision-train/train-5  -" in lines
    told = lines.index("  vision-train/train-4 and 1 more do not land")
    assert lines[told + 1] == "    a100-east-1 and 3 more: it could hold the pod if it were empty"
    assert lines[lines.index("") + 1].endswith("in use   free  capacity in use")
    assert "  a100-40g          32       0 -> 32  0" in lines
    assert shown.err == ""


def test_what_lands_is_exit_code_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["capacity", "--what-if", jobs(4)]) == 0
    assert "4 of 4 pods land" in capsys.readouterr().out
    assert invoke(["capacity", "--what-if", jobs(1)]) == 0
    assert "1 of 1 pod lands" in capsys.readouterr().out


def test_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["capacity", "--what-if", jobs(5), "--format", "json"]) == 1
    plan = json.loads(capsys.readouterr().out)
    assert (plan["schemaVersion"], plan["kind"], plan["verdict"], plan["file"]) == (
        1,
        "CapacityPlan",
        "refuted",
        "jobs.yaml",
    )
    (cluster,) = plan["clusters"]
    assert {key: cluster[key] for key in ("cluster", "devices", "pods", "land", "notDecided")} == {
        "cluster": "prod-east",
        "devices": "recorded",
        "pods": 5,
        "land": 4,
        "notDecided": 0,
    }
    first = cluster["placements"][0]
    assert (first["pod"], first["result"], first["node"]) == ("train-0", "yes", "a100-east-1")
    assert first["workload"] == {"kind": "Job", "namespace": "vision-train", "name": "train"}
    assert first["claims"][0]["devices"][0] == {
        "request": "gpu-0",
        "class": "a100-40g",
        "driver": "gpu.nvidia.com",
        "pool": "a100-east-1",
        "device": "gpu-0",
        "shareID": None,
        "consumedCapacity": {},
    }
    (refusal,) = cluster["refusals"]
    assert (refusal["pods"], refusal["result"]) == (["train-4"], "no")
    assert refusal["nodes"][0] == {
        "node": "a100-east-1",
        "result": "no",
        "reason": "it could hold the pod if it were empty",
    }
    assert cluster["tiers"][0] == {
        "tier": "a100-40g",
        "partition": None,
        "driver": "gpu.nvidia.com",
        "devices": 32,
        "inUseBefore": 0,
        "inUseAfter": 32,
        "free": 0,
        "capacity": [],
    }
    assert plan["nowhere"] == []


def test_many_pods_share_rows(capsys: pytest.CaptureFixture[str]) -> None:
    path = jobs(4)
    text = Path(path).read_text(encoding="utf-8").replace("parallelism: 4", "parallelism: 50")
    Path(path).write_text(text.replace("train-x8", "train-x1"), encoding="utf-8")
    assert invoke(["capacity", "--what-if", path]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split("  ")[1].strip() == "vision-train/train-0 and 7 more"
    assert len(lines) < 25


def test_claims_of_the_record_are_held(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "held.yaml").write_text(HELD, encoding="utf-8")
    given = [f"prod-east={repository / EAST}", "prod-east=held.yaml"]
    arguments = [part for path in given for part in ("--inventory", path)]
    assert invoke(["capacity", "--what-if", jobs(4), *arguments]) == 1
    out = capsys.readouterr().out
    assert "3 of 4 pods land" in out
    assert "1 -> 25" in out


def test_templates_by_number(capsys: pytest.CaptureFixture[str]) -> None:
    own = template("vision-train")
    assert invoke(["capacity", "--what-if", own]) == 0
    assert "prod-east: 1 of 1 pod lands" in capsys.readouterr().out
    assert invoke(["capacity", "--what-if", own, "--replicas", "own=5"]) == 1
    assert "prod-east: 4 of 5 pods land" in capsys.readouterr().out
    # Without a namespace, a template goes where its class is.
    own = template()
    assert invoke(["capacity", "--what-if", own]) == 0
    assert "default/own-0" in capsys.readouterr().out
    assert invoke(["capacity", "--what-if", own, "-n", "vision-dev"]) == 0
    assert "vision-dev/own-0" in capsys.readouterr().out


def test_retired_templates_can_still_be_used(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["compile"]) == 0
    tenant = repository / "tenants" / "vision.yaml"
    text = tenant.read_text(encoding="utf-8")
    profile = """\
    - name: train-x4
      requests: [{name: gpu, entitlement: gpu, count: 4}]
"""
    assert profile in text
    tenant.write_text(text.replace(profile, ""), encoding="utf-8")
    Path("jobs.yaml").write_text(
        JOBS.replace("COUNT", "9").replace("train-x8", "train-x4"), encoding="utf-8"
    )
    capsys.readouterr()
    assert invoke(["capacity", "--what-if", "jobs.yaml"]) == 1
    assert "8 of 9 pods land" in capsys.readouterr().out


def test_clusters(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["capacity", "--what-if", jobs(1), "--cluster", "prod-*"]) == 1
    out = capsys.readouterr().out
    assert "prod-east: 1 of 1 pod lands" in out
    assert "prod-west: 0 of 1 pod lands" in out
    assert "there is no ResourceClaimTemplate train-x8 in vision-train" in out


def test_pods_of_no_cluster(capsys: pytest.CaptureFixture[str]) -> None:
    text = JOBS.replace("COUNT", "1").replace("vision-train", "elsewhere")
    Path("jobs.yaml").write_text(text, encoding="utf-8")
    assert invoke(["capacity", "--what-if", "jobs.yaml", "--format", "json"]) == 1
    plan = json.loads(capsys.readouterr().out)
    assert (plan["verdict"], plan["clusters"]) == ("refuted", [])
    assert plan["nowhere"] == [{"kind": "Job", "namespace": "elsewhere", "name": "train"}]
    assert invoke(["capacity", "--what-if", "jobs.yaml"]) == 1
    assert "Job elsewhere/train lands nowhere" in capsys.readouterr().out


def test_pods_that_ask_for_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    text = JOBS.replace("COUNT", "3")
    text = text.replace("[{name: gpu, resourceClaimTemplateName: train-x8}]", "[]")
    text = text.replace("claims: [{name: gpu}]", "")
    Path("jobs.yaml").write_text(text, encoding="utf-8")
    assert invoke(["capacity", "--what-if", "jobs.yaml"]) == 0
    assert "3 ask for no device" in capsys.readouterr().out


def test_claims_that_a_pod_does_not_have_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    text = JOBS.replace("COUNT", "1").replace("claims: [{name: gpu}]", "claims: [{name: gpus}]")
    Path("jobs.yaml").write_text(text, encoding="utf-8")
    assert invoke(["capacity", "--what-if", "jobs.yaml"]) == 1
    out = capsys.readouterr().out
    assert "error[INV052]" in out
    assert "did you mean gpu?" in out


def test_faults_of_the_file_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    text = TEMPLATE.replace(" NAMESPACE", ", namespace: vision-train")
    Path("own.yaml").write_text(text.replace("count: 5", "count: many"), encoding="utf-8")
    assert invoke(["capacity", "--what-if", "own.yaml"]) == 1
    out = capsys.readouterr().out
    assert "error[INV032]" in out
    assert "--> own.yaml:6:" in out
    assert "there is no ResourceClaimTemplate own in vision-train" in out


def test_undecided_is_no_success(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clusters = repository / "catalog" / "clusters.yaml"
    text = clusters.read_text(encoding="utf-8")
    clusters.write_text(text.replace(f"  inventory: {EAST}\n", ""), encoding="utf-8")
    assert invoke(["capacity", "--what-if", jobs(1)]) == 1
    out = capsys.readouterr().out
    assert "0 of 1 pod lands, 1 not decided (as modelled, no inventory is recorded)" in out
    assert "the modelled devices do not say resource.kubernetes.io/pcieRoot" in out
    assert invoke(["capacity", "--what-if", jobs(1), "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["verdict"] == "unknown"


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--replicas", "train=2"], "needs --what-if"),
        (["--what-if", "nowhere.yaml"], "nowhere.yaml"),
        (["--what-if", "jobs.yaml", "--replicas", "train"], "train is not NAME=NUMBER"),
        (["--what-if", "jobs.yaml", "--replicas", "trian=2"], "did you mean train?"),
        (["--what-if", "jobs.yaml", "--cluster", "prod-eats"], "did you mean prod-east?"),
        (["--what-if", "catalog/tiers/fpga.yaml"], "holds no workload, claim or claim template"),
    ],
)
def test_wrong_use(arguments: list[str], part: str, capsys: pytest.CaptureFixture[str]) -> None:
    jobs(1)
    assert invoke(["capacity", *arguments]) == 3
    assert part in capsys.readouterr().err
