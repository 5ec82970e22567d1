"""`dracfg place`, and records that are given on the command line."""

import json
import re
import shutil
from pathlib import Path

import pytest

from dracfg.cli.main import invoke

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "golden" / "place"
EAST = "catalog/inventory/prod-east.yaml"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for folder in ("catalog", "tenants"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


def change(root: Path, path: str, old: str, new: str) -> None:
    text = (root / path).read_text(encoding="utf-8")
    assert old in text
    (root / path).write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize("profile", ["vision/train-x8", "serving/inference"])
def test_text(
    profile: str,
    repository: Path,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    # One node lost half of its cards, another has other GPUs.
    text = (repository / EAST).read_text(encoding="utf-8")
    first, *rest = text.split("- apiVersion: resource.k8s.io/v1\n")
    for number, part in enumerate(rest):
        if "nodeName: a100-east-2\n" in part and "driver: dra.net\n" in part:
            rest[number] = part.replace("pci0000:a0", "pci0000:ff").replace(
                "pci0000:90", "pci0000:ff"
            )
        if "nodeName: a100-east-3\n" in part and "driver: gpu.nvidia.com\n" in part:
            rest[number] = part.replace("NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-80GB")
    (repository / EAST).write_text("- apiVersion: resource.k8s.io/v1\n".join([first, *rest]))
    assert invoke(["place", profile, "-C", str(repository)]) == 0
    shown = capsys.readouterr()
    golden = GOLDEN / f"{profile.replace('/', '-')}.txt"
    if request.config.getoption("--update-golden"):
        golden.write_text(shown.out, encoding="utf-8")
    assert shown.out == golden.read_text(encoding="utf-8")
    assert shown.err == ""


def test_document(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["place", "vision/train-x8", "--format", "json", "-C", str(repository)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["kind"], report["verdict"], report["profile"]) == (
        "PlaceReport",
        "proven",
        "vision/train-x8",
    )
    (cluster,) = report["clusters"]
    assert (cluster["cluster"], cluster["devices"]) == ("prod-east", "recorded")
    assert (cluster["nodes"], cluster["canHold"], cluster["notDecided"]) == (6, 4, 0)
    assert cluster["rows"][0]["requests"][0] == {
        "request": "gpu",
        "alternative": None,
        "class": "a100-40g",
        "wanted": 8,
        "seen": 8,
        "selected": [8],
        "capacity": 8,
        "untainted": 8,
        "constrained": 8,
        "undecided": 0,
        "reason": None,
    }


def test_nowhere_is_exit_code_1(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(repository, EAST, "pci0000:10", "pci0000:0")
    change(repository, EAST, "pci0000:20", "pci0000:0")
    change(
        repository,
        "tenants/vision.yaml",
        "entitlement: gpu, count: 2}",
        "entitlement: gpu, count: 5}",
    )
    assert invoke(["place", "vision/train-x2", "-C", str(repository)]) == 1
    out = capsys.readouterr().out
    assert "0 of 6 nodes can hold it" in out
    assert "at most 4 gpu share one resource.kubernetes.io/pcieRoot" in out


def test_without_a_record_devices_are_modelled(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(repository, "catalog/clusters.yaml", f"  inventory: {EAST}\n", "")
    assert invoke(["place", "vision/train-x4", "-C", str(repository)]) == 0
    assert capsys.readouterr().out.splitlines()[0] == (
        "profile vision/train-x4 on prod-east: 4 of 6 nodes can hold it"
        " (as modelled, no inventory is recorded)"
    )
    assert invoke(["place", "vision/train-x8", "-C", str(repository)]) == 1
    assert "0 of 6 nodes can hold it, 4 not decided" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["visoin/train-x8"], "there is no Tenant visoin; did you mean vision?"),
        (["vision/train-x9"], "tenant vision has no profile train-x9; did you mean train-x"),
        (["vision"], "vision names no profile: write TENANT/PROFILE"),
        (["vision/train-x8", "--cluster", "prod-west"], "makes no claim on prod-west"),
        (["vision/train-x8", "--inventory", "nowhere.yaml"], "there is no file nowhere.yaml"),
    ],
)
def test_wrong_use(
    arguments: list[str], part: str, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["place", *arguments, "-C", str(repository)]) == 3
    assert part in capsys.readouterr().err


def test_a_record_on_the_command_line_takes_the_place_of_the_cluster_s_own(
    repository: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dump = tmp_path / "dump.yaml"
    dump.write_text(
        (repository / EAST).read_text(encoding="utf-8").replace("A100-SXM4-40GB", "A100-PCIE"),
        encoding="utf-8",
    )
    arguments = ["place", "vision/train-x1", "-C", str(repository)]
    assert invoke([*arguments, "--inventory", f"prod-east={dump}"]) == 1
    assert 'productName is "NVIDIA A100-PCIE"' in capsys.readouterr().out
    monkeypatch.setenv("DRACFG_INVENTORY", str(dump))
    assert invoke(arguments) == 1
    assert invoke(["check", "-C", str(repository), "--format", "concise"]) == 1
    shown = capsys.readouterr()
    assert "INV022 error: class" in shown.out
    assert "(levels intent, inventory)" in shown.err


def test_a_record_of_an_unknown_cluster(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = f"prod-eats={repository / EAST}"
    assert invoke(["check", "-C", str(repository), "--inventory", given]) == 3
    assert "there is no Cluster prod-eats; did you mean prod-east?" in capsys.readouterr().err


def test_check_says_what_it_judged(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["check", "-C", str(repository)]) == 0
    assert "(levels intent, inventory)\n" in capsys.readouterr().err
    change(repository, "catalog/clusters.yaml", f"  inventory: {EAST}\n", "")
    change(
        repository, "catalog/clusters.yaml", "  inventory: catalog/inventory/prod-west.yaml\n", ""
    )
    assert invoke(["check", "-C", str(repository)]) == 0
    assert "(level intent)\n" in capsys.readouterr().err


def test_colour_and_files(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["place", "vision/train-x8", "-C", str(repository)]
    file = tmp_path / "place.txt"
    assert invoke([*arguments, "-o", f"text={file}", "--color", "always"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("\x1b[1mprofile vision/train-x8 on prod-east: ")
    assert "  \x1b[32myes\x1b[0m\n" in shown
    assert "  \x1b[31mno: type is " in shown
    assert re.sub(r"\x1b\[[0-9;]*m", "", shown) == file.read_text()
