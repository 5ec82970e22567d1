"""What device plugins leave behind, as published: every draft of it compiles, alone and together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from dracfg.diagnostics import Diagnostic
from dracfg.draft.asks import asked_names
from dracfg.draft.draft import draft_of
from dracfg.draft.recording import read_recording
from dracfg.source.records import Record
from tests.unit.draft.conftest import DATA, PUBLISHED, files_of, folders, node, read, record

Check = Callable[[Mapping[str, str]], list[Diagnostic]]
FOLDERS = folders()
SLICES = DATA / "slices"


@pytest.mark.parametrize(
    "path", sorted(PUBLISHED), ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_each_file(path: Path, errors_in: Check) -> None:
    assert errors_in(files_of(*read([path]))) == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_folder_beside_the_nodes(folder: str, errors_in: Check) -> None:
    paths = [*FOLDERS["legacy-nodes"], *(FOLDERS[folder] if folder != "legacy-nodes" else ())]
    assert errors_in(files_of(*read(paths))) == []


def test_all_together(errors_in: Check) -> None:
    paths = [path for listed in FOLDERS.values() for path in listed]
    assert errors_in(files_of(*read(paths))) == []


@pytest.mark.parametrize("folder", sorted(path.name for path in SLICES.iterdir() if path.is_dir()))
def test_each_folder_of_slices_is_checked_against_them(folder: str, errors_in: Check) -> None:
    written = files_of(*read(sorted((SLICES / folder).glob("*.[yj]*"))))
    is_told = "slices that could not be read" in written["DECISIONS.md"]
    assert "catalog/inventory/lab.json" in written or is_told
    assert errors_in(written) == []


def on_nodes(records: list[Record], version: str) -> list[Record]:
    """The same work in a tenant's namespace, and two node groups that serve all that it asks for."""
    for one in records:
        for item in one.objects:
            if item.data["kind"] != "Node" and isinstance(item.data.get("metadata"), dict):
                item.data["metadata"]["namespace"] = "team"
    names = asked_names(read_recording(records)[0])
    groups = [
        node(
            f"{group}-{number}",
            dict.fromkeys(sorted(names), 8),
            {
                "node-pool": group,
                "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
                "amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM",
            },
            version,
        )
        for group in ("a", "b")
        for number in (1, 2)
    ]
    return [*records, record(*groups, path="groups.yaml")]


@pytest.mark.parametrize("version", ["v1.30.9-gke.1", "v1.34.0", "v1.37.1+k3s1"])
@pytest.mark.parametrize("folder", FOLDERS)
def test_each_folder_on_nodes_that_serve_it(folder: str, version: str, errors_in: Check) -> None:
    records, faults = read(FOLDERS[folder])
    assert errors_in(files_of(on_nodes(records, version), faults)) == []


def test_the_same_bytes_each_time() -> None:
    paths = FOLDERS["fleet"]
    assert files_of(*read(paths)) == files_of(*read(paths))


def test_names_of_files_that_are_no_objects_are_not_told_as_faults() -> None:
    records, faults = read(FOLDERS["legacy-nvidia"])
    assert [fault.code for fault in faults] == ["SRC017"] * 3
    recording, left = read_recording(records, faults)
    assert left == ()
    assert {one.strategy for one in recording.plugins.replicas} == {"timeSlicing", "mps"}


def test_the_fleet() -> None:
    recording = read_recording(*read(FOLDERS["fleet"]))[0]
    draft = draft_of(recording, "Fleet of 2026")
    assert draft.cluster.name == "fleet-of-2026"
    assert (draft.cluster.minor, draft.cluster.distribution) == ("1.36", "eks")
    assert [(one.word, one.tier) for one in draft.verdicts] == [
        ("stay", "vpc-efa"),
        ("move", "nvidia-h100-80gb-hbm3"),
        ("stay", "tesla-t4"),
    ]
    needs = {(need.namespace, need.tier): (need.asked, need.limit) for need in draft.needs}
    assert needs["research", "nvidia-h100-80gb-hbm3"] == (14, 16)
    assert needs["serving", "nvidia-h100-80gb-hbm3"] == (6, 6), "pods of a Deployment count once"


@pytest.mark.parametrize(
    "standing",
    [
        "start\n  phase: fenced",
        "canary",
        "canary\n  phase: fenced",
        "everyone",
        "everyone\n  direction: rollback",
        "canary\n  direction: rollback",
    ],
)
def test_a_drafted_rollout_can_be_walked(standing: str, errors_in: Check) -> None:
    written = files_of(*read(FOLDERS["fleet"]))
    drafted = written["catalog/rollouts.yaml"]
    walked = drafted.replace("stage: start   # nothing has moved", f"stage: {standing}")
    assert walked != drafted
    assert errors_in({**written, "catalog/rollouts.yaml": walked}) == []
