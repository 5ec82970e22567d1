"""OWN006, OWN009: tiers on their way from the device plugin to DRA."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dracfg.check.rule import Rule, listed
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.link.catalog import Catalog, Grant, Tenant
from dracfg.link.moves import claims_now, fenced_pools, pools_at, position, split_now
from dracfg.link.steps import at as at_standing
from dracfg.link.steps import reachable
from dracfg.model import kinds
from dracfg.model.base import at
from dracfg.model.rollout import RolloutSpec, Split, Stage


def is_not_split(catalog: Catalog) -> Iterator[Diagnostic]:
    """OWN006: each path has a quota of its own, so a limit must be split while both are open."""
    clusters = catalog.clusters.values()
    is_on_both = any(len(one.owners_of(tier)) > 1 for one in clusters for tier in one.tiers)
    for tenant in catalog.tenants.values() if is_on_both else ():
        if tenant.document.spec.state == "removed":
            continue
        for grants in _by_tier(grant for grant in tenant.grants if len(grant.owners) > 1):
            yield from _split(catalog, tenant, grants)


def will_not_be_split(catalog: Catalog) -> Iterator[Diagnostic]:
    """OWN006 for every other place that a rollout can stand at, so that no step leads into it.

    Where driver and plugin are one switch of the cluster, ROL009 says that there is no such place.
    """
    for rollout in catalog.rollouts.values():
        tier = catalog.tiers.get(rollout.spec.tier)
        if tier is None or rollout.spec.subject != "ownership" or tier.driver.is_one_switch:
            continue
        for tenant in catalog.tenants.values():
            if tenant.document.spec.state == "removed":
                continue
            own = (grant for grant in tenant.grants if grant.tier is tier)
            for grants in _by_tier(own):
                yield from _split_later(rollout, tenant, grants)


def _by_tier(grants: Iterable[Grant]) -> Iterable[list[Grant]]:
    """A tenant's own grants, those of one tier on one cluster together; what is borrowed is left out."""
    found: dict[tuple[str, str], list[Grant]] = {}
    for grant in grants:
        if grant.lender is None:
            found.setdefault((grant.cluster.name, grant.tier.name), []).append(grant)
    return found.values()


def _limit(grants: Iterable[Grant]) -> int:
    return sum(numbers.limit for grant in grants for numbers in grant.numbers.values())


def _entitled(tenant: Tenant, grant: Grant) -> Span:
    names = [entitlement.name for entitlement in tenant.document.spec.entitlements]
    return at(tenant.document, "spec", "entitlements", names.index(grant.name), "tier")


def _split(catalog: Catalog, tenant: Tenant, grants: list[Grant]) -> Iterator[Diagnostic]:
    """Judges one tenant's grants of one tier on one cluster where its rollout stands."""
    tier, cluster, limit = grants[0].tier, grants[0].cluster, _limit(grants)
    rollout = next((r for r in catalog.rollouts.values() if r.spec.tier == tier.name), None)
    i = max(position(rollout.spec), 0) if rollout is not None else 0
    split = split_now(rollout.spec, tenant.name) if rollout is not None else None
    if rollout is None or split is None:
        where = "a Rollout's stage"
        if rollout is not None:
            where = f"the stage {rollout.spec.stage} of {rollout.name}"
        yield diagnose(
            "OWN006",
            _entitled(tenant, grants[0]),
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
            help=_halves(tenant, limit, where),
        )
    elif tenant.name in rollout.spec.stages[i].split and split.plugin + split.dra != limit:
        yield _wrong_sum(rollout, i, tenant, grants[0], split, limit)


def _split_later(
    rollout: kinds.Rollout, tenant: Tenant, grants: list[Grant]
) -> Iterator[Diagnostic]:
    """Judges them wherever else the rollout can stand, each stage once; at the start nothing has moved."""
    spec, limit = rollout.spec, _limit(grants)
    judged = {position(spec)} if _has_both_paths(spec, tenant, grants[0]) else set[int]()
    for here in reachable(spec):
        moved = at_standing(spec, here)
        i = position(moved)
        if i < 0 or i in judged or not _has_both_paths(moved, tenant, grants[0]):
            continue
        judged.add(i)
        stage = spec.stages[i]
        split = stage.split.get(tenant.name)
        if split is None:
            yield diagnose(
                "OWN006",
                at(rollout, "spec", "stages", i, "split" if stage.split else "tenants"),
                f"at {here}, {grants[0].tier.name} has both owners on {grants[0].cluster.name}, and the "
                f"limit of {tenant.name} is not split between them",
                related=[Related(_entitled(tenant, grants[0]), f"{tenant.name} is entitled here")],
                found=f"a limit of {limit}",
                help=_halves(tenant, limit, f"the stage {stage.name} of {rollout.name}"),
            )
        elif split.plugin + split.dra != limit:
            yield _wrong_sum(rollout, i, tenant, grants[0], split, limit)


def _has_both_paths(spec: RolloutSpec, tenant: Tenant, grant: Grant) -> bool:
    """Whether new work of a tenant goes both ways on a cluster, were the rollout what `spec` says."""
    driver = grant.tier.driver.name
    pools = {pool.name: pool.document for pool in grant.cluster.pools_of(grant.tier)}
    moved, fenced = pools_at(spec, position(spec), pools), fenced_pools(spec, pools)
    plugin = [
        name
        for name, pool in pools.items()
        if name not in moved and pool.spec.owner.get(driver, "dra") == "devicePlugin"
    ]
    open_plugin = any(pools[name].spec.state == "open" and name not in fenced for name in plugin)
    reaches = any(pools_at(spec, place, pools) for place in range(len(spec.stages)))
    return (
        0 < len(plugin) < len(pools)
        and reaches
        and claims_now(spec, tenant.name, by_plugin=open_plugin)
    )


def _halves(tenant: Tenant, limit: int, where: str) -> str:
    half = limit // 2
    return (
        f"write `split: {{{tenant.name}: {{plugin: {limit - half}, dra: {half}}}}}` "
        f"in {where}, the two summing to {limit}"
    )


def _wrong_sum(
    rollout: kinds.Rollout, i: int, tenant: Tenant, grant: Grant, split: Split, limit: int
) -> Diagnostic:
    return diagnose(
        "OWN006",
        at(rollout, "spec", "stages", i, "split", tenant.name, "dra"),
        f"the split of {tenant.name} comes to {split.plugin + split.dra}, its limit is {limit}",
        related=[Related(_entitled(tenant, grant), f"entitled to {limit} of {grant.tier.name}")],
        found=f"{split.plugin} + {split.dra}",
        expected=str(limit),
        help=f"write dra: {max(limit - split.plugin, 0)}, or plugin: {max(limit - split.dra, 0)}",
    )


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


RULES: tuple[Rule, ...] = (does_not_widen,)
TENANT_RULES: tuple[Rule, ...] = (is_not_split, will_not_be_split)
