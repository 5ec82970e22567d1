"""The recorded pods and claims that a change reaches, by their names.

They are those of the later side: what runs is what a merge meets. Judges none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from dracfg.allocate.claimobjects import read_claims
from dracfg.audit.heldclaims import HeldClaim, held_claim
from dracfg.audit.pods import Pod, read_pod
from dracfg.dataclass import dataclass
from dracfg.diff.change import Change
from dracfg.diff.pair import Pair
from dracfg.diff.words import bounded
from dracfg.link.catalog import Cluster

_OF_CLAIM = frozenset({"shared-claim-removed", "shared-claim-remade"})
_OF_NAMESPACES = frozenset(
    {"tenant-removed", "tenant-draining", "tenant-offboarded", "namespace-removed"}
)


@dataclass(frozen=True, slots=True)
class Workloads:
    """The live claims and unfinished pods of one cluster, in the order of the record."""

    claims: tuple[HeldClaim, ...] = ()
    pods: tuple[Pod, ...] = ()

    def claims_where(self, holds: Callable[[HeldClaim], bool]) -> tuple[str, ...]:
        """`<namespace>/<name>` of each claim for which something holds."""
        return tuple(claim.ref for claim in self.claims if holds(claim))

    def pods_of_template(self, namespace: str, template: str) -> tuple[str, ...]:
        """`<namespace>/<name>` of each pod whose claims are made from a template."""
        return tuple(
            pod.ref
            for pod in self.pods
            if pod.namespace == namespace and any(one.template == template for one in pod.claims)
        )


def recorded(pair: Pair, cluster: Cluster) -> Workloads:
    """What the record of a cluster of the later side tells of pods and claims; none without one."""
    records = pair.head.judgement.records.get(cluster.name, ())
    if not records:
        return Workloads()
    objects, _ = read_claims(records, cluster.minor)
    pods = (read_pod(item) for record in records for item in record.objects)
    return Workloads(
        tuple(map(held_claim, objects.claims)),
        tuple(pod for pod in pods if pod is not None and not pod.finished),
    )


def with_users(pair: Pair, changes: Iterable[Change]) -> Iterator[Change]:
    """The changes, those of what is told from documents alone with the recorded pods that they reach.

    A shared claim that goes reaches the pods that name it, a tenant or namespace that goes those that
    hold claims there.
    """
    live: dict[str, Workloads] = {}
    for one in changes:
        if one.kind.name not in _OF_CLAIM | _OF_NAMESPACES:
            yield one
            continue
        reached: list[str] = []
        for name, cluster in pair.head.judgement.catalog.clusters.items():
            if one.cluster not in (None, name):
                continue
            if name not in live:
                live[name] = recorded(pair, cluster)
            reached += _users(one, live[name])
        shown, more = bounded((*one.workloads, *reached))
        yield replace(one, workloads=shown, details=(*one.details, *more)) if reached else one


def _users(one: Change, live: Workloads) -> Iterator[str]:
    claim = one.object.removeprefix("shared claim ").partition(" ")[0]
    for pod in live.pods:
        if pod.namespace not in one.namespaces or not pod.claims:
            continue
        if one.kind.name in _OF_NAMESPACES or any(held.claim == claim for held in pod.claims):
            yield pod.ref


def classes_of(held: HeldClaim) -> frozenset[str]:
    """The classes that a claim names, in alternatives too."""
    return frozenset(
        one.device_class
        for request in held.claim.spec.requests
        for one in (request.exactly, *request.first_available)
        if one is not None
    )
