"""A verdict for every guarantee: fits, and nonBlocking where the policy asks for it.

Everybody else is taken at what is enforced on them: limits, or after reclaim their guarantees where
Kueue takes devices back. A tenant's own claims count as others to its next one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import lru_cache
from typing import Literal

from dracfg.dataclass import dataclass
from dracfg.link.catalog import Catalog, Cluster, Policy
from dracfg.link.classes import device_classes
from dracfg.link.memo import per_catalog
from dracfg.plan.basis import Ground, basis
from dracfg.plan.disjoint import NOTHING_RECORDED, Inventories, tier_proofs
from dracfg.plan.holdings import holdings
from dracfg.plan.promises import Holding, Market, market, merged
from dracfg.plan.proofs import blocking, fits
from dracfg.plan.proofs.fits import fits_beside
from dracfg.plan.proofs.shapes import Claims, Kind, Others, Pool
from dracfg.plan.proofs.verdict import Proven, Refuted, Unknown
from dracfg.plan.supply import Supply

Question = Literal["promised", "fits", "nonBlocking"]
QUESTIONS: Mapping[str, str] = {
    "promised": "all guarantees together",
    "fits": "fits",
    "nonBlocking": "non-blocking",
}
"""What each question is called."""
AnyVerdict = fits.Verdict | blocking.Verdict
_Meeting = frozenset[tuple[Cluster, frozenset[str]]]
"""Pairs of tiers on a cluster that nothing keeps apart."""

ABSENT = Unknown(
    "it takes devices that are in quarantine, or in pools that let nothing new in",
    0,
    "bring the devices back or replace them, or promise less until then",
)

LEFT = Unknown(
    "claims that a rollout takes back may still hold these devices",
    0,
    "it is settled when they have ended, at the stage before at the latest",
)

FIRST_DEVICE_ONLY = frozenset({"1.34"})
"""Minors whose allocator holds every share against the capacity of the slice's first device
(kubernetes/dynamic-resource-allocation@v0.34.4 structured/internal/experimental; so up to v0.34.13).
"""


@dataclass(frozen=True, slots=True, eq=False)
class Assurance:
    """The answer to one question about a tenant's guarantee.

    `promised` asks whether all guarantees of the market lie on devices together, `fits` whether the
    tenant's do beside what others may hold, `nonBlocking` whether a claim for `devices` of them is
    ever refused. The verdict of `promised` holds for the whole market.
    """

    market: Market
    holding: Holding
    question: Question
    verdict: AnyVerdict
    devices: int = 1
    reclaimed: bool = False
    basis: tuple[Ground, ...] = ()

    @property
    def is_conditional(self) -> bool:
        return any(ground.is_conditional for ground in self.basis)


@dataclass(slots=True)
class _Proofs:
    """Verdicts by what was asked: tenants with the same numbers are asked for once."""

    market: Market
    packed: dict[tuple[tuple[Claims, ...], ...], fits.Verdict] = field(default_factory=dict)
    blocked: dict[tuple[Claims, Others], blocking.Verdict] = field(default_factory=dict)
    whole: dict[bool, AnyVerdict] = field(default_factory=dict)
    grounds: dict[tuple[str, str, bool], tuple[Ground, ...]] = field(default_factory=dict)

    def fits(self, own: tuple[Claims, ...], others: tuple[Claims, ...] = ()) -> fits.Verdict:
        key = (own, others)
        if key not in self.packed:
            supply = self.market.supply
            verdict = _packed(supply.pool, own, others)
            if isinstance(verdict, Refuted) and supply.pool != supply.restored:
                restored = _packed(supply.restored, own, others)
                verdict = verdict if isinstance(restored, Refuted) else ABSENT
            self.packed[key] = verdict
        return self.packed[key]

    def everything(self, reclaimed: bool) -> AnyVerdict:
        """Of all that anybody may hold."""
        if reclaimed not in self.whole:
            self.whole[reclaimed] = self.fits(self.market.everything(reclaimed))
        return self.whole[reclaimed]

    def non_blocking(self, request: Claims, others: Others) -> blocking.Verdict:
        key = (request, others)
        if key not in self.blocked:
            supply = self.market.supply
            verdict = blocking.non_blocking(supply.pool, request, others)
            if isinstance(verdict, Refuted) and supply.pool != supply.restored:
                restored = blocking.non_blocking(supply.restored, request, others)
                verdict = verdict if isinstance(restored, Refuted) else ABSENT
            self.blocked[key] = verdict
        return self.blocked[key]

    def basis(self, holding: Holding, *, reclaimed: bool) -> tuple[Ground, ...]:
        """What a proof rests on; the same for all who hold by one policy, and in claims of one kind."""
        key = (holding.policy.name, holding.what if holding.is_combined else "", reclaimed)
        if key not in self.grounds:
            self.grounds[key] = basis(self.market.supply, holding, reclaimed=reclaimed)
        return self.grounds[key]


@lru_cache(maxsize=512)
def _packed(pool: Pool, own: tuple[Claims, ...], others: tuple[Claims, ...]) -> fits.Verdict:
    """Of two states of a catalog, most pools are asked the same."""
    return fits_beside(pool, own, others)


def markets(catalog: Catalog, inventories: Inventories = NOTHING_RECORDED) -> tuple[Market, ...]:
    """Every supply of the catalog with those who may hold of it.

    Of tiers that their conditions don't keep apart, `inventories` may show that devices are.
    """
    return _markets(
        catalog,
        frozenset(
            (proof.cluster, frozenset(tier.name for tier in proof.tiers))
            for proof in tier_proofs(catalog, inventories)
            if proof.by is None
        ),
    )


@per_catalog
def _markets(catalog: Catalog, meeting: _Meeting) -> tuple[Market, ...]:
    held = holdings(catalog)
    return tuple(market(one, held, tuple(_strangers(one, held, meeting))) for one in held)


def _strangers(supply: Supply, every: Iterable[Supply], meeting: _Meeting) -> Iterator[Supply]:
    """The supplies of other tiers on the cluster whose claims may take devices of this one."""
    if supply.owner == "devicePlugin":
        return
    for other in every:
        pair = frozenset((supply.tier.name, other.tier.name))
        by_claims = other.cluster is supply.cluster and other.owner == "dra"
        if by_claims and (supply.cluster, pair) in meeting:
            yield other


def assurances(
    catalog: Catalog, inventories: Inventories = NOTHING_RECORDED
) -> tuple[Assurance, ...]:
    """Every guarantee with what became of its proofs, market by market, tenant by tenant."""
    known = markets(catalog, inventories)
    return tuple(found for one in known for found in assured(catalog, one))


def assured(catalog: Catalog, one: Market, *, open_only: bool = False) -> Iterator[Assurance]:
    """The guarantees of one market; `open_only` leaves out those that are proven once for all tenants.

    Where they do not lie on devices together, nothing more is asked. Claims of other tiers that may
    land here are taken to hold a device each: whatever they take of it, they don't hold more. What
    that would refute is refuted only where it fails without them as well. The same goes for claims that
    a rollout takes back, since their limit is more than what is bound of it.
    """
    if not any(holding.is_left for holding in one.different):
        yield from _beside_strangers(catalog, one, open_only)
        return
    kept = tuple(holding for holding in one.holdings if not holding.is_left)
    without = {
        _asked(found): found.verdict
        for found in _beside_strangers(catalog, replace(one, holdings=kept), open_only)
    }
    for found in _beside_strangers(catalog, one, open_only):
        refuted = isinstance(found.verdict, Refuted)
        if refuted and not isinstance(without.get(_asked(found)), Refuted):
            yield replace(found, verdict=LEFT)
        else:
            yield found


def _beside_strangers(catalog: Catalog, one: Market, open_only: bool) -> Iterator[Assurance]:
    if not one.foreign:
        yield from _assured(catalog, one, open_only)
        return
    among = replace(one, exempt=one.exempt + sum(one.foreign.values()), foreign={})
    alone = {
        _asked(found): found for found in _assured(catalog, replace(one, foreign={}), open_only)
    }
    ground = Ground(f"claims of {strangers(one)} counted as holding devices of this tier", "scope")
    for found in _assured(catalog, among, open_only):
        by_itself = alone.get(_asked(found))
        if not isinstance(found.verdict, Refuted):
            yield replace(found, market=one, basis=(*found.basis, ground))
        elif by_itself is not None and isinstance(by_itself.verdict, Refuted):
            yield by_itself
        else:
            yield replace(found, market=one, verdict=crowded(one))


def strangers(one: Market) -> str:
    """The tiers whose claims may land on devices of this one."""
    return " and ".join(one.foreign)


def _asked(found: Assurance) -> tuple[Holding, Question, int]:
    return found.holding, found.question, found.devices


def crowded(one: Market) -> Unknown:
    """Why a proof is left open where claims of other tiers may land on the same devices."""
    return Unknown(
        f"claims of {strangers(one)} may take these devices as well, up to "
        f"{sum(one.foreign.values())} of them",
        0,
        "tell the tiers apart in their matches, or lower the limits of the other",
    )


def _assured(catalog: Catalog, one: Market, open_only: bool) -> Iterator[Assurance]:
    promises = [holding for holding in one.different if holding.is_promised]
    if not promises:
        return
    open_question = undecidable(catalog, one)
    proofs = _Proofs(one)
    together: AnyVerdict = open_question or proofs.fits(one.guaranteed())
    largest = max(promises, key=lambda holding: holding.guaranteed)
    if not isinstance(together, Proven):
        yield Assurance(one, largest, "promised", together)
    if isinstance(together, Refuted) or together in (open_question, ABSENT):
        return
    proven = open_only and isinstance(proofs.everything(False), Proven)
    if proven and not any(map(_never_refused, promises)):
        return
    seen: set[str] = set()
    for holding in one.promised:
        tenant = holding.tenant.name
        if not proven and tenant not in seen:
            seen.add(tenant)
            yield _fits(proofs, holding)
        if _never_refused(holding):
            yield from _non_blocking(proofs, holding)


def _never_refused(holding: Holding) -> bool:
    """Whether that is what the guarantee promises of each claim."""
    return holding.policy.spec.guarantee == "nonBlocking"


def undecidable(catalog: Catalog, one: Market) -> Unknown | None:
    """Why nothing can be proven of a market, whatever the numbers; None where nothing is in the way."""
    supply, cluster = one.supply, one.supply.cluster
    if cluster.document.spec.unmanaged_namespaces == "warn":
        return Unknown(
            f"namespaces of no tenant may claim devices on {cluster.name}",
            0,
            "write `unmanagedNamespaces: deny` in the cluster",
        )
    if any(h.is_on_both for h in one.different):
        return Unknown(
            f"{supply.tier.name} is handed out by device plugin and by DRA",
            0,
            "split the limits between both paths in the rollout's stage, or finish the rollout",
        )
    if cluster.minor in FIRST_DEVICE_ONLY and any(
        devices.per_node > 1 and any(policy.is_consumable for policy in devices.policies)
        for pool, devices in cluster.offers()
        if devices.tier is supply.tier and pool in supply.pools
    ):
        return Unknown(
            f"Kubernetes {cluster.minor} gives shares of the first device of each ResourceSlice "
            "alone, and leaves the others of a node unused",
            0,
            "upgrade to 1.35, have the driver publish one device a slice, or hand the devices out whole",
        )
    for kind in one.kinds:
        if not kind.whole and not any(kind.size):
            return Unknown(
                f"nothing says how many of {kind.name} a device carries",
                0,
                "write what a part `consumes`, or `perDevice`",
            )
    for plan in device_classes(catalog, cluster) if supply.owner == "dra" else ():
        taken = [f"{amount} of {key}" for key, amount in plan.capacity.items() if amount]
        if plan.admin and plan.tier is supply.tier and taken:
            return Unknown(
                f"each claim of {plan.name} takes {taken[0]} of every device it watches, "
                "and no quota bounds them",
                0,
                "have the driver allow requests for 0, or take the admin access out",
            )
    for policy in dict.fromkeys(h.policy for h in one.different if h.limit):
        if _overruns(policy, one):
            return Unknown(
                f"shares of {policy.name} on the same devices are held to nothing",
                0,
                "keep policies with `isolation: none` on pools of their own",
            )
    return None


def _overruns(policy: Policy, one: Market) -> bool:
    """Whether shares without isolation lie beside shares that a guarantee counts on."""
    if getattr(policy.spec, "isolation", None) != "none" or not policy.is_consumable:
        return False
    return any(
        policy in devices.policies
        and any(other.is_consumable and other is not policy for other in devices.policies)
        for _, devices in one.supply.cluster.offers()
        if devices.tier is one.supply.tier
    )


def beside(one: Market, holding: Holding, devices: int, *, reclaimed: bool) -> Others:
    """What may be held when the tenant asks for so many more devices of its guarantee."""
    held: dict[Kind, int] = dict(one.most(reclaimed))
    for own in one.tenants[holding.tenant.name]:
        held[own.kind] -= own.kept(reclaimed)
        held[own.kind] += own.limit if own is not holding else holding.guaranteed - devices
    return Others(tuple(held), tuple(held.values()))


def own_demand(one: Market, tenant: str) -> tuple[Claims, ...]:
    """A tenant's guarantees as claims."""
    return merged(tuple(c for h in one.tenants[tenant] if h.is_promised for c in h.demand()))


def single(held: Mapping[Kind, int]) -> tuple[Claims, ...]:
    """What others hold, share by share."""
    return tuple(Claims(kind, number) for kind, number in held.items() if number)


def _fits(proofs: _Proofs, holding: Holding) -> Assurance:
    one, tenant = proofs.market, holding.tenant.name
    for reclaimed in (False, True) if one.takes_back else (False,):
        # Where all that anybody may hold lies on devices together, so does each guarantee beside
        # the rest: a claim for several devices is so many shares. One proof serves all tenants.
        verdict = proofs.everything(reclaimed)
        if not isinstance(verdict, Proven):
            others = single(one.beside(tenant, reclaimed))
            verdict = proofs.fits(own_demand(one, tenant), others)
        found = _assurance(proofs, holding, "fits", verdict, 1, reclaimed)
        if isinstance(verdict, Proven):
            break
    return found


def _non_blocking(proofs: _Proofs, holding: Holding) -> Iterator[Assurance]:
    one = proofs.market
    sizes = {devices for devices in holding.claims if devices <= holding.guaranteed} or {1}
    for devices in sorted(sizes):
        for reclaimed in (False, True) if one.takes_back else (False,):
            others = beside(one, holding, devices, reclaimed=reclaimed)
            verdict = proofs.non_blocking(Claims(holding.kind, 1, devices), others)
            found = _assurance(proofs, holding, "nonBlocking", verdict, devices, reclaimed)
            if isinstance(verdict, Proven):
                break
        yield found


def _assurance(
    proofs: _Proofs,
    holding: Holding,
    question: Question,
    verdict: AnyVerdict,
    devices: int,
    reclaimed: bool,
) -> Assurance:
    grounds = proofs.basis(holding, reclaimed=reclaimed)
    return Assurance(proofs.market, holding, question, verdict, devices, reclaimed, grounds)
