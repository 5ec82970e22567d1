"""All parts of a compile, or the reason why they are none. Writes nothing, builds nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path

from dracfg.building import ClusterBuild
from dracfg.cache.parts import PARTS, Parts
from dracfg.shards.errors import PartError
from dracfg.shards.part import Inputs, Part, from_json
from dracfg.shards.shard import Shard

_MOST_NAMED = 3
_COMMAND = "dracfg compile --shard"


def collect(root: Path, release: str) -> tuple[Part, ...]:
    """The parts that lie in a repository, each once, in their order.

    Raises PartError unless they are all of one count, whole, and of this release of dracfg.
    """
    found = [(path, _read(path, body, release)) for path, body in Parts(root).found()]
    if not found:
        raise PartError(f"no part lies below {PARTS}: run `{_COMMAND} I/N` for each I up to N")
    by_shard: dict[Shard, tuple[Path, Part]] = {}
    for path, part in found:
        first = by_shard.setdefault(part.shard, (path, part))
        if first[0] != path:
            raise PartError(f"shard {part.shard} is there twice: {first[0]} and {path}")
    counts = {shard.count: path for shard, (path, _) in sorted(by_shard.items(), reverse=True)}
    if len(counts) > 1:
        named = ", ".join(f"{path} is of {count}" for count, path in sorted(counts.items()))
        raise PartError(f"the parts are of compiles in different numbers of shards: {named}")
    (count,) = counts
    missing = [shard for i in range(count) if (shard := Shard(i + 1, count)) not in by_shard]
    if missing:
        which, verb = ("part of shard", "is") if len(missing) == 1 else ("parts of shards", "are")
        named = _some(map(str, missing))
        raise PartError(f"the {which} {named} {verb} missing: run `{_COMMAND} {missing[0]}`")
    return tuple(part for _, (_, part) in sorted(by_shard.items()))


def require_same(parts: Iterable[Part], day: date | None, inputs: Inputs) -> None:
    """Raises PartError for the first part that was made as of another day, or from other files."""
    for part in parts:
        if part.day != day:
            raise PartError(
                f"shard {part.shard} was judged as of {part.day or 'no day'}, and here it is "
                f"{day or 'no day'}: give both the same --today"
            )
        if part.inputs != inputs:
            named = _some(_differing(part.inputs, inputs))
            raise PartError(
                f"shard {part.shard} was made from other files than are here: {named}; "
                f"run `{_COMMAND} {part.shard}` on them"
            )


def builds_of(parts: Iterable[Part], clusters: Sequence[str]) -> tuple[ClusterBuild, ...]:
    """The builds of these clusters in their order. Raises PartError where a part has others."""
    builds: dict[str, ClusterBuild] = {}
    for part in parts:
        own = {build.cluster: build for build in part.builds}
        if own.keys() != set(part.shard.own(clusters)):
            raise PartError(
                f"the part of shard {part.shard} has other clusters than are the shard's; "
                f"run `{_COMMAND} {part.shard}` again"
            )
        builds |= own
    return tuple(builds[name] for name in clusters)


def _read(path: Path, body: bytes | None, release: str) -> Part:
    try:
        if body is None:
            raise PartError("is cut short, or was edited")
        return from_json(body, release)
    except PartError as refused:
        raise PartError(f"{path} {refused}; run its shard again") from None


def _differing(theirs: Inputs, ours: Inputs) -> Iterator[str]:
    """The paths of what was answered otherwise: files, or where there are none of them, folders."""
    paths = {question: question[1] for question, _ in {*theirs} ^ {*ours}}
    files = {path for question, path in paths.items() if question[0] == "read"}
    yield from sorted(files or set(paths.values()))


def _some(names: Iterable[str]) -> str:
    listed = list(names)
    rest = len(listed) - _MOST_NAMED
    shown = ", ".join(listed[:_MOST_NAMED])
    return f"{shown} and {rest:,} more" if rest > 0 else shown
