"""A recorded cluster → the work that holds claims of an older version, and why some of it waits for people.

Work is what one controller has made: its pods end and begin together, with every claim that is made for
them. Only work that its controller begins anew is moved. Judges no capacity.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from dracfg.allocate.claims import ClaimSpec
from dracfg.audit.heldclaims import HeldClaim
from dracfg.audit.pods import Pod
from dracfg.audit.view import View
from dracfg.audit.words import count
from dracfg.dataclass import dataclass
from dracfg.link.catalog import Pool, Tenant
from dracfg.link.claims import ClaimPlan
from dracfg.link.rebalance import is_old, stage_of
from dracfg.lower.templates import PROFILE
from dracfg.model.kinds import Rollout
from dracfg.plan.library import Library
from dracfg.plan.site import belongs
from dracfg.rollout.controllers import Controller, Controllers


@dataclass(frozen=True, slots=True)
class Renewed:
    """A claim that is made anew from `template`, the one that stands for its profile now, by `spec`.

    `older` holds the versions that it leaves; none where it only goes with its pod.
    """

    held: HeldClaim
    template: str
    plan: ClaimPlan
    spec: ClaimSpec
    older: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PodWork:
    """One pod: the claims that are made for it anew, and those that it shares and keeps."""

    pod: Pod
    renewed: tuple[Renewed, ...]
    kept: tuple[HeldClaim, ...] = ()


@dataclass(frozen=True, slots=True)
class Work:
    """What ends and begins anew as one; `stage` is the number of the first that reaches all of it."""

    controller: Controller
    stage: int
    pods: tuple[PodWork, ...]
    templates: frozenset[str]
    """Templates that its pods name today."""

    @property
    def renewed(self) -> tuple[Renewed, ...]:
        return tuple(one for pod in self.pods for one in pod.renewed)

    @property
    def versions(self) -> tuple[str, ...]:
        """The older versions of its claims."""
        return tuple(sorted({version for one in self.renewed for version in one.older}))


@dataclass(frozen=True, slots=True)
class Waiting:
    """Claims that no step moves, and what a person must know of them."""

    claims: tuple[str, ...]
    who: str
    why: str


@dataclass(frozen=True, slots=True)
class Held:
    """All that holds claims of an older version. `older` counts them by version."""

    work: tuple[Work, ...]
    waiting: tuple[Waiting, ...]
    older: Mapping[str, int] = field(default_factory=dict)


class NotMovable(Exception):
    """Why a claim or a pod waits for a person."""


def held_work(
    view: View,
    rollout: Rollout,
    library: Library,
    controllers: Controllers,
    pools: tuple[Pool, ...],
) -> Held:
    """What there is to be moved of one cluster, by the controllers' names."""
    return _Reading(view, rollout, library, controllers, pools).read()


@dataclass(slots=True)
class _Reading:
    view: View
    rollout: Rollout
    library: Library
    controllers: Controllers
    pools: tuple[Pool, ...]

    def read(self) -> Held:
        old = [held for _, held in sorted(self.view.dump.claims.items()) if self._older(held)]
        older: dict[str, int] = {}
        groups: dict[Controller, list[HeldClaim]] = {}
        waiting: list[Waiting] = []
        for held in old:
            for version in self._older(held):
                older[version] = older.get(version, 0) + 1
            try:
                groups.setdefault(self._controller(held), []).append(held)
            except NotMovable as reason:
                waiting.append(Waiting((held.ref,), _who(self.view, held), str(reason)))
        work = []
        for controller, claims in sorted(groups.items()):
            try:
                work.append(self._work(controller, claims))
            except NotMovable as reason:
                refs = tuple(held.ref for held in claims)
                waiting.append(Waiting(refs, str(controller), str(reason)))
        return Held(tuple(work), tuple(waiting), dict(sorted(older.items())))

    def _older(self, held: HeldClaim) -> tuple[str, ...]:
        """The versions of the policy, for the tier, that a claim is to leave."""
        spec = self.rollout.spec
        named = (note for note in held.notes.values() if note.policy == spec.sharing)
        found = {note.version for note in named if note.tier == spec.tier}
        return tuple(sorted(version for version in found if is_old(spec, version)))

    def _controller(self, held: HeldClaim) -> Controller:
        """Whose work the claim belongs to. Raises NotMovable."""
        if held.deleted is not None:
            raise NotMovable("it is being deleted already")
        if held.claim.allocation is None:
            raise NotMovable("nothing is allocated to it, and it will be under its older version")
        found = self.view.by_claim.get(held.ref, ())
        pods = {pod.uid: pod for holding in found for pod in holding.pods}
        gone = {consumer.name for holding in found for consumer in holding.gone}
        if gone:
            raise NotMovable(f"pod {', '.join(sorted(gone))} holds it and is not recorded")
        if not pods:
            raise NotMovable("no pod holds it: whoever made it can delete it")
        if not set(held.owner_uids) & pods.keys():
            raise NotMovable(
                f"it was not made from a template: {count(len(pods), 'pod')} end together for it"
            )
        (pod,) = pods.values() if len(pods) == 1 else (None,)
        if pod is None:
            raise NotMovable(f"{len(pods)} pods hold it, though it was made for one")
        if pod.finished:
            raise NotMovable(f"pod {pod.name} has ended, so that it comes free by itself")
        controller = self.controllers.root(pod.namespace, "Pod", pod.name)
        if controller is None:
            raise NotMovable(f"pod {pod.name} has no controller that would make it anew")
        if not controller.is_retryable:
            raise NotMovable(f"work of {controller.kind} is not known to be retryable")
        return controller

    def _work(self, controller: Controller, claims: Iterable[HeldClaim]) -> Work:
        """All of a controller's running pods with their claims. Raises NotMovable."""
        tenant = self.view.tenant(controller.namespace)
        if tenant is None:
            raise NotMovable(f"namespace {controller.namespace} belongs to no tenant")
        if tenant.document.spec.state != "active":
            state = tenant.document.spec.state
            raise NotMovable(f"tenant {tenant.name} is {state}, so nothing is made anew")
        pods = []
        for _, pod in sorted(self.view.dump.pods.items()):
            own = self.controllers.root(pod.namespace, "Pod", pod.name) == controller
            if own and pod.node is not None and not pod.finished and pod.deleted is None:
                pods.append(self._pod(pod, tenant))
        named = {
            claim.template for one in pods for claim in one.pod.claims if claim.template is not None
        }
        stages = [self._stage(held, tenant) for held in claims]
        return Work(controller, max(stages), tuple(pods), frozenset(named))

    def _pod(self, pod: Pod, tenant: Tenant) -> PodWork:
        renewed, kept = [], []
        for held in self.view.dump.claims_of(pod):
            if pod.uid in held.owner_uids:
                renewed.append(self._renewed(held, tenant))
            elif held.claim.allocation is not None:
                kept.append(held)
        return PodWork(pod, tuple(renewed), tuple(kept))

    def _renewed(self, held: HeldClaim, tenant: Tenant) -> Renewed:
        profile = held.claim.labels.get(PROFILE)
        if profile is None:
            raise NotMovable(f"claim {held.ref} is of no profile of a tenant")
        found = self._template(held.claim.namespace, tenant.name, profile)
        if found is None:
            raise NotMovable(
                f"there is no template for profile {profile} of {tenant.name} in "
                f"{held.claim.namespace} any more"
            )
        name, plan = found
        if any(ask.plan.closed for request in plan.requests for ask in request.asks):
            raise NotMovable(f"the classes of profile {profile} let no new claims in")
        spec = self.library.templates[held.claim.namespace, name].spec
        return Renewed(held, name, plan, spec, self._older(held))

    def _template(self, namespace: str, tenant: str, profile: str) -> tuple[str, ClaimPlan] | None:
        """The name and plan of the template that stands for a profile now."""
        for (place, name), plan in self.library.plans.items():
            owner = self.view.tenant(place)
            own = place == namespace and owner is not None and owner.name == tenant
            if own and plan.profile.name == profile:
                return name, plan
        return None

    def _stage(self, held: HeldClaim, tenant: Tenant) -> int:
        """The stage that reaches a claim, by the pool that its devices lie in. Raises NotMovable."""
        documents = {pool.name: pool.document for pool in self.pools}
        places: set[str] = set()
        for holding in self.view.by_claim.get(held.ref, ()):
            node = self.view.dump.inventory.nodes.get(holding.node or "")
            places |= {pool.name for pool in self.pools if node is not None and belongs(node, pool)}
        if not places:
            raise NotMovable(f"claim {held.ref} lies on no recorded node of a pool")
        stages = [stage_of(self.rollout.spec, pool, tenant.name, documents) for pool in places]
        known = [stage for stage in stages if stage is not None]
        if len(known) < len(stages):
            raise NotMovable(
                f"no stage of {self.rollout.name} reaches {tenant.name} on "
                f"{', '.join(sorted(places))}"
            )
        return max(known)


def _who(view: View, held: HeldClaim) -> str:
    """The pods of a claim, or its tenant, for people."""
    found = view.by_claim.get(held.ref, ())
    pods = sorted({f"Pod {pod.ref}" for holding in found for pod in holding.pods})
    return ", ".join(pods[:3]) or f"namespace {held.claim.namespace}"
