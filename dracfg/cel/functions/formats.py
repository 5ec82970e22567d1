"""The format library (kubernetes/apiserver: pkg/cel/library/format.go).

`validate` gives the complaints, [] for a valid text. Their number is 0 or 1 here, where apimachinery
may list two (too long and of the wrong form); no expression can tell but by counting them.
"""

from __future__ import annotations

import base64
import binascii
import datetime
import re
from collections.abc import Callable, Mapping
from typing import Any

from dracfg.cel.functions.urls import is_url
from dracfg.dataclass import dataclass

__all__ = ["FORMATS", "GLOBALS", "MEMBERS", "NamedFormat"]

LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
NAME_PART = r"(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
UUID = r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}"
DATETIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?"
    r"(?:[Zz]|[+-][0-9]{2}:[0-9]{2})",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class NamedFormat:
    """A format by its name in CEL; "" is no format."""

    name: str

    def __str__(self) -> str:
        return self.name


def _matcher(pattern: str, longest: int) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.ASCII)
    return lambda text: len(text) <= longest and compiled.fullmatch(text) is not None


def _prefix(check: Callable[[str], bool]) -> Callable[[str], bool]:
    """A name prefix may end in a hyphen, which stands for what is appended."""
    return lambda text: check(text[:-1] + "a" if text.endswith("-") else text)


def _qualified(text: str) -> bool:
    prefix, slash, name = text.rpartition("/")
    good_prefix = not slash or _subdomain(prefix)
    return good_prefix and _matcher(NAME_PART, 63)(name)


def _base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _date(text: str) -> bool:
    try:
        return bool(re.fullmatch("[0-9-]{10}", text) and datetime.date.fromisoformat(text))
    except ValueError:
        return False


_label = _matcher(LABEL, 63)
_subdomain = _matcher(rf"{LABEL}(?:\.{LABEL})*", 253)
_label_1035 = _matcher(r"[a-z](?:[-a-z0-9]*[a-z0-9])?", 63)

FORMATS: Mapping[str, Callable[[str], bool]] = {
    "dns1123Label": _label,
    "dns1123Subdomain": _subdomain,
    "dns1035Label": _label_1035,
    "qualifiedName": _qualified,
    "dns1123LabelPrefix": _prefix(_label),
    "dns1123SubdomainPrefix": _prefix(_subdomain),
    "dns1035LabelPrefix": _prefix(_label_1035),
    "labelValue": _matcher(rf"(?:{NAME_PART})?", 63),
    "uri": is_url,
    "uuid": _matcher(UUID, 36),
    "byte": _base64,
    "date": _date,
    "datetime": lambda text: bool(DATETIME.fullmatch(text)) and _date(text[:10]),
}


def named(name: str) -> NamedFormat:
    """The format of that name, or no format."""
    return NamedFormat(name if name in FORMATS else "")


def validate(form: NamedFormat, text: str) -> list[str]:
    """What is wrong with the text."""
    return [] if FORMATS[form.name](text) else [f"does not match the format {form.name}"]


GLOBALS: Mapping[str, Callable[..., Any]] = {
    "format.named": named,
    **{f"format.{name}": lambda name=name: NamedFormat(name) for name in FORMATS},
}
MEMBERS: Mapping[str, Callable[..., Any]] = {"validate": validate}
