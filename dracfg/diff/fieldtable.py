"""The table of fields: how each key of the language is compared, and what a change of it is called.

Reads `data/fields.yaml`, where the form of a row is told. Knows nothing of values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

from dracfg.dataclass import dataclass
from dracfg.packaged import read_data

Role = Literal["told", "fields", "holder", "identity"]
"""told: has kinds of its own. fields: its fields tell. holder: told with what holds it. identity:
names the thing."""
When = Literal["changed", "set", "unset", "raised", "lowered", "added", "removed", "reordered"]
Chosen = Mapping[str, str]
"""Condition on the entry (`evict=true`, or `else`) -> kind of change."""

ITSELF = ("itself",)
WHENS: tuple[When, ...] = (
    "changed", "set", "unset", "raised", "lowered", "added", "removed", "reordered",
)  # fmt: skip
ELSE = "else"

_ROLES = ("fields", "holder", "identity")
_OPTION = re.compile(r"\[([^\]]*)\]")
_NAMED = re.compile(r"\{([^}]*)\}")


@dataclass(frozen=True, slots=True)
class Row:
    """How one field is compared; the words are those of the table."""

    role: Role
    kinds: Mapping[When, Chosen] = field(default_factory=dict)
    to: Mapping[str, str] = field(default_factory=dict)
    by: tuple[str, ...] = ()
    form: str = ""
    rank: tuple[str, ...] = ()
    fill: str = ""
    unless: str | None = None
    unit: str = ""
    decides: bool = False
    folded: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether a model that stands here is told as one value."""
        return bool({"changed", "raised"} & self.kinds.keys())

    def all_kinds(self) -> Iterator[str]:
        """Every kind of change that the row may give."""
        for chosen in self.kinds.values():
            yield from chosen.values()
        yield from self.to.values()


@dataclass(frozen=True, slots=True)
class Table:
    """All rows by path; `documents` tells what it is that a whole document comes or goes."""

    rows: Mapping[str, Row]
    documents: Mapping[str, Row]
    called: Mapping[str, str]
    shown: Mapping[str, str]


@cache
def field_table() -> Table:
    """The table as it is shipped."""
    read = read_data("dracfg.diff", "data/fields.yaml")
    shared, every = read.pop("shared"), read.pop("every")
    called, shown = read.pop("called"), read.pop("shown")
    rows: dict[str, Row] = {}
    documents: dict[str, Row] = {}
    for kind, section in read.items():
        documents[kind] = _row(section["document"])
        for path, written in {**every, **section["fields"]}.items():
            rows[f"{kind}.{path}"] = _row(written)
            below = (
                shared[written["like"]] if isinstance(written, dict) and "like" in written else {}
            )
            rows |= {f"{kind}.{path}.{key}": _row(row) for key, row in below.items()}
    return Table(*(MappingProxyType(part) for part in (rows, documents, called, shown)))


def filled(template: str, text_of: Callable[[str], str]) -> str:
    """A template of the table with its names replaced; brackets around an empty name go with it."""

    def option(found: re.Match[str]) -> str:
        inner = found[1]
        return replaced(inner) if all(text_of(name) for name in _NAMED.findall(inner)) else ""

    def replaced(text: str) -> str:
        return _NAMED.sub(lambda found: text_of(found[1]), text)

    # Names outside brackets last: what replaces them may hold brackets of its own.
    parts, end = [], 0
    for found in _OPTION.finditer(template):
        parts += [replaced(template[end : found.start()]), option(found)]
        end = found.end()
    return "".join([*parts, replaced(template[end:])]).strip()


def _row(written: Any) -> Row:
    if isinstance(written, str):
        if written in _ROLES:
            return Row(written)  # type: ignore[arg-type]  # narrowed to the roles
        written = {"changed": written}
    kinds: dict[When, Chosen] = {when: _chosen(written[when]) for when in WHENS if when in written}
    to = {_word(value): kind for value, kind in written.get("to", {}).items()}
    by = written.get("by", ())
    if set(kinds) == {"changed"} and kinds["changed"][ELSE] in _ROLES:
        return Row(kinds["changed"][ELSE], form=written.get("as", ""))  # type: ignore[arg-type]  # as above
    return Row(
        role="told" if kinds or to else "fields",
        kinds=MappingProxyType(kinds),
        to=MappingProxyType(to),
        by=ITSELF if by == "itself" else tuple(by),
        form=written.get("as", ""),
        rank=tuple(map(_word, written.get("rank", ()))),
        fill=written.get("fill", ""),
        unless=written.get("unless"),
        unit=written.get("unit", ""),
        decides=written.get("decides", False),
        folded=written.get("folded", False),
    )


def _chosen(written: str | Mapping[str, str]) -> Chosen:
    return {ELSE: written} if isinstance(written, str) else written


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
