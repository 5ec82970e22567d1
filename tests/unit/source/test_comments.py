"""Comments, told from what only looks like one, and what they stand before."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dracfg.diagnostics import Span
from dracfg.source.comments import below, comments, line_of
from dracfg.source.composer import compose
from dracfg.source.files import SourceFile
from dracfg.source.nodes import Map, Node, Seq

TEXT = """\
# mark 1
a: |  # mark 2
  text # mark no
  # mark no

# mark 3
b: "x # mark no
  # mark no"  # mark 4
'c # mark no': 1 # mark 5
d:
  - {e: 1, # mark 6
     f: it's#mark no}
  - >-  # mark 7
    folded # mark no
 # mark 8
---
- plain  # mark 9
"""


def read(text: str) -> SourceFile:
    documents, faults = compose("a.yaml", text)
    assert not faults
    return SourceFile("a.yaml", text, documents)


def test_comments_are_told_from_text() -> None:
    found = list(comments(read(TEXT), "mark"))
    assert [comment.text for comment in found] == [f"mark {i}" for i in range(1, 10)]
    assert [i for i, comment in enumerate(found, 1) if comment.alone] == [1, 3, 8]
    lines = TEXT.split("\n")
    for comment in found:
        span = comment.span
        assert lines[span.line - 1][span.column - 1 : span.end_column - 1] == f"# {comment.text}"


def test_a_file_without_the_mark_has_none() -> None:
    assert list(comments(read("a: 1 # other\n"), "mark")) == []


BELOW = """\
# mark
apiVersion: v1
spec:
  # mark
  # another comment

  first:
    a: 1
    b:
    - 1
    - 2
  # mark
  second: {a: 1,
    b: 2}
  list:
    # mark
    - name: x
      size: 1
    - name: y
  # mark
---
# mark
next: 1
# mark
"""


@pytest.mark.parametrize(
    ("nth", "first", "last"),
    [(0, 2, 2), (1, 7, 11), (2, 13, 14), (3, 17, 18), (4, 23, 23), (5, 23, 23)],
)
def test_what_a_comment_stands_before(nth: int, first: int, last: int) -> None:
    file = read(BELOW)
    found = list(comments(file, "mark"))
    extent = below(file, found[nth])
    held = [
        number
        for number, line in enumerate(BELOW.split("\n"), 1)
        if line.strip() and not line.strip().startswith("#")
        if extent.holds(Span("a.yaml", number, len(line) - len(line.lstrip()) + 1))
    ]
    assert (held[0], held[-1]) == (first, last)


def test_nothing_follows_the_last_comment() -> None:
    file = read(BELOW)
    extent = below(file, list(comments(file, "mark"))[-1])
    assert extent.start == extent.end


def test_the_line_of_a_comment() -> None:
    file = read(TEXT)
    extent = line_of(list(comments(file, "mark"))[1])
    assert (extent.start, extent.end) == ((2, 1), (3, 1))


PIECES = (
    "# mark\n",
    "k%d: v # mark\n",
    "k%d: v#mark\n",
    'k%d: "x # mark"\n',
    "k%d: 'it''s # mark' # mark\n",
    "'k%d # mark': v\n",
    "k%d: |\n  # mark\n  text\n",
    "k%d: >- # mark\n  a\n\n  # mark\n",
    "k%d: &a%d |1+ # mark\n  # mark\n\n",
    "k%d: [a, # mark\n  'b # mark']\n",
    "k%d:\n# mark\n- a # mark\n- {b: 1} # mark\n",
    "k%d: a\n  b # mark\n",
    "k%d: # mark\n",
    "\n",
)


def words(node: Node) -> Iterator[str]:
    """Every key and value of a document, as text."""
    if isinstance(node, Map):
        for entry in node.entries.values():
            yield entry.key.text
            yield from words(entry.value)
    elif isinstance(node, Seq):
        for item in node.items:
            yield from words(item)
    else:
        yield node.text


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=8))
def test_each_mark_is_in_a_comment_or_in_the_text(pieces: list[str]) -> None:
    text = "".join(piece.replace("%d", str(i)) for i, piece in enumerate(pieces))
    file = read(text)
    in_text = sum(word.count("mark") for doc in file.documents for word in words(doc.root))
    assert len(list(comments(file, "mark"))) + in_text == text.count("mark")
