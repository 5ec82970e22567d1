"""Each pod or claim that waits for devices, with the one cause: from events, condition or objects.

The table of reasons and words lies in data/causes.yaml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from functools import cache

from dracfg.allocate.claimobjects import ClaimTemplate
from dracfg.audit.finding import LiveFinding, live
from dracfg.audit.heldclaims import HeldClaim
from dracfg.audit.obstacles import Obstacle, Obstacles
from dracfg.audit.pods import Pod
from dracfg.audit.view import TIMEOUT, View
from dracfg.audit.words import claim_object, pod_object
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Span
from dracfg.kube.quota import CLASS_SUFFIX
from dracfg.packaged import read_data
from dracfg.source.times import format_length

MOST_DEVICES = 32
"""What quota counts for `allocationMode: All` (kubernetes pkg/quota/v1/evaluator/core/resource_claims.go)."""
_NOTHING_TELLS = "nothing that is recorded tells why"
OBJECTS = "objects"
"""The cluster says only that no node will do; the objects say why."""
NEEDS_CHANGE = frozenset(
    {"missingClass", "missingTemplate", "missingClaim", "policy", "selector", "gate", "constraint"}
)
"""Causes that do not pass by waiting."""
PREPARING = frozenset({"prepareFailed", "driverNotRegistered"})
"""Causes that come after allocation; LIV054 tells of them with their class."""


@dataclass(frozen=True, slots=True)
class PendingCause:
    """Why something waits. `cause` is None where nothing recorded tells; `source` says what told.

    `subject` is `Pod/<namespace>/<name>`, or a `ResourceClaim/…` whose pod is not recorded.
    """

    subject: str
    claims: tuple[str, ...]
    cause: str | None
    text: str
    source: str
    since: datetime | None
    span: Span | None

    @property
    def step(self) -> str:
        """What may be done about it."""
        return _steps().get(self.cause or "", "record Events at the same time as the objects")


@dataclass(frozen=True, slots=True)
class _Row:
    cause: str
    reasons: frozenset[str]
    message: re.Pattern[str]
    says: str

    def read(self, reason: str, message: str) -> Obstacle | None:
        match = self.message.search(message) if reason in self.reasons else None
        if match is None:
            return None
        words = {key: (value or "").strip().rstrip(".") for key, value in match.groupdict().items()}
        return Obstacle(self.cause, self.says.format(**words))


@cache
def _table() -> tuple[_Row, ...]:
    data = read_data("dracfg.audit", "data/causes.yaml")
    return tuple(
        _Row(row["cause"], frozenset(row["reasons"]), re.compile(row["message"]), row["says"])
        for row in data["causes"]
    )


@cache
def _steps() -> Mapping[str, str]:
    steps: Mapping[str, str] = read_data("dracfg.audit", "data/causes.yaml")["steps"]
    return steps


def cause_names() -> tuple[str, ...]:
    """Every cause that can be named, in the order of the table of steps."""
    return tuple(_steps())


def read_cause(reason: str, message: str) -> Obstacle | None:
    """The cause that an event tells of; None where the table has no words for it."""
    found = (row.read(reason, message) for row in _table())
    return next((one for one in found if one is not None), None)


def pending_causes(view: View) -> tuple[PendingCause, ...]:
    """Every recorded pod with claims that has not started, then claims that were made for a pod which
    is not recorded; in the order of the names."""
    obstacles = Obstacles(view)
    found = [
        _cause(view, obstacles, pod)
        for _, pod in sorted(view.dump.pods.items())
        if pod.claims and pod.phase == "Pending" and pod.deleted is None
    ]
    used = {(pod.namespace, one.claim) for pod in view.dump.pods.values() for one in pod.claims}
    found += [
        _of_claim(obstacles, claim)
        for key, claim in sorted(view.dump.claims.items())
        if key not in used and claim.claim.allocation is None and claim.owner_uids
    ]
    return tuple(one for one in found if one is not None)


def _of_claim(obstacles: Obstacles, claim: HeldClaim) -> PendingCause:
    """The cause of a claim alone; claims that nobody made for a pod wait for one, and are left out."""
    found = obstacles.of(claim)
    return PendingCause(
        subject=claim_object(claim),
        claims=(claim.ref,),
        cause=found.cause if found is not None else None,
        text=found.text if found is not None else _NOTHING_TELLS,
        source="objects" if found is not None else "none",
        since=claim.created,
        span=claim.span("metadata", "name"),
    )


def _cause(view: View, obstacles: Obstacles, pod: Pod) -> PendingCause | None:
    """The cause; None for a pod that has its devices and a node, and of which nothing is said."""
    claims = tuple(f"{pod.namespace}/{one.claim}" for one in pod.claims if one.claim is not None)
    told_by_events = (read_cause(e.reason, e.message) for e in view.events_of(pod))
    said, source = next((one for one in told_by_events if one is not None), None), "event"
    if said is None and pod.scheduling_message is not None:
        said, source = read_cause("FailedScheduling", pod.scheduling_message), "condition"
    if said is None and pod.node is not None:
        return None
    if said is None or said.cause == OBJECTS:
        found = _missing(view, pod) or _found(view, obstacles, pod)
        if found is not None:
            said, source = found, "objects"
    told = said is not None and said.cause != OBJECTS
    return PendingCause(
        subject=pod_object(pod),
        claims=claims,
        cause=said.cause if said is not None and told else None,
        text=said.text if said is not None and told else _NOTHING_TELLS,
        source=source if told else "none",
        since=pod.created,
        span=pod.origin.span("metadata", "name"),
    )


def _missing(view: View, pod: Pod) -> Obstacle | None:
    """A template or claim that the pod names and that is not there, where the kind is recorded."""
    for entry in pod.claims:
        key = (pod.namespace, entry.template or "")
        if (
            entry.claim is None
            and entry.template is not None
            and "ResourceClaimTemplate" in view.dump.recorded
            and key not in view.dump.templates
            and key not in view.dump.unread
        ):
            return Obstacle(
                "missingTemplate", f"there is no template {entry.template} in its namespace"
            )
        template = view.dump.templates.get(key)
        if entry.claim is None and template is not None:
            full = _full_quota(view, template)
            if full is not None:
                return full
        named = (pod.namespace, entry.claim or "")
        known = named in view.dump.claims or named in view.dump.unread
        if entry.claim is not None and "ResourceClaim" in view.dump.recorded and not known:
            return Obstacle("missingClaim", f"there is no claim {entry.claim} in its namespace")
    return None


def _full_quota(view: View, template: ClaimTemplate) -> Obstacle | None:
    """A quota of the namespace that lets no claim of the template through."""
    wanted: dict[str, int] = {}
    for request in template.spec.requests:
        asks = (request.exactly,) if request.exactly is not None else request.first_available
        most: dict[str, int] = {}
        for ask in asks:
            if ask is not None:
                number = ask.count if ask.mode == "ExactCount" else MOST_DEVICES
                most[ask.device_class] = max(number, most.get(ask.device_class, 0))
        for name, number in most.items():
            key = name + CLASS_SUFFIX
            wanted[key] = wanted.get(key, 0) + number
    for use in view.dump.quotas:
        number = wanted.get(use.key, 0)
        if (
            number
            and use.namespace == template.namespace
            and use.used.exact + number > use.hard.exact
        ):
            said = f"{use.key}: {use.used} of {use.hard} used, {number} wanted"
            return Obstacle("quota", f"quota {use.quota} lets no more through ({said})")
    return None


def _found(view: View, obstacles: Obstacles, pod: Pod) -> Obstacle | None:
    for claim in view.dump.claims_of(pod):
        if claim.claim.allocation is None:
            found = obstacles.of(claim)
            if found is not None:
                return found
    return None


def pending_findings(view: View, causes: tuple[PendingCause, ...]) -> Iterator[LiveFinding]:
    """LIV055: no cause is known. LIV056: a known cause that lasts longer than the timeout."""
    now = view.dump.at
    for one in causes:
        lasts = now - one.since if now is not None and one.since is not None else timedelta()
        kind, _, name = one.subject.partition("/")
        waits = f"{'pod' if kind == 'Pod' else 'claim'} {name} waits for its devices"
        objects = [one.subject, *(f"ResourceClaim/{ref}" for ref in one.claims)]
        if one.cause is None:
            yield live(
                "LIV055", "needsPerson", one.span, f"{waits}, and {one.text}", step=one.step,
                objects=objects,
            )  # fmt: skip
        elif lasts > TIMEOUT and one.cause not in PREPARING:
            yield live(
                "LIV056",
                "notRetryable" if one.cause in NEEDS_CHANGE else "retryable",
                one.span,
                f"{waits} for {format_length(lasts)}: {one.text}",
                label=one.cause,
                found=format_length(lasts),
                expected=f"within {format_length(TIMEOUT)}",
                step=one.step,
                objects=objects,
            )
