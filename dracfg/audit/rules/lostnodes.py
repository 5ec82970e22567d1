"""LIV048-051: allocations on nodes that may be lost, in the four forms that this takes.

They count as held, and in the ledger as unknown, until the node is fenced. What Kubernetes does by
itself in each form is said in `audit.nodes`.
"""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.audit.finding import Handling, LiveFinding, LiveRule, live
from dracfg.audit.nodes import LostNode, lost_node
from dracfg.audit.view import Holding, View
from dracfg.audit.words import claim_object, claims_of, count, evidence, named
from dracfg.diagnostics import Span
from dracfg.model.reclaim import Reclaim
from dracfg.source.times import format_length

_HOLD = Reclaim(timeout="15m")
"""What holds where neither a tier nor a policy says anything."""


def on_lost_nodes(view: View) -> Iterator[LiveFinding]:
    """LIV048 (it keeps its object), LIV049 (the object is gone), LIV050 (out of service)."""
    by_node: dict[str, list[Holding]] = {}
    for holding in view.holdings:
        if holding.node is not None:
            by_node.setdefault(holding.node, []).append(holding)
    for name, held in sorted(by_node.items()):
        lost = lost_node(view.dump, name)
        if lost is None:
            continue
        match lost.loss:
            case "notReady":
                yield _told(view, "LIV048", lost, held, _silent_step(view, lost, held))
            case "deleted":
                yield _told(
                    view,
                    "LIV049",
                    lost,
                    held,
                    "prove that the machine is off before Kubernetes gives its devices to others: its "
                    "pod collector deletes the pods of a node without an object by itself",
                )
            case "outOfService":
                yield _told(
                    view,
                    "LIV050",
                    lost,
                    held,
                    "Kubernetes deletes its pods and releases these allocations; take the taint off "
                    "again only when the machine has been restarted",
                    "retryable",
                )
        yield from _forced(view, lost, held)


def _silent_step(view: View, lost: LostNode, held: list[Holding]) -> str:
    reclaim = view.reclaim(held[0]) or _HOLD
    if reclaim.on_unknown_node == "release":
        return "the policy lets Kubernetes release it: nothing is to be done"
    if lost.is_fenced(reclaim.fencing):
        return (
            f"the fence {reclaim.fencing} is recorded: see that the machine is off, then a node guard "
            "may put node.kubernetes.io/out-of-service on it, which releases what it held"
        )
    if reclaim.fencing == "none":
        return (
            "find out whether the machine runs; nothing that is recorded can prove that it doesn't"
        )
    return (
        f"wait for the fence {reclaim.fencing}, or restart the node; until then nothing is released"
    )


def _told(
    view: View,
    code: str,
    lost: LostNode,
    held: list[Holding],
    step: str,
    handling: Handling = "needsPerson",
) -> LiveFinding:
    now = view.dump.at
    lasts = f" for {format_length(now - lost.since)}" if now and lost.since else ""
    words = {
        "notReady": f"does not answer{lasts}",
        "deleted": "has no Node object any more",
        "outOfService": "is out of service",
    }
    amount = count(len(held), "allocation")
    return live(
        code,
        handling,
        _place(lost, held),
        f"node {lost.name} {words[lost.loss]} and keeps {amount} of "
        f"{count(len({h.claim.ref for h in held}), 'claim')}",
        label=f"held by {claims_of(held)}",
        found="; ".join(dict.fromkeys(evidence(holding) for holding in held[:3])),
        expected="a node that answers, or a fence",
        step=step,
        objects=[f"Node/{lost.name}", *(claim_object(holding.claim) for holding in held)],
    )


def _place(lost: LostNode, held: list[Holding]) -> Span | None:
    if lost.state is not None:
        return lost.state.origin.span("metadata", "name")
    return held[0].span()


def _forced(view: View, lost: LostNode, held: list[Holding]) -> Iterator[LiveFinding]:
    """LIV051: pods that were taken out of the API while their node does not answer."""
    if lost.loss == "outOfService" or "Pod" not in view.dump.recorded:
        return
    for holding in {h.claim.ref: h for h in held if h.gone}.values():
        pods = named(consumer.name for consumer in holding.gone)
        yield live(
            "LIV051",
            "needsPerson",
            holding.claim.span("status", "reservedFor"),
            f"{pods} of claim {holding.claim.ref} {'were' if len(holding.gone) > 1 else 'was'} deleted"
            f" by force while node {lost.name} does not answer",
            found=evidence(holding),
            expected="a fence before the pod is deleted",
            step="keep the claim as it is, or freeze the tier, until the machine is known to be off: "
            "its containers may still use the device",
            objects=[claim_object(holding.claim), f"Node/{lost.name}"],
        )


RULES: tuple[LiveRule, ...] = (on_lost_nodes,)
