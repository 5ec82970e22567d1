"""Kueue's Configuration that counts other classes: its manager reads it at its start only."""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.check.places import place
from dracfg.diff.change import Change, change
from dracfg.diff.counterparts import clusters
from dracfg.diff.pair import Pair
from dracfg.diff.words import few, plural
from dracfg.link.catalog import Catalog, Cluster
from dracfg.link.classes import device_classes
from dracfg.lower.kueue import counted_classes, kueue_configuration, logical_resource


def kueue_changes(pair: Pair) -> Iterator[Change]:
    """Clusters of both sides on which Kueue must count otherwise."""
    for before, after in clusters(pair):
        if after.document.spec.addons.kueue is None:
            continue
        first, old = _counted(pair.base.judgement.catalog, before)
        second, new = _counted(pair.head.judgement.catalog, after)
        if first is None or second is None or first == second:
            continue
        gone, come = sorted(old.keys() - new.keys()), sorted(new.keys() - old.keys())
        renamed = [name for name in old.keys() & new.keys() if old[name] != new[name]]
        yield change(
            "kueue-restart",
            "Kueue's Configuration",
            f"counts {plural(len(old), 'class')}",
            f"counts {plural(len(new), 'class')}",
            cluster=after.name,
            span=place(after.document, "spec", "addons", "kueue"),
            details=(
                *((f"no longer: {few(gone)}",) if gone else ()),
                *((f"now also: {few(come)}",) if come else ()),
                *((f"under another name: {few(sorted(renamed))}",) if renamed else ()),
            ),
        )


def _counted(catalog: Catalog, cluster: Cluster) -> tuple[str | None, dict[str, str]]:
    """The text of the Configuration, and what each class is counted as."""
    counted = counted_classes(catalog, cluster, device_classes(catalog, cluster))
    names = {plan.name: logical_resource(plan) for plan in counted}
    return kueue_configuration(cluster, counted), names
