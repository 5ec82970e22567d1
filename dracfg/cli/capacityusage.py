"""`dracfg capacity --usage FILE`: files of recorded use, and what they say as text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from dracfg.cli.capacitytext import columns
from dracfg.cli.output import plural
from dracfg.dataclass import dataclass
from dracfg.link.catalog import Catalog
from dracfg.plan.estimate import estimates
from dracfg.plan.usage import NotUsage, Series, kept_objectives, read_series, uses
from dracfg.plan.usagedocument import lost_document, objectives_document, usage_document


@dataclass(frozen=True, slots=True)
class Recorded:
    """What was recorded, as data of the plan's document."""

    usage: Sequence[Mapping[str, Any]]
    objectives: Sequence[Mapping[str, Any]]
    lost: Sequence[Mapping[str, str]]

    @property
    def is_missed(self) -> bool:
        """Whether some objective was missed for longer than its budget allows."""
        return any(one["verdict"] == "missed" for one in self.objectives)


def recorded(
    catalog: Catalog, files: Sequence[Path], clusters: Sequence[str] | None
) -> Recorded | None:
    """What the files say of the clusters; None without a file. A file that is no record is wrong use."""
    if not files:
        return None
    series = [one for file in files for one in _read(file)]
    series = [one for one in series if clusters is None or one.labels["cluster"] in clusters]
    try:
        found, lost = uses(estimates(catalog), series)
    except NotUsage as reason:
        raise click.UsageError(f"--usage: {reason}") from None
    kept = objectives_document(kept_objectives(catalog, series))
    return Recorded(
        usage_document(found),
        [one for one in kept if clusters is None or one["cluster"] in clusters],
        lost_document(lost),
    )


def usage_lines(found: Recorded) -> Iterator[str]:
    """The same for people."""
    rows: list[tuple[str, ...]]
    if found.usage:
        yield "In use"
        rows = [("", "", "p50", "p95", "p99", "now", "promised", "to promise", "growth", "lasts")]
        rows += [_use(one) for one in found.usage]
        yield from (f"  {row}" for row in columns(rows))
        yield ""
    if found.objectives:
        yield "Objectives"
        rows = [("", "", "objective", "p50", "p99", "missed", "")]
        rows += [_objective(one) for one in found.objectives]
        yield from (f"  {row}" for row in columns(rows))
        yield ""
    for labels in found.lost:
        text = ", ".join(f"{name}={value}" for name, value in labels.items())
        yield f"not of the catalog: {text}"


def _read(file: Path) -> list[Series]:
    try:
        return list(read_series(json.loads(file.read_bytes())))
    except (ValueError, RecursionError):
        raise click.UsageError(f"--usage {file.as_posix()} is not JSON") from None
    except NotUsage as reason:
        raise click.UsageError(f"--usage {file.as_posix()} {reason}") from None


def _use(one: Mapping[str, Any]) -> tuple[str, ...]:
    growth = one["growthPerDay"]
    days = one["lastsDays"]
    lasts = (one["why"] or "") if days is None else plural(days, "day")
    return (
        f"{one['tier']} on {one['cluster']}",
        one["key"],
        *(one[name] for name in ("p50", "p95", "p99", "now", "promised", "promiseable")),
        "-" if growth is None else f"{growth} a day",
        lasts,
    )


def _objective(one: Mapping[str, Any]) -> tuple[str, ...]:
    of = one["cluster"] if one["tier"] is None else f"{one['tier']} on {one['cluster']}"
    missed = one["missedShare"]
    return (
        of,
        one["objective"],
        one["limit"],
        *("-" if one[name] is None else f"{one[name]:g}" for name in ("p50", "p99")),
        "-" if missed is None else f"{missed:.1%}",
        one["verdict"],
    )
