"""`dracfg rollout status --record`: for a rebalance, and for nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dracfg.cli.main import invoke
from tests.unit.rollout.rebalanced import Lab, write_repository

WHOLE = {
    "subject: rebalance\n  sharing: slices\n  version: ab44fd19\n": "subject: deviceMetadata\n"
}


def status(root: Path, *arguments: str) -> int:
    return invoke(["rollout", "status", "slices-to-8gi", "-C", str(root), *arguments])


BEFORE = {
    "{min: 8Gi, step: 4Gi, max: 40Gi}": "{min: 10Gi, step: 5Gi, max: 40Gi}",
    "maxShares: 5": "maxShares: 4",
    "sizes: [8Gi, 20Gi]": "sizes: [10Gi, 20Gi]",
    "{8Gi: 4, 20Gi: 1}": "{10Gi: 4, 20Gi: 1}",
    "size: 8Gi": "size: 10Gi",
    "revision: 2, ": "",
}
"""The repository before its policy got new numbers."""


def test_from_the_change_of_a_policy_to_the_plan(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_repository(tmp_path, BEFORE, only=("catalog/platform", "tenants/"))
    assert invoke(["compile", "-C", str(tmp_path), "-q"]) == 0
    versions = tmp_path / "out/lab/platform/policy-versions.yaml"
    old = versions.read_text(encoding="utf-8").split("name: policy-slices-")[1][:8]
    write_repository(tmp_path, only=("catalog/platform", "tenants/"))
    assert invoke(["compile", "-C", str(tmp_path), "-q"]) == 0
    write_repository(tmp_path, only=("catalog/rollout",))
    assert invoke(["check", "-C", str(tmp_path), "-q"]) == 0
    lab = Lab()
    lab.work("train", "one-1", pods=2, version=old)
    record = str(lab.write(tmp_path / "record.json"))
    assert status(tmp_path, "--record", record) == 0
    said = capsys.readouterr().out
    assert f"2 claims to be made anew from {old} (2)" in said
    assert "$ dracfg migrate workload <manifest of Job train> --bump --in-place" in said
    assert "each pool" not in said


def test_several_files_are_one_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_repository(tmp_path)
    lab = Lab()
    lab.work("train", "one-1")
    everything, last = lab.objects, lab.objects[-1]
    lab.objects = [last]
    claims = lab.write(tmp_path / "claims.json")
    lab.objects = everything[:-1]
    rest = lab.write(tmp_path / "rest.json")
    given = ["--record", str(claims), "--record", str(rest)]
    assert status(tmp_path, *given, "--format", "json") == 0
    plan = json.loads(capsys.readouterr().out)["rebalance"]
    assert [step["name"] for step in plan["steps"]] == ["train"]
    assert plan["steps"][0]["claims"][0]["before"][0]["consumedCapacity"] == {"memory": "10Gi"}


def test_without_a_record_there_is_no_plan(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(write_repository(tmp_path), "--format", "json") == 0
    assert "rebalance" not in json.loads(capsys.readouterr().out)


def test_what_a_record_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = str(Lab().write(tmp_path / "record.json"))
    assert status(write_repository(tmp_path), "--record", record) == 3
    assert "the record holds no ResourceClaim, no Pod" in capsys.readouterr().err


def test_no_record_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "record.json").write_text("{}", encoding="utf-8")
    record = str(tmp_path / "record.json")
    assert status(write_repository(tmp_path), "--record", record) == 3
    assert "is no record" in capsys.readouterr().err


def test_another_subject_has_no_use_for_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = str(Lab().write(tmp_path / "record.json"))
    assert status(write_repository(tmp_path, WHOLE), "--record", record) == 3
    assert "moves deviceMetadata" in capsys.readouterr().err
