"""Changes that follow from another change become details of it: one cause is one line.

Which kinds follow from which is data (`data/causes.yaml`). Knows how changes are told; nothing of how
they were found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

from dracfg.dataclass import dataclass
from dracfg.diff.change import Change
from dracfg.diff.words import bounded
from dracfg.packaged import read_data


class _Index:
    """Changes by kind and tenant: of many tenants each is held against its own only."""

    def __init__(self, changes: Iterable[Change]) -> None:
        self._found: dict[str, dict[str | None, list[Change]]] = {}
        for one in changes:
            self._found.setdefault(one.kind.name, {}).setdefault(one.tenant, []).append(one)

    def about(self, kinds: Iterable[str], tenant: str | None) -> Iterator[Change]:
        """Those of some kinds that are about a tenant or about all; for no tenant, every one."""
        for kind in sorted(kinds):
            of_kind = self._found.get(kind, {})
            tenants = of_kind if tenant is None else (tenant, None)
            for name in tenants:
                yield from of_kind.get(name, ())


@dataclass(frozen=True, slots=True)
class Consequence:
    """A row of the table: which changes follow from which."""

    follower: frozenset[str]
    cause: frozenset[str]
    of: re.Pattern[str]
    within: str

    def causes_of(self, follower: Change, changes: _Index) -> tuple[Change, ...]:
        """Those of the changes that one follows from."""
        found = self.of.match(_told(follower)) if follower.kind.name in self.follower else None
        if found is None:
            return ()
        groups = {name: re.escape(text or "") for name, text in found.groupdict().items()}
        pattern = re.compile(self.within.format(**groups), re.IGNORECASE)
        return tuple(
            one
            for one in changes.about(self.cause, follower.tenant)
            if _meet(one.cluster, follower.cluster) and pattern.search(_told(one))
        )


@cache
def consequences() -> tuple[Consequence, ...]:
    """The table, in its order."""
    return tuple(
        Consequence(
            frozenset(row["follower"]),
            frozenset(row["cause"]),
            re.compile(row.get("of", "")),
            row.get("in", ""),
        )
        for row in read_data("dracfg.diff", "data/causes.yaml")
    )


def folded(changes: Iterable[Change]) -> tuple[Change, ...]:
    """The changes without those that follow from others of them.

    A cause takes over what its followers reach and how bad they are. One that follows from several,
    as on several clusters, is told with each.
    """
    found = tuple(changes)
    index = _Index(found)
    by_cause: dict[Change, list[Change]] = {}
    followers: set[Change] = set()
    for one in found:
        for cause in _causes(one, index):
            by_cause.setdefault(cause, []).append(one)
            followers.add(one)
    return tuple(_joined(one, by_cause.get(one, ())) for one in found if one not in followers)


def _causes(one: Change, changes: _Index) -> tuple[Change, ...]:
    for row in consequences():
        causes = row.causes_of(one, changes)
        if causes:
            return causes
    return ()


def _joined(cause: Change, followers: Iterable[Change]) -> Change:
    for one in sorted(followers, key=lambda one: one.object):
        shown, more = bounded((*cause.workloads, *one.workloads))
        cause = replace(
            cause,
            impact=max(cause.impact, one.impact),
            flags=tuple(dict.fromkeys((*cause.flags, *one.flags))),
            details=(*cause.details, _told(one), *one.details, *more),
            workloads=shown,
        )
    return cause


def _told(one: Change) -> str:
    """`entitlement gpu / limit: 24 devices -> 16 devices`."""
    return f"{one.object}: {one.before or 'nothing'} -> {one.after or 'nothing'}"


def _meet(one: str | None, other: str | None) -> bool:
    return one is None or other is None or one == other
