"""Records of one cluster → everything that the live rules look at, each kind by its own key.

What is absent from a record is told apart from what does not exist: `recorded` holds the kinds of
which at least one object was there. Judges nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from datetime import datetime

from dracfg.allocate.claimobjects import CLAIM, TEMPLATE, ClaimTemplate, read_claims
from dracfg.allocate.claims import DeviceClass
from dracfg.allocate.devices import Origin
from dracfg.allocate.inventory import Inventory, load_inventory
from dracfg.allocate.nodestates import NodeState, read_node_states
from dracfg.audit.events import Event, read_event
from dracfg.audit.heldclaims import HeldClaim, held_claim
from dracfg.audit.pods import Pod, read_pod
from dracfg.audit.trialresults import TrialPod, trial_pods
from dracfg.check.recordedaccess import access_objects
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic
from dracfg.kube.quantity import Quantity
from dracfg.lower.policyversions import POLICY, VERSION
from dracfg.source.fields import mapping, maps, text, texts
from dracfg.source.records import Record, RecordedObject
from dracfg.source.times import newest_time, parse_time


@dataclass(frozen=True, slots=True)
class Namespace:
    """A Namespace with the annotations that carry its rights.

    `waits_for` is what its conditions say of a deletion that does not end.
    """

    name: str
    annotations: Mapping[str, str]
    deleted: datetime | None
    waits_for: tuple[str, ...]
    origin: Origin = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class QuotaUse:
    """One key of a ResourceQuota: what it lets through and what counts against it."""

    namespace: str
    quota: str
    key: str
    hard: Quantity
    used: Quantity


@dataclass(frozen=True, slots=True)
class Dump:
    """What is recorded of one cluster. `at` is the moment at which everything is judged, `newest` the
    last that the record itself tells of.

    Claims, templates and pods are by (namespace, name), leases by the name of their node. `unread` are
    claims and templates that are recorded and could not be read; what is wrong with them is found.
    """

    inventory: Inventory
    claims: Mapping[tuple[str, str], HeldClaim]
    templates: Mapping[tuple[str, str], ClaimTemplate]
    classes: Mapping[str, DeviceClass]
    pods: Mapping[tuple[str, str], Pod]
    nodes: Mapping[str, NodeState]
    namespaces: Mapping[str, Namespace]
    events: tuple[Event, ...]
    quotas: tuple[QuotaUse, ...]
    leases: Mapping[str, datetime]
    policy_versions: frozenset[tuple[str, str]]
    unread: frozenset[tuple[str, str]]
    recorded: frozenset[str]
    at: datetime | None
    newest: datetime | None = None
    trial_pods: tuple[TrialPod, ...] = ()
    access: tuple[RecordedObject, ...] = ()
    """Roles and bindings."""

    def pod_of(self, namespace: str, name: str, uid: str) -> Pod | None:
        """The pod that a claim is reserved for; another pod of that name is not it."""
        pod = self.pods.get((namespace, name))
        return pod if pod is not None and (not uid or pod.uid == uid) else None

    def claims_of(self, pod: Pod) -> tuple[HeldClaim, ...]:
        """The claims of a pod that exist."""
        named = (one.claim for one in pod.claims if one.claim is not None)
        found = (self.claims.get((pod.namespace, name)) for name in named)
        return tuple(claim for claim in found if claim is not None)


def read_dump(
    records: Iterable[Record],
    minor: str | None = None,
    at: datetime | None = None,
    kinds: Iterable[str] = (),
) -> tuple[Dump, tuple[Diagnostic, ...]]:
    """The dump, and what is wrong with its slices, claims and classes.

    `kinds` are those of which all objects are there, should there be none of one. Without `at` the
    newest moment that the records tell of stands for now. Raises KeyError for a
    minor that is not supported.
    """
    records = tuple(records)
    items = [item for record in records for item in record.objects]
    inventory, faults = load_inventory(records, minor)
    objects, more = read_claims(records, minor)
    held = [held_claim(claim) for claim in objects.claims]
    claims = {(one.claim.namespace, one.claim.name): one for one in held}
    pods = [pod for item in items if (pod := read_pod(item)) is not None]
    spaces = [space for item in items if (space := _namespace(item)) is not None]
    newest = newest_time(records)
    dump = Dump(
        inventory=inventory,
        claims=claims,
        templates={(one.namespace, one.name): one for one in objects.templates},
        classes={one.name: one for one in objects.classes},
        pods={(pod.namespace, pod.name): pod for pod in pods},
        nodes=read_node_states(records),
        namespaces={space.name: space for space in spaces},
        events=tuple(event for item in items if (event := read_event(item)) is not None),
        quotas=tuple(use for item in items for use in _quota(item)),
        leases=dict(lease for item in items if (lease := _lease(item)) is not None),
        policy_versions=frozenset(
            version for item in items if (version := _policy_version(item)) is not None
        ),
        unread=frozenset(name for item in items if (name := _claim_name(item)) is not None)
        - {(one.claim.namespace, one.claim.name) for one in held}
        - {(one.namespace, one.name) for one in objects.templates},
        recorded=frozenset({str(item.data["kind"]) for item in items} | set(kinds)),
        at=at or newest,
        newest=newest,
        trial_pods=tuple(trial_pods(items, claims)),
        access=access_objects(records),
    )
    return dump, (*faults, *more)


def _claim_name(item: RecordedObject) -> tuple[str, str] | None:
    name = text(item.data, "metadata", "name")
    if item.data["kind"] not in (CLAIM, TEMPLATE) or name is None:
        return None
    return text(item.data, "metadata", "namespace") or "default", name


def _namespace(item: RecordedObject) -> Namespace | None:
    name = text(item.data, "metadata", "name")
    if item.data["kind"] != "Namespace" or name is None:
        return None
    return Namespace(
        name,
        texts(item.data, "metadata", "annotations"),
        parse_time(text(item.data, "metadata", "deletionTimestamp")),
        tuple(
            message
            for condition in maps(item.data, "status", "conditions")
            if condition.get("status") == "True" and (message := text(condition, "message"))
        ),
        Origin(item),
    )


def _quota(item: RecordedObject) -> Iterable[QuotaUse]:
    data = item.data
    if data["kind"] != "ResourceQuota":
        return
    namespace, name = text(data, "metadata", "namespace"), text(data, "metadata", "name")
    used = mapping(data, "status", "used")
    for key, hard in mapping(data, "spec", "hard").items():
        try:
            amounts = Quantity.parse(str(hard)), Quantity.parse(str(used.get(key, 0)))
        except ValueError:
            continue
        yield QuotaUse(namespace or "default", name or "", key, *amounts)


def _lease(item: RecordedObject) -> tuple[str, datetime] | None:
    data = item.data
    if data["kind"] != "Lease" or text(data, "metadata", "namespace") != "kube-node-lease":
        return None
    name, renewed = text(data, "metadata", "name"), parse_time(text(data, "spec", "renewTime"))
    return (name, renewed) if name is not None and renewed is not None else None


def _policy_version(item: RecordedObject) -> tuple[str, str] | None:
    labels = texts(item.data, "metadata", "labels")
    if item.data["kind"] != "ConfigMap" or POLICY not in labels or VERSION not in labels:
        return None
    return labels[POLICY], labels[VERSION]
