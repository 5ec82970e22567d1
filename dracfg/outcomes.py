"""What a run came to → the plain data that a command shows and a cache keeps."""

from __future__ import annotations

from dataclasses import replace

from dracfg.cache.outcome import MovedUnit, Outcome
from dracfg.pipeline import Compiled, Judgement
from dracfg.scope import tenant_of


def outcome_of_judgement(judged: Judgement) -> Outcome:
    """What a judgement came to; no tree was looked at."""
    return Outcome(
        findings=judged.findings,
        verdict=judged.verdict,
        has_errors=judged.has_errors,
        unproven=judged.unproven,
        recorded=bool(judged.inventories),
        clusters=len(judged.catalog.clusters),
        tenants=len(judged.catalog.tenants),
    )


def outcome_of(done: Compiled) -> Outcome:
    """What a compile came to. It counts everything, or the units that its scope and errors left."""
    judged, tree = done.judgement, done.tree
    if tree is None:
        return replace(outcome_of_judgement(judged), findings=done.findings)
    paths = {unit.path for unit in tree.units if unit.status != "removed"}
    sizes = judged.rendered.sizes
    made = {path: size for path, size in sizes.items() if path in paths}
    clusters, tenants = set(judged.catalog.clusters), set(judged.catalog.tenants)
    if len(made) < len(sizes):
        places = [path.partition("/") for path in paths if not path.startswith("gitops/")]
        clusters = {cluster for cluster, _, _ in places}
        tenants = {tenant for _, _, rest in places if (tenant := tenant_of(rest))}
    return replace(
        outcome_of_judgement(judged),
        findings=done.findings,
        has_errors=done.has_errors,
        compared=True,
        written=done.applied is not None,
        stale=tree.stale,
        lock_fault=tree.lock_fault,
        clusters=len(clusters),
        tenants=len(tenants),
        objects=sum(made.values()),
        units=len(tree.units),
        moved=tuple(
            MovedUnit(unit.path, unit.status, unit.created, unit.changed, unit.removed)
            for unit in tree.units
            if unit.status != "unchanged"
        ),
    )
