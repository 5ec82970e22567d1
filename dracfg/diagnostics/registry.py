"""The registry where a code is born: every rule with its severity, its level and its title.

Codes are three letters and three digits and are never used again for something else; the letters
name the family. The rules lie in `rules.yaml` beside this module, the families in `families.yaml`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

from dracfg.dataclass import dataclass
from dracfg.packaged import read_data

Level = Literal["intent", "inventory", "live"]
Waivable = Literal["anywhere", "catalog", "never"]
"""From which files a finding can be waived; `catalog` is a file below `catalog/`."""


@dataclass(frozen=True, slots=True)
class Family:
    """What the three letters of a code stand for; `waivable` holds for errors of the family."""

    letters: str
    title: str
    waivable: Waivable


@dataclass(frozen=True, slots=True)
class Rule:
    """What a code stands for.

    `level` names the data that the rule needs. `safe_fix` says that a finding's `fix` never
    changes what a document means, so `--fix` may apply it unasked.
    """

    code: str
    severity: Literal["error", "warning", "unknown", "note"]
    title: str
    family: Family
    level: Level = "intent"
    waivable: Waivable = "anywhere"
    safe_fix: bool = False


@cache
def families() -> Mapping[str, Family]:
    """Every family by its letters, in the order in which dracfg meets them."""
    data = read_data("dracfg.diagnostics", "families.yaml")
    return MappingProxyType({letters: Family(letters, **facts) for letters, facts in data.items()})


@cache
def rules() -> Mapping[str, Rule]:
    """Every rule by its code, in the order of the codes."""
    data = read_data("dracfg.diagnostics", "rules.yaml")
    born = {code: _rule(code, facts) for code, facts in data.items()}
    return MappingProxyType(dict(sorted(born.items())))


def rule(code: str) -> Rule:
    """The rule of a code; an unknown code is a fault of dracfg and raises KeyError."""
    return rules()[code]


def _rule(code: str, facts: Mapping[str, Any]) -> Rule:
    family = families()[code[:3]]
    waivable = family.waivable if facts["severity"] == "error" else "anywhere"
    return Rule(code=code, family=family, **{"waivable": waivable, **facts})
