"""One pod → the claims that must be allocated for it, and those that it finds allocated.

Does what the resource-claim controller does with templates, and kube-scheduler with extended
resources. Knows no node and no device.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dracfg.allocate.claims import Claim
from dracfg.allocate.state import AllocationState
from dracfg.dataclass import dataclass
from dracfg.kube.limits import limits
from dracfg.kube.quota import IMPLICIT_RESOURCE_PREFIX
from dracfg.plan.extendedresources import claim_spec, named_resources
from dracfg.plan.library import Library, ObjectName
from dracfg.plan.workloads import PodClaim, PodGroup


@dataclass(frozen=True, slots=True)
class Demand:
    """What one pod needs. `refusal` says why it can be placed nowhere.

    `pending` claims have no devices yet, `held` ones have; `resources` are the extended resources
    that one of the pending claims stands for.
    """

    pod: str
    pending: tuple[Claim, ...] = ()
    held: tuple[Claim, ...] = ()
    resources: tuple[str, ...] = ()
    refusal: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether the pod needs no device that DRA hands out."""
        return not self.pending and not self.held and self.refusal is None


def demand(
    library: Library,
    group: PodGroup,
    pod: str,
    state: AllocationState,
    users: Mapping[ObjectName, int],
    minor: str,
) -> Demand:
    """What a pod of the group needs now. `users` counts the pods placed before that use a claim."""
    pending: dict[ObjectName, Claim] = {}
    held: dict[ObjectName, Claim] = {}
    for used in group.claims:
        claim = _claim(library, group, pod, used)
        if isinstance(claim, str):
            return Demand(pod, refusal=claim)
        name = claim.namespace, claim.name
        most = limits(minor).reservations_per_claim
        if len(claim.reserved_for) + users.get(name, 0) >= most:
            return Demand(pod, refusal=f"{most} pods use ResourceClaim {claim.name} already")
        (pending if state.allocation(claim) is None else held)[name] = claim
    resources: tuple[str, ...] = ()
    implicit = _implicit(group)
    if implicit and library.extended is None:
        return Demand(pod, refusal=f"{implicit[0]} needs DRAExtendedResource, which is off here")
    if implicit and minor == "1.34":
        reason = f"Kubernetes 1.34 binds it without a device: {implicit[0]} stands for none there"
        return Demand(pod, refusal=reason)
    if library.extended is not None:
        resources = named_resources(group.containers, library.extended)
        spec = claim_spec(group.containers, library.extended, minor)
        if spec is not None:
            name = group.namespace, f"{pod}-extended-resources-*"
            pending[name] = Claim(*name, spec)
    refusal = _refused(library, pending.values())
    if group.node is not None and (pending or held):
        refusal = "it names its node itself, so that no scheduler sees to its claims"
    return Demand(pod, tuple(pending.values()), tuple(held.values()), resources, refusal)


def _claim(library: Library, group: PodGroup, pod: str, used: PodClaim) -> Claim | str:
    """The claim that an entry stands for, or why there is none."""
    if (used.claim is None) is (used.template is None):
        return (
            f"its claim {used.name} must name either resourceClaimName or resourceClaimTemplateName"
        )
    if used.claim is not None:
        claim = library.claims.get((group.namespace, used.claim))
        if claim is None:
            return f"there is no ResourceClaim {used.claim} in {group.namespace}"
        return f"ResourceClaim {used.claim} is being deleted" if claim.deleting else claim
    template = library.templates.get((group.namespace, used.template or ""))
    if template is None:
        return f"there is no ResourceClaimTemplate {used.template} in {group.namespace}"
    return template.claim(f"{pod}-{used.name}-*")


def _refused(library: Library, claims: Iterable[Claim]) -> str | None:
    """Why no node can have one of the claims: a class that does not exist, or that is closed."""
    for claim in claims:
        for request in claim.spec.requests:
            for ask in request.first_available or (request.exactly,):
                if ask is None:
                    continue
                if ask.device_class not in library.classes:
                    return f"there is no DeviceClass {ask.device_class}"
                if ask.device_class in library.closed:
                    return f"class {ask.device_class} takes no new claims"
    return None


def _implicit(group: PodGroup) -> tuple[str, ...]:
    """Implicit names of classes that the containers ask for."""
    asked = {name for one in group.containers for name, amount in one.amounts.items() if amount}
    return tuple(sorted(name for name in asked if name.startswith(IMPLICIT_RESOURCE_PREFIX)))
