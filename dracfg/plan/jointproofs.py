"""Whether joint claims lie on the empty nodes of a cluster together, and whether one can be refused.

The allocator fills node by node, and what it gives is checked anew: that placement is the proof. A
bound by counting refutes; between the two it stays open. Claims of another shape, and what others
are promised, are counted tier by tier in `assurance`, not here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from dracfg.allocate.claimobjects import in_memory, read_claims
from dracfg.allocate.claims import Claim, ClaimAllocation, DeviceClass
from dracfg.allocate.narrowing import Ground
from dracfg.allocate.nodes import Node
from dracfg.allocate.selection import Selection
from dracfg.allocate.state import AllocationState
from dracfg.allocate.structured import Allocation, Allocator, Failed, Features, Undecided
from dracfg.dataclass import dataclass
from dracfg.link.claims import ClaimPlan
from dracfg.link.classes import ClassPlan
from dracfg.lower.classes import RESOURCE_API, device_class_artifacts
from dracfg.lower.templates import claim_spec
from dracfg.plan.jointbounds import NodeBound, node_bound
from dracfg.plan.jointplacement import (
    Filling,
    JointPlacement,
    NodeDevices,
    devices_of,
    holds,
    remaining,
)
from dracfg.plan.jointsite import Grounds, JointSite
from dracfg.plan.proofs.verdict import Proven, Refuted, Unknown

STATES = 20_000
_MOST_ON_A_NODE = 256


@dataclass(frozen=True, slots=True)
class TooFew:
    """The usable nodes hold `most` claims, of `needed`. `why` is the bound of the fullest node."""

    needed: int
    most: int
    why: str


@dataclass(frozen=True, slots=True)
class Spoiled:
    """To keep a claim from every node, others must hold a device of each of `places` claims; they
    may hold `others` devices and shares at most.
    """

    places: int
    others: int


Fits = Proven[JointPlacement] | Refuted[TooFew] | Unknown
NonBlocking = Proven[Spoiled] | Unknown


class JointProver:
    """Proofs for one cluster about claims of some plans."""

    def __init__(self, grounds: Grounds, features: Features, plans: Iterable[ClaimPlan]) -> None:
        self._grounds = grounds
        minor = grounds.cluster.minor
        self._claims, classes = _objects(tuple(plans), minor)
        self._allocator = Allocator(grounds.inventory, classes, features)
        self._ground = Ground(
            grounds.cluster.name,
            minor,
            grounds.inventory,
            Selection(minor, modelled=grounds.recorded is None),
            fractional=features.fractional_capacity_range,
        )

    def fits(self, plan: ClaimPlan, claims: int) -> Fits:
        """Whether so many claims of the plan lie on the usable nodes at once."""
        site = self._grounds.site(plan)
        placement, doubt = self._placement(site, plan, claims)
        if placement.claims >= claims:
            return Proven(placement)
        bounds: list[tuple[NodeBound, int]] = []
        for stand in site.stands:
            found = devices_of(plan, self._ground, stand.node.name)
            bound = node_bound(plan, found, modelled=site.modelled)
            if bound is None:
                return Unknown("nothing bounds how many of them a node holds", STATES)
            bounds.append((bound, stand.most))
        most = remaining([(bound.most, nodes) for bound, nodes in bounds], site.spare, best=True)
        if most < claims:
            why = max((bound for bound, _ in bounds), default=NodeBound(0, "no node is open"))
            return Refuted(TooFew(claims, most, why.why))
        return Unknown(
            doubt
            or f"node by node {placement.claims} of them were placed, and nothing by count "
            f"rules out {most}",
            STATES,
            _RECORD if site.modelled and doubt else "",
        )

    def non_blocking(self, plan: ClaimPlan, others: int) -> NonBlocking:
        """Whether one more claim always has a place, whatever `others` devices and shares are held.

        A claim is kept from a node only where each of the places that the node has for it, no two
        on one device, has lost a device.
        """
        site = self._grounds.site(plan)
        fillings = []
        for stand in site.stands:
            filling, _ = self._filled(site, plan, stand.node, others + 1)
            fillings.append((_apart(filling), stand.whole))
        places = remaining(fillings, site.spare)
        if any(d.consumes_counters for d in self._grounds.inventory.devices):
            return Unknown(
                "devices draw on common counters, so one that is held keeps others away", 0
            )
        if others < places:
            return Proven(Spoiled(places, others))
        return Unknown(
            f"others may hold {others:,} devices and shares, and {places:,} in the right places may "
            "be enough to keep it away",
            0,
            "lower the limits of others, or give the tenant nodes of its own",
        )

    def _placement(
        self, site: JointSite, plan: ClaimPlan, claims: int
    ) -> tuple[JointPlacement, str | None]:
        """Fills nodes until the claims are placed whichever nodes are missing; and a doubt met."""
        placement, doubt = JointPlacement((), site.spare), None
        for stand in site.stands:
            if placement.claims >= claims:
                break
            filling, met = self._filled(site, plan, stand.node, claims)
            doubt = doubt or met
            if filling and stand.whole:
                made = Filling(stand.node.name, stand.whole, filling)
                placement = replace(placement, fillings=(*placement.fillings, made))
        return placement, doubt

    def _filled(
        self, site: JointSite, plan: ClaimPlan, node: Node, most: int
    ) -> tuple[tuple[ClaimAllocation, ...], str | None]:
        """As many claims as the allocator places on an empty node, as far as the check bears it out."""
        claim = self._claims.get(plan)
        if claim is None:
            return (), "its claims are not understood"
        state, doubt = AllocationState(site.inventory), None
        placed: list[ClaimAllocation] = []
        while len(placed) < min(most, _MOST_ON_A_NODE):
            one = replace(claim, name=f"claim-{len(placed)}")
            outcome = self._allocator.allocate([one], node, state.allocated(), STATES)
            if not isinstance(outcome, Allocation):
                if isinstance(outcome, Failed):
                    doubt = f"the allocator fails: {outcome.message}"
                elif isinstance(outcome, Undecided):
                    doubt = outcome.reason
                break
            (result,) = outcome.results
            state = state.with_allocation(one, result)
            placed.append(result)
        found = devices_of(plan, self._ground, node.name)
        if not _is_local(found, placed):
            return (), "devices are reachable from several nodes, and would count on each of them"
        if placed and not holds(plan, found, site.inventory, placed):
            return (), found.undecided or "a placement did not stand its check"
        return tuple(placed), doubt or (self._silent(plan, found) if site.modelled else None)

    @staticmethod
    def _silent(plan: ClaimPlan, found: NodeDevices) -> str | None:
        """The attribute of a constraint that modelled devices do not say."""
        able = {n for one in found.narrowed.values() for n in one.takes}
        for constraint in plan.constraints:
            if any(found.devices[n].attribute(constraint.attribute) is None for n in able):
                return f"the catalog does not say {constraint.attribute} of the devices"
        return None


_RECORD = "record the cluster's ResourceSlices, and name the file in `inventory` of the cluster"


def _is_local(found: NodeDevices, claims: Iterable[ClaimAllocation]) -> bool:
    """Whether no other node reaches a device of the claims."""
    used = {result.device_id for claim in claims for result in claim.results}
    return all(
        device.nodes.node_name is not None
        for device in found.devices
        if (device.driver, device.pool, device.name) in used
    )


def _apart(claims: Iterable[ClaimAllocation]) -> int:
    """Of the claims, so many that no two of them have a device in common."""
    used: set[tuple[str, str, str]] = set()
    found = 0
    for claim in claims:
        devices = {result.device_id for result in claim.results}
        if not devices & used:
            used |= devices
            found += 1
    return found


def _objects(
    plans: Sequence[ClaimPlan], minor: str
) -> tuple[Mapping[ClaimPlan, Claim], Mapping[str, DeviceClass]]:
    """The claims of the plans and their classes, as the API server would read them."""
    classes: dict[str, ClassPlan] = {
        ask.plan.name: ask.plan
        for plan in plans
        for request in plan.requests
        for ask in request.asks
    }
    claims = [
        {
            "apiVersion": RESOURCE_API,
            "kind": "ResourceClaim",
            "metadata": {"name": f"claim-{number}", "namespace": "default"},
            "spec": claim_spec(replace(plan, config=())),
        }
        for number, plan in enumerate(plans)
    ]
    things = [artifact.object for artifact in device_class_artifacts(classes.values())]
    objects, _ = read_claims([in_memory([*things, *claims])], minor)
    by_name = {one.name: one for one in objects.claims}
    found = {
        plan: by_name[name]
        for number, plan in enumerate(plans)
        for name in [f"claim-{number}"]
        if name in by_name
    }
    return found, {one.name: one for one in objects.classes}
