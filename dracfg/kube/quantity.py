"""Kubernetes quantities: exact parsing, arithmetic and canonical text.

Follows `resource.Quantity` of k8s.io/apimachinery (pkg/api/resource/quantity.go at
357557a670d8): values are exact decimal numbers with nine places, never floats; what is finer is
rounded away from zero. It may not know which field a quantity stands in.

One difference: apimachinery reads text without any digit ("", "-", "Ki") partly as zero. Here
every quantity needs a digit, as the grammar in the API documentation says.
"""

from __future__ import annotations

import re
from dataclasses import field
from fractions import Fraction
from typing import Literal

from dracfg.dataclass import dataclass

__all__ = ["Format", "Quantity"]

Format = Literal["BinarySI", "DecimalSI", "DecimalExponent"]

NANO_PER_UNIT = 10**9
NANO_PER_MILLI = 10**6
LARGEST_BINARY = (2**63 - 1) * NANO_PER_UNIT
# 10**±1000 is far outside anything a quantity can mean; larger exponents only cost memory.
LARGEST_EXPONENT = 1000

DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
DECIMAL_SUFFIX = {exponent: suffix for suffix, exponent in DECIMAL.items()}
BINARY_SUFFIX = {exponent: suffix for suffix, exponent in BINARY.items()}

NUMBER = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(.*)", re.ASCII | re.DOTALL)
EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)", re.ASCII)
LOOSE = re.compile(r"([+-]?[0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class Quantity:
    """An exact amount and the notation it is printed in.

    `nano` is the amount in billionths of the unit. Equality, order and hash look at the amount
    alone: 1Gi equals 1024Mi, as `Quantity.Equal` has it. `str()` gives the canonical text.
    """

    nano: int
    format: Format = field(default="DecimalSI", compare=False)

    @classmethod
    def parse(cls, text: str | int) -> Quantity:
        """Read a quantity as kube-apiserver does; an int is read as its digits.

        Raises ValueError with a reason that a person can act on.
        """
        source = str(text)
        match = NUMBER.match(source)
        sign, whole, decimals, suffix = match.groups("") if match else ("", "", "", source)
        if not whole and not decimals:
            raise ValueError(_refusal(source))
        exponent, base, notation = _interpret(suffix, source)
        scale = exponent if base == 10 else 0
        # Scaling is done on the digits, so that nothing is lost before the one rounding.
        places = len(decimals) - scale - 9
        digits = int(whole + decimals) << (exponent if base == 2 else 0)
        nano = digits * 10**-places if places <= 0 else -(-digits // 10**places)
        if notation == "BinarySI":
            nano = min(nano, LARGEST_BINARY)
            if 0 < nano < NANO_PER_UNIT:
                notation = "DecimalSI"
        return cls(-nano if sign == "-" else nano, notation)

    @classmethod
    def of(cls, units: int, notation: Format = "DecimalSI") -> Quantity:
        """A whole number of units."""
        return cls(units * NANO_PER_UNIT, notation)

    @property
    def exact(self) -> Fraction:
        """The amount as an exact number of units."""
        return Fraction(self.nano, NANO_PER_UNIT)

    def is_whole(self) -> bool:
        """Whether the amount is a whole number of units."""
        return self.nano % NANO_PER_UNIT == 0

    def value(self) -> int:
        """Whole units, rounded away from zero (Go: `Value()`)."""
        return _divide_away(self.nano, NANO_PER_UNIT)

    def milli(self) -> int:
        """Thousandths of a unit, rounded away from zero (Go: `MilliValue()`)."""
        return _divide_away(self.nano, NANO_PER_MILLI)

    def __add__(self, other: Quantity) -> Quantity:
        return Quantity(self.nano + other.nano, self.format if self.nano else other.format)

    def __sub__(self, other: Quantity) -> Quantity:
        return Quantity(self.nano - other.nano, self.format if self.nano else other.format)

    def __mul__(self, factor: int) -> Quantity:
        return Quantity(self.nano * factor, self.format)

    __rmul__ = __mul__

    def __neg__(self) -> Quantity:
        return Quantity(-self.nano, self.format)

    def __bool__(self) -> bool:
        return self.nano != 0

    def __str__(self) -> str:
        """The canonical text: the largest suffix that leaves an integer before it.

        Binary notation gives way to decimal below 1024 units and for fractions. Go may keep the
        text it has read when it takes it for canonical already ("12E6" for 12e6).
        """
        if not self.nano:
            return "0"
        if self.format == "BinarySI" and self.is_whole():
            units = self.nano // NANO_PER_UNIT
            if abs(units) >= 1024:
                return _binary_text(units)
        return _decimal_text(self.nano, self.format == "DecimalExponent")


def _interpret(suffix: str, source: str) -> tuple[int, Literal[2, 10], Format]:
    """Exponent, base and notation of a suffix."""
    if suffix in DECIMAL:
        return DECIMAL[suffix], 10, "DecimalSI"
    if suffix in BINARY:
        return BINARY[suffix], 2, "BinarySI"
    exponent = EXPONENT.fullmatch(suffix)
    if exponent is None:
        raise ValueError(_refusal(source))
    digits = exponent[1].lstrip("+-").lstrip("0")
    if len(digits) > len(str(LARGEST_EXPONENT)) or int(digits or "0") > LARGEST_EXPONENT:
        raise ValueError(f"{source!r} has an exponent beyond {LARGEST_EXPONENT}")
    return int(exponent[1]), 10, "DecimalExponent"


def _refusal(source: str) -> str:
    """Why a text is no quantity, with the nearest one where there is a plain answer."""
    if not source.strip():
        return "a quantity must not be empty"
    reason = f"{source!r} is not a quantity"
    loose = LOOSE.fullmatch(source.strip())
    if loose is None:
        return f"{reason}: a number with one of the suffixes {_suffixes()}, such as 500m or 40Gi"
    number, letters = loose.groups()
    stem = letters if letters in DECIMAL or letters in BINARY else letters.rstrip("bB")
    known = {name.lower(): name for name in (*BINARY, "k", "M", "G", "T", "P")}
    nearest = stem if stem in DECIMAL else known.get(stem.lower())
    if nearest is None:
        return f"{reason}: {letters!r} is none of the suffixes {_suffixes()}"
    return f"{reason}: did you mean {number}{nearest}"


def _suffixes() -> str:
    return " ".join(suffix for suffix in (*DECIMAL, *BINARY) if suffix)


def _divide_away(amount: int, divisor: int) -> int:
    """Division that rounds away from zero."""
    quotient = -(-abs(amount) // divisor)
    return quotient if amount >= 0 else -quotient


def _binary_text(units: int) -> str:
    exponent = 0
    while units % 1024 == 0 and exponent + 10 in BINARY_SUFFIX:
        units //= 1024
        exponent += 10
    return f"{units}{BINARY_SUFFIX.get(exponent, '')}"


def _decimal_text(nano: int, exponent_form: bool) -> str:
    exponent = -9
    while nano % 1000 == 0:
        nano //= 1000
        exponent += 3
    if exponent_form or exponent not in DECIMAL_SUFFIX:
        return f"{nano}e{exponent}" if exponent else str(nano)
    return f"{nano}{DECIMAL_SUFFIX[exponent]}"
