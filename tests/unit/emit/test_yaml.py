"""The emitter: what it writes reads back as the same data under YAML 1.1 and 1.2."""

import enum
import io
import types

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from dracfg.emit.yaml import OPEN, Writer, dump, dump_all

NASTY = [
    *["yes", "Yes", "YES", "no", "on", "On", "off", "y", "Y", "n", "N", "true", "False"],
    *["null", "Null", "~", "", " ", "=", "<<", "-", "--", "---", "...", "?", ":", "#", "!"],
    *["&", "*", "|", ">", "%", "@", "`", "'", '"', "\\", "{}", "[]", "{", "[", ",", "}", "]"],
    *["!tag x", "&a", "*a", "0", "-1", "+1", "0777", "0o777", "0b101", "1_000", "_1", "12:30"],
    *["12:30:45", "190:20:30.15", "1e3", "1E3", "1.e+3", "1.", ".5", "-.5", "0.1", "0x1f"],
    *["0xFF", ".inf", "-.Inf", ".nan", "2024-01-01", "2024-01-01T10:00:00Z"],
    *["2024-01-01 10:00:00", "0000:17:00.0", "1.34", "1.34.2"],
    *["123e4567-e89b-12d3-a456-426614174000", "1e10-77", "10Gi", "1g.5gb", "500m", "80G", "1k"],
    *[" lead", "trail ", "a: b", "a:b", "a:", "a #b", "a#b", "a : b ? c", "- a", "? a", ": a"],
    *["# Generated", "%YAML 1.2", "--- a", "key: [a, b]", "it's", 'say "x"', "'\""],
    *["back\\slash", "tab\there", "\ttab", "cr\rx", "cr\r\nlf", "nel\u0085x", "ls\u2028x"],
    *["ps\u2029x", "\ufeffbom", "nul\u0000x", "bell\u0007", "del\u007f", "esc\u001b[0m"],
    *["zero\u200bwidth", "\u202eoverride", "\ufffe", "umlaut \u00e4\u00f6\u00fc"],
    *["\u6f22\u5b57", "🚀", "a🚀b", "\u00a0nbsp", "nbsp\u00a0", "e\u0301", "\n", "\n\n", "a\n"],
    *["a\n\n", "a\n\n\n", "\na", "\n a", "\n\na\n", " a\nb", "  a\n b\n", "a\n b", "a\nb"],
    *["a\n\nb", "a\n  \nb", "a\n  ", "a \n", "a\n ", "  \na", "a\n\tb", "\ta\nb", " \ta\nb"],
    *["a\n---\nb", "---\n", "a\n...\n", "a\n# b", "# a\nb", "- a\n- b", "a: b\nc: d\n"],
    *["\u00e9\n\u00fc", "a\r\nb", "a\u0085b\nc", "a\u2028\nb", "x\u0000\ny", "a\n\u00a0"],
    *["\u00a0\na", "'a' == \"b\"\n  && c\n"],
    *["word " * 60, "w" * 3000, "a\n" + "long " * 60 + "\nb", "a" * 200 + ": " + "b" * 200],
]

TEXT = st.one_of(
    st.sampled_from(NASTY),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.text("\n\t ab:#-'\"\\0", max_size=10),
    st.text("0123456789abcdefox_.:-+TZ ", max_size=10),
)
DATA = st.recursive(
    st.one_of(TEXT, st.integers(-(2**70), 2**70), st.booleans()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXT, inner, max_size=4)),
    max_leaves=12,
)


def read_11(text: str) -> object:
    return yaml.safe_load(text)


def read_11_c(text: str) -> object:
    return yaml.load(text, Loader=yaml.CSafeLoader)


def read_12(text: str) -> object:
    return YAML(typ="safe", pure=True).load(io.StringIO(text))


READERS = [read_11, read_11_c, read_12]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("text", NASTY)
def test_a_nasty_string_stays_itself_in_every_place(reader, text):
    for obj in (
        text,
        [text, text],
        {"k": text, "l": 1},
        {"k": [text, [text, "a"], {"k": text}]},
        {text: text, "z": [{text: [text]}]},
    ):
        assert reader(dump(obj)) == obj


@pytest.mark.parametrize("reader", READERS)
@given(data=DATA)
def test_any_data_reads_back_the_same(reader, data):
    text = dump(data)
    back = reader(text)
    assert back == data
    assert dump(back) == text


@pytest.mark.parametrize("reader", [yaml.safe_load_all, YAML(typ="safe", pure=True).load_all])
@given(objs=st.lists(DATA, min_size=1, max_size=4))
def test_a_stream_of_documents_reads_back_the_same(reader, objs):
    assert list(reader(dump_all(objs))) == objs


@given(objs=st.lists(DATA, min_size=1, max_size=4))
def test_a_writer_writes_the_same_whatever_it_wrote_before(objs):
    writer = Writer()
    assert [writer.dump_all([obj]) for obj in (*objs, *objs)] == [
        dump(obj) for obj in (*objs, *objs)
    ]


class Same(dict):
    """Maps that a writer is told to remember."""


class SameList(list):
    """Lists of the same kind."""


@given(shared=st.dictionaries(TEXT, DATA, max_size=4), objs=st.lists(DATA, min_size=1, max_size=3))
def test_what_many_documents_share_is_written_as_if_each_had_its_own(shared, objs):
    writer = Writer(shared=(Same, SameList))
    same, listed = Same(shared), SameList([shared])
    documents = [{"a": same, "b": [obj, same, listed, {"c": same, "d": listed}]} for obj in objs]
    own = [
        {"a": shared, "b": [obj, shared, [shared], {"c": shared, "d": [shared]}]} for obj in objs
    ]
    assert writer.dump_all(documents) == dump_all(own)


def test_what_is_shared_is_remembered_as_long_as_there_is_room(monkeypatch):
    monkeypatch.setattr("dracfg.emit.yaml._REMEMBERED", 2)
    writer = Writer(shared=(Same, SameList))
    for i in [*range(5), *range(5)]:
        assert writer.dump({"a": Same(b=i)}) == dump({"a": {"b": i}})


@given(
    before=st.dictionaries(TEXT, DATA, max_size=3),
    behind=st.dictionaries(TEXT, DATA, max_size=3),
    text=TEXT,
)
def test_the_halves_of_a_document_are_what_stands_around_its_open_string(before, behind, text):
    def document(value):
        return {"x": before, "y": {"in": before, "<open>": value, "behind": behind}, "z": behind}

    writer = Writer()
    first, second = writer.halves(document(OPEN))
    if line := writer.line(text):
        assert f"{first}{line}{second}" == dump(document(text))
    else:
        assert "\n" in text


def test_what_halves_can_not_carry_is_told_as_in_whole_documents():
    with pytest.raises(TypeError, match="/b/0"):
        Writer().halves({"a": OPEN, "b": [None]})


def test_a_writer_may_forget(monkeypatch):
    monkeypatch.setattr("dracfg.emit.yaml._REMEMBERED", 2)
    obj = {f"k{i}": [f"v{i}\nw", {f"l{i}": "on", "m": f"{i}"}] for i in range(9)}
    assert read_11(Writer().dump_all([obj])) == obj


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("gpu.nvidia.com/memory", "gpu.nvidia.com/memory"),
        ("/spec/profiles/0", "/spec/profiles/0"),
        ("10Gi", "10Gi"),
        ("1g.5gb", "1g.5gb"),
        ('device.driver == "gpu.nvidia.com"', 'device.driver == "gpu.nvidia.com"'),
        ("catalog/a.yaml#/spec/0", "catalog/a.yaml#/spec/0"),
        ("on", '"on"'),
        ("0000:17:00.0", '"0000:17:00.0"'),
        ("1e3", '"1e3"'),
        ("2024-01-01", '"2024-01-01"'),
        ('"class " + x', "'\"class \" + x'"),
        ('it\'s: "x"', '"it\'s: \\"x\\""'),
        ("tab\there", '"tab\\there"'),
        ("nel\x85x", '"nel\\u0085x"'),
        ("x\u202ey", '"x\\u202ey"'),
        ("äöü 🚀", '"äöü 🚀"'),
        ("a\nb", "|-\n  a\n  b"),
        ("a\n\nb\n", "|\n  a\n\n  b"),
        ("a\n\n", "|+\n  a\n"),
        (" a\nb", "|2-\n   a\n  b"),
        ("a\r\nb", '"a\\r\\nb"'),
        ("a\n\tb", '"a\\n\\tb"'),
    ],
)
def test_the_form_of_a_string(text, written):
    assert dump({"k": text}) == f"k: {written}\n"


def test_the_layout():
    obj = {
        "b": {"z": 1, "a": {}, "l": []},
        "list": [{"name": "x", "args": ["-v", "on"]}, [1, [2]], "s", True, {}, []],
        "cel": [{"expression": "a &&\nb"}],
    }
    assert dump(obj) == (
        "b:\n  z: 1\n  a: {}\n  l: []\n"
        'list:\n- name: x\n  args:\n  - "-v"\n  - "on"\n- - 1\n  - - 2\n- s\n- true\n- {}\n- []\n'
        "cel:\n- expression: |-\n    a &&\n    b\n"
    )


def test_documents_are_joined_by_one_line():
    assert dump_all([{"a": 1}, {"b": 2}]) == "a: 1\n---\nb: 2\n"
    assert dump_all([]) == ""


def test_a_long_string_stays_on_its_line():
    assert dump({"k": "word " * 100 + "end"}).count("\n") == 1


def test_subclasses_and_read_only_maps_are_taken_for_what_they_hold():
    mode = enum.StrEnum("mode", {"ON": "on"})
    count = enum.IntEnum("count", {"TWO": 2})
    obj = types.MappingProxyType({"m": mode.ON, "c": count.TWO, "t": (1, 2), "e": (), "d": {}})
    assert dump(obj) == 'm: "on"\nc: 2\nt:\n- 1\n- 2\ne: []\nd: {}\n'


@pytest.mark.parametrize(
    ("obj", "error", "pointer"),
    [
        (None, TypeError, "/:"),
        ({"a": {"b": [1, None]}}, TypeError, "/a/b/1:"),
        ({"a/b": {"c~d": 1.5}}, TypeError, "/a~1b/c~0d:"),
        ([{"a": {1: 2}}], TypeError, "/0/a:"),
        ({"a": b"x"}, TypeError, "/a:"),
        ({"a": {"x"}}, TypeError, "/a:"),
        ({"a": "x\ud800"}, ValueError, "/a:"),
        ({"a": "x\n\udfff"}, ValueError, "/a:"),
        ({"\ud83d\ude80": 1}, ValueError, r"/\\ud83d\\ude80:"),
    ],
)
def test_what_is_not_data_is_refused_at_its_pointer(obj, error, pointer):
    with pytest.raises(error, match=f"^{pointer}"):
        dump(obj)
