"""A dump beside the catalog: who holds which device, for which tenant, under which policy, on which node.

What every rule starts from. Without a catalog the same view stands, with fewer names in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from functools import cached_property

from dracfg.allocate.claims import Consumer, DeviceResult
from dracfg.allocate.devices import Device
from dracfg.allocate.nodes import NAME_FIELD
from dracfg.allocate.state import AllocationState
from dracfg.audit.dump import Dump
from dracfg.audit.events import Event
from dracfg.audit.heldclaims import HeldClaim, Note
from dracfg.audit.pods import Pod
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Span
from dracfg.link.catalog import Catalog, Cluster, Policy, Tenant, Tier
from dracfg.link.classes import ClassPlan, device_classes
from dracfg.model.reclaim import Reclaim
from dracfg.source.times import parse_length

TIMEOUT = timedelta(minutes=15)
"""How long a state may last where no `reclaim` says it."""
GRACE = timedelta(minutes=10)

DeviceId = tuple[str, str, str]
"""(driver, pool, device)."""


@dataclass(frozen=True, slots=True)
class Holding:
    """One device, or one share of it, that is allocated to a claim.

    `device` is None where it is not published. `pods` are the recorded ones that the claim is
    reserved for, `gone` the consumers that are not recorded. `number` is that of the result.
    """

    claim: HeldClaim
    result: DeviceResult
    number: int
    device: Device | None
    node: str | None
    pods: tuple[Pod, ...]
    gone: tuple[Consumer, ...]
    note: Note | None
    class_name: str | None

    @property
    def id(self) -> DeviceId:
        return self.result.device_id

    @property
    def takes(self) -> bool:
        """Whether it counts on the device: admin access to one that is not shareable does not."""
        return not self.result.admin_access or self.result.share_id is not None

    def span(self, *steps: str | int) -> Span | None:
        """The place of the allocation result."""
        return self.claim.span("status", "allocation", "devices", "results", self.number, *steps)


@dataclass(frozen=True)
class View:
    """What rules see. `plans` are the classes that the catalog has on the cluster, by name."""

    dump: Dump
    catalog: Catalog | None
    cluster: Cluster | None
    holdings: tuple[Holding, ...]
    plans: Mapping[str, ClassPlan]

    @cached_property
    def state(self) -> AllocationState:
        """What all claims together hold, as the allocator counts it."""
        claims = (held.claim for held in self.dump.claims.values())
        return AllocationState.of(claims, self.dump.inventory)

    @cached_property
    def by_device(self) -> Mapping[DeviceId, tuple[Holding, ...]]:
        """The holdings of each device that somebody holds."""
        found: dict[DeviceId, list[Holding]] = {}
        for holding in self.holdings:
            found.setdefault(holding.id, []).append(holding)
        return {key: tuple(held) for key, held in sorted(found.items())}

    @cached_property
    def by_claim(self) -> Mapping[str, tuple[Holding, ...]]:
        """The holdings of each claim that holds something, by its ref."""
        found: dict[str, list[Holding]] = {}
        for holding in self.holdings:
            found.setdefault(holding.claim.ref, []).append(holding)
        return {key: tuple(held) for key, held in found.items()}

    @cached_property
    def _events(self) -> Mapping[tuple[str, str], tuple[Event, ...]]:
        found: dict[tuple[str, str], list[Event]] = {}
        for event in self.dump.events:
            if event.kind == "Pod":
                found.setdefault((event.namespace, event.name), []).append(event)
        return {key: tuple(events) for key, events in found.items()}

    def events_of(self, pod: Pod) -> tuple[Event, ...]:
        """The events of a pod, the last one first; of equal times the one recorded later."""
        own = [
            (event.last.timestamp() if event.last is not None else 0.0, number, event)
            for number, event in enumerate(self._events.get((pod.namespace, pod.name), ()))
            if event.uid in ("", pod.uid)
        ]
        return tuple(event for _, _, event in sorted(own, key=lambda item: item[:2], reverse=True))

    @cached_property
    def _tenants(self) -> Mapping[str, Tenant]:
        if self.catalog is None or self.cluster is None:
            return {}
        return {
            place.name: tenant
            for tenant in self.catalog.tenants_on(self.cluster.name)
            for place in tenant.places_on(self.cluster.name)
        }

    def tenant(self, namespace: str) -> Tenant | None:
        """The tenant that a namespace belongs to by the catalog."""
        return self._tenants.get(namespace)

    def tenant_name(self, claim: HeldClaim) -> str | None:
        """The tenant of a claim: by the catalog, else by its namespace, else by its own label."""
        tenant = self.tenant(claim.claim.namespace)
        if tenant is not None:
            return tenant.name
        space = self.dump.namespaces.get(claim.claim.namespace)
        noted = space.annotations.get("dracfg.dev/tenant") if space is not None else None
        return noted or claim.tenant

    def plan(self, holding: Holding) -> ClassPlan | None:
        """The class of the catalog under which a device was given."""
        return self.plans.get(holding.class_name or "")

    def policy(self, holding: Holding) -> Policy | None:
        """The policy in force for what is held: that of its note, else that of its class."""
        if holding.note is not None and self.catalog is not None:
            return self.catalog.policies.get(holding.note.policy)
        plan = self.plan(holding)
        return plan.policy if plan is not None else None

    def tier(self, holding: Holding) -> Tier | None:
        """The tier of what is held: that of its note, else that of its class."""
        if holding.note is not None and self.catalog is not None:
            return self.catalog.tiers.get(holding.note.tier)
        plan = self.plan(holding)
        return plan.tier if plan is not None else None

    def reclaim(self, holding: Holding) -> Reclaim | None:
        """What is to become of the allocation: by its policy, for whole devices by the tier."""
        policy, tier = self.policy(holding), self.tier(holding)
        if policy is not None and policy.document is not None:
            return policy.spec.reclaim
        return tier.document.spec.reclaim if tier is not None else None

    def timeout(self, claim: HeldClaim, unsaid: timedelta = TIMEOUT) -> timedelta:
        """After what time a person is told: the shortest of the claim's policies, or `unsaid`."""
        said = [self.reclaim(holding) for holding in self.by_claim.get(claim.ref, ())]
        lengths = [parse_length(one.timeout) for one in said if one is not None]
        return min(lengths, default=unsaid)

    def grace(self, claim: HeldClaim) -> timedelta:
        """How long a state may last before it counts."""
        said = [self.reclaim(holding) for holding in self.by_claim.get(claim.ref, ())]
        lengths = [parse_length(one.grace) for one in said if one is not None]
        return min(lengths, default=GRACE)


def view_of(dump: Dump, catalog: Catalog | None, cluster: Cluster | None) -> View:
    """The view of a dump; `cluster` is the catalog's name for where it was recorded."""
    plans: Mapping[str, ClassPlan] = {}
    if catalog is not None and cluster is not None:
        plans = {plan.name: plan for plan in device_classes(catalog, cluster)}
    holdings = tuple(
        holding for _, claim in sorted(dump.claims.items()) for holding in _holdings(dump, claim)
    )
    return View(dump, catalog, cluster, holdings, plans)


def _holdings(dump: Dump, claim: HeldClaim) -> Iterator[Holding]:
    pods: list[Pod] = []
    gone: list[Consumer] = []
    for consumer in claim.claim.reserved_for:
        if consumer.resource == "pods" and not consumer.api_group:
            pod = dump.pod_of(claim.claim.namespace, consumer.name, consumer.uid)
            pods += [pod] if pod is not None else []
            gone += [consumer] if pod is None else []
    for number, result in enumerate(claim.results):
        device = dump.inventory.device(*result.device_id)
        request = claim.request(result)
        yield Holding(
            claim,
            result,
            number,
            device,
            _node(claim, device, pods),
            tuple(pods),
            tuple(gone),
            claim.note(result),
            request.device_class if request is not None else None,
        )


def _node(claim: HeldClaim, device: Device | None, pods: list[Pod]) -> str | None:
    """The node on which a device is used: its own, that of the allocation, or that of the pods."""
    if device is not None and device.nodes.node_name is not None:
        return device.nodes.node_name
    allocation = claim.claim.allocation
    selector = allocation.node_selector if allocation is not None else None
    for part in selector.fields if selector is not None else ():
        if part.key == NAME_FIELD and part.operator == "In" and len(part.values) == 1:
            return part.values[0]
    nodes = {pod.node for pod in pods if pod.node is not None}
    return nodes.pop() if len(nodes) == 1 else None
