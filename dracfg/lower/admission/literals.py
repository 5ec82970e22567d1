"""Python data → CEL literals. Knows nothing of policies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any


def literal(value: Any) -> str:
    """A CEL expression for plain data. Equal data gives equal text; decimals become doubles.

    Lists and maps of one type are written as they are. Where types differ the members are wrapped
    in `dyn`, as the API server's environment refuses literals of mixed types
    (kubernetes/apiserver pkg/cel/environment/base.go, HomogeneousAggregateLiterals).
    """
    if isinstance(value, Mapping):
        wrap = _is_mixed(value.values())
        members = (f"{_text(str(key))}: {_member(value[key], wrap)}" for key in sorted(value))
        return "{" + ", ".join(members) + "}"
    if isinstance(value, list | tuple):
        wrap = _is_mixed(value)
        return "[" + ", ".join(_member(member, wrap) for member in value) + "]"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Decimal):
        return repr(float(value))
    return json.dumps(value)


def _member(value: Any, wrap: bool) -> str:
    return f"dyn({literal(value)})" if wrap else literal(value)


def _is_mixed(values: Any) -> bool:
    """Whether the members must be made dyn: anything but plain text may differ in type."""
    return not all(isinstance(value, str) for value in values)


def _text(value: str) -> str:
    """JSON's escapes are CEL's, which has `\\u` and `\\U` in place of surrogate pairs."""
    return json.dumps(value, ensure_ascii=False)
