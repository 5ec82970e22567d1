"""What a plain scalar means: one table, close to the YAML 1.2 core schema.

Text that YAML readers take for different values (`0777`, `0b11`, `1e3`) has no meaning here and
must be quoted; `no`, `on`, `12:30`, `1_000` and dates are text.
Source: YAML 1.2.2 section 10.3; YAML 1.1 type repository (bool, int, float, merge).
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

from dracfg.source.nodes import ScalarValue

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\.[0-9]+")

_AMBIGUOUS = (
    (re.compile(r"[-+]?0[0-9_]+"), "an octal number to some YAML readers, a decimal one to others"),
    (re.compile(r"[-+]?0o[0-7_]+"), "an octal number to some YAML readers, text to others"),
    (re.compile(r"[-+]?0b[01_]+"), "a binary number to some YAML readers, text to others"),
    (re.compile(r"[-+]?0x[0-9a-fA-F_]+"), "a hexadecimal number to YAML readers"),
    (
        re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+\.?[0-9]*)[eE][-+]?[0-9]+"),
        "a number to some YAML readers, text to others",
    ),
    (re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+\.)"), "a number to some YAML readers, text to others"),
    (re.compile(r"[-+]?0[0-9]+\.[0-9]+"), "a number to some YAML readers, text to others"),
    (re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"), "not a finite number"),
    (re.compile(r"<<"), "a merge key to some YAML readers, text to others"),
)
_FIRST = frozenset("-+.<0123456789")


class AmbiguousScalar(ValueError):
    """Plain text that YAML readers disagree on; the argument says how they read it."""


@lru_cache(maxsize=4096)
def resolve(text: str) -> ScalarValue:
    """The value of a plain scalar. Raises AmbiguousScalar where it must be quoted."""
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if text[0] not in _FIRST:
        return text
    if _INT.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text):
        return Decimal(text)
    for pattern, reading in _AMBIGUOUS:
        if pattern.fullmatch(text):
            raise AmbiguousScalar(reading)
    return text
