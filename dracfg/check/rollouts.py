"""OWN006, OWN009: tiers on their way from the device plugin to DRA."""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.check.rule import Rule, listed
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.link.catalog import Catalog, Grant, Tenant
from dracfg.model import kinds
from dracfg.model.base import at
from dracfg.model.rollout import Stage


def is_not_split(catalog: Catalog) -> Iterator[Diagnostic]:
    """OWN006: each path has a quota of its own, so a limit must be split while both are open."""
    for tenant in catalog.tenants.values():
        if tenant.document.spec.state == "removed":
            continue
        moving: dict[tuple[str, str], list[Grant]] = {}
        for grant in tenant.grants:
            if len(grant.owners) > 1 and grant.lender is None:
                moving.setdefault((grant.cluster.name, grant.tier.name), []).append(grant)
        for grants in moving.values():
            yield from _split(catalog, tenant, grants)


def _split(catalog: Catalog, tenant: Tenant, grants: list[Grant]) -> Iterator[Diagnostic]:
    """Judges one tenant's grants of one tier on one cluster."""
    tier, cluster = grants[0].tier, grants[0].cluster
    limit = sum(numbers.limit for grant in grants for numbers in grant.numbers.values())
    names = [entitlement.name for entitlement in tenant.document.spec.entitlements]
    position = names.index(grants[0].name)
    entitled = at(tenant.document, "spec", "entitlements", position, "tier")
    rollout = next((r for r in catalog.rollouts.values() if r.spec.tier == tier.name), None)
    i, stage = _current(rollout) if rollout is not None else (0, None)
    split = stage.split.get(tenant.name) if stage is not None else None
    if rollout is None or split is None:
        where = "a Rollout's stage"
        if rollout is not None:
            where = f"the stage {rollout.spec.stage} of {rollout.name}"
        half = limit // 2
        yield diagnose(
            "OWN006",
            entitled,
            f"{tier.name} has both owners on {cluster.name}, "
            f"and the limit of {tenant.name} is not split between them",
            related=[
                Related(
                    at(pool.document, "spec", "owner", tier.driver.name),
                    f"{pool.name}: {pool.owner(tier.driver)}",
                )
                for pool in cluster.pools_of(tier)
            ],
            found=f"a limit of {limit}",
            help=f"write `split: {{{tenant.name}: {{plugin: {limit - half}, dra: {half}}}}}` "
            f"in {where}, the two summing to {limit}",
        )
    elif split.plugin + split.dra != limit:
        yield diagnose(
            "OWN006",
            at(rollout, "spec", "stages", i, "split", tenant.name, "dra"),
            f"the split of {tenant.name} comes to {split.plugin + split.dra}, its limit is {limit}",
            related=[Related(entitled, f"entitled to {limit} of {tier.name}")],
            found=f"{split.plugin} + {split.dra}",
            expected=str(limit),
            help=f"write dra: {max(limit - split.plugin, 0)}, or plugin: {max(limit - split.dra, 0)}",
        )


def _current(rollout: kinds.Rollout) -> tuple[int, Stage | None]:
    for i, stage in enumerate(rollout.spec.stages):
        if stage.name == rollout.spec.stage:
            return i, stage
    return 0, None


def does_not_widen(catalog: Catalog) -> Iterator[Diagnostic]:
    """OWN009: a rollout moves something, and each stage contains the one before."""
    for rollout in catalog.rollouts.values():
        tier = catalog.tiers.get(rollout.spec.tier)
        if tier is None:
            continue
        pools = {
            pool.name
            for pool in catalog.pools.values()
            if any(devices.tier is tier for devices in pool.devices)
        }
        covered = {name for stage in rollout.spec.stages for name in _named(stage, "pools", pools)}
        if not covered & pools and catalog.is_complete("NodePool"):
            yield diagnose(
                "OWN009",
                at(rollout, "spec", "tier"),
                f"no stage of {rollout.name} has a pool of {tier.name}",
                help=f"pools of it: {listed(sorted(pools))}"
                if pools
                else f"no pool holds {tier.name}",
            )
        for i, (before, stage) in enumerate(
            zip(rollout.spec.stages, rollout.spec.stages[1:], strict=False)
        ):
            for key, everything in (
                ("pools", set(catalog.pools)),
                ("tenants", set(catalog.tenants)),
            ):
                missing = _named(before, key, everything) - _named(stage, key, everything)
                missing &= everything
                if missing:
                    yield diagnose(
                        "OWN009",
                        at(rollout, "spec", "stages", i + 1, key),
                        f"stage {stage.name} leaves out {key} of the stage before: "
                        f"{listed(sorted(missing))}",
                        related=[
                            Related(
                                at(rollout, "spec", "stages", i, key), f"in stage {before.name}"
                            )
                        ],
                        help=f"add {listed(sorted(missing))}: stages only widen",
                    )


def _named(stage: Stage, key: str, everything: set[str]) -> set[str]:
    named = stage.pools if key == "pools" else stage.tenants
    return set(everything) if named == "*" else set(named)


RULES: tuple[Rule, ...] = (is_not_split, does_not_widen)
