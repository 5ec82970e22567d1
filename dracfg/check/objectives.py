"""VER054 to VER056 and CAP087: objectives that nothing can tell of, or that can't hold together."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from dracfg.check.places import place
from dracfg.check.rule import Rule, listed
from dracfg.diagnostics import Diagnostic, diagnose
from dracfg.link.catalog import Catalog, Cluster, Tier
from dracfg.lower.objectives import Measure, decimal, limits, measures, shown

_Said = tuple[Cluster | Tier, Measure]
"""The document's owner, and how its objective is measured on one cluster."""


def not_measured(catalog: Catalog) -> Iterator[Diagnostic]:
    """VER054 where the minor exports nothing for it, VER055 where nobody names a metric for it."""
    lacking: dict[tuple[str, str, str], tuple[_Said, list[str]]] = {}
    for cluster in catalog.clusters.values():
        for owner, one in _said(cluster):
            if one.expr is None and one.lack is not None:
                key = (owner.name, one.key, one.lack)
                lacking.setdefault(key, ((owner, one), []))[1].append(cluster.name)
    for (_, _, lack), ((owner, one), clusters) in lacking.items():
        where = listed(clusters)
        match lack:
            case "minor":
                yield _finding(
                    "VER054",
                    owner,
                    one,
                    f"no metric of {where} tells {one.key}: its minor or a gate of it lacks one",
                    "take it out, or keep it for clusters whose minor has the metric with its gate on",
                )
            case "declared":
                yield _finding(
                    "VER055",
                    owner,
                    one,
                    f"nothing on {where} tells {one.key}: no document names a metric for it",
                    f"name it under {_WHERE[one.key]}",
                )
            case "never":
                level = "tiers apart" if isinstance(owner, Tier) else "all drivers together"
                yield _finding(
                    "VER055",
                    owner,
                    one,
                    f"nothing on {where} tells {one.key}: no metric knows {level}",
                    "state it for the whole Cluster"
                    if isinstance(owner, Tier)
                    else "state it for each HardwareTier",
                )


def beyond_the_metric(catalog: Catalog) -> Iterator[Diagnostic]:
    """VER056: an objective that is never missed, as its metric tells no greater figure."""
    seen: set[tuple[str, str]] = set()
    for cluster in catalog.clusters.values():
        for owner, one in _said(cluster):
            if one.bound is None or one.limit < one.bound or (owner.name, one.key) in seen:
                continue
            seen.add((owner.name, one.key))
            yield _finding(
                "VER056",
                owner,
                one,
                f"{one.key} of {shown(one)} is never missed on {cluster.name}: its metric tells nothing "
                f"above {decimal(one.bound)}s",
                f"state less than {decimal(one.bound)}s",
            )


def can_not_hold_together(catalog: Catalog) -> Iterator[Diagnostic]:
    """CAP087: a pod that must be ready before its claim needs to be allocated and prepared."""
    owners: tuple[Cluster | Tier, ...] = (*catalog.clusters.values(), *catalog.tiers.values())
    for owner in owners:
        if owner.objectives is None:
            continue
        said = limits(owner.objectives)
        whole = said.get("readyP99")
        parts = {key: said[key] for key in ("allocationP99", "preparationP99") if key in said}
        longest = max(parts.values(), default=Fraction(0))
        if whole is not None and whole < longest:
            names = [key for key, length in parts.items() if length > whole]
            yield diagnose(
                "CAP087",
                place(owner.document, "spec", "objectives", "readyP99"),
                f"pods of {owner.name} must be ready within {decimal(whole)}s, and {listed(names)} "
                f"allows {decimal(longest)}s for a part of that",
                help="allow the whole at least as long as its longest part",
            )


_WHERE = {
    "unavailableDevices": "`deviceMetrics.unavailable` of the Driver",
    "restartsPerDay": "`metrics.trainingRestarts` of the Cluster",
}


def _said(cluster: Cluster) -> Iterator[_Said]:
    tiers = {tier.name: tier for tier in cluster.tiers}
    for one in measures(cluster):
        tier = tiers.get(one.subject.words.get("tier", ""))
        yield (cluster if tier is None else tier, one)


def _finding(code: str, owner: Cluster | Tier, one: Measure, message: str, mend: str) -> Diagnostic:
    where = place(owner.document, "spec", "objectives", one.key)
    return diagnose(code, where, message, help=mend)


RULES: tuple[Rule, ...] = (not_measured, beyond_the_metric, can_not_hold_together)
