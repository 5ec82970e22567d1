"""The units of `gitops/`: what makes the clusters' engines apply all other units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from dracfg.link.catalog import Catalog
from dracfg.lower.argocd import argocd
from dracfg.lower.artifact import K8sObject, Unit
from dracfg.lower.flux import flux
from dracfg.lower.snippets import snippets


def gitops_units(
    catalog: Catalog,
    units: Iterable[Unit],
    *,
    applier: Mapping[str, Sequence[K8sObject]],
    external: Mapping[str, Sequence[K8sObject]],
    third_party: Mapping[str, Sequence[K8sObject]] = MappingProxyType({}),
    kueue: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Unit, ...]:
    """Everything under `gitops/`; `units` are those of the clusters.

    `applier` holds the access that a cluster's applier needs, `external` the namespaces of tenants
    that somebody else manages, `third_party` the roles of drivers and schedulers, `kueue` the text
    of its Configuration, all by the cluster's name.
    """
    units = tuple(units)
    return (
        *argocd(catalog, units),
        *flux(catalog, units),
        *snippets(
            catalog, applier=applier, external=external, third_party=third_party, kueue=kueue
        ),
    )
