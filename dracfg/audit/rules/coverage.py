"""LIV058, INV047: kinds that are not in the record, and a record that is old.

Rules that have nothing to look at find nothing; that is said, so that it is not taken for a proof.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from dracfg.audit.finding import LiveFinding, LiveRule, live
from dracfg.audit.view import View
from dracfg.source.times import format_length, format_time

_FRESH = timedelta(days=1)
_NEEDED = {
    "ResourceSlice": "no device is known, and nothing is held against a bound",
    "ResourceClaim": "nothing is known to be held",
    "Pod": "leaks and failed preparations are not found",
    "Node": "nodes that are lost are not found",
    "Namespace": "rights are read from the catalog alone",
}


def missing_kinds(view: View) -> Iterator[LiveFinding]:
    """LIV058, once for each kind that rules need and the record has none of."""
    needed = dict(_NEEDED)
    if view.catalog is not None:
        del needed["Namespace"]
    for kind, consequence in needed.items():
        if kind not in view.dump.recorded:
            yield live(
                "LIV058",
                "needsPerson",
                None,
                f"no {kind} is recorded: {consequence}",
                step=f"record it at the same time: `kubectl get {kind.lower()}s -A -o yaml`",
            )


def old_record(view: View) -> Iterator[LiveFinding]:
    """INV047: nothing in the record is newer than a day before the moment it is judged at."""
    now, newest = view.dump.at, view.dump.newest
    if now is None or newest is None or now - newest <= _FRESH:
        return
    yield live(
        "INV047",
        "needsPerson",
        None,
        f"the newest that the record tells of is {format_length(now - newest)} old",
        found=format_time(newest),
        expected=f"{format_length(_FRESH)} or less before {format_time(now)}",
        step="record again: claims and pods come and go within minutes",
    )


RULES: tuple[LiveRule, ...] = (missing_kinds, old_record)
