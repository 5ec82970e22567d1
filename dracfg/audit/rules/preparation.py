"""LIV037, LIV041-043, LIV054: what has been allocated, and whether it arrived in a running pod.

A pod that does not run still holds what its claim holds. Of what is wrong with one pod the most
exact rule speaks alone: an event, then a status, then the time that has passed.
"""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.audit.driverfacts import answer
from dracfg.audit.events import Event
from dracfg.audit.failures import classify
from dracfg.audit.finding import LiveFinding, LiveRule, live, related
from dracfg.audit.nodes import lost_node
from dracfg.audit.pods import Pod
from dracfg.audit.view import Holding, View
from dracfg.audit.words import claim_object, device_name, evidence, named, pod_object
from dracfg.source.times import format_length

PREPARE_FAILED = "FailedPrepareDynamicResources"
_STARTING = frozenset({"ContainerCreating", "PodInitializing", "CreateContainerError"})


def prepare_fails(view: View) -> Iterator[LiveFinding]:
    """LIV054: the newest failure of each pod that has not started since, with its class."""
    for pod, event in _failed(view):
        failure = classify(event.reason, event.message)
        held = _held_by(view, pod)
        message = event.message.removeprefix("Failed to prepare dynamic resources: ")
        yield live(
            "LIV054",
            failure.handling,
            event.origin.span("message"),
            f"the devices of pod {pod.ref} can't be prepared on node {pod.node}: {message}",
            label=failure.id,
            related=related(pod.origin.span("metadata", "name"), "waits for it"),
            found="; ".join(evidence(holding) for holding in held[:3]) or None,
            expected=f"another value of {failure.field}" if failure.field else None,
            step=failure.step,
            objects=[pod_object(pod), *(claim_object(holding.claim) for holding in held)],
        )


def _failed(view: View) -> Iterator[tuple[Pod, Event]]:
    for _, pod in sorted(view.dump.pods.items()):
        if pod.running or pod.finished:
            continue
        told = (event for event in view.events_of(pod) if event.reason == PREPARE_FAILED)
        newest = next(told, None)
        if newest is not None:
            yield pod, newest


def _held_by(view: View, pod: Pod) -> list[Holding]:
    refs = [claim.ref for claim in view.dump.claims_of(pod)]
    return [holding for ref in refs for holding in view.by_claim.get(ref, ())]


def not_running(view: View) -> Iterator[LiveFinding]:
    """LIV037: bound, and no container came up. LIV043: any other pod that holds and does not run."""
    now = view.dump.at
    told = {pod.ref for pod, _ in _failed(view)}
    for pod, held in _holders(view):
        if pod.running or pod.finished or pod.ref in told or now is None:
            continue
        if lost_node(view.dump, pod.node) is not None:
            continue
        claim = held[0].claim
        since = pod.scheduled or claim.allocated or pod.created
        if since is None or now - since <= view.timeout(claim):
            continue
        reason, message = pod.waiting or ("", "")
        prepared = reason not in ("", *_STARTING) or pod.node is None or pod.phase == "Unknown"
        error = f"{reason}: {message}" if message else reason or f"phase {pod.phase}"
        lasts = format_length(now - since)
        text = (
            f"pod {pod.ref} does not run for {lasts}, and what its claim holds counts as used"
            if prepared
            else f"the devices of claim {claim.ref} are allocated for {lasts} and prepared nowhere"
        )
        yield live(
            "LIV043" if prepared else "LIV037",
            "needsPerson",
            pod.origin.span("status", "phase"),
            text,
            label=error,
            related=related(held[0].span(), "held"),
            found="; ".join(evidence(holding) for holding in held[:3]) + f"; {error}",
            expected=f"a running pod within {format_length(view.timeout(claim))}",
            step="mend what keeps the pod from starting, or delete it: its claim is given back after it"
            if prepared
            else f"see the kubelet's and the driver's log on node {pod.node}; deleting the pod gives "
            "the devices back",
            objects=[pod_object(pod), claim_object(claim)],
        )


def _holders(view: View) -> Iterator[tuple[Pod, list[Holding]]]:
    found: dict[str, tuple[Pod, list[Holding]]] = {}
    for holding in view.holdings:
        for pod in holding.pods:
            found.setdefault(pod.ref, (pod, []))[1].append(holding)
    yield from found.values()


def ready_and_failed(view: View) -> Iterator[LiveFinding]:
    """LIV041: pods that are Ready while the driver reports that a device of theirs failed."""
    for holding in view.holdings:
        status = holding.claim.status(holding.result)
        ready = [pod for pod in holding.pods if pod.ready]
        if status is None or not status.failed or not ready:
            continue
        yield live(
            "LIV041",
            "needsPerson",
            holding.claim.span("status", "devices", status.index, "conditions"),
            f"{named(pod.ref for pod in ready)} {'are' if len(ready) > 1 else 'is'} Ready, and "
            f"{device_name(holding.id)} is not",
            label="; ".join(status.failed),
            related=related(ready[0].origin.span("status"), "Ready"),
            found="; ".join((*status.failed, evidence(holding))),
            expected="Ready: True",
            step="let the owner look whether the workload sees its device; recreate the pod if not",
            objects=[claim_object(holding.claim), *map(pod_object, ready)],
        )


def ready_without_status(view: View) -> Iterator[LiveFinding]:
    """LIV042: no status of a device whose driver writes one, though the pod is Ready past the grace."""
    for claim_held in view.by_claim.values():
        missing = [
            holding
            for holding in claim_held
            if holding.claim.status(holding.result) is None
            and any(_settled(view, holding, pod) for pod in holding.pods)
            and not holding.result.admin_access
            and answer(view, holding.result.driver, "writesStatusDevices") == "yes"
        ]
        if not missing:
            continue
        first = missing[0]
        yield live(
            "LIV042",
            "retryable",
            first.span(),
            f"{first.result.driver} has written no status of "
            f"{named(holding.result.device for holding in missing)} of claim {first.claim.ref}",
            related=related(first.pods[0].origin.span("metadata", "name"), "Ready"),
            found=f"{len(claim_held) - len(missing)} of {len(claim_held)} statuses",
            expected="one for each device",
            step="see the driver's log and its rights on resourceclaims/driver; the device itself "
            "may be well",
            objects=[claim_object(first.claim), *map(pod_object, first.pods)],
        )


def _settled(view: View, holding: Holding, pod: Pod) -> bool:
    now = view.dump.at
    grace = view.grace(holding.claim)
    return pod.ready and (now is None or pod.changed is None or now - pod.changed > grace)


RULES: tuple[LiveRule, ...] = (
    prepare_fails,
    not_running,
    ready_and_failed,
    ready_without_status,
)
