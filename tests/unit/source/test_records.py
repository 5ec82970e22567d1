"""Dumps are read as Kubernetes reads them, and places are found again."""

import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dracfg.source import records
from dracfg.source.kubeyaml import resolve_as_kubernetes
from dracfg.source.records import ANSWER, parse_record, read_record


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0000:17:00.0", "0000:17:00.0"),
        ("12:30", "12:30"),
        ("190:20:30", "190:20:30"),
        ("2026-11-29", "2026-11-29"),
        ("2025-01-21T18:49:28Z", "2025-01-21T18:49:28Z"),
        ("no", False),
        ("on", True),
        ("y", True),
        ("No", False),
        ("nO", "nO"),
        ("true", True),
        ("~", None),
        ("", None),
        ("0644", 0o644),
        ("0o644", 0o644),
        ("-010", -8),
        ("08", 8),
        ("0x1F", 31),
        ("0b101", 5),
        ("1_000", 1000),
        ("_1", "_1"),
        ("1e3", 1000),
        ("1.0", 1),
        ("1.5", Decimal("1.5")),
        (".5", Decimal("0.5")),
        ("1e-400", 0),
        ("1e400", "1e400"),
        ("1e99999999999999999999", "1e99999999999999999999"),
        ("18446744073709551615", 2**64 - 1),
        ("123456789012345678901234567890", Decimal("123456789012345678901234567890")),
        ("1e", "1e"),
        ("40Gi", "40Gi"),
        ("8.0.0", "8.0.0"),
        ("580.126.20", "580.126.20"),
        ("-", "-"),
        ("0x", "0x"),
    ],
)
def test_plain_scalars_mean_what_kubernetes_takes_them_for(text: str, value: object) -> None:
    got = resolve_as_kubernetes(text)
    assert (type(got), got) == (type(value), value)


@pytest.mark.parametrize("text", [".inf", "-.Inf", "+.INF", ".nan", ".NaN"])
def test_a_number_without_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no number"):
        resolve_as_kubernetes(text)
    _, faults = parse_record("d.yaml", f"kind: A\nx: {text}\n")
    assert [(f.code, f.span.line if f.span else 0) for f in faults] == [("SRC006", 2)]


def kinds(text: str) -> list[str]:
    record, faults = parse_record("d.yaml", text)
    assert not faults
    return [item.data["kind"] for item in record.objects]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kind: A\n", ["A"]),
        ("kind: A\n---\n---\nkind: B\n...\n", ["A", "B"]),
        ('kind: A\n---\n{"status": "success", "data": {"resultType": "vector"}}\n', ["A", ANSWER]),
        ('{"data": {"resultType": "matrix"}}\n{"kind": "A"}', [ANSWER, "A"]),
        ("kind: List\nitems: []\n", []),
        ("kind: List\nitems: null\n", []),
        (
            "kind: List\nitems: [{kind: A}, {kind: List, items: [{kind: B}]}, {kind: C}]\n",
            ["A", "B", "C"],
        ),
        ("apiVersion: g/v1\nkind: WordList\nitems: [{}, {kind: Other}]\n", ["Word", "Other"]),
        ("kind: AllowList\nspec: {}\n", ["AllowList"]),
        ('{"kind": "A"}', ["A"]),
        ('\n{"kind": "A"}\n{"kind": "B"}\n', ["A", "B"]),
        ('{"kind": "List", "items": [{"kind": "A"}]}', ["A"]),
        ("{kind: A}", ["A"]),
    ],
)
def test_documents_and_lists_are_read_one_by_one(text: str, expected: list[str]) -> None:
    assert kinds(text) == expected


def test_items_of_a_typed_list_inherit_their_version() -> None:
    record, _ = parse_record("d", "apiVersion: g/v1\nkind: WordList\nitems: [{spec: 1}]\n")
    assert record.objects[0].data == {"apiVersion": "g/v1", "kind": "Word", "spec": 1}


@pytest.mark.parametrize(
    "text",
    ["kind: A\na: null\nb: {c: ~, d: 1}\n", '{"kind": "A", "a": null, "b": {"c": null, "d": 1}}'],
)
def test_nulls_are_left_out(text: str) -> None:
    record, faults = parse_record("d", text)
    assert (record.objects[0].data, faults) == ({"kind": "A", "b": {"d": 1}}, ())


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<<: *b\nz: 3\n", {"x": 1, "z": 3}),
        ("z: 3\n<<: *b\n", {"x": 1, "z": 2}),
        ("<<: [*c, *b]\n", {"x": 9, "z": 2}),
        ('"<<": text\n', {"<<": "text"}),
    ],
)
def test_a_merge_key_takes_effect_where_it_stands(body: str, expected: object) -> None:
    head = "kind: A\nb: &b {x: 1, z: 2}\nc: &c {x: 9}\nm:\n"
    text = head + "".join(f"  {line}\n" for line in body.splitlines())
    record, faults = parse_record("d", text)
    assert (record.objects[0].data["m"], faults) == (expected, ())


def test_keys_become_text() -> None:
    record, _ = parse_record("d", "kind: A\nm: {1: a, yes: b, 0x10: c}\n")
    assert record.objects[0].data["m"] == {"1": "a", "true": "b", "16": "c"}


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("kind: A\nkind: B\n", "SRC007", 2),
        ('{"kind": "A",\n "kind": "B"}', "SRC007", 2),
        ("kind: A\nx: [1\n", "SRC005", 3),
        ("kind: A\nx: *gone\n", "SRC009", 2),
        ("kind: A\nx: &x\n  y: *x\n", "SRC009", 3),
        ("kind: A\n? {a: b}\n: c\n", "SRC008", 2),
        ("kind: A\n~: c\n", "SRC008", 2),
        ("kind: A\nx: !thing y\n", "SRC012", 2),
        ("kind: A\nm: {<<: text}\n", "SRC012", 2),
        ("kind: A\nx: " + "[" * 70, "SRC011", 2),
        ("kind: A\nx: " + "[" * 50_000, "SRC005", 2),
        ('{"kind": ' + '{"a":' * 5_000, "SRC011", 1),
        ("", "SRC015", 1),
        ("# nothing\n", "SRC015", 1),
        ("- kind: A\n", "SRC017", 1),
        ("text\n", "SRC017", 1),
        ("kind: List\nitems:\n- kind: A\n- 5\n", "SRC017", 1),
        ("kind: List\nitems:\n- kind: A\n- name: x\n", "SRC017", 4),
        ('{"kind": "A", "x": "\\ud800"}', "SRC005", 1),
        ("kind: A\x07\n", "SRC005", 1),
    ],
)
def test_every_fault_is_a_finding(text: str, code: str, line: int) -> None:
    _, faults = parse_record("dump.yaml", text)
    assert [fault.code for fault in faults] == [code]
    span = faults[0].span
    assert span is not None
    assert (span.path, span.line) == ("dump.yaml", line)


def test_a_fault_spares_the_documents_before_it() -> None:
    record, faults = parse_record("d", "kind: A\n---\nkind: [\n")
    assert [item.data["kind"] for item in record.objects] == ["A"]
    assert [fault.code for fault in faults] == ["SRC005"]


def test_aliases_may_not_blow_a_file_up() -> None:
    lines = ["kind: A", "a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    _, faults = parse_record("d", "\n".join(lines))
    assert [fault.code for fault in faults] == ["SRC010"]


YAML_DUMP = """\
# é before everything
apiVersion: v1
kind: List
items:
- kind: Ünder
  spec: {name: ä, list: [1, two]}
- kind: B
  base: &base {deep: 7}
  spec:
    x.y/z:
      value: 40Gi
    merged:
      <<: {inner: 1}
    list:
    - first
    - name: second
      block: |
        text
---
kind: C
spec: {a: 1}
"""
JSON_DUMP = json.dumps(
    {
        "kind": "List",
        "items": [
            {"kind": "Ünder", "spec": {"name": "ä", "list": [1, "two"]}},
            {
                "kind": "B",
                "spec": {"x.y/z": {"value": "40Gi"}, "list": ["first", {"name": "second"}]},
            },
        ],
    },
    indent=4,
    ensure_ascii=False,
)


@pytest.mark.parametrize(
    ("text", "index", "steps", "key", "shown"),
    [
        (YAML_DUMP, 0, ("spec", "name"), False, "ä"),
        (YAML_DUMP, 0, ("spec", "list", 1), False, "two"),
        (YAML_DUMP, 0, ("kind",), True, "kind"),
        (YAML_DUMP, 1, ("spec", "x.y/z", "value"), False, "40Gi"),
        (YAML_DUMP, 1, ("spec", "x.y/z"), True, "x.y/z"),
        (YAML_DUMP, 1, ("spec", "merged", "inner"), False, "1"),
        (YAML_DUMP, 1, ("spec", "list", "1", "name"), False, "second"),
        (YAML_DUMP, 1, ("spec", "list", 1), False, "name: second"),
        (YAML_DUMP, 1, ("spec", "list", 9, "name"), True, "list"),
        (YAML_DUMP, 1, ("spec", "list", 1, "block"), False, "|"),
        (YAML_DUMP, 1, (), False, "kind: B"),
        (YAML_DUMP, 2, ("spec", "a"), False, "1"),
        (JSON_DUMP, 0, ("spec", "name"), False, '"ä"'),
        (JSON_DUMP, 1, ("spec", "x.y/z", "value"), False, '"40Gi"'),
        (JSON_DUMP, 1, ("spec", "list", 1, "name"), True, '"name"'),
    ],
)
def test_a_value_is_found_again(
    text: str, index: int, steps: tuple[str | int, ...], key: bool, shown: str
) -> None:
    record, faults = parse_record("d", text)
    assert not faults
    span = record.objects[index].span(*steps, key=key)
    line = text.split("\n")[span.line - 1]
    assert (
        line[span.column - 1 : span.end_column - 1 if span.end_line == span.line else None] == shown
    )


def test_the_second_of_two_json_objects_is_found() -> None:
    text = '{"kind": "A"}\n  {"kind": "B",\n "x": 5}\n'
    record, _ = parse_record("d", text)
    span = record.objects[1].span("x")
    assert (span.line, span.column, span.end_column) == (3, 7, 8)


def test_an_alias_to_outside_its_object_still_has_a_line() -> None:
    record, _ = parse_record("d", "kind: List\nx: &x 5\nitems:\n- kind: A\n  z: *x\n")
    assert record.objects[0].data["z"] == 5
    assert record.objects[0].span("z").line == 4


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (None, "SRC001"),
        (b"kind: \xff\n", "SRC003"),
        ("kind: A\n".encode("utf-16"), "SRC003"),
        (b"kind: A\n" + b"#" * 100, "SRC003"),
    ],
)
def test_bytes_that_are_no_dump(
    data: bytes | None, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "MAX_BYTES", 64)
    if data is not None:
        (tmp_path / "d.yaml").write_bytes(data)
    record, faults = read_record(tmp_path, "d.yaml")
    assert (record.objects, [fault.code for fault in faults]) == ((), [code])


def test_a_byte_order_mark_and_crlf_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "d.yaml").write_bytes("\ufeffkind: A\r\nx: 1\r\n".encode())
    record, faults = read_record(tmp_path, "d.yaml")
    assert (record.objects[0].data, faults) == ({"kind": "A", "x": 1}, ())
    assert record.objects[0].span("x").line == 2


def test_a_folder_is_no_dump(tmp_path: Path) -> None:
    assert [fault.code for fault in read_record(tmp_path, ".")[1]] == ["SRC001"]


YAMLISH = st.text(alphabet=list("ab:-?&*<>|[]{},'\"#%!~ \n\t0.1xeé\x00\u2028"), max_size=60)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(["", "kind: A\n", "kind: List\nitems:\n- ", '{"kind": "A", ']), YAMLISH)
def test_no_text_raises(head: str, tail: str) -> None:
    record, _ = parse_record("d", head + tail)
    for item in record.objects:
        assert item.span("a", 0, "b").path == "d"
        assert None not in item.data.values()


TEXT = st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(TEXT, VALUES, max_size=3))
def test_json_and_yaml_of_one_object_agree(body: dict[str, object]) -> None:
    made = {"kind": "A", "spec": body}
    for head in ("", "---\n"):
        record, faults = parse_record("d", head + json.dumps(made))
        assert (record.objects[0].data, faults) == (made, ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"data": {"resultType": "vector"}}', True),
        ('{"data": {"resultType": "vector"}}\n{"kind": "Node"}', False),
        ("kind: Node\n", False),
        ("", False),
    ],
)
def test_a_record_of_answers_alone_is_told_apart(text: str, expected: bool) -> None:
    record, _ = parse_record("d.yaml", text)
    assert record.is_measured is expected


def test_the_place_of_a_series() -> None:
    text = '{"data": {"resultType": "vector",\n"result": [{},\n{"metric": {}}]}}\n'
    record, _ = parse_record("d.json", text)
    span = record.objects[0].span("data", "result", 1, "metric")
    assert (span.line, span.column) == (3, 12)
