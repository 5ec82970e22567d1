"""A recorded claim with what only the live level looks at: its age, its notes, its device statuses.

The claim itself is read by `allocate.claimobjects`; here stands what no allocator needs to know.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from dracfg.allocate.claims import Claim, DeviceRequest, DeviceResult
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Span
from dracfg.lower.templates import REQUESTS, TENANT
from dracfg.source.fields import flag, maps, text
from dracfg.source.times import parse_time

PODS = "dracfg.dev/pods"
"""The most pods that a shared claim is meant for."""


@dataclass(frozen=True, slots=True)
class Note:
    """What dracfg wrote on a claim about one of its requests; see `lower.templates.requests_note`."""

    entitlement: str
    tier: str
    policy: str
    size: str
    version: str


@dataclass(frozen=True, slots=True)
class DeviceStatus:
    """An entry of `status.devices`; `failed` holds the conditions that tell of a failure."""

    driver: str
    pool: str
    device: str
    share_id: str | None
    failed: tuple[str, ...]
    index: int


@dataclass(frozen=True, slots=True)
class HeldClaim:
    """A claim and its notes by the name of the request, or of `<request>/<alternative>`."""

    claim: Claim
    created: datetime | None
    allocated: datetime | None
    deleted: datetime | None
    notes: Mapping[str, Note]
    statuses: tuple[DeviceStatus, ...]
    owner_uids: tuple[str, ...]

    @property
    def ref(self) -> str:
        """`<namespace>/<name>`."""
        return f"{self.claim.namespace}/{self.claim.name}"

    @property
    def results(self) -> tuple[DeviceResult, ...]:
        return self.claim.allocation.results if self.claim.allocation is not None else ()

    @property
    def tenant(self) -> str | None:
        """The tenant that its template was made for."""
        return self.claim.labels.get(TENANT)

    @property
    def most_pods(self) -> int | None:
        """The number of pods that it is meant for, where that was written on it."""
        said = self.claim.annotations.get(PODS, "")
        return int(said) if said.isdecimal() else None

    def span(self, *steps: str | int) -> Span | None:
        """The place of a value of the claim."""
        origin = self.claim.origin
        return origin.span(*steps) if origin is not None else None

    def request(self, result: DeviceResult) -> DeviceRequest | None:
        """What was asked for where this device was given."""
        name, _, alternative = result.request.partition("/")
        for request in self.claim.spec.requests:
            if request.name != name:
                continue
            if not alternative:
                return request.exactly
            return next((one for one in request.first_available if one.name == alternative), None)
        return None

    def note(self, result: DeviceResult) -> Note | None:
        """The note of the request; of pairs that stand one by one (`gpu-0`), that of their request."""
        name, slash, alternative = result.request.partition("/")
        stem, _, number = name.rpartition("-")
        tail = f"{slash}{alternative}"
        paired = self.notes.get(f"{stem}{tail}") if number.isdecimal() else None
        return self.notes.get(result.request) or paired

    def status(self, result: DeviceResult) -> DeviceStatus | None:
        """What the driver has written about the device."""
        for status in self.statuses:
            same = (status.driver, status.pool, status.device) == result.device_id
            if same and status.share_id in (None, result.share_id):
                return status
        return None


def held_claim(claim: Claim) -> HeldClaim:
    """The claim with its notes; what was not recorded of it is left out."""
    data = claim.origin.object.data if claim.origin is not None else {}
    allocation = claim.allocation
    return HeldClaim(
        claim,
        created=parse_time(text(data, "metadata", "creationTimestamp")),
        allocated=parse_time(allocation.timestamp if allocation is not None else None),
        deleted=parse_time(text(data, "metadata", "deletionTimestamp")),
        notes=_notes(claim.annotations.get(REQUESTS, "")),
        statuses=tuple(
            _status(entry, number) for number, entry in enumerate(maps(data, "status", "devices"))
        ),
        owner_uids=tuple(
            uid
            for owner in maps(data, "metadata", "ownerReferences")
            if flag(owner, "controller") and (uid := text(owner, "uid")) is not None
        ),
    )


def _notes(written: str) -> dict[str, Note]:
    found: dict[str, Note] = {}
    for part in written.split(","):
        name, _, words = part.partition("=")
        fields = words.split("/")
        if name and len(fields) == 5:
            found.setdefault(name, Note(*fields))
    return found


def _status(entry: Mapping[str, Any], number: int) -> DeviceStatus:
    conditions = maps(entry, "conditions")
    failed = [
        f"{text(c, 'type')}: {text(c, 'reason') or c.get('status')}"
        + (f" ({message})" if (message := text(c, "message")) else "")
        for c in conditions
        if c.get("type") == "Ready" and c.get("status") == "False"
    ]
    return DeviceStatus(
        text(entry, "driver") or "",
        text(entry, "pool") or "",
        text(entry, "device") or "",
        text(entry, "shareID"),
        tuple(failed),
        number,
    )
