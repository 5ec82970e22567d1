"""The pods of one file, put to every cluster that they are meant for.

A pod is meant for the clusters where a tenant, or an exemption, has its namespace; where none has,
for those that know all that it asks for. Reads no file and writes nothing down.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dracfg.allocate.claimobjects import ClaimObjects, read_claims
from dracfg.allocate.inventory import Inventory, inventory_of
from dracfg.allocate.nodestates import read_node_states
from dracfg.allocate.state import AllocationState
from dracfg.allocate.structured import Features
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic
from dracfg.kube.features import feature_matrix
from dracfg.link.catalog import Catalog, Cluster
from dracfg.lower.artifact import Unit
from dracfg.lower.gates import GatePlan
from dracfg.lower.units import gate_plans
from dracfg.plan.demand import Demand, demand
from dracfg.plan.library import Library, library
from dracfg.plan.site import Site, modelled_site, recorded_site
from dracfg.plan.utilisation import TierUse, utilisation
from dracfg.plan.whatif import Result, WhatIf, what_if
from dracfg.plan.workloads import DEFAULT_NAMESPACE, PodGroup
from dracfg.source.records import Record


@dataclass(frozen=True, slots=True)
class Repository:
    """What a question is put to: the catalog, what it lowers to, and what is recorded of clusters."""

    catalog: Catalog
    units: tuple[Unit, ...]
    records: Mapping[str, tuple[Record, ...]]
    inventories: Mapping[str, Inventory]


@dataclass(frozen=True, slots=True)
class ClusterAnswer:
    """What came of the pods that are meant for one cluster, and what is in use there."""

    cluster: str
    plan: WhatIf
    tiers: tuple[TierUse, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of all pods.

    `nowhere` are those that are meant for no cluster, `findings` the faults of the file and of
    recorded claims.
    """

    clusters: tuple[ClusterAnswer, ...]
    nowhere: tuple[PodGroup, ...]
    findings: tuple[Diagnostic, ...]

    def count(self, result: Result) -> int:
        """The pods with that result on all clusters."""
        return sum(one.plan.count(result) for one in self.clusters)


def answer(
    repository: Repository,
    file: Record,
    groups: Sequence[PodGroup],
    clusters: Iterable[str] | None,
    namespace: str = DEFAULT_NAMESPACE,
) -> Answer:
    """What would land where. With `clusters`, all pods are put to each of them by its name."""
    asked = [
        _Asked(repository, repository.catalog.clusters[name], plan, file, groups, namespace)
        for name, plan in gate_plans(repository.catalog, repository.units).items()
        if clusters is None or name in set(clusters)
    ]
    meant = {one.cluster.name: list(groups) for one in asked}
    nowhere: list[PodGroup] = []
    if clusters is None:
        meant, nowhere = _meant(repository.catalog, asked, groups)
    found = [
        ClusterAnswer(one.cluster.name, *one.place(meant[one.cluster.name]))
        for one in asked
        if meant[one.cluster.name]
    ]
    findings = dict.fromkeys(
        fault for one in asked if meant[one.cluster.name] for fault in one.findings
    )
    return Answer(tuple(found), tuple(nowhere), tuple(findings))


def _meant(
    catalog: Catalog, asked: Sequence[_Asked], groups: Iterable[PodGroup]
) -> tuple[dict[str, list[PodGroup]], list[PodGroup]]:
    """The groups by cluster, and those of none that ask for a device."""
    meant: dict[str, list[PodGroup]] = {one.cluster.name: [] for one in asked}
    nowhere = []
    for group in groups:
        places = [one for one in asked if group.namespace in _namespaces(catalog, one.cluster)]
        places = places or [one for one in asked if one.knows(group)]
        for one in places:
            meant[one.cluster.name].append(group)
        if not places and (group.claims or any(one.asks(group) for one in asked)):
            nowhere.append(group)
    return meant, nowhere


def _namespaces(catalog: Catalog, cluster: Cluster) -> set[str]:
    exempt = {one.name for one in cluster.document.spec.exempt_namespaces}
    return exempt | {
        place.name
        for tenant in catalog.tenants_on(cluster.name)
        for place in tenant.places_on(cluster.name)
    }


class _Asked:
    """One cluster that pods are put to; nothing is placed until that is asked for."""

    def __init__(
        self,
        repository: Repository,
        cluster: Cluster,
        gates: GatePlan,
        file: Record,
        groups: Iterable[PodGroup],
        namespace: str,
    ) -> None:
        self.repository, self.cluster = repository, cluster
        records = repository.records.get(cluster.name, ())
        own, of_file = read_claims([file], cluster.minor, namespace=namespace)
        self.recorded, of_records = read_claims(records, cluster.minor)
        self.library, of_output = self._library(own, groups, gates)
        self.findings = (*of_file, *of_records, *of_output)
        on = frozenset(name for name in feature_matrix().gates if gates.is_on(name))
        self.features = Features.of(cluster.minor, on)

    def _library(
        self, own: ClaimObjects, groups: Iterable[PodGroup], gates: GatePlan
    ) -> tuple[Library, tuple[Diagnostic, ...]]:
        return library(
            self.repository.catalog,
            self.cluster,
            self.repository.units,
            own,
            self.recorded,
            namespaces={group.namespace for group in groups},
            extended=gates.is_on("DRAExtendedResource"),
        )

    def knows(self, group: PodGroup) -> bool:
        """Whether the cluster has all that the pods name, and they ask for a device."""
        return self.asks(group) and self._wanted(group).refusal is None

    def asks(self, group: PodGroup) -> bool:
        """Whether the pods would ask for a device here."""
        return not self._wanted(group).is_empty

    def place(self, groups: Sequence[PodGroup]) -> tuple[WhatIf, tuple[TierUse, ...]]:
        """What comes of the pods, and the use of the tiers."""
        site = self._site()
        found = what_if(site, self.library, groups, self.recorded.claims, self.features)
        return found, utilisation(self.repository.catalog, site, found.before, found.after)

    def _wanted(self, group: PodGroup) -> Demand:
        nothing = AllocationState(inventory_of((), ())[0])
        return demand(self.library, group, group.stem, nothing, {}, self.cluster.minor)

    def _site(self) -> Site:
        inventory = self.repository.inventories.get(self.cluster.name)
        if inventory is None:
            return modelled_site(self.cluster)
        records = self.repository.records.get(self.cluster.name, ())
        return recorded_site(self.cluster, inventory, read_node_states(records))
