"""What a failure is: it passes, its parameters are wrong, the device is ill, or somebody must look.

The table lies in data/failures.yaml: reasons of events, gRPC codes, and patterns of what drivers and
the kubelet say. The first entry that fits holds, so that the more exact ones stand first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Literal

from dracfg.audit.finding import Handling
from dracfg.dataclass import dataclass
from dracfg.packaged import read_data

FailureClass = Literal["transient", "parameters", "health", "leaked", "unclassified"]

_HANDLING: Mapping[FailureClass, Handling] = {
    "transient": "retryable",
    "parameters": "notRetryable",
    "health": "needsPerson",
    "leaked": "needsPerson",
    "unclassified": "needsPerson",
}
_CODE = re.compile(r"rpc error: code = (?P<code>[A-Za-z]+)")


@dataclass(frozen=True, slots=True)
class Failure:
    """An entry of the table. `field` names what would have to be changed, where that is known."""

    id: str
    kind: FailureClass
    step: str
    field: str | None
    source: str

    @property
    def handling(self) -> Handling:
        return _HANDLING[self.kind]


@dataclass(frozen=True, slots=True)
class _Entry:
    failure: Failure
    reasons: frozenset[str]
    code: str | None
    message: re.Pattern[str] | None

    def fits(self, reason: str, message: str) -> bool:
        code = _CODE.search(message)
        return (
            (not self.reasons or reason in self.reasons)
            and (self.code is None or (code is not None and code["code"] == self.code))
            and (self.message is None or self.message.search(message) is not None)
        )


@cache
def _table() -> tuple[_Entry, ...]:
    data = read_data("dracfg.audit", "data/failures.yaml")
    return tuple(
        _Entry(
            Failure(row["id"], row["class"], row["step"], row.get("field"), row["source"]),
            frozenset(row.get("reasons", ())),
            row.get("code"),
            re.compile(row["message"]) if "message" in row else None,
        )
        for row in data["failures"]
    )


def failures() -> tuple[Failure, ...]:
    """Every entry of the table, in its order."""
    return tuple(entry.failure for entry in _table())


def classify(reason: str, message: str) -> Failure:
    """The failure that an event's reason and message tell of; the last resort is a person."""
    for entry in _table():
        if entry.fits(reason, message):
            return entry.failure
    return Failure(
        "unclassified", "unclassified", "read the message, and the driver's log", None, ""
    )
