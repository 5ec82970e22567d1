"""What differs between clusters in the policies' expressions: names, identities, parameters.

Everything here comes from the Cluster and from the catalog behind it, nothing from tenants, so that
policies stay as long as they are whoever joins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from dracfg.kube.features import feature_matrix
from dracfg.link.catalog import Catalog, Cluster, Policy, Tier
from dracfg.link.classes import ClassPlan, policies_in_force
from dracfg.link.driver import Driver
from dracfg.lower.admission.literals import literal
from dracfg.lower.admission.podspecs import pod_specs
from dracfg.lower.classes import parameters
from dracfg.lower.rights import config_id
from dracfg.model.cluster import Identities, ServiceAccountRef
from dracfg.model.reclaim import Reclaim
from dracfg.packaged import read_data

NOTHING = "[^\\s\\S]"
"""A regular expression that no text matches."""


def facts(catalog: Catalog, cluster: Cluster, classes: Iterable[ClassPlan]) -> dict[str, Any]:
    """The data behind the `${names}` in data/admission*.yaml."""
    spec = cluster.document.spec
    listed = tuple(classes)
    known = _identities()
    controllers = [*known["controllers"], *(known["kueue"] if spec.addons.kueue else ())]
    applier, applier_groups = _appliers(cluster)
    return {
        "appliers": applier,
        "applierGroups": applier_groups,
        "breakGlassUsers": list(spec.gitops.break_glass.users),
        "breakGlassGroups": list(spec.gitops.break_glass.groups),
        "claimWriters": [*applier, *known["claimWriters"]],
        "claimReleasers": known["claimReleasers"],
        "controllers": controllers,
        "podDeleters": known["podDeleters"],
        "nodeDeleters": [*known["nodeDeleters"], *_users(spec.node_guards.autoscalers)],
        "autoscalerGroups": list(spec.node_guards.autoscalers.groups),
        "fencers": _users(spec.node_guards.fencers),
        "fencerGroups": list(spec.node_guards.fencers.groups),
        "extendedNames": extended_names(cluster, listed),
        "configs": opaque_configs(cluster),
        "identityAttributes": identity_attributes(cluster),
        "heldClasses": sorted(plan.name for plan in listed if _is_held(plan)),
        "heldPools": held_pools(cluster),
        "driverAccounts": driver_accounts(catalog, cluster),
    }


def expressions(cluster: Cluster, known: Mapping[str, Any]) -> dict[str, str]:
    """The facts as CEL, with the expressions that list an object's pod specs."""
    kinds = cluster.document.spec.pod_template_kinds
    return {name: literal(value) for name, value in known.items()} | {
        "podSpecs": pod_specs("object", kinds),
        "oldPodSpecs": pod_specs("oldObject", kinds),
    }


def account(reference: ServiceAccountRef) -> str:
    """The user name by which the API server knows a service account."""
    return f"system:serviceaccount:{reference.namespace}:{reference.name}"


def extended_names(cluster: Cluster, classes: Iterable[ClassPlan]) -> str:
    """A regular expression for the extended resources that stand for the cluster's devices.

    Legacy names of its tiers, explicit names of its classes, those that a vendor's class takes, and
    what device plugins for its drivers advertise: as the Driver says, else as the preset knows.
    """
    names = {plan.extended_name for plan in classes if plan.extended_name is not None}
    names |= {tier.legacy_resource for tier in cluster.tiers if tier.legacy_resource is not None}
    patterns: set[str] = set()
    for driver in cluster.drivers:
        said = driver.document.spec.device_plugin
        if said is not None:
            names |= set(said.resources)
        elif driver.preset is not None:
            names |= set(driver.preset.device_plugin.resources)
            patterns |= set(driver.preset.device_plugin.patterns)
    found = {_escaped(name) for name in names} | {_pattern(pattern) for pattern in patterns}
    return f"^({'|'.join(sorted(found))})$" if found else NOTHING


def opaque_configs(cluster: Cluster) -> dict[str, dict[str, Any]]:
    """Parameters that claims may repeat, by id: those of the sharing policies in force."""
    return {
        config_id(tier, policy): {
            "driver": tier.driver.name,
            "parameters": parameters(policy.spec.config),
        }
        for tier, policy in _pairs(cluster)
        if policy.spec.config is not None
    }


def identity_attributes(cluster: Cluster) -> list[str]:
    """Attributes that name one device, with their domain, of every release of the drivers."""
    return sorted({name for driver in cluster.drivers for name in driver.identity_attributes})


def held_pools(cluster: Cluster) -> list[dict[str, Any]]:
    """Node selectors of pools with `onUnknownNode: hold`, once for each way of fencing.

    A policy can't look up which claims are allocated on a node, so that the pool decides: its nodes
    count as holding devices whether they do or not.
    """
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for pool, devices in cluster.offers():
        if pool.owner(devices.tier.driver) != "dra":
            continue
        for policy in devices.policies:
            reclaim = _reclaim(devices.tier, policy)
            if reclaim is not None and reclaim.on_unknown_node == "hold":
                selector = dict(pool.document.spec.node_selector)
                found[pool.name, reclaim.fencing] = {
                    "selector": selector,
                    "fencing": reclaim.fencing,
                }
    return [found[key] for key in sorted(found)]


def driver_accounts(catalog: Catalog, cluster: Cluster) -> dict[str, list[str]]:
    """User name of each driver's node plugins → the drivers that they serve."""
    served: dict[str, list[str]] = {}
    for name in sorted(catalog.drivers):
        driver = catalog.drivers[name]
        said = driver.document.spec.service_account
        if said is not None and driver in _dra_drivers(cluster):
            served.setdefault(account(said), []).append(name)
    return served


def rule_versions(group: str, kind: str, minor: str) -> list[str]:
    """The versions that a rule with `matchPolicy: Equivalent` names so that it sees every request.

    v1 where the minor serves it, else each version that may be switched on.
    """
    served = {
        version: feature_matrix().served(f"{group}/{version}", kind, minor)
        for version in ("v1beta2", "v1beta1", "v1alpha3")
    }
    if feature_matrix().served(f"{group}/v1", kind, minor) == "default":
        return ["v1"]
    return [version for version, how in served.items() if how != "no"] or ["v1"]


def _pairs(cluster: Cluster) -> Iterator[tuple[Tier, Policy]]:
    for tier in cluster.tiers:
        for policy in policies_in_force(cluster, tier):
            yield tier, policy


def _reclaim(tier: Tier, policy: Policy) -> Reclaim | None:
    """Whole devices are judged by their tier, everything else by its policy."""
    if policy.document is None:
        return tier.document.spec.reclaim
    return policy.spec.reclaim


def _is_held(plan: ClassPlan) -> bool:
    """Whether devices of a class stay taken on an unknown node; admin access takes none."""
    reclaim = _reclaim(plan.tier, plan.policy)
    return not plan.admin and reclaim is not None and reclaim.on_unknown_node == "hold"


def _dra_drivers(cluster: Cluster) -> list[Driver]:
    return [tier.driver for tier in cluster.tiers if "dra" in cluster.owners_of(tier)]


def _appliers(cluster: Cluster) -> tuple[list[str], list[str]]:
    """Users and groups that apply the tree: the applier, else whoever may break the glass.

    All that dracfg emits is guarded, so that without an applier nobody else could apply it.
    """
    gitops = cluster.document.spec.gitops
    if gitops.applier is not None:
        return [account(gitops.applier.service_account)], []
    return list(gitops.break_glass.users), list(gitops.break_glass.groups)


def _users(identities: Identities) -> list[str]:
    return [*identities.users, *(account(found) for found in identities.service_accounts)]


def _pattern(glob: str) -> str:
    return ".*".join(_escaped(part) for part in glob.split("*"))


def _escaped(name: str) -> str:
    """Resource names hold no other character with a meaning in expressions."""
    return name.replace(".", "[.]")


@cache
def _identities() -> Mapping[str, list[str]]:
    document: Mapping[str, list[str]] = read_data("dracfg.lower", "data/admission-identities.yaml")[
        "identities"
    ]
    return document
