"""CAP046-CAP049: what guarantees rest on, and guarantees that no profile reaches.

A guarantee may rest on an alpha feature or on a driver's word only where a document says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dracfg.check.claims import emitted_in, limits_in
from dracfg.check.guarantees import number_place
from dracfg.check.rule import Rule, listed
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.link.catalog import Catalog, Cluster, Place, Tenant
from dracfg.link.driver import Driver
from dracfg.link.rights import guaranteed_to
from dracfg.model.base import at
from dracfg.plan.asks import asks, unserved
from dracfg.plan.assurance import markets
from dracfg.plan.basis import Enforcement, enforcements
from dracfg.plan.promises import SHARED, Holding
from dracfg.plan.reach import reached

_UNKNOWN: Mapping[str, int] = {}


def rests_on_a_word(catalog: Catalog) -> Iterator[Diagnostic]:
    """CAP047 where nobody accepted that, CAP048 where a trial has shown the contrary."""
    seen: set[tuple[str, str]] = set()
    for market in markets(catalog):
        for holding in market.different:
            if not holding.is_promised:
                continue
            policy, tier = holding.policy, market.supply.tier
            if (policy.name, tier.name) in seen:
                continue
            seen.add((policy.name, tier.name))
            found = tuple(enforcements(tier, policy))
            for ground in found:
                if ground.stage == "refuted":
                    yield _refuted(holding, ground)
            open_ = [g for g in found if g.stage == "declared" and g.accepted is None]
            if open_:
                yield _declared(holding, open_)


def _refuted(holding: Holding, ground: Enforcement) -> Diagnostic:
    driver = holding.grant.tier.driver
    trials = driver.document.spec.trials
    assert ground.trial is not None
    policy = holding.grant.policy.name
    return diagnose(
        "CAP048",
        at(driver.document, "spec", "trials", trials.index(ground.trial), "enforced"),
        f"shares of {ground.capacity} were not held to their size, "
        f"and guarantees under {policy} count on it",
        related=[Related(number_place(holding), f"{holding.guaranteed} of {holding.what}")],
        found="enforced: false",
        help=f"write `enforces: {{{ground.capacity}: none}}` and move to partitions or whole devices",
    )


def _declared(holding: Holding, grounds: list[Enforcement]) -> Diagnostic:
    policy, driver = holding.grant.policy, holding.grant.tier.driver
    assert policy.document is not None
    keys = listed(ground.capacity for ground in grounds)
    release = driver.document.spec.version or "its release"
    return diagnose(
        "CAP047",
        at(policy.document, "spec", "guarantee")
        if "guarantee" in policy.document.spec.model_fields_set
        else at(policy.document, "metadata", "name"),
        f"guarantees under {policy.name} rest on the word of {driver.name}: "
        f"no trial of {release} shows that shares of {keys} are held to their size",
        related=[
            Related(at(driver.document, "metadata", "name"), "no record in `trials`"),
            Related(number_place(holding), f"{holding.guaranteed} of {holding.what}"),
        ],
        help=f"{_way_to_a_trial(driver)}record a trial of this release in the driver's `trials`, "
        "or accept it with `acceptsDeclared: <reason>` in the policy",
    )


def _way_to_a_trial(driver: Driver) -> str:
    if driver.document.spec.trial is not None:
        return ""
    return (
        "declare the image of a load with `trial` in the driver, so that compile writes one; then "
    )


def is_advisory(catalog: Catalog) -> Iterator[Diagnostic]:
    """CAP049: numbers under a policy whose shares nothing keeps apart are no guarantee."""
    seen: set[str] = set()
    for tenant in catalog.tenants.values():
        for name, _ in guaranteed_to(tenant):
            policy = catalog.policies[name]
            spec, document = policy.spec, policy.document
            if not isinstance(spec, SHARED) or spec.isolation != "none" or document is None:
                continue
            if spec.guarantee == "none" or policy.name in seen:
                continue
            seen.add(policy.name)
            stated = "guarantee" in spec.model_fields_set
            keys = [key for key in ("isolation",) if key in spec.model_fields_set]
            yield diagnose(
                "CAP049",
                at(document, "spec", "guarantee") if stated else at(document, "metadata", "name"),
                f"nothing keeps the shares of {policy.name} apart, so what {tenant.name} and others "
                "are promised of them is advice, and in no proof",
                related=[Related(at(document, "spec", key), "here") for key in keys],
                help="write `guarantee: none`, or require an isolation that the driver has",
            )


def is_out_of_reach(catalog: Catalog) -> Iterator[Diagnostic]:
    """CAP046: claims are charged in every class they name, and quota is not raised for that."""
    reach = _reach(catalog)
    for market in markets(catalog):
        cluster = market.supply.cluster
        for holding, tenant in market.held if market.supply.owner == "dra" else ():
            if not holding.is_promised:
                continue
            most = reach.get((cluster.name, tenant.name), _UNKNOWN).get(holding.kind.name)
            if most is not None and most < holding.guaranteed:
                yield _unreached(holding.held_by(tenant), cluster, most)


def _reach(catalog: Catalog) -> Mapping[tuple[str, str], Mapping[str, int]]:
    """What profiles reach of each class, by cluster and tenant, where they are all that matters.

    Tenants come one by one: to meet each in every market takes longer than all that is worked out.
    """
    unclear = {tenant.name for tenant in unserved(catalog)}
    return {
        (cluster.name, tenant.name): _reached(catalog, tenant, cluster)
        for cluster in catalog.clusters.values()
        for tenant in catalog.tenants_on(cluster.name)
        if guaranteed_to(tenant)
        and not tenant.document.spec.own_claims
        and (tenant.name not in unclear or _names_what_it_has(tenant))
    }


def _reached(catalog: Catalog, tenant: Tenant, cluster: Cluster) -> Mapping[str, int]:
    """The most of each class that claims of the tenant's profiles hold on a cluster.

    Namespaces with one share and the same profiles reach the same.
    """
    profiles, charged = tenant.document.spec.profiles, asks(catalog, tenant, cluster).charged
    limited = [one for one in charged if profiles[one].namespaces is not None]
    alike: dict[tuple[int, tuple[int, ...]], list[Place]] = {}
    for place in tenant.places_on(cluster.name):
        left_out = tuple([one for one in limited if not emitted_in(profiles[one], place.name)])
        alike.setdefault((place.namespace.share, left_out), []).append(place)
    found: dict[str, int] = {}
    for (_, left_out), places in alike.items():
        limits = limits_in(catalog, tenant, places[0])
        emitted = [taken for one, taken in charged.items() if one not in left_out]
        for name, most in reached(limits, emitted).items():
            found[name] = found.get(name, 0) + most * len(places)
    return found


def _names_what_it_has(tenant: Tenant) -> bool:
    """Whether profiles name what the tenant has somewhere; what it lacks is another finding."""
    named = {
        wanted.entitlement
        for profile in tenant.document.spec.profiles
        for request in profile.requests
        for wanted in request.any_of or (request,)
    }
    return named <= {grant.name for grant in tenant.grants}


def _unreached(holding: Holding, cluster: Cluster, most: int) -> Diagnostic:
    document = holding.tenant.document
    return diagnose(
        "CAP046",
        number_place(holding),
        f"claims of the profiles of {holding.tenant.name} reach {most} of the {holding.guaranteed} "
        f"of {holding.what} on {cluster.name}",
        related=[Related(at(document, "spec", "profiles"), "each claim is charged in every class")],
        found=str(holding.guaranteed),
        expected=f"at most {most}",
        help=f"guarantee {most}, raise the limits of what else the profiles name, "
        "or offer a profile that asks for less at once",
    )


RULES: tuple[Rule, ...] = (rests_on_a_word, is_advisory)
TENANT_RULES: tuple[Rule, ...] = (is_out_of_reach,)
