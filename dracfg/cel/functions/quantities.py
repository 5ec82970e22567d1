"""The quantity library (kubernetes/apiserver: pkg/cel/library/quantity.go)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dracfg.kube.quantity import Quantity

__all__ = ["GLOBALS", "MEMBERS"]

INT64 = range(-(2**63), 2**63)


def is_quantity(text: str) -> bool:
    """Whether the text parses."""
    try:
        Quantity.parse(text)
    except ValueError:
        return False
    return True


def is_integer(amount: Quantity) -> bool:
    """Whether the amount is whole and fits 64 bits."""
    return _quantity(amount).is_whole() and amount.value() in INT64


def as_integer(amount: Quantity) -> int:
    """The amount in units; an error where `isInteger` is false."""
    if not is_integer(amount):
        raise ValueError("cannot convert value to integer")
    return amount.value()


def sign(amount: Quantity) -> int:
    """-1, 0 or 1."""
    return (_quantity(amount).nano > 0) - (amount.nano < 0)


def add(amount: Quantity, other: Quantity | int) -> Quantity:
    """The sum; an integer counts units."""
    return _quantity(amount) + _amount(other)


def sub(amount: Quantity, other: Quantity | int) -> Quantity:
    """The difference; an integer counts units."""
    return _quantity(amount) - _amount(other)


def _quantity(value: Any) -> Quantity:
    if isinstance(value, Quantity):
        return value
    raise ValueError(f"no such overload: {type(value).__name__} is not a quantity")


def _amount(value: Any) -> Quantity:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return Quantity.of(value) if is_number else _quantity(value)


GLOBALS: Mapping[str, Callable[..., Any]] = {
    "quantity": Quantity.parse,
    "isQuantity": is_quantity,
    "sign": sign,
}
MEMBERS: Mapping[str, Callable[..., Any]] = {
    "isInteger": is_integer,
    "asInteger": as_integer,
    "asApproximateFloat": lambda amount: float(_quantity(amount).exact),
    "add": add,
    "sub": sub,
}
