"""What a shard leaves for the merge, as JSON: its clusters as they were built, and from what.

Everything of a build is there but what only a later compile would save time by. Reading it runs
nothing, and what is not of its form is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from functools import cache

from pydantic import TypeAdapter, ValidationError

from dracfg.building import ClusterBuild
from dracfg.cache.questions import AskedTree, Question
from dracfg.checking import Checked
from dracfg.dataclass import dataclass
from dracfg.link.outlines import NOTHING_OUTLINED
from dracfg.lower.artifact import Origin
from dracfg.shards.errors import PartError
from dracfg.shards.shard import Shard

SCHEMA_VERSION = 1

Inputs = tuple[tuple[Question, str], ...]
"""What was asked of the repository's files, `out/` among them, with digests of the answers."""


@dataclass(frozen=True, slots=True)
class ClusterPart:
    """One cluster; `engine` is what its build calls so, as pairs, since JSON has no such keys."""

    build: ClusterBuild
    engine: tuple[tuple[tuple[str, str, str, str], Origin], ...]


@dataclass(frozen=True, slots=True)
class Part:
    """The clusters of a shard, and what rules find in the whole catalog as of a day, as every shard asks."""

    shard: Shard
    day: date | None
    inputs: Inputs
    checked: Checked
    clusters: tuple[ClusterPart, ...]

    @property
    def builds(self) -> tuple[ClusterBuild, ...]:
        """Its clusters as the rest of a compile takes them."""
        return tuple(replace(one.build, engine=dict(one.engine)) for one in self.clusters)


def inputs_of(tree: AskedTree) -> Inputs:
    """What was asked so far."""
    return tuple(sorted(tree.notes.items()))


def part_of(
    shard: Shard,
    day: date | None,
    inputs: Inputs,
    checked: Checked,
    builds: Iterable[ClusterBuild],
) -> Part:
    """The part of a shard that built these clusters; no run builds on what rules saw of tenants."""
    clusters = (
        ClusterPart(replace(build, engine={}), tuple(build.engine.items())) for build in builds
    )
    return Part(shard, day, inputs, replace(checked, outlines=NOTHING_OUTLINED), tuple(clusters))


def to_json(part: Part, release: str) -> bytes:
    """The part as this release of dracfg writes it."""
    head = json.dumps({"schemaVersion": SCHEMA_VERSION, "release": release})
    return b'%s, "part": %s}' % (head[:-1].encode(), _adapter().dump_json(part))


def from_json(body: bytes, release: str) -> Part:
    """The part of `to_json`. Raises PartError where it is of another release, or no part."""
    try:
        entry = json.loads(body)
        version, theirs, part = entry["schemaVersion"], entry["release"], entry["part"]
    except (KeyError, TypeError, ValueError, RecursionError):
        raise PartError("is no part") from None
    if theirs != release:
        raise PartError(f"is of dracfg {theirs}, and this is {release}")
    if version != SCHEMA_VERSION:
        raise PartError(f"has schemaVersion {version!r}, and only {SCHEMA_VERSION} is known")
    try:
        return _adapter().validate_python(part)
    except (ValidationError, RecursionError):
        raise PartError("is no part") from None


@cache
def _adapter() -> TypeAdapter[Part]:
    return TypeAdapter(Part)
