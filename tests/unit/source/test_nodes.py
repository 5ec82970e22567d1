"""Nodes: where each value stands, kept as a place and shown as a span."""

import pickle
from collections.abc import Iterator

import pytest

from dracfg.diagnostics import Span
from dracfg.source.composer import compose
from dracfg.source.nodes import Map, Node, Scalar, Seq

TEXT = """\
a: one
'b': [2, "x
  y"]
c:
  d: &e
  - true
  f: *e
"""


def spans(node: Node) -> Iterator[tuple[str, Span]]:
    if isinstance(node, Scalar):
        yield node.text, node.span
    elif isinstance(node, Map):
        yield "map", node.span
        for key, value in node.entries.values():
            yield key.text, key.span
            yield from spans(value)
    else:
        yield "list", node.span
        for item in node.items:
            yield from spans(item)


def test_every_node_knows_its_place() -> None:
    (document,), faults = compose("t.yaml", TEXT)
    assert not faults
    found = [
        (text, span.line, span.column, span.end_line, span.end_column)
        for text, span in spans(document.root)
    ]
    assert {span.path for _, span in spans(document.root)} == {"t.yaml"}
    assert found == [
        ("map", 1, 1, 8, 1),
        ("a", 1, 1, 1, 2),
        ("one", 1, 4, 1, 7),
        ("b", 2, 1, 2, 4),
        ("list", 2, 6, 3, 6),
        ("2", 2, 7, 2, 8),
        ("x y", 2, 10, 3, 5),
        ("c", 4, 1, 4, 2),
        ("map", 5, 3, 8, 1),
        ("d", 5, 3, 5, 4),
        ("list", 5, 6, 7, 3),
        ("true", 6, 5, 6, 9),
        ("f", 7, 3, 7, 4),
        ("list", 5, 6, 7, 3),
        ("true", 6, 5, 6, 9),
    ]


def test_an_alias_is_the_node_of_its_anchor() -> None:
    (document,), _ = compose("t.yaml", TEXT)
    assert isinstance(document.root, Map)
    held = document.root.entries["c"].value
    assert isinstance(held, Map)
    assert held.entries["d"].value is held.entries["f"].value


def test_values_are_told_from_texts() -> None:
    (document,), _ = compose("t.yaml", "a: 1\nb: '1'\nc: true\nd: x\n")
    assert isinstance(document.root, Map)
    values = [entry.value for entry in document.root.entries.values()]
    assert [(one.value, one.text, one.plain) for one in values if isinstance(one, Scalar)] == [
        (1, "1", True),
        ("1", "1", False),
        (True, "true", True),
        ("x", "x", True),
    ]


def test_nodes_are_carried_elsewhere_and_never_changed() -> None:
    documents, _ = compose("t.yaml", TEXT)
    again = pickle.loads(pickle.dumps(documents))
    assert again == documents
    assert compose("u.yaml", TEXT)[0] != documents
    root = again[0].root
    assert isinstance(root, Map)
    assert isinstance(root.entries["b"].value, Seq)
    for name in Scalar._fields:
        with pytest.raises(AttributeError):
            setattr(root.entries["a"].value, name, None)
