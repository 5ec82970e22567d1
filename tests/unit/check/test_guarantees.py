"""What is promised is proven, and what is left open makes the verdict unknown."""

from pathlib import Path

from dracfg.pipeline import judge

GOLDEN = Path(__file__).parents[2] / "golden"


def test_promises_that_hold_are_proven() -> None:
    judged = judge(GOLDEN / "aligned")
    assert judged.unproven == 0
    assert not judged.findings
    assert judged.verdict == "proven"


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
    assert {finding.code for finding in judged.findings} == {"CAP045"}
    assert judged.unproven == 2
    assert judged.verdict == "unknown"
