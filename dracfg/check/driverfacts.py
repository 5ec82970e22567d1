"""CAP080-082: promises on shares that rest on what a driver does between claims and restarts.

A share that is forgotten at a restart of the driver is given out twice on the node, whatever the
scheduler counted. A device that is not reset shows the next tenant what the last one left.
"""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.check.rule import Rule, listed
from dracfg.check.uses import Use, pairs
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.link.catalog import Catalog, Cluster
from dracfg.link.driver import Driver
from dracfg.link.rights import guaranteed_to
from dracfg.lower.trials import trial_runs
from dracfg.model.base import at
from dracfg.model.sharing import Consumable, Partitioned, TimeSliced

RESTORES = "restoresSharesAfterRestart"
RESETS = "resetsAtUnprepare"
_DOES = {
    RESTORES: "knows shares again after a restart",
    RESETS: "clears devices between claims of different tenants",
}


def promises_without_the_driver(catalog: Catalog) -> Iterator[Diagnostic]:
    """CAP080 where the driver does not do it, CAP081 where nobody knows; once a policy and driver."""
    promised = {
        (policy, tier)
        for tenant in catalog.tenants.values()
        for policy, tier in guaranteed_to(tenant)
        if catalog.policies[policy].spec.guarantee != "none"
    }
    seen: set[tuple[str, str, str]] = set()
    for use in pairs(catalog):
        guaranteed = (use.policy.name, use.tier.name) in promised
        for fact in _needed(use, guaranteed=guaranteed):
            key = (use.policy.name, use.tier.driver.name, fact)
            answer = use.tier.driver.fact(fact)
            if answer != "yes" and key not in seen:
                seen.add(key)
                yield _finding(use, fact, answer)


def _needed(use: Use, *, guaranteed: bool) -> Iterator[str]:
    spec = use.policy.spec
    if not isinstance(spec, Consumable | Partitioned | TimeSliced):
        return
    meets = spec.tenancy != "sameTenant"
    if isinstance(spec, Consumable) and (guaranteed or meets):
        yield RESTORES
    if meets:
        yield RESETS


def _finding(use: Use, fact: str, answer: str) -> Diagnostic:
    document, driver = use.policy.document, use.tier.driver
    if document is None:
        raise ValueError("the built-in policy shares nothing")
    said = "does not say" if answer == "unknown" else "says no"
    return diagnose(
        "CAP081" if answer == "unknown" else "CAP080",
        at(document, "spec", "tenancy") if fact == RESETS else at(document, "metadata", "name"),
        f"{use.policy.name} counts on a driver that {_DOES[fact]}, "
        + (
            f"and of {driver.name} that is not known"
            if answer == "unknown"
            else f"and {driver.name} does not"
        ),
        related=[
            Related(at(driver.document, "metadata", "name"), f"{said}: {fact}"),
            Related(use.place, f"in force on {use.tier.name}"),
        ],
        found=answer,
        expected="yes",
        help=f"try it on one node and write `{fact}: true` in the driver"
        if answer == "unknown"
        else "use partitions or whole devices, keep to `tenancy: sameTenant` and "
        "`guarantee: none`, or mend the driver",
    )


def has_no_room_for_its_trial(catalog: Catalog) -> Iterator[Diagnostic]:
    """CAP082: what a trial claims is refused in a namespace that the cluster does not exempt."""
    for cluster in catalog.clusters.values():
        exempt = {one.name for one in cluster.document.spec.exempt_namespaces if one.devices}
        for driver in cluster.drivers:
            load = driver.document.spec.trial
            if load is None or load.namespace in exempt or not _is_tried(cluster, driver):
                continue
            yield diagnose(
                "CAP082",
                at(driver.document, "spec", "trial", "namespace"),
                f"trials of {driver.name} are refused on {cluster.name}: "
                f"{load.namespace} is no exempt namespace there that may hold a device",
                related=[Related(at(cluster.document, "metadata", "name"), "the cluster")],
                found=load.namespace,
                expected=listed(sorted(exempt), "or") or "an exempt namespace with a device",
                help=f"add {{name: {load.namespace}, reason: trials of shares, devices: 1}} "
                f"to `exemptNamespaces` of {cluster.name}",
            )


def _is_tried(cluster: Cluster, driver: Driver) -> bool:
    return any(
        trial_runs(devices.tier, policy)
        for pool, devices in cluster.offers()
        if devices.tier.driver is driver and pool.owner(driver) == "dra"
        for policy in devices.policies
    )


RULES: tuple[Rule, ...] = (promises_without_the_driver, has_no_room_for_its_trial)
