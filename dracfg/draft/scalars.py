"""Texts of a cluster → YAML scalars, comments and Markdown that can't break out of their place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from dracfg.kube.names import check_dns_label

_PLAIN = re.compile(
    r"(?:[A-Za-z]|[0-9][0-9.]*[ac-df-np-wyzAC-DF-NP-WYZ])[A-Za-z0-9]*(?:[ ._/-][A-Za-z0-9]+)*"
)
"""Words, and digits with a letter that no notation of numbers has, such as `1g.5gb`."""
_AMOUNT = re.compile(r"[1-9][0-9]*(?:[KMGT]i)?")
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"})
_HIDDEN = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffe\uffff]"
)
_NOT_IN_LABEL = re.compile(r"[^a-z0-9]+")
_LONGEST = 40
"""Tiers and pools stay short: class names are made of them and have 63 characters."""


def scalar(value: str | int | bool) -> str:
    """A value in a flow or block map; what is not surely plain is quoted."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    text = json.dumps(value, ensure_ascii=False)
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def amount(value: str) -> str:
    """A quantity, plain where it is a whole number with or without a binary suffix."""
    return value if _AMOUNT.fullmatch(value) else scalar(value)


def flow_map(pairs: Mapping[str, str]) -> str:
    """`{key: value, …}` of values that are rendered already."""
    return "{" + ", ".join(f"{scalar(key)}: {value}" for key, value in pairs.items()) + "}"


def flow_list(items: Iterable[str]) -> str:
    """`[item, …]` of items that are rendered already."""
    return "[" + ", ".join(items) + "]"


def shown(text: str) -> str:
    """A text on one line of a comment or a sentence: blanks folded, hidden characters left out."""
    folded = " ".join(_HIDDEN.sub("", text).split())
    return "".join(c for c in folded if c.isprintable())


def code(text: str) -> str:
    """A name as Markdown code, also within a table."""
    plain = shown(text).replace("`", "'").replace("|", "\\|")
    return f"`{plain}`" if plain else "``"


def label(text: str, otherwise: str) -> str:
    """A DNS label made of a text; `otherwise` where nothing of it can be used."""
    made = _NOT_IN_LABEL.sub("-", text.lower()).strip("-")[:_LONGEST].strip("-")
    return made or otherwise


def counted(number: int, noun: str) -> str:
    """`1 pod`, `2 pods`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def unique(name: str, taken: set[str]) -> str:
    """The name, or the first numbered one that is free; it is taken then."""
    found, number = name, 2
    while found in taken or check_dns_label(found) is not None:
        found, number = f"{name}-{number}", number + 1
    taken.add(found)
    return found
