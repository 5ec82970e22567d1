"""Names and values of attributes that look like credentials, serial numbers or somebody's identity.

A guess by patterns (data/sensitive.yaml), for people to judge: nothing here proves that a value is
harmless. Values are looked at and never given back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Literal

from dracfg.dataclass import dataclass
from dracfg.packaged import read_data

Kind = Literal["credential", "serial number", "identity"]


@dataclass(frozen=True, slots=True)
class _Patterns:
    names: Mapping[Kind, re.Pattern[str]]
    values: Mapping[Kind, re.Pattern[str]]


def kind_of_name(key: str) -> Kind | None:
    """What an attribute of that name is likely to hold; its domain says nothing."""
    name = re.sub(r"[._-]", "", key.rpartition("/")[2]).lower()
    return next((kind for kind, form in _patterns().names.items() if form.search(name)), None)


def kind_of_value(value: object, foreign: Iterable[str] = ()) -> Kind | None:
    """What a value looks like; `foreign` are names of tenants and namespaces that it must not hold."""
    if isinstance(value, list | tuple):
        return next((kind for one in value if (kind := kind_of_value(one, foreign))), None)
    if not isinstance(value, str):
        return None
    words = set(re.split(r"[^A-Za-z0-9-]+", value))
    if words & set(foreign):
        return "identity"
    return next((kind for kind, form in _patterns().values.items() if form.search(value)), None)


@cache
def _patterns() -> _Patterns:
    data: Mapping[str, Any] = read_data("dracfg.check", "data/sensitive.yaml")
    return _Patterns(
        {kind: re.compile(form) for kind, form in data["names"].items()},
        {kind: re.compile("|".join(forms)) for kind, forms in data["values"].items()},
    )
