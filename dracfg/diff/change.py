"""One change in meaning: what, who, before and after, how bad, when it is felt, and the way back.

The kinds of change are data (`data/changes/`): each has its impact, flags, effect and way back
there. Knows nothing of how changes are found or shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from functools import cache
from types import MappingProxyType
from typing import Literal

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Span
from dracfg.packaged import read_data

Flag = Literal["privilege", "alpha", "capacity", "quota", "rollout"]
Effect = Literal["never", "compile", "sync", "next claim", "restart", "drain"]
"""When a change is felt; `compile` where only the tree or a person reading it sees anything."""
_FILES = ("language", "effects", "platform")
"""What is written; what follows for rights, capacity and claims; what runs beneath."""


class Impact(IntEnum):
    """How bad a change can be for those it reaches; the greater the worse."""

    NONE = 0
    ADDITIVE = 1
    NEW_CLAIMS = 2
    RESTRICTIVE = 3
    DISRUPTIVE = 4
    DESTRUCTIVE = 5

    @property
    def word(self) -> str:
        """As it is written: `new-claims`."""
        return self.name.lower().replace("_", "-")

    @classmethod
    def of(cls, word: str) -> Impact:
        """The impact of a word; raises KeyError for others."""
        return cls[word.upper().replace("-", "_")]


@dataclass(frozen=True, slots=True)
class ChangeKind:
    """What all changes of a kind share.

    `means` says in a sentence what happens to whom, `way_back` how it is undone.
    """

    name: str
    title: str
    impact: Impact
    flags: tuple[Flag, ...]
    effect: Effect
    means: str
    way_back: str


@dataclass(frozen=True, slots=True)
class Change:
    """A change between two states of a repository.

    `object` names the thing as its writer does (`entitlement gpu`, `class a100-40g`, `NodePool
    a100-east`), `before` and `after` hold values in people's units and are None where there was or
    is nothing. `cluster` and `tenant` are None where it is about none or all of them. `span` is the
    place in the later state, or in the earlier one where `gone`. `workloads` are recorded pods or
    claims, as `namespace/name`, that it reaches.
    """

    kind: ChangeKind
    object: str
    before: str | None
    after: str | None
    impact: Impact
    flags: tuple[Flag, ...]
    cluster: str | None = None
    tenant: str | None = None
    namespaces: tuple[str, ...] = ()
    span: Span | None = None
    gone: bool = False
    details: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()

    @property
    def effect(self) -> Effect:
        return self.kind.effect

    @property
    def way_back(self) -> str:
        return self.kind.way_back


@cache
def change_kinds() -> Mapping[str, ChangeKind]:
    """Every kind of change by its name, in the order of the data."""
    return MappingProxyType(
        {
            name: _kind(name, facts)
            for file in _FILES
            for name, facts in read_data("dracfg.diff", f"data/changes/{file}.yaml").items()
        }
    )


def change(
    kind: str,
    thing: str,
    before: str | None,
    after: str | None,
    *,
    impact: Impact | None = None,
    flags: Iterable[Flag] = (),
    cluster: str | None = None,
    tenant: str | None = None,
    namespaces: Iterable[str] = (),
    span: Span | None = None,
    gone: bool = False,
    details: Iterable[str] = (),
    workloads: Iterable[str] = (),
) -> Change:
    """A change of a kind in the data; a name that is not there raises KeyError.

    `impact` takes the place of the kind's where the circumstances make it worse or better; `flags`
    come on top of the kind's.
    """
    known = change_kinds()[kind]
    return Change(
        known,
        thing,
        before,
        after,
        known.impact if impact is None else impact,
        tuple(dict.fromkeys((*known.flags, *flags))),
        cluster,
        tenant,
        tuple(namespaces),
        span,
        gone,
        tuple(details),
        tuple(workloads),
    )


def order(found: Change) -> tuple[object, ...]:
    """A key that sorts changes: the worst first, then by cluster, tenant, object and kind."""
    return (
        -found.impact,
        found.cluster or "",
        found.tenant or "",
        found.object,
        found.kind.name,
        found.before or "",
        found.after or "",
    )


def _kind(name: str, facts: Mapping[str, object]) -> ChangeKind:
    flags = facts.get("flags", ())
    assert isinstance(flags, list | tuple)
    return ChangeKind(
        name=name,
        title=str(facts["title"]),
        impact=Impact.of(str(facts["impact"])),
        flags=tuple(flags),
        effect=facts["effect"],  # type: ignore[arg-type]  # held to the literals by a test
        means=str(facts["means"]),
        way_back=str(facts["wayBack"]),
    )
