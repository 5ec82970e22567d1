"""What is promised is proven, and what is left open makes the verdict unknown."""

from pathlib import Path

import yaml

from dracfg.pipeline import judge

GOLDEN = Path(__file__).parents[2] / "golden"
PROVEN = Path(__file__).parents[2] / "cases" / "_base" / "proofs.yaml"


def test_promises_that_hold_are_proven(tmp_path: Path) -> None:
    for name, text in yaml.safe_load(PROVEN.read_text())["files"].items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    judged = judge(tmp_path)
    assert judged.unproven == 0
    assert not judged.findings
    assert judged.verdict == "proven"


def test_claims_that_are_not_proven_together_are_unknown() -> None:
    """Each guarantee is proven, but nothing says on which PCIe roots the devices sit.

    That the cards differ is not compared in 1.34, which is a finding of its own.
    """
    judged = judge(GOLDEN / "aligned")
    assert {finding.code for finding in judged.findings} == {"CAP051", "VER051"}
    assert judged.unproven == 0
    assert judged.verdict == "unknown"


def changed(tmp_path: Path, old: str, new: str) -> Path:
    for folder in ("catalog", "tenants"):
        (tmp_path / folder).mkdir()
        for file in (GOLDEN / "aligned" / folder).glob("*.yaml"):
            (tmp_path / folder / file.name).write_text(file.read_text().replace(old, new))
    return tmp_path


def test_promises_that_do_not_hold_are_refuted(tmp_path: Path) -> None:
    judged = judge(changed(tmp_path, "guaranteed: 8", "guaranteed: 800"))
    assert {finding.code for finding in judged.findings} >= {"CAP040"}
    assert judged.verdict == "refuted"


def test_what_is_left_open_is_unknown(tmp_path: Path) -> None:
    root = changed(tmp_path, "  kubernetes:", "  unmanagedNamespaces: warn\n  kubernetes:")
    judged = judge(root)
    assert {finding.code for finding in judged.findings} == {"CAP045", "VER051"}
    assert judged.unproven == 2
    assert judged.verdict == "unknown"
