"""The objects of a cluster as a record, of the same form as a dump that somebody recorded.

Lists are read page by page. What can't be read is a finding, and the other kinds are read all the
same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from dracfg.check.recordedaccess import RBAC_KINDS
from dracfg.diagnostics import Diagnostic, diagnose
from dracfg.link.catalog import Cluster
from dracfg.live.connection import Answer, Connection, Unanswered
from dracfg.live.discovery import Discovery, Refused, Resource
from dracfg.live.outcomes import cluster_place, rights_finding, unanswered_finding
from dracfg.live.refusals import read_refusal, read_right
from dracfg.lower.policyversions import VERSION
from dracfg.source.records import Record, served_record

Kind = tuple[str, str]
"""Group and kind; the core group is ""."""

_GROUP = "resource.k8s.io"
RESOURCE_SLICES: Kind = (_GROUP, "ResourceSlice")
DEVICE_CLASSES: Kind = (_GROUP, "DeviceClass")
RESOURCE_CLAIMS: Kind = (_GROUP, "ResourceClaim")
RESOURCE_CLAIM_TEMPLATES: Kind = (_GROUP, "ResourceClaimTemplate")
DEVICE_TAINT_RULES: Kind = (_GROUP, "DeviceTaintRule")
NODES: Kind = ("", "Node")
PODS: Kind = ("", "Pod")
NAMESPACES: Kind = ("", "Namespace")
RESOURCE_QUOTAS: Kind = ("", "ResourceQuota")
EVENTS: Kind = ("", "Event")
DEVICE_KINDS: tuple[Kind, ...] = (
    RESOURCE_SLICES,
    NODES,
    DEVICE_CLASSES,
    RESOURCE_CLAIMS,
    RESOURCE_CLAIM_TEMPLATES,
    PODS,
    NAMESPACES,
    RESOURCE_QUOTAS,
    DEVICE_TAINT_RULES,
    EVENTS,
)
"""All that says what devices there are, who holds them and why somebody waits."""
LEASES: Kind = ("coordination.k8s.io", "Lease")
CONFIG_MAPS: Kind = ("", "ConfigMap")
_RBAC = "rbac.authorization.k8s.io"
ACCESS_KINDS: tuple[Kind, ...] = tuple((_RBAC, kind) for kind in RBAC_KINDS)
AUDIT_KINDS: tuple[Kind, ...] = (*DEVICE_KINDS, LEASES, CONFIG_MAPS, *ACCESS_KINDS)
"""With them what says when a node was last heard of, which policy versions there were, and who may
read claims and slices."""
_PARTS: Mapping[Kind, Mapping[str, str]] = {
    LEASES: {"fieldSelector": "metadata.namespace=kube-node-lease"},
    CONFIG_MAPS: {"labelSelector": VERSION},
}
"""Kinds of which only a part is asked for: the rest is nobody's business here."""
_UNSERVED_MEANS_NONE = {DEVICE_TAINT_RULES}
"""Alpha and beta kinds that are off by default: a server without the kind has no object of it."""

PAGE = 500
"""Objects a page, as kubectl asks for."""

_GONE = 410


class Reading(NamedTuple):
    """What was read. `kinds` are the names of those that were listed to the end."""

    record: Record
    findings: tuple[Diagnostic, ...]
    kinds: tuple[str, ...]


def read_live(
    connection: Connection, cluster: Cluster, kinds: Iterable[Kind] = DEVICE_KINDS
) -> Reading:
    """All objects of some kinds, kind by kind in the order given, and what could not be read.

    Each kind is read in the version that the server puts first. Objects stand at
    `live:<cluster>/<Kind>/[<namespace>/]<name>`. A server that stops answering ends the reading.
    """
    discovery = Discovery(connection)
    objects: list[dict[str, Any]] = []
    findings: list[Diagnostic] = []
    listed: list[str] = []
    for group, kind in kinds:
        try:
            resource = discovery.preferred(group, kind)
            if resource is not None:
                objects += list_objects(connection, resource, _PARTS.get((group, kind)))
            elif (group, kind) not in _UNSERVED_MEANS_NONE:
                findings.append(_not_served(cluster, group, kind))
                continue
            listed.append(kind)
        except Refused as refused:
            findings.append(_unread(cluster, kind, refused.answer))
        except Unanswered as fault:
            findings.append(unanswered_finding(cluster, connection.address, fault))
            break
    record = served_record(connection.cluster, objects)
    return Reading(record, tuple(findings), tuple(listed))


def list_objects(
    connection: Connection, resource: Resource, query: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """All objects of a resource, in all namespaces. Raises Refused and Unanswered.

    Where the server forgets a list between two pages, it is read once more and whole.
    """
    pages: list[dict[str, Any]] = []
    asked = {**(query or {}), "limit": str(PAGE)}
    while True:
        answer = connection.get(resource.path(), asked)
        if answer.status == _GONE and "continue" in asked:
            pages = []
            asked = dict(query or {})
            continue
        if not answer.is_good:
            raise Refused(answer)
        pages += _items(answer, resource)
        metadata = answer.body.get("metadata")
        more = metadata.get("continue") if isinstance(metadata, dict) else None
        if not isinstance(more, str) or not more or more == asked.get("continue"):
            return pages
        asked["continue"] = more


def _items(answer: Answer, resource: Resource) -> Iterator[dict[str, Any]]:
    """The items of a page with the head that lists leave out."""
    items = answer.body.get("items", [])
    if not isinstance(items, list):
        raise Unanswered("foreign", f"its list of {resource.plural} is no list")
    head = {"apiVersion": resource.api_version, "kind": resource.kind}
    for item in items:
        if not isinstance(item, dict) or not isinstance(item.get("metadata"), dict):
            raise Unanswered("foreign", f"its list of {resource.plural} holds what is no object")
        yield head | item


def _not_served(cluster: Cluster, group: str, kind: str) -> Diagnostic:
    return diagnose(
        "LIV015",
        cluster_place(cluster),
        f"the API server of {cluster.name} serves no {kind} of {group or 'the core group'}",
        help="nothing is known of such objects; what the control plane needs to serve them: "
        f"dracfg show cluster/{cluster.name}",
    )


def _unread(cluster: Cluster, kind: str, answer: Answer) -> Diagnostic:
    right = read_right(answer)
    if right is not None:
        return rights_finding(cluster, right, 1)
    return diagnose(
        "LIV019",
        cluster_place(cluster),
        f"{kind} objects of {cluster.name} could not be read: {read_refusal(answer).message}",
        help="try again; the server's log says more",
    )
