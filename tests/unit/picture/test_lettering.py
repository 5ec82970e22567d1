"""Room of letters: enough for the widest face in common use, and cut so that both ends stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dracfg.picture.lettering import fitted, width, wrapped
from tests.unit.picture.drawn import ADVANCE


@pytest.mark.parametrize("letter", [*ADVANCE, *"0123456789…−×✗✓▲▼◀■╳○"])
def test_no_letter_takes_more_than_is_kept_for_it(letter: str) -> None:
    real = ADVANCE.get(letter, 636 if letter.isdigit() else 1000)
    assert width(letter) * 1000 / 12 >= real


def test_small_and_strong_letters() -> None:
    assert width("gpu", "small") < width("gpu") < width("gpu", "strong")


def test_wide_letters_of_other_scripts_are_counted_as_wide() -> None:
    assert width("漢字") > 2 * 12


@pytest.mark.parametrize(
    ("text", "room", "expected"),
    [
        ("short", 100, "short"),
        ("a100-east-worker-017", 80, "a100…-017"),
        ("a100-east-worker-017", 13, "…"),
        ("a100-east-worker-017", 5, ""),
        ("", 0, ""),
    ],
)
def test_what_is_cut_keeps_both_ends(text: str, room: float, expected: str) -> None:
    assert fitted(text, room) == expected


@given(st.text(max_size=60), st.floats(0, 400))
def test_what_is_fitted_fits(text: str, room: float) -> None:
    short = fitted(text, room, "small")
    assert width(short, "small") <= room or short == ""


@given(st.text(st.characters(codec="ascii", categories=("L", "N", "Zs")), max_size=200))
def test_lines_have_room_and_lose_no_word(text: str) -> None:
    lines = wrapped(text, 400, "small")
    assert all(width(line, "small") <= 400 for line in lines)
    if all(width(word, "small") <= 400 for word in text.split()):
        assert " ".join(lines).split() == text.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("egressBandwidth", ("egress", "Bandwidth")),
        ("fpga-arria10", ("fpga-", "arria10")),
        ("memory", ("memory",)),
        ("", ()),
    ],
)
def test_a_long_word_breaks_where_its_parts_meet(text: str, expected: tuple[str, ...]) -> None:
    assert wrapped(text, 82) == expected
