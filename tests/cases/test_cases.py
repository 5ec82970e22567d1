"""Every case: a small repository in, exactly the findings that the case lists out.

A case is a YAML file `<family>/<name>.yaml` beside this module:

about     one line: what is wrong, or why nothing is
near      codes that the case comes close to, at a place where they are not found
base      a repository of `_base/` that the files are laid over
patch     path → list of {replace, with}; each text must stand in the base exactly once
files     path → text
bytes     path → hexadecimal digits, for files that aren't text
links     path → where a symbolic link leads
inventory path → cluster or null, records that are given from outside
today     the day that waivers are held against
repeat    path → {text, times}, for large files
findings  list of {code, file, line, column, message}, all that are to be found; `message` is a part
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from dracfg.diagnostics import Diagnostic, Span
from dracfg.diagnostics.registry import rules
from dracfg.pipeline import InventoryFile, judge

CASES = Path(__file__).parent
FAMILIES = ("CAP", "MET", "MOD", "OWN", "REF", "ROL", "SEL", "SHR", "SRC", "TEN")
OF_OUTPUT = ("OBJ", "VER")
"""Mostly of objects that come out of a repository; looked for in cases of these families alone."""
OF_INVENTORY = "INV"
"""Of recorded and modelled devices; looked for in cases of this family alone."""
OF_RECORDS = {f"INV{number:03}" for number in (*range(1, 18), *range(30, 36))}
"""Of the records themselves: tripped in tests/unit/allocate, and by no case."""
OF_MANIFESTS = {"INV052", "INV053", "INV055", "VER050"}
"""Of what is only asked about: tripped in tests/unit/check/test_real_manifests.py."""
OF_OBJECTS = {
    *(f"OBJ{number:03}" for number in range(1, 20)),
    "OBJ025",
    "OBJ026",
    *(f"VER{number:03}" for number in range(1, 13) if number not in (7, 8)),
}
"""Tripped in tests/unit/check/emitted, and by no case."""
OF_ADMISSION = {
    *(f"TEN{number:03}" for number in range(3, 8)),
    *(f"TEN{number:03}" for number in range(20, 28)),
    *(f"TEN{number:03}" for number in range(30, 39)),
    *(f"TEN{number:03}" for number in range(40, 48)),
}
"""Refusals of the emitted policies: tripped in tests/unit/lower/admission, and by no case."""
OF_PROOFS = {f"CAP{number:03}" for number in range(40, 90)}
"""Of what devices carry together; looked for in cases that name one of them."""
NOT_BY_FILES = {
    "SRC001": "needs a file that can't be read, see test_unreadable_file",
    "SRC016": "is about out/, not about the input",
    "SRC017": "is about recorded cluster state, not about the input",
    "TEN019": "is about out/, see tests/unit/test_pipeline.py",
    "TEN050": "is about roles that dracfg emits, see tests/unit/check/test_leastprivilege.py",
    "TEN051": "the same",
    "TEN052": "the same",
    "TEN053": "the same",
}
OF_WORKLOADS = {f"ROL{number:03}" for number in range(40, 60)}
"""Of manifests that are rewritten, tripped in tests/unit/migrate."""
OF_METADATA_FILES = {f"MET{number:03}" for number in range(30, 51)}
"""Of files that drivers write, tripped in tests/unit/metafiles."""
ELSEWHERE = (
    OF_METADATA_FILES
    | OF_WORKLOADS
    | set(NOT_BY_FILES)
    | OF_OBJECTS
    | OF_RECORDS
    | OF_MANIFESTS
    | OF_ADMISSION
)

NOTHING: Mapping[str, Any] = {}
PATHS = sorted(path for path in CASES.glob("*/*.yaml") if path.parent.name != "_base")


def read(path: Path) -> dict[str, Any]:
    """A case as plain data."""
    case: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return case


def build(case: Mapping[str, Any], root: Path) -> None:
    """Writes the files of a case below `root`."""
    files: dict[str, str] = {}
    if "base" in case:
        files |= read(CASES / "_base" / f"{case['base']}.yaml")["files"]
    for path, changes in case.get("patch", {}).items():
        for change in changes:
            files[path] = _replace(files[path], change["replace"], change["with"])
    files |= case.get("files", {})
    for path, repeated in case.get("repeat", {}).items():
        files[path] = repeated["text"] * repeated["times"]
    for path, text in files.items():
        _place(root, path).write_bytes(text.encode("utf-8"))
    for path, digits in case.get("bytes", {}).items():
        _place(root, path).write_bytes(bytes.fromhex(digits))
    for path, target in case.get("links", {}).items():
        _place(root, path).symlink_to(target)


def _replace(text: str, old: str, new: str) -> str:
    if text.count(old) != 1:
        raise ValueError(f"{old!r} stands {text.count(old)} times in the base, not once")
    return text.replace(old, new)


def _place(root: Path, path: str) -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


def findings(
    root: Path, family: str = "", case: Mapping[str, Any] = NOTHING
) -> tuple[Diagnostic, ...]:
    """What is found in a repository by the families that a case of one family is held to."""
    families = FAMILIES + (OF_OUTPUT if family.upper() in OF_OUTPUT else ())
    families += (OF_INVENTORY,) if family.upper() == OF_INVENTORY else ()
    given = [
        InventoryFile(root / path, cluster) for path, cluster in case.get("inventory", {}).items()
    ]
    judged = judge(root, inventories=given, today=case.get("today"))
    standing = (finding for finding in judged.findings if finding.waived is None)
    named = {*case.get("near", ()), *(wanted["code"] for wanted in case.get("findings", ()))}
    left_out = set() if named & OF_PROOFS else OF_PROOFS
    return tuple(
        finding
        for finding in standing
        if finding.code[:3] in families and finding.code not in left_out
    )


def expected(case: dict[str, Any]) -> Iterator[tuple[str, str, int, int]]:
    for finding in case["findings"]:
        yield finding["code"], finding["file"], finding["line"], finding["column"]


def place(finding: Diagnostic) -> tuple[str, str, int, int]:
    span = finding.span or Span("")
    return finding.code, span.path, span.line, span.column


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_case(path: Path, tmp_path: Path) -> None:
    case = read(path)
    build(case, tmp_path)
    found = findings(tmp_path, path.parent.name, case)
    assert sorted(map(place, found)) == sorted(expected(case))
    for wanted in case["findings"]:
        here = (wanted["code"], wanted["file"], wanted["line"], wanted["column"])
        messages = [finding.message for finding in found if place(finding) == here]
        assert any(wanted["message"] in message for message in messages), messages


@pytest.mark.parametrize("base", sorted((CASES / "_base").glob("*.yaml")), ids=lambda p: p.stem)
def test_base_has_no_finding(base: Path, tmp_path: Path) -> None:
    build(read(base), tmp_path)
    assert findings(tmp_path, "ver") == ()


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_finding_points_at_text_and_helps(path: Path, tmp_path: Path) -> None:
    """Places lie inside of the file, and what a rule over the catalog finds comes with a help."""
    case = read(path)
    build(case, tmp_path)
    for finding in findings(tmp_path, path.parent.name, case):
        spans = [finding.span, *(related.span for related in finding.related)]
        for span in spans:
            assert span is not None
            file = tmp_path / span.path
            if span.line > 1 and file.is_file() and path.parent.name != "src":
                lines = file.read_text(encoding="utf-8").split("\n")
                assert span.column <= len(lines[span.line - 1])
                assert span.end_line > span.line or span.end_column > span.column
        if finding.code[:3] in (
            "CAP",
            "INV",
            "MET",
            "OBJ",
            "OWN",
            "ROL",
            "SHR",
            "TEN",
            "SEL",
            "VER",
        ):
            assert finding.help
            assert finding.span is not None
            assert finding.span.line == finding.span.end_line


def test_every_code_is_raised_by_some_case() -> None:
    raised = {finding["code"] for path in PATHS for finding in read(path)["findings"]}
    judged = (*FAMILIES, *OF_OUTPUT, OF_INVENTORY)
    known = {code for code in rules() if code.startswith(judged)}
    assert known - raised == ELSEWHERE


def test_every_code_has_a_near_miss() -> None:
    """Beside what trips a rule stands what almost does; suites of their own hold theirs."""
    near = {code for path in PATHS for code in read(path).get("near", ())}
    judged = (*FAMILIES, *OF_OUTPUT, OF_INVENTORY)
    known = {code for code in rules() if code.startswith(judged)}
    assert known - near - ELSEWHERE == set()
    assert near <= known


def test_faults_of_several_files_are_found_in_one_run(tmp_path: Path) -> None:
    """A file that isn't YAML, one with a typo, and a fault of meaning: no one hides another."""
    case = read(CASES / "own" / "owner-of-nothing.yaml")
    build(case, tmp_path)
    (tmp_path / "tenants" / "broken.yaml").write_text("a: [\n", encoding="utf-8")
    (tmp_path / "tenants" / "typo.yaml").write_text(
        "apiVersion: dracfg.dev/v1alpha1\nkind: Tenent\n", encoding="utf-8"
    )
    found = {(finding.code, (finding.span or Span("")).path) for finding in findings(tmp_path)}
    assert found == {
        ("SRC005", "tenants/broken.yaml"),
        ("MOD003", "tenants/typo.yaml"),
        ("OWN002", "catalog/pools.yaml"),
    }


def test_unreadable_file(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads every file, whatever its mode")
    file = tmp_path / "catalog" / "drivers.yaml"
    file.parent.mkdir()
    file.write_text("", encoding="utf-8")
    file.chmod(0)
    assert [place(finding) for finding in findings(tmp_path)] == [
        ("SRC001", "catalog/drivers.yaml", 1, 1)
    ]


def test_pipe_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "catalog").mkdir()
    os.mkfifo(tmp_path / "catalog" / "drivers.yaml")
    assert "SRC001" in {finding.code for finding in findings(tmp_path)}
