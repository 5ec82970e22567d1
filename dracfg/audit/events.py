"""Recorded Events → what was said, of which object, by whom and last when.

Reads both forms: v1 with `involvedObject` and `message`, events.k8s.io/v1 with `regarding` and
`note` (kubernetes/api@v0.36.3:core/v1/types.go, events/v1/types.go).
"""

from __future__ import annotations

from dataclasses import field
from datetime import datetime

from dracfg.allocate.devices import Origin
from dracfg.dataclass import dataclass
from dracfg.source.fields import mapping, text
from dracfg.source.records import RecordedObject
from dracfg.source.times import parse_time


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `uid` is that of the object it is about, empty where it does not say."""

    kind: str
    namespace: str
    name: str
    uid: str
    reason: str
    message: str
    source: str
    last: datetime | None
    origin: Origin = field(compare=False, repr=False)


def read_event(item: RecordedObject) -> Event | None:
    """The event, or None where the object is none or is about nothing."""
    data = item.data
    if data["kind"] != "Event":
        return None
    about = mapping(data, "involvedObject") or mapping(data, "regarding")
    name, reason = text(about, "name"), text(data, "reason")
    if name is None or reason is None:
        return None
    stamps = (
        text(data, "series", "lastObservedTime"),
        text(data, "lastTimestamp") or text(data, "deprecatedLastTimestamp"),
        text(data, "eventTime"),
        text(data, "metadata", "creationTimestamp"),
    )
    last = next((moment for stamp in stamps if (moment := parse_time(stamp)) is not None), None)
    return Event(
        kind=text(about, "kind") or "",
        namespace=text(about, "namespace") or text(data, "metadata", "namespace") or "",
        name=name,
        uid=text(about, "uid") or "",
        reason=reason,
        message=text(data, "message") or text(data, "note") or "",
        source=text(data, "reportingComponent")
        or text(data, "reportingController")
        or text(data, "source", "component")
        or "",
        last=last,
        origin=Origin(item),
    )
