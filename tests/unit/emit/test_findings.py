"""OBJ006 to OBJ008: what lies below out/ that dracfg did not write, and what only looks so."""

from pathlib import Path

import pytest

from dracfg.emit.apply import apply
from dracfg.emit.findings import tree_findings
from dracfg.emit.tree import UnitFiles, plan

LABELLED = b"kind: A\nmetadata:\n  labels:\n    app.kubernetes.io/managed-by: dracfg\n"
UNITS = [UnitFiles("prod-east/guard", {"quotas.yaml": LABELLED})]
MORE = [UnitFiles("prod-east/guard", {"quotas.yaml": LABELLED, "new.yaml": LABELLED})]


@pytest.mark.parametrize(
    ("path", "content", "units", "expected"),
    [
        ("notes.txt", b"mine", UNITS, ["OBJ006 out/notes.txt"]),
        ("prod-east/guard/mine.yaml", b"kind: A\n", UNITS, ["OBJ007 out/prod-east/guard/mine.yaml"]),
        ("prod-east/guard/new.yaml", b"kind: A\n", MORE, ["OBJ008 out/prod-east/guard/new.yaml"]),
        ("prod-east/guard/new.yaml", LABELLED, MORE, []),
        (None, b"", MORE, []),
    ],
)  # fmt: skip
def test_foreign_files(
    tmp_path: Path, path: str | None, content: bytes, units: list[UnitFiles], expected: list[str]
) -> None:
    out = tmp_path / "out"
    apply(plan(out, UNITS))
    if path is not None:
        (out / path).write_bytes(content)
    found = tree_findings(plan(out, units))
    assert [f"{one.code} {one.span.path}" for one in found if one.span] == expected
    assert all(one.help for one in found)
