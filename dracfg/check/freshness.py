"""INV047: records in the repository that were made long before the day that is checked.

Only what changes by itself tells when a record was made: heartbeats of Nodes, renewals of Leases,
Events, and the values of an answer of Prometheus. Slices and their devices stand unchanged for months,
and tell nothing. An answer is a record of its own: one that is new says nothing of the Nodes beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from dracfg.diagnostics import Diagnostic, diagnose
from dracfg.source.fields import maps, text
from dracfg.source.prometheus import NotAnAnswer, results_of
from dracfg.source.records import ANSWER, Record, RecordedObject, Steps
from dracfg.source.times import parse_time

FRESH = timedelta(days=30)
"""Nodes come, go and get other drivers within weeks; claims are not judged here."""

Made = Literal["recorded of", "counted by exporters on"]
Moments = Mapping[tuple[str, Made], tuple[datetime, RecordedObject, Steps]]
"""By cluster and how it was made: the last moment that a record tells of by itself, and where it does."""


def recorded_moments(records: Mapping[str, Sequence[Record]]) -> Moments:
    """Clusters whose records tell of no such moment are left out."""
    found: dict[tuple[str, Made], tuple[datetime, RecordedObject, Steps]] = {}
    for cluster, listed in records.items():
        for record in listed:
            for item in record.objects:
                made: Made = "recorded of"
                moments = _heartbeats(item)
                if item.data["kind"] == ANSWER:
                    made, moments = "counted by exporters on", _asked(item)
                key = cluster, made
                for moment, steps in moments:
                    if key not in found or moment > found[key][0]:
                        found[key] = moment, item, steps
    return found


def check_freshness(moments: Moments, day: date | None) -> Iterator[Diagnostic]:
    """INV047, once a cluster and way of recording; nothing where no day is known."""
    for (cluster, made), (moment, item, steps) in moments.items():
        age = day - moment.date() if day is not None else timedelta(0)
        if age > FRESH:
            yield diagnose(
                "INV047",
                item.span(*steps),
                f"what is {made} {cluster} is {age.days} days old",
                label="nothing in the record is newer",
                found=str(moment.date()),
                expected=f"{FRESH.days} days or less before {day}",
                help="record it again: nodes and what they publish have changed since, or may have",
            )


def _heartbeats(item: RecordedObject) -> Iterator[tuple[datetime, Steps]]:
    for stamp in _stamps(item):
        moment = parse_time(stamp)
        if moment is not None:
            yield moment, ("metadata", "name")


def _asked(item: RecordedObject) -> Iterator[tuple[datetime, Steps]]:
    """The moments of an answer's values, which are in seconds since 1970."""
    try:
        for result in results_of(item.data, "vector"):
            seconds = float(result.value[0])
            yield datetime.fromtimestamp(seconds, UTC), ("data", "result", result.number)
    except (NotAnAnswer, LookupError, TypeError, ValueError, OverflowError, OSError):
        return  # INV062 tells of an answer that can't be read


def _stamps(item: RecordedObject) -> Iterator[str | None]:
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
