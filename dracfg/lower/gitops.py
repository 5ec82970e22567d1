"""The units of `gitops/`: what makes the clusters' engines apply all other units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dracfg.dataclass import dataclass
from dracfg.link.catalog import Catalog, Cluster
from dracfg.lower.argocd import applications, parents
from dracfg.lower.artifact import K8sObject, Unit
from dracfg.lower.division import is_part
from dracfg.lower.flux import kustomizations
from dracfg.lower.snippets import snippets
from dracfg.source.standing import Standing


@dataclass(frozen=True, slots=True)
class ByHand:
    """What of one cluster somebody else than its engine has to apply.

    `applier` is the access that the engine's applier needs, `external` the namespaces of tenants that
    somebody else manages, `third_party` the roles of drivers and schedulers, `kueue` the text of
    its Configuration.
    """

    applier: Sequence[K8sObject] = ()
    external: Sequence[K8sObject] = ()
    third_party: Sequence[K8sObject] = ()
    kueue: str | None = None


def engine_units(
    catalog: Catalog, cluster: Cluster, units: Sequence[Unit], standing: Standing
) -> tuple[Unit, ...]:
    """What the cluster's engine reads: one object for each of its `units` that is synced."""
    return (
        *applications(catalog, cluster, units, standing),
        *kustomizations(catalog, cluster, units, standing),
    )


def is_of_engine(cluster: Cluster, path: str) -> bool:
    """Whether a unit is one of those that the cluster's engine reads."""
    folder, _, name = path.rpartition("/")
    return folder in ("gitops/argocd", "gitops/flux") and is_part(name, cluster.name)


def shared_units(catalog: Catalog, by_hand: Mapping[str, ByHand]) -> tuple[Unit, ...]:
    """What is under `gitops/` for all clusters together; `by_hand` goes by the cluster's name."""
    return (
        *parents(catalog),
        *snippets(
            catalog,
            applier={name: one.applier for name, one in by_hand.items()},
            external={name: one.external for name, one in by_hand.items()},
            third_party={name: one.third_party for name, one in by_hand.items()},
            kueue={name: one.kueue for name, one in by_hand.items() if one.kueue is not None},
        ),
    )
