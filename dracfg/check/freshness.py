"""INV047: records in the repository that were made long before the day that is checked.

Only what changes by itself tells when a record was made: heartbeats of Nodes, renewals of Leases,
Events. Slices and their devices stand unchanged for months, and tell nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta

from dracfg.diagnostics import Diagnostic, diagnose
from dracfg.source.fields import maps, text
from dracfg.source.records import Record, RecordedObject
from dracfg.source.times import parse_time

FRESH = timedelta(days=30)
"""Nodes come, go and get other drivers within weeks; claims are not judged here."""

Moments = Mapping[str, tuple[datetime, RecordedObject]]
"""By cluster: the last moment that a record tells of by itself, and the object that does."""


def recorded_moments(records: Mapping[str, Sequence[Record]]) -> Moments:
    """Clusters whose records tell of no such moment are left out."""
    found: dict[str, tuple[datetime, RecordedObject]] = {}
    for cluster, listed in records.items():
        for record in listed:
            for item in record.objects:
                for stamp in _ticks(item):
                    moment = parse_time(stamp)
                    if moment is not None and (cluster not in found or moment > found[cluster][0]):
                        found[cluster] = moment, item
    return found


def check_freshness(moments: Moments, day: date | None) -> Iterator[Diagnostic]:
    """INV047, once a cluster; nothing where no day is known."""
    for cluster, (moment, item) in moments.items():
        age = day - moment.date() if day is not None else timedelta(0)
        if age > FRESH:
            yield diagnose(
                "INV047",
                item.span("metadata", "name"),
                f"what is recorded of {cluster} is {age.days} days old",
                label="nothing in the record is newer",
                found=str(moment.date()),
                expected=f"{FRESH.days} days or less before {day}",
                help="record it again: nodes and what they publish have changed since, or may have",
            )


def _ticks(item: RecordedObject) -> Iterator[str | None]:
    data = item.data
    match data["kind"]:
        case "Node":
            for condition in maps(data, "status", "conditions"):
                yield text(condition, "lastHeartbeatTime")
        case "Lease":
            yield text(data, "spec", "renewTime")
        case "Event":
            yield text(data, "lastTimestamp")
            yield text(data, "eventTime")
            yield text(data, "series", "lastObservedTime")
