"""LIV082, LIV083: pods and namespaces that are being deleted, don't end, and keep devices meanwhile.

A claim is given back when the last pod that reserves it has ended. The kubelet says that of a pod only
after its containers are stopped and every driver has unprepared its claims; it tries again until then
(kubernetes/kubernetes@v1.36.2: pkg/kubelet/kubelet.go, SyncTerminatingPod). A claim that is itself being
deleted is LIV061, a pod on a node that does not answer LIV048 to LIV050.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta

from dracfg.audit.finding import Handling, LiveFinding, LiveRule, live
from dracfg.audit.nodes import lost_node
from dracfg.audit.pods import Pod
from dracfg.audit.view import Holding, View
from dracfg.audit.words import claim_object, count, evidence, named, pod_object
from dracfg.source.times import format_length

LONG = timedelta(hours=1)
"""How long a deletion may take where no `reclaim` says it: a pod may be saving its work."""
_FORCED = "don't delete it by force: its devices would be given out while it may still use them"


def pods_that_do_not_end(view: View) -> Iterator[LiveFinding]:
    """LIV082: a pod that is being deleted past the timeout, on a node that answers."""
    now = view.dump.at
    by_pod: dict[str, tuple[Pod, list[Holding]]] = {}
    for holding in view.holdings:
        for pod in holding.pods if holding.takes else ():
            by_pod.setdefault(pod.ref, (pod, []))[1].append(holding)
    for ref, (pod, held) in sorted(by_pod.items()):
        timeout = _timeout(view, held)
        # What a finished pod still reserves is LIV036.
        if now is None or pod.deleted is None or pod.finished or now - pod.deleted <= timeout:
            continue
        if lost_node(view.dump, pod.node) is not None:
            continue
        what, handling, step = _turn(pod)
        where = f" on node {pod.node}" if pod.node is not None else ""
        yield live(
            "LIV082",
            handling,
            pod.origin.span("metadata", "deletionTimestamp"),
            f"pod {ref} is being deleted for {format_length(now - pod.deleted)} and still holds "
            f"{count(len(held), 'device')}{where}",
            label=what,
            found="; ".join(dict.fromkeys(evidence(holding) for holding in held[:3])),
            expected=f"its end within {format_length(timeout)}",
            step=step,
            objects=[pod_object(pod), *(claim_object(holding.claim) for holding in held)],
        )


def _turn(pod: Pod) -> tuple[str, Handling, str]:
    """What is known of the pod, whose turn it is, and what may be done; by force is never safe."""
    if pod.node is None:
        step = "see the log of the claim controller, which takes such a pod out of `reservedFor`"
        return "it was never bound to a node", "needsPerson", step
    if pod.has_containers_up is False:
        step = (
            f"see that its driver runs on {pod.node} and answers: the kubelet asks it again and again "
            f"to unprepare the claim, and ends the pod then; {_FORCED}"
        )
        return "none of its containers runs any more", "retryable", step
    what = "containers of it run" if pod.has_containers_up else "nothing tells of its containers"
    step = (
        f"look on {pod.node} whether the kubelet and the container runtime answer, and restart what "
        f"does not; {_FORCED}"
    )
    return what, "needsPerson", step


def namespaces_that_do_not_end(view: View) -> Iterator[LiveFinding]:
    """LIV083: a namespace that is being deleted past the timeout, with claims that hold devices."""
    now = view.dump.at
    by_space: dict[str, list[Holding]] = {}
    for holding in view.holdings:
        if holding.takes:
            by_space.setdefault(holding.claim.claim.namespace, []).append(holding)
    for name, held in sorted(by_space.items()):
        space = view.dump.namespaces.get(name)
        timeout = _timeout(view, held)
        if space is None or space.deleted is None or now is None or now - space.deleted <= timeout:
            continue
        pods = named(pod.name for holding in held for pod in holding.pods)
        yield live(
            "LIV083",
            "needsPerson",
            space.origin.span("metadata", "deletionTimestamp"),
            f"namespace {name} is being deleted for {format_length(now - space.deleted)}, and its "
            f"claims still hold {count(len(held), 'device')}",
            label=f"reserved for {pods or 'no pod that is recorded'}",
            found="; ".join(space.waits_for)
            or "; ".join(dict.fromkeys(evidence(holding) for holding in held[:3])),
            expected=f"its end within {format_length(timeout)}",
            step=(
                f"find out what keeps {pods}; " if pods else "see the log of the claim controller; "
            )
            + "don't empty the finalizers of the namespace or of its claims: the devices would count "
            "as free while they may be in use",
            objects=[f"Namespace/{name}", *(claim_object(holding.claim) for holding in held)],
        )


def _timeout(view: View, held: Iterable[Holding]) -> timedelta:
    return min((view.timeout(holding.claim, LONG) for holding in held), default=LONG)


RULES: tuple[LiveRule, ...] = (pods_that_do_not_end, namespaces_that_do_not_end)
