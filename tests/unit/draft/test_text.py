"""Texts of a cluster in YAML, comments and Markdown; names; lines and their numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from dracfg.diagnostics import Diagnostic
from dracfg.draft.scalars import code, label, scalar, shown, unique
from dracfg.kube.names import check_dns_label
from tests.unit.draft.conftest import deployment, files, node


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("NVIDIA-H100-80GB-HBM3", "NVIDIA-H100-80GB-HBM3"),
        ("NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-40GB"),
        ("1g.5gb", "1g.5gb"),
        ("1e3", '"1e3"'),
        ("0x10", '"0x10"'),
        ("8", '"8"'),
        ("No", '"No"'),
        ("", '""'),
        ("a: b", '"a: b"'),
        ("a #b", '"a #b"'),
        ("{a}", '"{a}"'),
        ('say "x"', '"say \\"x\\""'),
        ("a\u202eb", '"a\\u202eb"'),
    ],
)
def test_scalars(text: str, written: str) -> None:
    assert scalar(text) == written


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_scalar_reads_back(text: str) -> None:
    assert yaml.safe_load(f"{{key: {scalar(text)}}}") == {"key": text}


@given(st.text())
def test_a_comment_is_one_line(text: str) -> None:
    assert len(shown(text).splitlines()) <= 1


@pytest.mark.parametrize(
    ("text", "written"),
    [("a|b", "`a\\|b`"), ("`x`", "`'x'`"), ("a\n# b", "`a # b`")],
)
def test_code(text: str, written: str) -> None:
    assert code(text) == written


@given(st.lists(st.text(max_size=80), max_size=8))
def test_names_are_labels_and_differ(texts: list[str]) -> None:
    taken: set[str] = set()
    names = [unique(label(text, "x"), taken) for text in texts]
    assert len(set(names)) == len(names)
    assert all(check_dns_label(name) is None for name in names)


HOSTILE = 'x"}\n---\nkind: Evil # `<script>`'


def test_hostile_texts_stay_in_their_place(
    errors_in: Callable[[Mapping[str, str]], list[Diagnostic]],
) -> None:
    work: dict[str, Any] = deployment(HOSTILE, {"nvidia.com/gpu": 1})
    labels = {"nvidia.com/gpu.product": HOSTILE, "node-pool": HOSTILE}
    written = files(node("n1", {"nvidia.com/gpu": 4}, labels), work)
    assert errors_in(written) == []
    for name, text in written.items():
        if name.endswith(".yaml"):
            assert all(one["kind"] != "Evil" for one in yaml.safe_load_all(text))
        assert "\nkind: Evil" not in text


def test_each_decision_stands_above_its_line() -> None:
    written = files(node("n1", {"nvidia.com/gpu": 4}), deployment("d", {"nvidia.com/gpu": 9}))
    placed = re.findall(r"^(\d+)\. `([^`:]+):(\d+)`: (.*)$", written["DECISIONS.md"], re.MULTILINE)
    assert placed
    for number, path, line, question in placed:
        lines = written[path].split("\n")
        above = lines[: int(line) - 1]
        assert any(f"# decide {number}: {question}" in one for one in above)
        assert not lines[int(line) - 1].lstrip().startswith("# decide")
    numbers = [int(one) for one in re.findall(r"^(\d+)\. ", written["DECISIONS.md"], re.MULTILINE)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) == len(placed)
