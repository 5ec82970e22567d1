"""ROL020: what is guaranteed holds at every standing of a way back, before anybody has to go it."""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.check.proofwords import plural
from dracfg.check.rule import Rule
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.link.catalog import Catalog
from dracfg.link.moves import position
from dracfg.link.standings import catalog_at
from dracfg.link.steps import Standing, at, reachable, standing
from dracfg.model import kinds
from dracfg.model.base import at as place_of
from dracfg.model.rollout import START
from dracfg.plan.assurance import Assurance, assured, markets
from dracfg.plan.proofs.verdict import Refuted

_MOST_OTHERS = 5
_PATHS = {"devicePlugin": "plugin", "dra": "claims"}


def cannot_go_back(catalog: Catalog) -> Iterator[Diagnostic]:
    """ROL020: one finding a rollout, for the first standing of its way back that would not compile.

    Where guarantees of the tier do not hold as things stand either, CAP040 to CAP043 say so.
    """
    for rollout in catalog.rollouts.values():
        tier = catalog.tiers.get(rollout.spec.tier)
        if tier is None or rollout.spec.subject != "ownership" or tier.driver.is_one_switch:
            continue
        for here in _ways_back(rollout):
            found = _refuted(catalog_at(catalog, rollout, here), tier.name)
            if found is not None:
                if (
                    _refuted(catalog_at(catalog, rollout, standing(rollout.spec)), tier.name)
                    is None
                ):
                    yield _told(rollout, here, found)
                break


def _ways_back(rollout: kinds.Rollout) -> Iterator[Standing]:
    now = standing(rollout.spec)
    for here in reachable(rollout.spec):
        if here.direction == "rollback" and here != now:
            yield here


def _refuted(catalog: Catalog, tier: str) -> Assurance | None:
    """The first guarantee of a tier that does not hold; of what is open nothing is said."""
    for market in markets(catalog):
        if market.supply.tier.name == tier:
            for found in assured(catalog, market):
                if isinstance(found.verdict, Refuted):
                    return found
    return None


def _told(rollout: kinds.Rollout, here: Standing, found: Assurance) -> Diagnostic:
    market, holding = found.market, found.holding
    supply, tenant = market.supply, holding.tenant.name
    devices = sum(group.devices for group in supply.restored.groups)
    others = sorted(market.holdings, key=lambda one: -one.limit)[:_MOST_OTHERS]
    return diagnose(
        "ROL020",
        _place(rollout, here, tenant),
        f"at {here}, the guarantee of {tenant} of {supply.tier.name} on {supply.cluster.name} has no "
        f"room by {_PATHS[supply.owner]}, so that the way back would not compile",
        related=[
            Related(
                _place(rollout, here, one.tenant.name),
                f"{one.tenant.name}: guaranteed {one.guaranteed} there, a limit of {one.limit}",
            )
            for one in others
        ],
        found=f"{sum(one.guaranteed for one in market.holdings)} guaranteed, limits of "
        f"{sum(one.limit for one in market.holdings)}",
        expected=f"room on {plural(devices, 'device')}",
        help="lower the limits, or add nodes"
        if here.stage == START
        else f"part the limits otherwise in the split of {here.stage}, or move fewer pools by it",
    )


def _place(rollout: kinds.Rollout, here: Standing, tenant: str) -> Span:
    """The tenant's split at a standing, or what stands nearest to it."""
    i = position(at(rollout.spec, here))
    if i < 0:
        return place_of(rollout, "spec", "tier")
    if tenant in rollout.spec.stages[i].split:
        return place_of(rollout, "spec", "stages", i, "split", tenant)
    return place_of(rollout, "spec", "stages", i, "name")


RULES: tuple[Rule, ...] = (cannot_go_back,)
