"""Time stamps of recorded objects and lengths of time. There is no clock: now is what a record says.

Stamps are RFC 3339, with or without fractions (metav1.Time and MicroTime of k8s.io/apimachinery).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from dracfg.source.records import Record

_STAMP = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:Z|[+-][0-9]{2}:[0-9]{2})"
)
_LENGTH = re.compile(r"([0-9]+)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_NAMED = ("Time", "time", "Timestamp", "At")
_PLACES = ("metadata", "status")
_OF_EVENTS = ("lastTimestamp", "eventTime", "firstTimestamp", "series")


def parse_time(stamp: str | None) -> datetime | None:
    """The moment of a stamp in UTC, to the second; None for what is no stamp."""
    if stamp is None or not _STAMP.fullmatch(stamp):
        return None
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    return moment.astimezone(UTC).replace(microsecond=0)


def format_time(moment: datetime) -> str:
    """`2026-11-29T22:00:00Z`."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_length(length: str) -> timedelta:
    """`15m`, `1h30m`; the form is that of the input language."""
    parts = _LENGTH.findall(length)
    return timedelta(seconds=sum(int(number) * _SECONDS[unit] for number, unit in parts))


def format_length(length: timedelta) -> str:
    """The two largest units that are not 0: `3d4h`, `15m`, `0s`."""
    rest = int(length.total_seconds())
    words = []
    for unit in ("d", "h", "m", "s"):
        number, rest = divmod(rest, int(_SECONDS[unit]))
        if number:
            words.append(f"{number}{unit}")
    return "".join(words[:2]) or "0s"


def newest_time(records: Iterable[Record]) -> datetime | None:
    """The latest moment that any object tells of in its metadata or status, or as an Event or Lease.

    That is the earliest moment at which the record can have been made. The time of a deletion is
    left out: it lies ahead by the grace period.
    """
    newest: datetime | None = None
    for record in records:
        for item in record.objects:
            for stamp in _stamps(item.data):
                moment = parse_time(stamp)
                if moment is not None and (newest is None or moment > newest):
                    newest = moment
    return newest


def _stamps(data: Mapping[str, Any]) -> Iterator[str]:
    for place in _PLACES:
        yield from _within(data.get(place))
    match data.get("kind"):
        case "Event":
            for place in _OF_EVENTS:
                yield from _within({"Time": data.get(place)})
        case "Lease":
            yield from _within(data.get("spec"))


def _within(value: Any, key: str = "") -> Iterator[str]:
    """Texts whose key ends as the API's names of moments do; `time` is that of managed fields."""
    if isinstance(value, Mapping):
        for name, below in value.items():
            yield from _within(below, name)
    elif isinstance(value, list):
        for below in value:
            yield from _within(below)
    elif isinstance(value, str) and key.endswith(_NAMED) and key != "deletionTimestamp":
        yield value
