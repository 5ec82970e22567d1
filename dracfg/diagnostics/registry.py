"""The registry where a code is born: every rule with its severity, its level and its title.

Codes are three letters and three digits and are never used again for something else. The rules
lie in `rules.yaml` beside this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Literal

from dracfg.packaged import read_data

Level = Literal["intent", "inventory", "live"]


@dataclass(frozen=True, slots=True)
class Rule:
    """What a code stands for. `level` names the data that the rule needs."""

    code: str
    severity: Literal["error", "warning", "unknown", "note"]
    title: str
    level: Level = "intent"


@cache
def rules() -> Mapping[str, Rule]:
    """Every rule by its code, in the order of the codes."""
    data = read_data("dracfg.diagnostics", "rules.yaml")
    born = {code: Rule(code=code, **facts) for code, facts in data.items()}
    return MappingProxyType(dict(sorted(born.items())))


def rule(code: str) -> Rule:
    """The rule of a code; an unknown code is a fault of dracfg and raises KeyError."""
    return rules()[code]
