"""What is promised without a proof is counted, and makes the verdict unknown."""

from pathlib import Path

from dracfg.pipeline import judge

GOLDEN = Path(__file__).parents[2] / "golden"


def test_a_promise_is_not_a_proof() -> None:
    judged = judge(GOLDEN / "aligned")
    assert judged.unproven == 2
    assert not judged.findings
    assert judged.verdict == "unknown"


def test_nothing_promised_needs_no_proof(tmp_path: Path) -> None:
    for folder in ("catalog", "tenants"):
        (tmp_path / folder).mkdir()
        for file in (GOLDEN / "aligned" / folder).glob("*.yaml"):
            text = file.read_text().replace("guaranteed: 8", "guaranteed: 0")
            (tmp_path / folder / file.name).write_text(text)
    judged = judge(tmp_path)
    assert judged.unproven == 0
    assert judged.verdict == "proven"
