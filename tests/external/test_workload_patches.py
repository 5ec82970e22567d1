"""The patches that are printed do with a real kustomize what an edit of the file would."""

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from dracfg.link.catalog import Catalog
from dracfg.migrate.migration import migrate_file
from dracfg.migrate.packages import migrate_path
from dracfg.migrate.tenancy import Tenancy
from dracfg.pipeline import judge
from dracfg.source.records import parse_record

DATA = Path(__file__).parents[1] / "data" / "workloads"
FILES = (
    "aicr/hpa-gpu-scale-test.yaml",
    "dranet/alibaba-ack-examples-gpu-erdma-mpi-job.yaml",
    "dranet/demo-gke-rdma-nccl-gib-test.yaml",
    "kueue/sample-hami.yaml",
    "legacy-kai/multi-topology-jobs.yaml",
    "legacy-kai/pytorch-job.yaml",
    "legacy-ray/ray-service.high-throughput-llm.yaml",
    "legacy-sriov/dpdk-pod_testpmd_virt.yaml",
    "nvidia/nvbandwidth-test-job-1.yaml",
)

pytestmark = pytest.mark.skipif(
    shutil.which("kubectl") is None, reason="kubectl is not on the PATH"
)


@pytest.fixture(scope="module")
def lab() -> Catalog:
    return judge(DATA / "lab", level="intent").catalog


def build(folder: Path) -> list[dict]:
    built = subprocess.run(
        ["kubectl", "kustomize", str(folder)], capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    return [thing for thing in yaml.safe_load_all(built.stdout) if thing]


def key(thing: dict) -> tuple[str, str]:
    return thing["kind"], thing["metadata"]["name"]


@pytest.mark.parametrize("name", FILES)
def test_patches_of_a_kustomization(name: str, lab: Catalog, tmp_path: Path) -> None:
    tenancy = Tenancy(lab, ("lab",), lab.tenants["team"])
    data = (DATA / "manifests" / name).read_bytes()
    (tmp_path / "w.yaml").write_bytes(data)
    entry = tmp_path / "kustomization.yaml"
    entry.write_text("resources: [w.yaml]\n")
    done = migrate_path(
        entry.as_posix(), entry.read_bytes(), tenancy, lambda path: _read(Path(path))
    )
    assert done.outcome == "patch", done.findings
    entry.write_text(f"resources: [w.yaml]\n{done.patch}")
    edited = migrate_file("w.yaml", data, tenancy).after.decode()
    meant = [thing.data for thing in parse_record("w.yaml", edited)[0].objects]
    made = {key(thing): _bare(thing) for thing in build(tmp_path)}
    assert made == {key(thing): _bare(thing) for thing in meant}


def test_a_part_of_an_object(lab: Catalog, tmp_path: Path) -> None:
    """What an overlay's own patch asks for goes by a patch behind it."""
    tenancy = Tenancy(lab, ("lab",), lab.tenants["team"])
    head = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  template:\n    spec:\n"
    side = "      - {name: side, resources: {limits: {cpu: 1}}}\n"
    base = f"{head}      containers:\n{side}      - {{name: main, image: app}}\n"
    part = f"{head}      containers:\n      - {{name: main, resources: {{limits: {{nvidia.com/gpu: 2}}}}}}\n"
    (tmp_path / "base.yaml").write_text(base)
    (tmp_path / "part.yaml").write_text(part)
    entry = tmp_path / "kustomization.yaml"
    said = "resources: [base.yaml]\npatches:\n- path: part.yaml\n"
    entry.write_text(said)
    done = migrate_path(
        entry.as_posix(), entry.read_bytes(), tenancy, lambda path: _read(Path(path))
    )
    entry.write_text(said + done.patch.removeprefix("patches:\n"))
    (made,) = build(tmp_path)
    spec = made["spec"]["template"]["spec"]
    assert spec["resourceClaims"] == [{"name": "gpu", "resourceClaimTemplateName": "gpu-x2"}]
    main = next(one for one in spec["containers"] if one["name"] == "main")
    assert main["resources"]["claims"] == [{"name": "gpu"}]
    assert not main["resources"].get("limits")


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _bare(value: object) -> object:
    """The value without nulls and empty maps, which kustomize keeps or drops as it likes."""
    if isinstance(value, dict):
        kept = {name: _bare(inner) for name, inner in value.items()}
        return {name: inner for name, inner in kept.items() if inner not in (None, {})}
    return [_bare(inner) for inner in value] if isinstance(value, list) else value
