"""Quantities: the canonical text of apimachinery, refusals, exact arithmetic."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dracfg.kube.quantity import Quantity

# From the parse and emit tables of k8s.io/apimachinery pkg/api/resource/quantity_test.go, and
# values that manifests hold often.
CANONICAL = [
    ("0", "0"),
    ("0Gi", "0"),
    ("-0", "0"),
    ("1024Mi", "1Gi"),
    ("40960Mi", "40Gi"),
    ("0.5", "500m"),
    ("1.5Gi", "1536Mi"),
    ("1000m", "1"),
    ("1e3", "1e3"),
    ("1E3", "1e3"),
    ("12E6", "12e6"),
    ("1e1", "10"),
    ("1.3E+6", "1300e3"),
    ("1E-3", "1e-3"),
    ("1E", "1E"),
    ("12E", "12E"),
    ("1000E", "1e21"),
    ("1000", "1k"),
    ("1000000", "1M"),
    ("1100", "1100"),
    ("1Ki", "1Ki"),
    ("1.5Ki", "1536"),
    ("0.5Ki", "512"),
    ("1025Ki", "1025Ki"),
    ("1024Pi", "1Ei"),
    ("-1Ki", "-1Ki"),
    ("-1000m", "-1"),
    ("+5", "5"),
    ("12345.678", "12345678m"),
    ("100.035k", "100035"),
    ("100.035Ki", "102435840m"),
    ("0.05Gi", "53687091200m"),
    (".001", "1m"),
    (".0001k", "100m"),
    ("1.", "1"),
    ("1.G", "1G"),
    ("0.0005k", "500m"),
    ("3.001n", "4n"),
    ("1.1E-9", "2e-9"),
    ("0.0000000001", "1n"),
    ("0.00000012345", "124n"),
    ("-3.001n", "-4n"),
    ("0.000000000001Ki", "2n"),
    ("9Ei", "9223372036854775807"),
    ("9223372036854775807Ki", "9223372036854775807"),
    ("-9Ei", "-9223372036854775807"),
]


@pytest.mark.parametrize(("text", "canonical"), CANONICAL)
def test_canonical(text: str, canonical: str) -> None:
    assert str(Quantity.parse(text)) == canonical


REFUSED = [
    "1.1.M",
    "1+1.0M",
    "0.1mi",
    "0.1am",
    "aoeu",
    ".5i",
    "1i",
    "-3.01i",
    "-3.01e-",
    " 1",
    "1 ",
    "1\n",
    "",
    "-",
    ".",
    "Ki",
    "1e",
    "1K",
    "0x10",
    "1_000",
    "1,5",
    "٣",
    "inf",
    "1e1001",
    "1e-99999999999",
    "1KiB",
]


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"quantity|exponent"):
        Quantity.parse(text)


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("6 GiB", "did you mean 6Gi"),
        ("6GiB", "did you mean 6Gi"),
        ("6gi", "did you mean 6Gi"),
        ("6GB", "did you mean 6G"),
        ("6 g", "did you mean 6G"),
        ("6K", "did you mean 6k"),
        ("1.5 Gi", "did you mean 1.5Gi"),
        ("6 foo", "'foo' is none of the suffixes"),
        ("", "must not be empty"),
    ],
)
def test_refusal_gives_advice(text: str, advice: str) -> None:
    with pytest.raises(ValueError, match=advice):
        Quantity.parse(text)


@pytest.mark.parametrize(
    ("text", "value", "milli"),
    [
        ("1", 1, 1000),
        ("9.01", 10, 9010),
        ("-9.01", -10, -9010),
        ("1500m", 2, 1500),
        ("1n", 1, 1),
        ("-1n", -1, -1),
        ("1Gi", 2**30, 2**30 * 1000),
        ("0", 0, 0),
    ],
)
def test_value_and_milli_round_away_from_zero(text: str, value: int, milli: int) -> None:
    quantity = Quantity.parse(text)
    assert quantity.value() == value
    assert quantity.milli() == milli


def test_equality_order_and_hash_look_at_the_amount() -> None:
    assert Quantity.parse("1Gi") == Quantity.parse("1024Mi") == Quantity.parse("1073741824")
    assert len({Quantity.parse("1000m"), Quantity.parse("1"), Quantity.parse("1e0")}) == 1
    assert Quantity.parse("1G") < Quantity.parse("1Gi")
    assert Quantity.parse("100Gi") < Quantity.parse("10000T")
    assert max(Quantity.parse("50m"), Quantity.parse("100m")) == Quantity.parse("0.1")


def test_arithmetic_keeps_the_notation() -> None:
    gi = Quantity.parse("1Gi")
    assert str(gi + gi) == "2Gi"
    assert str(gi * 40) == "40Gi"
    assert str(3 * Quantity.parse("500m")) == "1500m"
    assert str(gi - Quantity.parse("1M")) == "1072741824"
    assert str(Quantity.parse("0") + gi) == "1Gi"
    assert str(Quantity.parse("0") - gi) == "-1Gi"
    assert str(-gi) == "-1Gi"
    assert not Quantity.parse("0Gi")
    assert str(Quantity.of(2048, "BinarySI")) == "2Ki"
    assert str(Quantity.of(2000, "BinarySI")) == "2000"
    # Below 1024 units binary notation gives way to decimal.
    assert str(Quantity.of(1000, "BinarySI")) == "1k"
    assert str(Quantity.parse(40)) == "40"


SUFFIXES = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "e3", "E-2"]
UNITS = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "": Fraction(1),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "E": Fraction(10**18),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
    "Ti": Fraction(2**40),
    "e3": Fraction(1000),
    "E-2": Fraction(1, 100),
}
numbers = st.decimals(
    min_value=Decimal(-(10**6)), max_value=Decimal(10**6), places=6, allow_nan=False
)
texts = st.builds(lambda number, suffix: f"{number:f}{suffix}", numbers, st.sampled_from(SUFFIXES))
quantities = texts.map(Quantity.parse)


@given(numbers, st.sampled_from(SUFFIXES))
def test_parse_is_exact_to_nine_places(number: Decimal, suffix: str) -> None:
    wanted = Fraction(number) * UNITS[suffix]
    got = Quantity.parse(f"{number:f}{suffix}").exact
    assert abs(got) >= abs(wanted)
    assert abs(got) - abs(wanted) < Fraction(1, 10**9)
    assert (got > 0) == (wanted > 0)


@given(quantities)
def test_canonical_text_is_a_fixed_point(quantity: Quantity) -> None:
    text = str(quantity)
    again = Quantity.parse(text)
    assert again == quantity
    assert str(again) == text


@given(quantities)
def test_canonical_text_has_the_largest_suffix(quantity: Quantity) -> None:
    number = str(quantity).rstrip("numkKMGTPEi")
    assert "." not in number
    assert (
        number == "0"
        or "e" in number
        or int(number) % 1000
        or "i" in str(quantity)
        or (quantity.format == "BinarySI")
    )


@given(quantities, quantities, st.integers(-1000, 1000))
def test_arithmetic_is_exact(left: Quantity, right: Quantity, factor: int) -> None:
    assert (left + right).exact == left.exact + right.exact
    assert (left - right).exact == left.exact - right.exact
    assert (left * factor).exact == left.exact * factor
    assert (left < right) == (left.exact < right.exact)
    assert (left == right) == (left.exact == right.exact)
    if left == right:
        assert hash(left) == hash(right)


@given(st.text(max_size=8))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        quantity = Quantity.parse(text)
    except ValueError as error:
        assert str(error)
    else:
        assert Quantity.parse(str(quantity)) == quantity
