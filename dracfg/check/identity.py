"""TEN070: attributes by which profiles would tell one device from another.

What a profile may name is what devices have in common. A serial, an address or an index binds it to
single devices, or asks for what holds of any two devices. Shares alone may differ in it: that
keeps them off one device.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from dracfg.check.rule import Rule
from dracfg.check.uses import drivers_of, entitled
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.link.catalog import Catalog, Policy, Tenant, Tier
from dracfg.link.driver import Driver
from dracfg.link.writers import writers
from dracfg.model.base import at
from dracfg.model.tenant import Alternative, Profile, Request
from dracfg.model.tier import AttributeParameter

PCI_BUS_ID = "resource.kubernetes.io/pciBusID"
"""The address of a PCI device, whichever driver publishes it."""


def names_single_devices(catalog: Catalog) -> Iterator[Diagnostic]:
    """TEN070 in `align` and `distinct` of profiles."""
    for tenant in writers(catalog, "align", "distinct"):
        known = entitled(catalog, tenant)
        for i, profile in enumerate(tenant.document.spec.profiles):
            if profile.align or profile.distinct:
                yield from _in_profile(tenant, i, profile, known)


def _in_profile(
    tenant: Tenant, position: int, profile: Profile, known: Mapping[str, tuple[Tier, Policy]]
) -> Iterator[Diagnostic]:
    named = (
        *(("align", j, align.requests, align.by) for j, align in enumerate(profile.align)),
        *(("distinct", j, other.requests, other.by) for j, other in enumerate(profile.distinct)),
    )
    for word, j, requests, by in named:
        if word == "distinct" and _of_shares(profile, requests, known):
            continue
        drivers = drivers_of(known, (one for one in profile.requests if one.name in requests))
        driver = next((one for one in drivers if _names_devices(one, by)), None)
        if driver is not None:
            why = "no two devices agree in it"
            if word == "distinct":
                why = "any two devices differ in it, so that nothing is asked"
            place = at(tenant.document, "spec", "profiles", position, word, j, "by")
            yield _refused(place, by, driver, why)


def parameter_names_single_devices(catalog: Catalog) -> Iterator[Diagnostic]:
    """TEN070 in parameters of tiers."""
    for tier in catalog.tiers.values():
        for name, parameter in tier.document.spec.parameters.items():
            if not isinstance(parameter, AttributeParameter):
                continue
            key = tier.driver.spelling(parameter.attribute)
            full = key if "/" in key else f"{tier.driver.name}/{key}"
            if _names_devices(tier.driver, full):
                place = at(tier.document, "spec", "parameters", name, "attribute")
                why = "who chooses its value chooses a device"
                yield _refused(place, parameter.attribute, tier.driver, why)


def _names_devices(driver: Driver, attribute: str) -> bool:
    return attribute == PCI_BUS_ID or attribute in driver.identity_attributes


def _of_shares(
    profile: Profile, requests: Iterable[str], known: Mapping[str, tuple[Tier, Policy]]
) -> bool:
    """Whether shares are asked for: several can be of one device, and then the name tells them apart."""
    for request in profile.requests:
        wanted: tuple[Request | Alternative, ...] = request.any_of or (request,)
        for one in wanted if request.name in requests else ():
            _, policy = known.get(one.entitlement or "", (None, None))
            if policy is not None and policy.is_consumable:
                return True
    return False


def _refused(place: Span, attribute: str, driver: Driver, why: str) -> Diagnostic:
    return diagnose(
        "TEN070",
        place,
        f"{attribute} names single devices of {driver.name}: {why}",
        related=[Related(at(driver.document, "metadata", "name"), "the driver")],
        found=attribute,
        help="use what devices have in common, such as resource.kubernetes.io/pcieRoot, "
        "or take it out",
    )


RULES: tuple[Rule, ...] = (parameter_names_single_devices,)
TENANT_RULES: tuple[Rule, ...] = (names_single_devices,)
