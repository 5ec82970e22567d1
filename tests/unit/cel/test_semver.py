"""Semantic versions: what parses, what normalises, and the order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dracfg.cel.semver import Semver

# The example of semver.org, section 11, in rising order.
RISING = (
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
    "1.0.1-0",
    "1.2.0",
    "1.10.0",
    "2.0.0",
)
IDENTIFIERS = st.one_of(st.integers(0, 20).map(str), st.sampled_from(("a", "b-1", "rc", "0a")))
VERSIONS = st.builds(
    Semver,
    st.integers(0, 3),
    st.integers(0, 3),
    st.integers(0, 3),
    st.lists(IDENTIFIERS, max_size=3).map(tuple),
)


def test_order() -> None:
    versions = [Semver.parse(text) for text in RISING]
    for index, version in enumerate(versions):
        assert all(version > before for before in versions[:index])
        assert all(version < after for after in versions[index + 1 :])


@pytest.mark.parametrize(
    "text",
    ["", "1", "1.2", "v1.2.3", "01.2.3", "1.2.3-", "1.2.3-01", "1.2.3+", "1.2.3-a..b", " 1.2.3", "1.2.3.4",
     "1.2.x", "-1.2.3", "18446744073709551616.0.0", "1.2.3-18446744073709551616", "1.2.٣"],
)  # fmt: skip
def test_refused(text: str) -> None:
    with pytest.raises(ValueError):
        Semver.parse(text)


@pytest.mark.parametrize(
    ("text", "normal"),
    [("1", "1.0.0"), ("v1", "1.0.0"), ("1.2", "1.2.0"), ("01.002.0", "1.2.0"), ("000.0.1", "0.0.1"),
     ("v1.2.03-rc.1", "1.2.3-rc.1"), ("1.2.3+build", "1.2.3")],
)  # fmt: skip
def test_normalised(text: str, normal: str) -> None:
    assert str(Semver.normalise(text)) == normal


@pytest.mark.parametrize("text", ["1.2-rc", "1+b", "vv1.2.3", "1.2.3.4", " 1", "", "1..2"])
def test_not_normalised(text: str) -> None:
    with pytest.raises(ValueError):
        Semver.normalise(text)


def test_build_metadata_does_not_count() -> None:
    assert Semver.parse("1.2.3+a") == Semver.parse("1.2.3+b")


@given(VERSIONS)
def test_round_trip(version: Semver) -> None:
    assert Semver.parse(str(version)) == version
    assert Semver.normalise(str(version)) == version


@given(VERSIONS, VERSIONS, VERSIONS)
def test_total_order(first: Semver, second: Semver, third: Semver) -> None:
    assert (first < second) + (first == second) + (first > second) == 1
    if first <= second <= third:
        assert first <= third
