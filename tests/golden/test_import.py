"""Drafts of recorded clusters, file by file.

`--update-golden` writes the expectations anew; they are reviewed as output.
"""

from pathlib import Path

import pytest

from dracfg.cli.main import invoke

HERE = Path(__file__).parent
DATA = HERE.parent / "data"
CASES = {
    "fleet": ("legacy/fleet/*.yaml",),
    "parts": (
        "legacy/legacy-nodes/*.yaml",
        "legacy/legacy-nvidia/*.yaml",
        "real/legacy-kai/*.yaml",
    ),
    "virtual-functions": (
        "legacy/legacy-nodes/node-sriov-ddp.yaml",
        "legacy/legacy-sriov/*.yaml",
        "real/legacy-sriov/*.yaml",
    ),
}


def tree(root: Path) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("case", CASES)
def test_draft(
    case: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(DATA)
    dumps = [path.as_posix() for glob in CASES[case] for path in sorted(Path().glob(glob))]
    expected = HERE / "import" / case
    out = tmp_path / "draft"
    assert invoke(["import", "cluster", *dumps, "-o", str(out), "--cluster", "lab", "-q"]) == 0
    found = tree(out)
    if request.config.getoption("--update-golden"):
        for path in expected.rglob("*.*") if expected.is_dir() else ():
            path.unlink()
        for name, text in found.items():
            (expected / name).parent.mkdir(parents=True, exist_ok=True)
            (expected / name).write_text(text, encoding="utf-8")
    assert found == tree(expected)
