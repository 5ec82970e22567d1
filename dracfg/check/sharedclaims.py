"""TEN071, TEN072: shared claims whose driver serves one container, or may do so."""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.check.rule import Rule
from dracfg.check.uses import drivers_of, entitled
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.link.catalog import Catalog
from dracfg.link.writers import writers
from dracfg.model.base import at


def shares_one_allocation(catalog: Catalog) -> Iterator[Diagnostic]:
    """Once for each shared claim and driver of its profile, alternatives included."""
    for tenant in writers(catalog, "shared_claims"):
        known = entitled(catalog, tenant)
        profiles = {profile.name: profile for profile in tenant.document.spec.profiles}
        for i, shared in enumerate(tenant.document.spec.shared_claims):
            profile = profiles.get(shared.profile)
            for driver in drivers_of(known, profile.requests) if profile is not None else ():
                if driver.shares_one_allocation == "yes":
                    continue
                refused = driver.shares_one_allocation == "no"
                said = "lets one container of one pod use a claim"
                if not refused:
                    said = "is not known to let several pods or containers use one claim"
                yield diagnose(
                    "TEN071" if refused else "TEN072",
                    at(tenant.document, "spec", "sharedClaims", i, "profile"),
                    f"{driver.name} {said}, and {shared.name} is for {shared.pods} pods",
                    related=[Related(at(driver.document, "metadata", "name"), "the driver")],
                    help="give each pod a claim of its own by the profile's template"
                    if refused
                    else "try it, then write `sharesOneAllocation: true` or `false` in the driver",
                )


TENANT_RULES: tuple[Rule, ...] = (shares_one_allocation,)
