"""LIV057: two schedulers that give out devices of one pool don't see each other's plans in time."""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.audit.finding import LiveFinding, LiveRule, live, related
from dracfg.audit.pods import Pod
from dracfg.audit.view import Holding, View
from dracfg.audit.words import named, pod_object
from dracfg.check.rule import listed
from dracfg.link.catalog import Pool
from dracfg.model.base import at_key


def two_on_one_pool(view: View) -> Iterator[LiveFinding]:
    """LIV057 by what is seen, once for each pool of devices; for clusters that list no schedulers."""
    if _are_listed(view):
        return
    by_pool: dict[tuple[str, str], dict[str, Pod]] = {}
    for holding in view.holdings:
        for pod in holding.pods:
            names = by_pool.setdefault((holding.result.driver, holding.result.pool), {})
            names.setdefault(pod.scheduler, pod)
    told: set[tuple[str, ...]] = set()
    for (driver, pool), names in sorted(by_pool.items()):
        key = (driver, *sorted(names))
        if len(names) < 2 or key in told:
            continue
        told.add(key)
        first, second = (names[name] for name in sorted(names)[:2])
        same = [
            p
            for (d, p), other in sorted(by_pool.items())
            if d == driver and set(other) == set(names)
        ]
        yield live(
            "LIV057",
            "notRetryable",
            second.origin.span("spec", "schedulerName"),
            f"{named(sorted(names))} give out devices of pool {named(same)} of {driver}",
            label=f"pod {second.ref}",
            related=related(first.origin.span("spec", "schedulerName"), f"pod {first.ref}"),
            found=f"{len(names)} schedulers",
            expected="one",
            step="give each scheduler pools of its own, by a node taint that only its pods tolerate, "
            "or let one scheduler place all pods with claims",
            objects=[f"Pool/{driver}/{pool}", *(pod_object(names[name]) for name in sorted(names))],
        )


def on_another_ones_pool(view: View) -> Iterator[LiveFinding]:
    """LIV057 by the schedulers that are listed, once for each pool of nodes and scheduler."""
    if not _are_listed(view):
        return
    told: set[tuple[str, str]] = set()
    for holding in view.holdings:
        pool = _node_pool(view, holding)
        if view.cluster is None or pool is None:
            continue
        document = view.cluster.document
        declared = [
            scheduler.name
            for scheduler in document.spec.schedulers
            if pool in view.cluster.given_out_by(scheduler)
        ]
        for pod in holding.pods:
            key = (pool.name, pod.scheduler)
            if not declared or pod.scheduler in declared or key in told:
                continue
            told.add(key)
            yield live(
                "LIV057",
                "notRetryable",
                pod.origin.span("spec", "schedulerName"),
                f"{pod.scheduler} gave devices of pool {pool.name} to pod {pod.ref}, and "
                f"{listed(declared)} gives out that pool",
                related=related(at_key(document, "spec", "schedulers"), "listed here"),
                found=pod.scheduler,
                expected=listed(declared),
                step="keep its pods off these nodes with a taint, or leave them to "
                f"{listed(declared, 'or')}; pods that run go on",
                objects=[f"NodePool/{pool.name}", pod_object(pod)],
            )


def _are_listed(view: View) -> bool:
    cluster = view.cluster
    return cluster is not None and "schedulers" in cluster.document.spec.model_fields_set


def _node_pool(view: View, holding: Holding) -> Pool | None:
    """The pool of the catalog that the node of a holding belongs to by its labels."""
    node = view.dump.nodes.get(holding.node or "")
    if view.cluster is None or node is None:
        return None
    return view.cluster.pool_of(node.labels)


RULES: tuple[LiveRule, ...] = (two_on_one_pool, on_another_ones_pool)
