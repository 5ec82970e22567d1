"""LIV035, LIV036, LIV045, LIV061, LIV062: who a claim is reserved for, and whether they are there.

The resource-claim controller takes finished and deleted pods out of `reservedFor` and clears the
allocation with the last of them (kubernetes/kubernetes@v1.36.3
pkg/controller/resourceclaim/controller.go). What stays behind longer than that takes is a leak.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from dracfg.allocate.claims import Consumer
from dracfg.audit.finding import LiveFinding, LiveRule, live
from dracfg.audit.heldclaims import HeldClaim
from dracfg.audit.nodes import lost_node
from dracfg.audit.view import Holding, View
from dracfg.audit.words import claim_object, count, evidence, named, pod_object
from dracfg.source.times import format_length

MOST_CONSUMERS = 256
"""ResourceClaimReservedForMaxSize (kubernetes/api@v0.36.3 resource/v1/types.go)."""


def reserved_by_nobody_there(view: View) -> Iterator[LiveFinding]:
    """LIV035: a claim that is reserved for pods that don't exist any more."""
    if "Pod" not in view.dump.recorded:
        return
    for claim, gone in _gone(view):
        held = view.by_claim.get(claim.ref, ())
        if any(lost_node(view.dump, holding.node) is not None for holding in held):
            continue  # LIV049 and LIV051 tell of the node.
        left = len(claim.claim.reserved_for) - len(gone)
        again = [
            consumer.name
            for consumer in gone
            if (claim.claim.namespace, consumer.name) in view.dump.pods
        ]
        yield live(
            "LIV035",
            "needsPerson",
            claim.span("status", "reservedFor"),
            f"claim {claim.ref} is reserved for {named(c.name for c in gone)}, "
            f"{'who are' if len(gone) > 1 else 'which is'} gone"
            + (
                f"; {count(left, 'other pod')} still {'uses' if left == 1 else 'use'} it"
                if left
                else ""
            ),
            label="another pod of that name runs now" if again else "",
            found="; ".join(evidence(holding) for holding in held[:3]) or "nothing is allocated",
            expected="pods that exist",
            step="record again: the claim controller clears this within minutes. If it stays, look on "
            f"{_where(view, claim)} that nothing uses the device any more, then delete the claim",
            objects=[claim_object(claim)],
        )


def _gone(view: View) -> Iterator[tuple[HeldClaim, list[Consumer]]]:
    for _, claim in sorted(view.dump.claims.items()):
        space = claim.claim.namespace
        gone = [
            consumer
            for consumer in claim.claim.reserved_for
            if consumer.resource == "pods"
            and not consumer.api_group
            and view.dump.pod_of(space, consumer.name, consumer.uid) is None
        ]
        if gone:
            yield claim, gone


def _where(view: View, claim: HeldClaim) -> str:
    nodes = [h.node for h in view.by_claim.get(claim.ref, ()) if h.node is not None]
    return f"node {named(nodes)}" if nodes else "the node"


def reserved_for_nobody(view: View) -> Iterator[LiveFinding]:
    """LIV036: an allocation that nobody reserves, or only pods that have ended, past the timeout."""
    now = view.dump.at
    used = {
        f"{pod.namespace}/{entry.claim}"
        for pod in view.dump.pods.values()
        if pod.running
        for entry in pod.claims
    }
    for ref, held in view.by_claim.items():
        claim = held[0].claim
        since = _unused_since(held)
        # A pod that runs with it is LIV062.
        if ref in used or now is None or since is None:
            continue
        timeout = view.timeout(claim)
        if now - since > timeout:
            yield live(
                "LIV036",
                "needsPerson",
                claim.span("status", "allocation"),
                f"claim {ref} holds {count(len(held), 'device')} and is reserved for "
                + ("pods that have finished" if held[0].pods else "nobody"),
                found=f"so for {format_length(now - since)}; "
                + "; ".join(evidence(holding) for holding in held[:3]),
                expected=f"a pod within {format_length(timeout)}",
                step="ask its owner; if nobody needs it, delete the claim: its devices are free once "
                "the controller has cleared the allocation",
                objects=[claim_object(claim)],
            )


def _unused_since(held: tuple[Holding, ...]) -> datetime | None:
    """Since when nobody is known to use what is held; None where somebody may."""
    claim, pods = held[0].claim, held[0].pods
    if not claim.claim.reserved_for:
        return claim.allocated or claim.created
    if len(pods) < len(claim.claim.reserved_for) or not all(pod.finished for pod in pods):
        return None
    ends = [pod.changed for pod in pods if pod.changed is not None]
    return max(ends) if len(ends) == len(pods) else None


def too_many_consumers(view: View) -> Iterator[LiveFinding]:
    """LIV045: more consumers than the API, or the shared claim, is meant for."""
    for _, claim in sorted(view.dump.claims.items()):
        number = len(claim.claim.reserved_for)
        meant = claim.most_pods
        most = min(MOST_CONSUMERS, meant) if meant is not None else MOST_CONSUMERS
        if number > most:
            yield live(
                "LIV045",
                "notRetryable",
                claim.span("status", "reservedFor"),
                f"claim {claim.ref} is reserved for {number} pods",
                found=str(number),
                expected=f"{most} or less",
                step="raise `sharedClaims[].pods` where the device can serve them, or give the "
                "workload a second claim"
                if most < MOST_CONSUMERS
                else "give the workload a second claim; the API takes no more in one",
                objects=[claim_object(claim)],
            )


def stuck_in_deletion(view: View) -> Iterator[LiveFinding]:
    """LIV061: a claim that is being deleted and holds its devices past the timeout."""
    now = view.dump.at
    for ref, held in view.by_claim.items():
        claim = held[0].claim
        if claim.deleted is None or now is None or now - claim.deleted <= view.timeout(claim):
            continue
        yield live(
            "LIV061",
            "needsPerson",
            claim.span("metadata", "deletionTimestamp"),
            f"claim {ref} is being deleted for {format_length(now - claim.deleted)} and still holds "
            f"{count(len(held), 'device')}",
            found=f"reserved for {named(c.name for c in claim.claim.reserved_for) or 'nobody'}; "
            + "; ".join(evidence(holding) for holding in held[:3]),
            expected=f"its end within {format_length(view.timeout(claim))}",
            step=f"{_pods_first(view, held)}see the log of the claim controller; don't take the "
            "finalizer off: it is what keeps the devices from being given out twice",
            objects=[claim_object(claim)],
        )


def _pods_first(view: View, held: tuple[Holding, ...]) -> str:
    """What comes before the controller: nothing where none of the pods is there."""
    gone = "Pod" in view.dump.recorded and not held[0].pods
    return "" if gone else "end the pods that reserve it, and "


def released_in_use(view: View) -> Iterator[LiveFinding]:
    """LIV062: a pod that runs, and whose claim no longer holds devices for it."""
    if "ResourceClaim" not in view.dump.recorded:
        return
    for _, pod in sorted(view.dump.pods.items()):
        if not pod.running:
            continue
        for entry in pod.claims:
            if entry.claim is None:
                continue
            key = (pod.namespace, entry.claim)
            claim = view.dump.claims.get(key)
            if key in view.dump.unread:
                continue
            if claim is None:
                what = "does not exist any more"
            elif claim.claim.allocation is None:
                what = "is not allocated"
            elif not any(
                c.resource != "pods" or c.uid == pod.uid for c in claim.claim.reserved_for
            ):
                what = f"is reserved for {'others' if claim.claim.reserved_for else 'nobody'}"
            else:
                continue
            yield live(
                "LIV062",
                "needsPerson",
                pod.origin.span("metadata", "name"),
                f"pod {pod.ref} runs on {pod.node}, and its claim {entry.claim} {what}",
                found=f"pod uid {pod.uid}",
                expected="an allocation for as long as the pod runs",
                step="end the pod before its device is given to somebody else; freeze the tier "
                "until then",
                objects=[pod_object(pod), f"ResourceClaim/{pod.namespace}/{entry.claim}"],
            )


RULES: tuple[LiveRule, ...] = (
    reserved_by_nobody_there,
    reserved_for_nobody,
    too_many_consumers,
    stuck_in_deletion,
    released_in_use,
)
