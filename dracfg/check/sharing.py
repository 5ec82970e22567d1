"""SHR005, SHR006, SHR010, SHR013, SHR018: policies on devices that can't be shared that way."""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.check.bounds import part_place
from dracfg.check.rule import Rule, listed
from dracfg.check.uses import Use, listing, pairs, uses
from dracfg.diagnostics import Diagnostic, Related, diagnose, did_you_mean
from dracfg.link.catalog import Catalog, Policy, Pool, Tier
from dracfg.link.classes import device_classes, shares_on
from dracfg.link.driver import Driver
from dracfg.link.linker import applies
from dracfg.link.published import chart_values, consumption, value_text
from dracfg.model import kinds
from dracfg.model.base import at, at_key
from dracfg.model.sharing import Consumable, Partitioned


def divides_what_is_not_there(catalog: Catalog) -> Iterator[Diagnostic]:
    """SHR005: a policy listed for a tier that lacks what it divides, or for no tier of a pool."""
    for pool in catalog.pools.values():
        spec = pool.document.spec
        common = [i for i, devices in enumerate(spec.devices) if devices.sharing is None]
        for i, devices in enumerate(spec.devices):
            tier = pool.devices[i].tier
            for name in devices.sharing or ():
                if not applies(catalog.policies[name], tier):
                    yield _unfit(pool, i, catalog.policies[name], [tier])
        for name in spec.sharing:
            policy = catalog.policies[name]
            tiers = [pool.devices[i].tier for i in common]
            if tiers and not any(applies(policy, tier) for tier in tiers):
                yield _unfit(pool, common[0], policy, tiers)


def _unfit(pool: Pool, entry: int, policy: Policy, tiers: list[Tier]) -> Diagnostic:
    on = listed((tier.name for tier in tiers), "or")
    lacking = [
        key for key in _divided(policy) if all(not _has(tier, policy, key) for tier in tiers)
    ]
    related = []
    help_ = f"take {policy.name} out of the list, or list it for a tier that has it"
    if lacking and policy.document is not None:
        what = "counter" if isinstance(policy.spec, Partitioned) else "capacity"
        message = f"{policy.name} divides {listed(lacking)}, which no device of {on} has"
        if isinstance(policy.spec, Consumable):
            place = at_key(policy.document, "spec", "capacity", lacking[0])
            related.append(Related(place, "divided here"))
        known = {key for tier in tiers for key in _offered(tier, policy)}
        if near := did_you_mean(lacking[0], known):
            help_ = f"did you mean the {what} {near}?"
        elif known:
            help_ = f"these devices have {listed(sorted(known))}; {help_}"
        else:
            help_ = f"write what the devices have to `device.{_COUNTED[what]}` of {tiers[0].name}"
    elif policy.spec.config is not None:
        message = f"the driver of {on} knows no parameters of kind {policy.spec.config.kind}"
    else:
        message = f"{policy.name} fits no device of {on}"
    related.append(Related(at(tiers[0].document, "metadata", "name"), f"the tier {tiers[0].name}"))
    place = listing(pool, entry, policy.name)
    return diagnose("SHR005", place, message, related=related, help=help_)


_COUNTED = {"capacity": "capacity", "counter": "counters"}


def _divided(policy: Policy) -> list[str]:
    if isinstance(policy.spec, Consumable):
        return list(policy.spec.capacity)
    if isinstance(policy.spec, Partitioned):
        return list(dict.fromkeys(k for part in policy.spec.partitions for k in part.consumes))
    return []


def _offered(tier: Tier, policy: Policy) -> set[str]:
    if isinstance(policy.spec, Partitioned):
        return set(tier.document.spec.device.counters)
    return set(tier.capacity)


def _has(tier: Tier, policy: Policy, key: str) -> bool:
    spelled = key if isinstance(policy.spec, Partitioned) else tier.driver.spelling(key)
    return spelled in _offered(tier, policy)


def leaves_out_a_capacity(catalog: Catalog) -> Iterator[Diagnostic]:
    """SHR006: what a claim does not name is consumed by the driver's default, often all of it."""
    for use in pairs(catalog):
        spec, document = use.policy.spec, use.policy.document
        if (
            not isinstance(spec, Consumable)
            or document is None
            or not applies(use.policy, use.tier)
        ):
            continue
        stated = {use.tier.driver.spelling(key) for key in spec.capacity}
        for key, value in use.tier.capacity.items():
            if key in stated:
                continue
            taken = consumption(use.tier, key, None)
            default = taken.amount if taken is not None else None
            if default is not None:
                effect = f"each claim would take {default} of {value}"
            else:
                effect = f"each claim may take all {value}"
            yield diagnose(
                "SHR006",
                at_key(document, "spec", "capacity"),
                f"{document.name} leaves out {key}, which devices of {use.tier.name} have: {effect}",
                related=[
                    Related(at_key(use.tier.document, "spec", "device", "capacity"), "has it"),
                    Related(use.place, "in force here"),
                ],
                help=f"add `{key}: {{min: 0, max: {value}, default: 0}}`, "
                "with the amount that a share needs as its default",
            )


def is_not_shareable(catalog: Catalog) -> Iterator[Diagnostic]:
    """SHR010: without allowMultipleAllocations the first claim has the whole device."""
    for use in uses(catalog):
        fits = use.policy.is_consumable and applies(use.policy, use.tier)
        if fits and use.tier.driver.shareable == "never":
            yield diagnose(
                "SHR010",
                use.place,
                f"{use.policy.name} shares devices of {use.tier.name}, "
                f"which {use.tier.driver.name} publishes for one claim each",
                related=[Related(at(use.tier.driver.document, "metadata", "name"), "the driver")],
                help=_made_shareable(use.tier.driver),
            )


def _made_shareable(driver: Driver) -> str:
    fallback = "use whole or a partitioned policy on this pool"
    said, preset = driver.document.spec.shareable, driver.preset
    if said is False:
        return f"remove `shareable: false` from the driver, or {fallback}"
    if preset is None:
        return (
            "write `shareable: true` in the driver if it sets allowMultipleAllocations, "
            f"or {fallback}"
        )
    fact = preset.shareable
    since = f" (from {fact.since})" if fact.since else ""
    values = f" to {listed(fact.values, 'or')}" if fact.values else ""
    match fact.when:
        case "gate":
            value = f" and the chart value {fact.value_path}{values}" if fact.value_path else ""
            return f"set the driver gate {fact.gate}{value}{since} under the driver, or {fallback}"
        case "value":
            found = chart_values(driver).get(fact.value_path or "")
            return (
                f"set the chart value {fact.value_path}{values}{since}, it is "
                f"{value_text(found) if found not in (None, '') else 'not set'}, and write "
                f"`shareable: true` in the driver; or {fallback}"
            )
        case _:
            return f"{driver.name} never shares devices: {fallback}"


def hides_what_whole_takes(catalog: Catalog) -> Iterator[Diagnostic]:
    """SHR013: a whole device is taken by writing the full value of every capacity it has."""
    seen: set[str] = set()
    for cluster in catalog.clusters.values():
        for tier in cluster.tiers:
            if shares_on(cluster, tier) != (True, True) or tier.capacity or tier.name in seen:
                continue
            seen.add(tier.name)
            known = [key for key in tier.driver.capacities if not key.endswith(">")]
            names = listed(known) if known else "each capacity that it publishes"
            yield diagnose(
                "SHR013",
                at(tier.document, "metadata", "name"),
                f"whole devices of {tier.name} can be shared, and their capacity is not described",
                related=[
                    Related(use.place, "whole is in force here") for use in _whole(catalog, tier)
                ],
                help=f"write `device: {{capacity: …}}` with {names}",
            )


def _whole(catalog: Catalog, tier: Tier) -> Iterator[Use]:
    for use in pairs(catalog):
        if use.tier is tier and use.policy.is_whole:
            yield use


def takes_nothing_of_whole(catalog: Catalog) -> Iterator[Diagnostic]:
    """SHR018: a share of size 0 would stand beside a claim that has the device whole."""
    seen: set[tuple[str, str]] = set()
    for cluster in catalog.clusters.values():
        for plan in device_classes(catalog, cluster):
            document = plan.policy.document
            if not plan.policy.is_consumable or document is None or not plan.tier.capacity:
                continue
            if shares_on(cluster, plan.tier) != (True, True) or (plan.name, document.name) in seen:
                continue
            seen.add((plan.name, document.name))
            exhausted = [key for key, value in plan.tier.capacity.items() if value]
            if not any(plan.capacity.get(key) for key in exhausted):
                yield _free(
                    catalog, document, plan.tier, plan.policy.parts.index(plan.part), exhausted
                )


def _free(
    catalog: Catalog,
    document: kinds.SharingPolicy,
    tier: Tier,
    position: int,
    exhausted: list[str],
) -> Diagnostic:
    return diagnose(
        "SHR018",
        part_place(document, position),
        f"this size takes nothing that a whole device of {tier.name} uses up, "
        "so both would be given out together",
        related=[Related(use.place, "whole is in force here") for use in _whole(catalog, tier)],
        expected=f"more than 0 of {listed(exhausted, 'or')}",
        help="raise the amount, or keep whole and this policy on drivers' pools of their own",
    )


RULES: tuple[Rule, ...] = (
    divides_what_is_not_there,
    leaves_out_a_capacity,
    is_not_shareable,
    hides_what_whole_takes,
    takes_nothing_of_whole,
)
