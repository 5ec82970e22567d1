"""A verdict for every guarantee: fits, and nonBlocking where the policy asks for it.

Everybody else is taken at what is enforced on them: limits, or after reclaim their guarantees where
Kueue takes devices back. A tenant's own claims count as others to its next one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from dracfg.link.catalog import Catalog, Policy
from dracfg.link.classes import device_classes
from dracfg.plan.basis import Ground, basis
from dracfg.plan.promises import Holding, Market, asked, market, merged
from dracfg.plan.proofs import blocking, fits
from dracfg.plan.proofs.fits import fits_beside
from dracfg.plan.proofs.shapes import Claims, Kind, Others
from dracfg.plan.proofs.verdict import Proven, Refuted, Unknown
from dracfg.plan.supply import supplies

Question = Literal["promised", "fits", "nonBlocking"]
AnyVerdict = fits.Verdict | blocking.Verdict

ABSENT = Unknown(
    "it takes devices that are in quarantine, or in pools that let nothing new in",
    0,
    "bring the devices back or replace them, or promise less until then",
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

    def fits(self, own: tuple[Claims, ...], others: tuple[Claims, ...] = ()) -> fits.Verdict:
        key = (own, others)
        if key not in self.packed:
            supply = self.market.supply
            verdict = fits_beside(supply.pool, own, others)
            if isinstance(verdict, Refuted) and supply.pool != supply.restored:
                restored = fits_beside(supply.restored, own, others)
                verdict = verdict if isinstance(restored, Refuted) else ABSENT
            self.packed[key] = verdict
        return self.packed[key]

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


def markets(catalog: Catalog) -> tuple[Market, ...]:
    """Every supply of the catalog with those who may hold of it."""
    asked_for = asked(catalog)
    return tuple(market(catalog, supply, asked_for) for supply in supplies(catalog))


def assurances(catalog: Catalog) -> tuple[Assurance, ...]:
    """Every guarantee with what became of its proofs, market by market, tenant by tenant."""
    return tuple(found for one in markets(catalog) for found in assured(catalog, one))


def assured(catalog: Catalog, one: Market) -> Iterator[Assurance]:
    """The guarantees of one market.

    Where they do not lie on devices together, nothing more is asked.
    """
    promised = [holding for holding in one.holdings if holding.is_promised]
    if not promised:
        return
    open_question = undecidable(catalog, one)
    proofs = _Proofs(one)
    together: AnyVerdict = open_question or proofs.fits(one.guaranteed())
    largest = max(promised, key=lambda holding: holding.guaranteed)
    if not isinstance(together, Proven):
        yield Assurance(one, largest, "promised", together)
    if isinstance(together, Refuted) or together in (open_question, ABSENT):
        return
    seen: set[str] = set()
    for holding in promised:
        tenant = holding.tenant.name
        if tenant not in seen:
            seen.add(tenant)
            yield _fits(proofs, holding)
        if holding.grant.policy.spec.guarantee == "nonBlocking":
            yield from _non_blocking(proofs, holding)


def undecidable(catalog: Catalog, one: Market) -> Unknown | None:
    """Why nothing can be proven of a market, whatever the numbers; None where nothing is in the way."""
    supply, cluster = one.supply, one.supply.cluster
    if cluster.document.spec.unmanaged_namespaces == "warn":
        return Unknown(
            f"namespaces of no tenant may claim devices on {cluster.name}",
            0,
            "write `unmanagedNamespaces: deny` in the cluster",
        )
    owners = cluster.owners_of(supply.tier)
    if len(owners) > 1:
        return Unknown(
            f"{supply.tier.name} is handed out by device plugin and by DRA",
            0,
            "finish the rollout; until then each path has only a part of the devices",
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
    for holding in one.holdings:
        if holding.limit and _overruns(holding.grant.policy, one):
            return Unknown(
                f"shares of {holding.grant.policy.name} on the same devices are held to nothing",
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
        others = single(one.beside(tenant, reclaimed))
        verdict = proofs.fits(own_demand(one, tenant), others)
        found = _assurance(one, holding, "fits", verdict, 1, reclaimed)
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
            found = _assurance(one, holding, "nonBlocking", verdict, devices, reclaimed)
            if isinstance(verdict, Proven):
                break
        yield found


def _assurance(
    one: Market,
    holding: Holding,
    question: Question,
    verdict: AnyVerdict,
    devices: int,
    reclaimed: bool,
) -> Assurance:
    grounds = basis(one.supply, holding, reclaimed=reclaimed)
    return Assurance(one, holding, question, verdict, devices, reclaimed, grounds)
