"""Edits of lines and the way back: exact for any text, any ends of lines, and any place of an edit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dracfg.migrate.lines import Conflict, LineEdits, apply_edits, reverse, was


def test_marks() -> None:
    edits = LineEdits()
    edits.removed.add(1)
    edits.insert(0, ["x: 1"])
    edits.change(15, 16, "3")
    after = apply_edits("a: 1\n  b: 2\nc: 2\n", edits)
    assert (
        after
        == "x: 1 # dracfg: added\na: 1\n  # dracfg: was b: 2\nc: 3 # dracfg: added\n# dracfg: was c: 2\n"
    )
    assert reverse(after) == "a: 1\n  b: 2\nc: 2\n"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", ["", "end"])
def test_ends_of_lines_stay(end: str, last: str) -> None:
    raw = f"\ufeffa: 1{end}\tb: 2 {end}c: 3{end if last else ''}"
    edits = LineEdits()
    edits.removed |= {1, 2}
    edits.insert(2, ["d: 4"])
    after = apply_edits(raw, edits)
    assert after.startswith(f"\ufeffa: 1{end}\t# dracfg: was b: 2 {end}d: 4 # dracfg: added{end}")
    assert reverse(after) == raw


def test_the_last_line_without_an_end() -> None:
    edits = LineEdits()
    edits.change(3, 4, "2")
    after = apply_edits("a: 1", edits)
    assert after == "a: 2 # dracfg: added\n# dracfg: was a: 1"
    assert reverse(after) == "a: 1"


def test_edits_of_one_line_are_made_together() -> None:
    edits = LineEdits()
    edits.change(4, 8, "")
    edits.change(4, 4, "x, ")
    edits.change(5, 6, "")
    after = apply_edits("a: {b, c, d}\n", edits)
    assert after.startswith("a: {x, , d} # dracfg: added\n")


def test_edits_that_meet() -> None:
    edits = LineEdits()
    edits.removed.add(0)
    edits.change(1, 2, "")
    with pytest.raises(Conflict):
        apply_edits("a: 1\n", edits)


def test_marks_inside_of_text_are_text() -> None:
    raw = "a: |\n  # dracfg: was x\n  y # dracfg: added\nb: 1\n"
    assert reverse(raw) == raw


def test_a_mark_behind_a_block_of_text() -> None:
    raw = "a: |\n  text\n# dracfg: was b: 1\nc: 2\n"
    assert reverse(raw) == "a: |\n  text\nb: 1\nc: 2\n"


@given(st.text(alphabet=" \tab:#{}-'\"", max_size=30))
def test_any_line_comes_back(line: str) -> None:
    assert reverse(was(line)) == line


_LINES = st.lists(st.text(alphabet=" ab:-#", max_size=8), min_size=1, max_size=12)


@given(_LINES, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.data())
def test_any_edits_come_back(lines: list[str], end: str, closed: bool, data: st.DataObject) -> None:
    raw = end.join(lines) + (end if closed else "")
    numbers = st.integers(0, len(lines) - 1)
    edits = LineEdits()
    edits.removed |= data.draw(st.sets(numbers))
    for place in data.draw(st.lists(numbers, max_size=4)):
        edits.insert(place, ["new: 1"])
    assert reverse(apply_edits(raw, edits)) == raw
