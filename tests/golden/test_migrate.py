"""What `dracfg migrate workload` says of published workloads: the diff, and what does not come along.

`--update-golden` writes the expectations anew; they are reviewed as output.
"""

from pathlib import Path

import pytest

from dracfg.cli.main import invoke

HERE = Path(__file__).parent
DATA = HERE.parent / "data" / "workloads"
SHOWN = (
    "aicr/hpa-gpu-scale-test.yaml",
    "kueue/sample-hami.yaml",
    "legacy-kai/pytorch-job.yaml",
    "legacy-kubeflow/lammps-train-gpus.yaml",
    "legacy-ray/ray-service.high-throughput-gemma4.yaml",
    "legacy-sriov/dpdk-pod_testpmd_virt.yaml",
    "nvidia/nvbandwidth-test-job-1.yaml",
)


@pytest.mark.parametrize("name", SHOWN)
def test_what_is_shown(
    name: str,
    request: pytest.FixtureRequest,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(DATA / "manifests")
    monkeypatch.setenv("COLUMNS", "100")
    invoke(["migrate", "workload", name, "--tenant", "team", "-C", str(DATA / "lab")])
    out, err = capsys.readouterr()
    expected = HERE / "migrate" / f"{Path(name).stem}.txt"
    if request.config.getoption("--update-golden"):
        expected.write_text(out + err, encoding="utf-8")
    assert out + err == expected.read_text(encoding="utf-8")
