"""MET041-MET043, MET046: whose file it is, by its path, by recorded claims, and by where devices are.

A file names no node: that is shown by the node that publishes its devices, beside the name of the node
it was found on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dracfg.audit.heldclaims import HeldClaim
from dracfg.diagnostics import Diagnostic, Span, diagnose
from dracfg.metafiles.context import Context
from dracfg.metafiles.locate import Located

STALE = (
    "nothing may read it: the driver removes files at unprepare, so restart the driver on the node, "
    "and remove the folder where it stays"
)


def binding_findings(
    located: Located, document: Mapping[str, Any], context: Context, span: Span
) -> Iterator[Diagnostic]:
    """Everything that ties a document to a claim, a request, devices and a node."""
    yield from _path(located, document, span)
    head = document["metadata"]
    ref = f"{head['namespace']}/{head['name']}"
    if context.claims is not None:
        claim = context.claims.get((head["namespace"], head["name"]))
        if claim is None:
            yield diagnose(
                "MET046", span, f"claim {ref} does not exist, and its metadata are still there",
                help=STALE,
            )  # fmt: skip
        elif claim.claim.uid and claim.claim.uid != head["uid"]:
            yield diagnose(
                "MET046",
                span,
                f"claim {ref} was made anew, and the metadata are of the one before",
                found=head["uid"],
                expected=claim.claim.uid,
                help=STALE,
            )
        else:
            yield from _devices(document, claim, span)
    yield from _nodes(document, context, ref, span)


def tier_of(located: Located, document: Mapping[str, Any], context: Context) -> str | None:
    """The tier that was written on the claim for the file's request."""
    head = document.get("metadata")
    if context.claims is None or not isinstance(head, Mapping):
        return None
    claim = context.claims.get((str(head.get("namespace")), str(head.get("name"))))
    if claim is None:
        return None
    for result in claim.results:
        note = claim.note(result)
        if note is not None and located.request in (None, result.request.partition("/")[0]):
            return note.tier
    return None


def _path(located: Located, document: Mapping[str, Any], span: Span) -> Iterator[Diagnostic]:
    head = document["metadata"]
    own = document.get("podClaimName") if located.kind == "template" else head["name"]
    pairs = [("claim", located.claim, own), ("namespace", located.namespace, head["namespace"])]
    for request in document["requests"]:
        pairs.append(("request", located.request, request["name"].partition("/")[0]))
        pairs += [("driver", located.driver, one["driver"]) for one in request.get("devices", ())]
    for what, by_path, inside in dict.fromkeys(pairs):
        if by_path is not None and by_path != inside:
            yield diagnose(
                "MET041",
                span,
                f"the path is of {what} {by_path}, and the file of {inside or 'none'}",
                found=str(inside),
                expected=by_path,
                help="a file belongs to one claim and request; make the pod anew, and find out who wrote it",
            )


def _devices(document: Mapping[str, Any], claim: HeldClaim, span: Span) -> Iterator[Diagnostic]:
    held = {(result.request, *result.device_id) for result in claim.results}
    for request in document["requests"]:
        for device in request.get("devices", ()):
            key = (device["driver"], device["pool"], device["name"])
            if (request["name"], *key) in held:
                continue
            yield diagnose(
                "MET042",
                span,
                f"claim {claim.ref} does not hold {'/'.join(key)} for request {request['name']}",
                found="/".join(key),
                expected=", ".join(sorted("/".join(one[1:]) for one in held)) or "no device",
                help="the claim was allocated anew, or somebody else wrote the file; make the pod anew",
            )


def _nodes(
    document: Mapping[str, Any], context: Context, ref: str, span: Span
) -> Iterator[Diagnostic]:
    for request in document["requests"]:
        for device in request.get("devices", ()):
            key = (device["driver"], device["pool"], device["name"])
            node = context.node_of(key)
            if context.node is not None and node not in (None, context.node):
                yield diagnose(
                    "MET043",
                    span,
                    f"claim {ref}: {'/'.join(key)} is on {node}, and the file on {context.node}",
                    found=node,
                    expected=context.node,
                    help="the file was copied, or the node was renamed; make the pod anew",
                )
