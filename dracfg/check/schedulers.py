"""OWN011, OWN012, INV050: which scheduler gives out the devices of a pool.

A scheduler learns of another's allocations only once they are written to claims; two that look at one
pool pick the same device, and one of them fails after it has reserved the rest of the pod.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dracfg.check.rule import Rule, listed
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.link.catalog import Catalog
from dracfg.model.base import at, at_key
from dracfg.source.fields import maps, text
from dracfg.source.records import Record, RecordedObject


def give_out_one_pool(catalog: Catalog) -> Iterator[Diagnostic]:
    """OWN011: the second scheduler of a pool, and a scheduler that is listed twice."""
    for cluster in catalog.clusters.values():
        document = cluster.document
        first: dict[str, int] = {}
        for i, scheduler in enumerate(document.spec.schedulers):
            shared = {
                p.name: first[p.name] for p in cluster.given_out_by(scheduler) if p.name in first
            }
            if shared:
                others = sorted({document.spec.schedulers[j].name for j in shared.values()})
                yield diagnose(
                    "OWN011",
                    at(document, "spec", "schedulers", i, "pools"),
                    f"{scheduler.name} and {listed(others)} give out devices of "
                    f"{listed(sorted(shared))} on {cluster.name}",
                    related=[
                        Related(at(document, "spec", "schedulers", j, "pools"), "the other")
                        for j in sorted(set(shared.values()))
                    ],
                    found=f"{len(others) + 1} schedulers",
                    expected="one for each pool",
                    help="leave each pool to one scheduler, and keep the pods of others off its nodes "
                    "with a taint",
                )
            for pool in cluster.given_out_by(scheduler):
                first.setdefault(pool.name, i)


def is_given_out_by_none(catalog: Catalog) -> Iterator[Diagnostic]:
    """OWN012: a pool of DRA that is in nobody's list."""
    for cluster in catalog.clusters.values():
        schedulers = cluster.document.spec.schedulers
        held = {pool.name for one in schedulers for pool in cluster.given_out_by(one)}
        for pool in cluster.pools:
            by_claims = any(pool.owner(one.tier.driver) == "dra" for one in pool.devices)
            if by_claims and pool.name not in held:
                yield diagnose(
                    "OWN012",
                    at_key(cluster.document, "spec", "schedulers"),
                    f"no scheduler gives out the devices of {pool.name} on {cluster.name}",
                    related=[Related(at(pool.document, "metadata", "name"), "the pool")],
                    found=listed(one.name for one in schedulers) or "no scheduler",
                    help=f"add {pool.name} to the `pools` of one scheduler",
                )


def check_pod_schedulers(
    catalog: Catalog, records: Mapping[str, Sequence[Record]]
) -> tuple[Diagnostic, ...]:
    """INV050, once for each scheduler of recorded pods with claims that its cluster does not list."""
    return tuple(
        finding
        for name, listed_ in records.items()
        if name in catalog.clusters
        for finding in _unlisted(catalog, name, listed_)
    )


def _unlisted(catalog: Catalog, name: str, records: Sequence[Record]) -> Iterator[Diagnostic]:
    document = catalog.clusters[name].document
    known = {scheduler.name for scheduler in document.spec.schedulers}
    told: set[str] = set()
    for item in (item for record in records for item in record.objects):
        scheduler = _scheduler(item)
        if scheduler is None or scheduler in known | told:
            continue
        told.add(scheduler)
        stated = "schedulers" in document.spec.model_fields_set
        place = (
            at_key(document, "spec", "schedulers") if stated else at(document, "metadata", "name")
        )
        pod = text(item.data, "metadata", "name")
        yield diagnose(
            "INV050",
            item.span("spec", "schedulerName"),
            f"pod {pod} with claims is left to {scheduler}, which {name} does not list",
            related=[Related(place, f"known: {listed(sorted(known)) or 'none'}")],
            found=scheduler,
            help=f"add {{name: {scheduler}, pools: […]}} to `schedulers`, or leave the pod to one of them",
        )


def _scheduler(item: RecordedObject) -> str | None:
    """Who places a recorded pod that has claims; None where it is no such pod, or says nothing."""
    if item.data["kind"] != "Pod" or not maps(item.data, "spec", "resourceClaims"):
        return None
    return text(item.data, "spec", "schedulerName")


RULES: tuple[Rule, ...] = (give_out_one_pool, is_given_out_by_none)
