"""CAP051, CAP053: claims for several things at once, as many as guarantees say, have a place or not.

A guarantee counts in its own right; that its devices are free on one node, or agree in an
attribute, is proven for each profile here, on recorded devices where there are some.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from dracfg.allocate.inventory import Inventory
from dracfg.allocate.structured import Features
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.kube.features import feature_matrix
from dracfg.link.catalog import Catalog, Tenant
from dracfg.lower.artifact import Unit
from dracfg.lower.gates import GatePlan
from dracfg.lower.units import gate_plans
from dracfg.model.base import at
from dracfg.model.tenant import Profile
from dracfg.plan.jointassurance import JointAssurance, joint_assurances
from dracfg.plan.jointdemand import Asker, JointDemand, joint_demands
from dracfg.plan.jointproofs import TooFew
from dracfg.plan.proofs.verdict import Refuted, Unknown

_MOST_OTHERS = 5


def check_joint_claims(
    catalog: Catalog, inventories: Mapping[str, Inventory], plans: Mapping[str, GatePlan]
) -> tuple[Diagnostic, ...]:
    """Every profile of joint claims whose proof is refuted or open; `plans` are the clusters' gates."""
    demands = joint_demands(catalog)
    if not demands:
        return ()
    features = features_of(plans)
    found = [*_unpromised(demands)]
    for answer in joint_assurances(catalog, demands, inventories, features):
        match answer.verdict:
            case Unknown() as verdict:
                found.append(_open(answer, verdict))
            case Refuted(reason):
                found.append(_refuted(answer, reason))
    return tuple(found)


def joint_features(catalog: Catalog, units: Iterable[Unit]) -> dict[str, Features]:
    """What the scheduler of each cluster can do, by the gates that its objects need."""
    return features_of(gate_plans(catalog, units))


def features_of(plans: Mapping[str, GatePlan]) -> dict[str, Features]:
    """What schedulers can do with these gates."""
    return {
        name: Features.of(plan.minor, frozenset(filter(plan.is_on, feature_matrix().gates)))
        for name, plan in plans.items()
    }


def _open(answer: JointAssurance, verdict: Unknown) -> Diagnostic:
    """CAP051: neither proven nor refuted."""
    demand, asker = answer.demand, answer.demand.largest
    cluster = demand.cluster.name
    what = (
        f"that {_claims(demand)} of profile {asker.profile.name} lie on the nodes of {cluster} together"
        if answer.question == "fits"
        else f"that no claim of profile {asker.profile.name} is ever refused on {cluster}"
    )
    return diagnose(
        "CAP051",
        profile_place(asker),
        f"{what} is not proven: {verdict.why}",
        label=f"{asker.claims} for {asker.tenant.name}",
        related=_others(demand),
        help=verdict.mend or "guarantee less of what its requests name, or add nodes",
    )


def _refuted(answer: JointAssurance, reason: TooFew) -> Diagnostic:
    """CAP053: counting shows that there is no room for so many."""
    demand, asker = answer.demand, answer.demand.largest
    devices = "described" if answer.modelled else "recorded"
    return diagnose(
        "CAP053",
        profile_place(asker),
        f"{_claims(demand)} of profile {asker.profile.name} are guaranteed on {demand.cluster.name}, "
        f"and its {devices} nodes hold {reason.most} at once: {reason.why} on the fullest node",
        label=f"{asker.claims} for {asker.tenant.name}",
        related=_others(demand),
        found=str(reason.needed),
        expected=f"at most {reason.most}",
        help="guarantee less of what its requests name, ask for less in one claim, or add nodes",
    )


def _unpromised(demands: Sequence[JointDemand]) -> Iterator[Diagnostic]:
    """CAP051 for a guarantee that only claims reach of which another part is promised by nothing."""
    reported: set[tuple[str, str, str]] = set()
    open_ = {
        (demand.cluster.name, asker.tenant.name, asker.profile.name)
        for demand in demands
        for asker in demand.askers
        if asker.unpromised is not None
    }
    for demand in demands:
        cluster = demand.cluster.name
        for asker in demand.askers:
            tenant = asker.tenant
            if asker.unpromised is None or tenant.document.spec.own_claims:
                continue
            others = {
                profile.name
                for profile in tenant.document.spec.profiles
                if (cluster, tenant.name, profile.name) not in open_
            }
            for name in _reached(asker.profile):
                key = cluster, tenant.name, name
                if key not in reported and _is_left(tenant, cluster, name, others):
                    reported.add(key)
                    yield _without_promise(demand, asker, name)


def _is_left(tenant: Tenant, cluster: str, name: str, others: AbstractSet[str]) -> bool:
    """Whether an entitlement is guaranteed, and none of the other profiles asks for it."""
    grant = tenant.grant(cluster, name)
    return (
        grant is not None
        and any(numbers.guaranteed for numbers in grant.numbers.values())
        and not any(
            name in _reached(profile)
            for profile in tenant.document.spec.profiles
            if profile.name in others
        )
    )


def _reached(profile: Profile) -> tuple[str, ...]:
    """The entitlements that a profile names."""
    named = (
        wanted.entitlement
        for request in profile.requests
        for wanted in request.any_of or (request,)
    )
    return tuple(dict.fromkeys(name for name in named if name is not None))


def _without_promise(demand: JointDemand, asker: Asker, guaranteed: str) -> Diagnostic:
    return diagnose(
        "CAP051",
        profile_place(asker),
        f"that claims of profile {asker.profile.name} have a place on {demand.cluster.name} is not "
        f"proven: {guaranteed} is guaranteed and {asker.unpromised} is not",
        label="no number of claims is guaranteed",
        help=f"guarantee some of {asker.unpromised}, or offer a profile for {guaranteed} alone",
    )


def profile_place(asker: Asker) -> Span:
    """Where the profile stands in its tenant's document."""
    document = asker.tenant.document
    return at(document, "spec", "profiles", document.spec.profiles.index(asker.profile), "name")


def _claims(demand: JointDemand) -> str:
    return "1 claim" if demand.claims == 1 else f"{demand.claims:,} claims"


def _others(demand: JointDemand) -> list[Related]:
    others = [one for one in demand.askers if one is not demand.largest and one.claims]
    ordered = sorted(others, key=lambda one: -one.claims)[:_MOST_OTHERS]
    return [Related(profile_place(one), f"{one.claims} for {one.tenant.name}") for one in ordered]
