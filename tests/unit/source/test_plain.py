"""Plain data: what the composer makes of a text, or nothing where the composer has something to say."""

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dracfg.source.composer import MAX_DEPTH, MAX_GROWTH, compose
from dracfg.source.nodes import Map, Node, Scalar, Seq
from dracfg.source.plain import MAX_LENGTH, freeze, read_plain, thaw

TEXT = """\
# of every kind
apiVersion: v1
1: yes
true: 10.50
texts: ["a: b", 'it''s', a b,
  "two
  lines"]
block: |
  one
  two
folded: >-
  one
  two
shared: &list [a, 2, true]
again: *list
name: &name vision
named: {of: *name, in: [{}, [], [[x]]]}
---
name: &name other
named: *name
"""
BITS = (
    *("&list ", "*list", "&name ", "*name", "? ", ": ", "- ", "!!str ", "!x ", "! ", "|", ">", "#"),
    *("{", "}", "[", "]", ",", '"', "'", "\n", "  ", "\t", "---\n", "...\n", "%YAML 1.2\n", "<<"),
    *(
        "~",
        "null",
        "0777",
        "1e3",
        "0x1F",
        "name: x\n",
        "1: x\n",
        '"1": x\n',
        "é",
        "\N{WHITE SMILING FACE}",
    ),
)


def data(node: Node) -> Any:
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Seq):
        return tuple(map(data, node.items))
    return {key: data(entry.value) for key, entry in node.entries.items()}


def has_gap(value: Any) -> bool:
    inner = value.values() if isinstance(value, dict) else value
    return value is None or (isinstance(value, dict | tuple) and any(map(has_gap, inner)))


def maps_in(value: Any) -> Iterator[dict[str, Any]]:
    """The dicts of plain data, outer first."""
    if isinstance(value, dict):
        yield value
        value = tuple(value.values())
    for inner in value if isinstance(value, tuple) else ():
        yield from maps_in(inner)


def check(text: str) -> bool:
    """Whether the text is read plainly, which must be as it is composed."""
    plain = read_plain(text)
    if plain is None:
        return False
    documents, faults = compose("a.yaml", text)
    assert not faults
    assert all(document.sound and isinstance(document.root, Map) for document in documents)
    composed = [data(document.root) for document in documents]
    assert repr(list(plain)) == repr(composed)
    assert not any(map(has_gap, composed))
    again = thaw(freeze(plain))
    assert repr(again) == repr(plain)
    for one in (plain, again):
        found = list(maps_in(one))
        assert len({id(data) for data in found}) == len(found)
    return True


def test_a_text_without_fault_is_read() -> None:
    assert check(TEXT)


def test_what_an_alias_repeats_is_another_thing() -> None:
    plain = read_plain(TEXT)
    assert plain is not None
    first, again = (plain[0][key] for key in ("shared", "again"))
    assert first == again
    assert first is not again


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing\n",
        "a: 1\n---\n",
        "a\n",
        "- a\n",
        "a:\n",
        "a: [~]\n",
        "a: 1\na: 2\n",
        "1: a\n'1': b\n",
        "a: 0777\n",
        "0777: a\n",
        "<<: {a: 1}\n",
        "~: a\n",
        "? {a: 1}\n: b\n",
        "a: !!str 1\n",
        "a: !x {b: 1}\n",
        "%YAML 1.1\n---\na: 1\n",
        "a: *b\n",
        "a: &b [*b]\n",
        "a: &b [&b c, *b]\n",
        "a: &b {c: 1}\nd: *b\n",
        "a: &b [[c]]\nd: *b\n",
        "&a b: 1\n",
        "a: &b 1\n*b : 2\n",
        "a: &b 1\n---\na: *b\n",
        "a: [\n",
        "a: 'b\n",
        "\ta: 1\n",
        f"a: {'[' * MAX_DEPTH}1{']' * MAX_DEPTH}\n",
        f"a: &b [{'x, ' * 100}]\nc: [{'*b, ' * (MAX_GROWTH // 100)}]\n",
        f"a: {'x' * MAX_LENGTH}\n",
    ],
)
def test_what_is_left_to_the_composer(text: str) -> None:
    assert read_plain(text) is None


@pytest.mark.parametrize("named", [print, Path, getattr, pickle.loads, Path.read_text, Map])
def test_bytes_that_name_anything_but_values_are_refused(named: object) -> None:
    with pytest.raises(pickle.UnpicklingError, match="no value of a document"):
        thaw(pickle.dumps(named, 5))


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, len(TEXT)), st.sampled_from(BITS)), min_size=1, max_size=3)
)
@example([(0, "{")])
def test_any_text_is_read_as_it_is_composed(places: list[tuple[int, str]]) -> None:
    text = TEXT
    for place, bit in places:
        text = text[:place] + bit + text[place:]
    check(text)
