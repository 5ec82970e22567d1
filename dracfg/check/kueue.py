"""TEN060-065: what Kueue counts, on clusters where it runs.

A class that it does not count, or counts twice, is a way around every queue.
"""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.check.rule import Rule, listed
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.kube.kueue import kueue_versions
from dracfg.link.catalog import Catalog, Cluster
from dracfg.link.classes import device_classes
from dracfg.link.writers import writers
from dracfg.lower.kueue import counted_classes
from dracfg.lower.kueuefacts import KueueFacts, kueue_facts, most_mappings, number
from dracfg.model.base import at
from dracfg.plan.promises import Planned, claim_plans


def _with_kueue(catalog: Catalog) -> dict[Cluster, KueueFacts]:
    known = {
        cluster: kueue_facts(cluster.document.spec.addons.kueue)
        for cluster in catalog.clusters.values()
    }
    return {cluster: facts for cluster, facts in known.items() if facts is not None}


def _queued(catalog: Catalog) -> Iterator[tuple[Planned, KueueFacts]]:
    """Every profile on each cluster with Kueue."""
    known = _with_kueue(catalog)
    for made in claim_plans(catalog) if known else ():
        if made.cluster in known:
            yield made, known[made.cluster]


def does_not_count_claims(catalog: Catalog) -> Iterator[Diagnostic]:
    """TEN060, TEN061: releases before DRA, and releases that nothing is known of."""
    oldest, newest = kueue_versions()[0], kueue_versions()[-1]
    for cluster in catalog.clusters.values():
        version = cluster.document.spec.addons.kueue
        if version is None or kueue_facts(version) is not None:
            continue
        place = at(cluster.document, "spec", "addons", "kueue")
        if number(version) < number(oldest):
            yield diagnose(
                "TEN060",
                place,
                f"Kueue {version} counts no claims: workloads would be admitted without any quota "
                "on devices",
                found=version,
                expected=f"{oldest} or newer",
                help=f"move to Kueue {newest}, or take the add-on out; ResourceQuota stands anyway",
            )
        else:
            yield diagnose(
                "TEN061",
                place,
                f"dracfg knows Kueue up to {newest}, not {version}; no queues are written",
                found=version,
                expected=f"{oldest} to {newest}",
                help=f"write {newest} if its API is the same, or take the add-on out",
            )


def counts_a_class_twice(catalog: Catalog) -> Iterator[Diagnostic]:
    """TEN062: a class is counted by its mapping or by its extended name, never by both."""
    seen: set[tuple[str, str]] = set()
    for made, facts in _queued(catalog):
        cluster = made.cluster
        profile = ("spec", "profiles", made.position, "name")
        for plan in (ask.plan for request in made.plan.requests for ask in request.asks):
            if plan.extended_name is None or (cluster.name, plan.name) in seen:
                continue
            seen.add((cluster.name, plan.name))
            yield diagnose(
                "TEN062",
                at(plan.tier.document, "spec", "takesOverLegacyName"),
                f"on {cluster.name} pods reach the class {plan.name} as {plan.extended_name} and by "
                f"claims, and Kueue {facts.version} can count one of the two",
                related=[
                    Related(
                        at(made.tenant.document, *profile),
                        f"{made.tenant.name} claims it",
                    ),
                    Related(at(cluster.document, "spec", "addons", "kueue"), "Kueue runs here"),
                ],
                help="remove takesOverLegacyName, or let workloads name the extended resource and "
                "remove the profiles",
            )


def leaves_classes_out(catalog: Catalog) -> Iterator[Diagnostic]:
    """TEN063: Kueue reads a limited number of mappings, and refuses claims of what is not mapped."""
    most = most_mappings()
    for cluster, facts in _with_kueue(catalog).items():
        counted = counted_classes(catalog, cluster, device_classes(catalog, cluster))
        mapped = [plan for plan in counted if plan.extended_name is None]
        if len(mapped) > most:
            yield diagnose(
                "TEN063",
                at(cluster.document, "spec", "addons", "kueue"),
                f"tenants reach {len(mapped)} classes on {cluster.name}, and Kueue "
                f"{facts.version} counts {most}: it would not start with more mappings",
                related=[
                    Related(at(plan.tier.document, "metadata", "name"), f"class {plan.name}")
                    for plan in mapped[most : most + 3]
                ],
                found=str(len(mapped)),
                expected=f"at most {most}",
                help="offer fewer sizes, or give tenants of some tiers another cluster",
            )


def is_refused(catalog: Catalog) -> Iterator[Diagnostic]:
    """TEN064: claims that Kueue can't count; it never admits a workload that names them."""
    for made, facts in _queued(catalog):
        plan, cluster = made.plan, made.cluster
        held = {
            "firstAvailable": any(request.has_alternatives for request in plan.requests),
            "constraints": bool(plan.constraints),
            "config": bool(plan.config),
            "selectors": any(ask.chosen for one in plan.requests for ask in one.asks),
        }
        refused = [what for field, what in facts.refused.items() if held[field]]
        if refused:
            yield diagnose(
                "TEN064",
                at(made.tenant.document, "spec", "profiles", made.position, "name"),
                f"Kueue {facts.version} on {cluster.name} never admits workloads of "
                f"{plan.profile.name}: it can't count {listed(refused)}",
                related=[
                    Related(at(cluster.document, "spec", "addons", "kueue"), "Kueue runs here")
                ],
                help="run them outside of the queue, where quota alone bounds them, "
                "or offer a profile without",
            )


def shares_uncounted(catalog: Catalog) -> Iterator[Diagnostic]:
    """TEN065: Kueue counts templates; a workload that names a claim itself is refused."""
    for cluster, facts in _with_kueue(catalog).items():
        for tenant in writers(catalog, "shared_claims"):
            here = {place.name for place in tenant.places_on(cluster.name)}
            for i, claim in enumerate(tenant.document.spec.shared_claims):
                if claim.namespace in here:
                    yield diagnose(
                        "TEN065",
                        at(tenant.document, "spec", "sharedClaims", i, "name"),
                        f"Kueue {facts.version} on {cluster.name} does not count {claim.name}: "
                        "workloads that name a claim rather than a template are refused there",
                        related=[
                            Related(
                                at(cluster.document, "spec", "addons", "kueue"), "Kueue runs here"
                            )
                        ],
                        help="run its pods outside of the queue",
                    )


RULES: tuple[Rule, ...] = (does_not_count_claims, counts_a_class_twice, leaves_classes_out)
TENANT_RULES: tuple[Rule, ...] = (is_refused, shares_uncounted)
