"""tests/policy/ as tests: what is read, and what is said of files that hold none."""

from __future__ import annotations

from pathlib import Path

import pytest

from dracfg.policytest.load import load_tests

HEAD = """\
apiVersion: dracfg.dev/v1alpha1
kind: PolicyTest
metadata: {name: NAME}
spec:
  cluster: east
  user: ann
  operation: CREATE
  expect: allow
"""
POD = "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: []}}"


def write(root: Path, **files: str) -> None:
    folder = root / "tests" / "policy"
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text)


def test_several_tests_of_a_file(tmp_path: Path) -> None:
    one = HEAD.replace("NAME", "one") + f"  object: {POD}\n"
    two = HEAD.replace("NAME", "two") + f"  object: {POD}\n  used: {{pods: 3}}\n"
    write(tmp_path, pods=f"{one}---\n{two}")
    loaded = load_tests(tmp_path)
    assert loaded.findings == ()
    assert [test.name for test in loaded.tests] == ["one", "two"]
    assert loaded.tests[0].object == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web"},
        "spec": {"containers": []},
    }


def test_an_object_in_a_file_beside_the_test_is_no_test(tmp_path: Path) -> None:
    write(tmp_path, test=HEAD.replace("NAME", "a") + "  objectFile: pod.yaml\n", pod=POD)
    loaded = load_tests(tmp_path)
    assert loaded.findings == ()
    assert loaded.tests[0].object is not None
    assert loaded.tests[0].object["kind"] == "Pod"


@pytest.mark.parametrize(
    ("lines", "code", "line", "words"),
    [
        ("", "MOD005", 4, "either object or objectFile"),
        (f"  object: {POD}\n  objectFile: pod.yaml\n", "MOD005", 4, "either object or objectFile"),
        ("  objectFile: gone.yaml\n", "SRC001", 9, "tests/policy/gone.yaml"),
        ("  object: {kind: Pod}\n", "MOD005", 9, "apiVersion, kind and metadata"),
        (f"  object: {POD}\n  expcet: deny\n", "MOD004", 10, "expcet"),
        (f"  object: {POD}\n  rule: ten3\n", "MOD007", 10, "rule"),
        (f"  object: {POD}\n  used: {{pods: -1}}\n", "MOD007", 10, "pods"),
    ],
)
def test_faults_stand_at_their_place(
    tmp_path: Path, lines: str, code: str, line: int, words: str
) -> None:
    write(tmp_path, test=HEAD.replace("NAME", "a") + lines)
    loaded = load_tests(tmp_path)
    assert loaded.tests == ()
    (finding,) = loaded.findings
    assert finding.span is not None
    assert (finding.code, finding.span.line) == (code, line)
    assert words in finding.message


def test_a_name_stands_once(tmp_path: Path) -> None:
    text = HEAD.replace("NAME", "a") + f"  object: {POD}\n"
    write(tmp_path, one=text, two=text)
    assert [finding.code for finding in load_tests(tmp_path).findings] == ["REF002"]


def test_a_repository_without_tests(tmp_path: Path) -> None:
    assert load_tests(tmp_path).tests == load_tests(tmp_path).findings == ()
