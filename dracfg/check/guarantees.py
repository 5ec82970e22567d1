"""CAP040-CAP045, CAP050: what is promised is proven, refuted or left open, and never just stated.

The proofs are made in `plan/`; here each answer gets its place in the tenant's document, the other
places that decide it, and the least change that mends it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from dracfg.check.proofwords import (
    amount,
    arrangement_words,
    bound_words,
    kind_name,
    mend_words,
    plural,
)
from dracfg.check.rule import listed
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.link.catalog import Catalog
from dracfg.model.base import at
from dracfg.model.tenant import Entitlement
from dracfg.plan.assurance import (
    Assurance,
    assured,
    beside,
    markets,
    own_demand,
    single,
)
from dracfg.plan.disjoint import NOTHING_RECORDED, Inventories
from dracfg.plan.promises import Holding, Market, merged
from dracfg.plan.proofs import blocking
from dracfg.plan.proofs.blocking import Arrangement, NoPlace
from dracfg.plan.proofs.fits import fits
from dracfg.plan.proofs.lowerbounds import Reason, Volume
from dracfg.plan.proofs.mends import largest, mends
from dracfg.plan.proofs.shapes import Claims, Kind, Others
from dracfg.plan.proofs.verdict import Proven, Refuted, Unknown

_MOST_OTHERS = 5
_MOST_MENDED = 3
_AS_BEFORE = (
    "lower the limits of others, add nodes, or guarantee less; see the first of these findings"
)
_STATES = 3_000
_OPEN = ("CAP044", "CAP045", "CAP052")

Holds = Callable[[Mapping[Kind, int]], bool]
"""Whether a guarantee holds beside so much of each kind in others' hands."""


def check_guarantees(
    catalog: Catalog, inventories: Inventories = NOTHING_RECORDED
) -> Iterator[Diagnostic]:
    """CAP040 to CAP045 and CAP050, guarantee by guarantee."""
    for market in markets(catalog, inventories):
        refuted: Counter[str] = Counter()
        for answer in assured(catalog, market, open_only=True):
            match answer.verdict:
                case Proven() if answer.reclaimed:
                    yield _after_reclaim(answer)
                case Unknown() as verdict:
                    yield _open(answer, verdict)
                case Refuted(reason):
                    refuted[answer.question] += 1
                    yield _refuted(answer, reason, refuted[answer.question] <= _MOST_MENDED)


def _refuted(answer: Assurance, reason: Reason | Arrangement | NoPlace, mended: bool) -> Diagnostic:
    """`mended` says whether to look for the least change: the first few speak for the others."""
    if isinstance(reason, Arrangement | NoPlace):
        return _blocked(answer, reason, mended)
    if answer.question == "promised":
        return _too_much(answer, reason)
    return _crowded_out(answer, reason, mended)


def unproven_guarantees(findings: Iterable[Diagnostic]) -> int:
    """How many guarantees are left open, waived or not: a waiver proves nothing."""
    return sum(finding.code in _OPEN for finding in findings)


def number_place(holding: Holding, key: str = "guaranteed") -> Span:
    """Where a number of a holding stands in its tenant's document."""
    document, source = holding.tenant.document, holding.grant.source
    if not isinstance(source, Entitlement):
        for i, accepted in enumerate(document.spec.accepted_offers):
            same = (accepted.from_, accepted.entitlement) == (source.from_, source.entitlement)
            if same and holding.grant.policy.part(accepted.size) is holding.part:
                return at(document, "spec", "acceptedOffers", i, "count")
        return at(document, "metadata", "name")
    place = ("spec", "entitlements", document.spec.entitlements.index(source))
    written = source.limit if key == "limit" else source.guaranteed
    if isinstance(written, int):
        return at(document, *place, key)
    for text in written or ():
        if holding.grant.policy.part(text) is holding.part:
            return at(document, *place, key, text)
    return number_place(holding) if key == "limit" else at(document, *place, "name")


def _too_much(answer: Assurance, reason: Reason) -> Diagnostic:
    """CAP040 where the sum alone says it, CAP041 where no arrangement works out."""
    market, supply = answer.market, answer.market.supply
    counted = reason if isinstance(reason, Volume) else None
    promised = [h for h in market.holdings if h.is_promised]
    if counted is not None:
        promised = [h for h in promised if h.kind.name in counted.kinds] or promised
    first = max(promised, key=lambda holding: holding.guaranteed)
    lower = _largest_guarantee(market, first)
    help_ = [f"guarantee {lower} here"] if lower else []
    return diagnose(
        "CAP040" if counted is not None else "CAP041",
        number_place(first),
        f"guarantees of {supply.tier.name} on {supply.cluster.name} don't lie on its devices "
        f"together: {bound_words(supply, reason)}",
        label=f"{first.guaranteed} of {first.what}",
        related=[
            *_promises(h for h in promised if h is not first),
            *_pool_places(market),
        ],
        found=amount(supply, counted.key, counted.needed) if counted is not None else None,
        expected=(
            f"at most {amount(supply, counted.key, counted.available)}"
            if counted is not None
            else None
        ),
        help=listed([*help_, "add nodes", "spare fewer"], "or"),
    )


def _promises(holdings: Iterable[Holding]) -> list[Related]:
    ordered = sorted(holdings, key=lambda h: -h.guaranteed)[:_MOST_OTHERS]
    return [
        Related(number_place(h), f"{h.guaranteed} of {h.what} for {h.tenant.name}") for h in ordered
    ]


def _pool_places(market: Market) -> list[Related]:
    found = []
    usable: dict[str, int] = {}
    for group in market.supply.pool.groups:
        usable[group.name] = usable.get(group.name, 0) + group.nodes
    for pool in market.supply.pools:
        nodes = pool.document.spec.nodes
        words = f"{usable.get(pool.name, 0)} of {plural(nodes, 'node')} can be promised"
        found.append(Related(at(pool.document, "spec", "nodes"), words))
    return found[:_MOST_OTHERS]


def _largest_guarantee(market: Market, holding: Holding) -> int | None:
    """The most of a holding that could be guaranteed beside all other guarantees."""
    others = [h for h in market.holdings if h.is_promised and h is not holding]
    rest = merged(tuple(c for h in others for c in h.demand()))

    def holds(number: int) -> bool:
        own = (Claims(holding.kind, number),) if number else ()
        return isinstance(fits(market.supply.pool, (*own, *rest), _STATES), Proven)

    return largest(0, holding.guaranteed - 1, holds)


def _crowded_out(answer: Assurance, reason: Reason, mended: bool) -> Diagnostic:
    """CAP042: what others may hold leaves no room for the guarantee."""
    market, holding = answer.market, answer.holding
    supply, tenant = market.supply, holding.tenant.name
    own = own_demand(market, tenant)
    held = market.beside(tenant, answer.reclaimed)

    def holds(kept: Mapping[Kind, int]) -> bool:
        return isinstance(fits(supply.pool, (*own, *single(kept)), _STATES), Proven)

    return diagnose(
        "CAP042",
        number_place(holding),
        f"the guarantee of {tenant} on {supply.cluster.name} has no room beside what others may "
        f"hold of {supply.tier.name}: {bound_words(supply, reason)}",
        label=f"{holding.guaranteed} of {holding.what}",
        related=_excesses(market, tenant) if mended else (),
        help=(
            _smaller_limits(market, tenant, held, answer.reclaimed, holds) if mended else _AS_BEFORE
        ),
    )


def _excesses(market: Market, tenant: str) -> list[Related]:
    """The limits of others, those furthest above their guarantees first."""
    others = [h for h in market.holdings if h.tenant.name != tenant and h.limit]
    ordered = sorted(others, key=lambda h: (h.guaranteed - h.limit, -h.limit))[:_MOST_OTHERS]
    return [
        Related(number_place(h, "limit"), f"{h.tenant.name} may hold {h.limit} of {h.what}")
        for h in ordered
    ]


def _smaller_limits(
    market: Market,
    tenant: str,
    held: Mapping[Kind, int],
    reclaimed: bool,
    holds: Holds,
) -> str:
    """The largest limits that would not break the guarantee: one tenant's alone, else all alike."""
    others = [
        h for h in market.holdings if h.tenant.name != tenant and h.kept(reclaimed) > h.guaranteed
    ]
    ways = []
    for other in sorted(others, key=lambda h: h.guaranteed - h.limit)[:_MOST_OTHERS]:
        kept = other.kept(reclaimed)
        lowered = _with_less(held, other.kind, kept, holds)
        found = largest(other.guaranteed, kept - 1, lowered)
        if found is not None:
            ways.append(f"a limit of {found} of {other.what} for {other.tenant.name}")
    if ways:
        return f"it would hold with {listed(ways, 'or with')}"
    more = max((h.kept(reclaimed) - h.guaranteed for h in others), default=0)

    def all_alike(extra: int) -> bool:
        kept = dict(held)
        for other in others:
            kept[other.kind] -= max(0, other.kept(reclaimed) - other.guaranteed - extra)
        return holds(kept)

    found = largest(0, max(more - 1, 0), all_alike)
    if found is not None and others:
        above = f"at most {found} above each guarantee" if found else "no higher than guarantees"
        return f"it would hold with the limits of {_names(others)} {above}"
    return "guarantee less, add nodes, or give the tenant nodes of its own"


def _with_less(
    held: Mapping[Kind, int], kind: Kind, kept: int, holds: Holds
) -> Callable[[int], bool]:
    """Whether it holds with another number in place of `kept` of one kind."""
    return lambda number: holds({**held, kind: held[kind] - kept + number})


def _names(holdings: list[Holding]) -> str:
    names = list(dict.fromkeys(h.tenant.name for h in holdings))
    more = len(names) - _MOST_OTHERS
    shown = names[:_MOST_OTHERS]
    return f"{', '.join(shown)} and {more} more" if more > 0 else listed(shown)


def _blocked(answer: Assurance, reason: Arrangement | NoPlace, mended: bool) -> Diagnostic:
    """CAP043: others can lie so that a guaranteed claim fits nowhere."""
    market, holding, devices = answer.market, answer.holding, answer.devices
    supply, tenant = market.supply, holding.tenant.name
    request = Claims(holding.kind, 1, devices)
    others = beside(market, holding, devices, reclaimed=answer.reclaimed)
    what = kind_name(supply, holding.kind.name)
    asked = f"a claim for {devices} x {what} of one node" if devices > 1 else f"a claim for {what}"

    def holds(kept: Mapping[Kind, int]) -> bool:
        left = Others(others.kinds, tuple(kept[kind] for kind in others.kinds))
        return isinstance(blocking.non_blocking(supply.pool, request, left, _STATES), Proven)

    help_ = _AS_BEFORE
    if mended:
        own = dict.fromkeys(others.kinds, 0)
        for one in market.tenants[tenant]:
            own[one.kind] += one.limit if one is not holding else holding.guaranteed - devices
        mine = Others(tuple(own), tuple(own.values()))
        ways = mend_words(market, holding, mends(supply.pool, request, mine, others))
        held = dict(zip(others.kinds, others.counts, strict=True))
        limits = _smaller_limits(market, tenant, held, answer.reclaimed, holds)
        help_ = "; ".join([*([listed(ways, "or")] if ways else []), limits])
    policy = holding.grant.policy.document
    return diagnose(
        "CAP043",
        number_place(holding),
        f"{asked} of {tenant} can be refused on {supply.cluster.name}, "
        "depending on where the others lie",
        label=f"{holding.guaranteed} of {holding.what}",
        related=[
            *([Related(at(policy, "spec", "guarantee"), "asks for it")] if policy else []),
            *(_excesses(market, tenant) if mended else ()),
        ],
        found=arrangement_words(supply, reason, devices),
        expected=f"room for {what} whatever others hold",
        help=help_,
    )


def _open(answer: Assurance, verdict: Unknown) -> Diagnostic:
    """CAP044: the search gave up; CAP045: nothing could be proven, whatever the numbers."""
    market, holding = answer.market, answer.holding
    supply = market.supply
    by_nature = not verdict.budget
    what = {
        "promised": f"guarantees of {supply.tier.name} on {supply.cluster.name} are",
        "fits": f"the guarantee of {holding.tenant.name} on {supply.cluster.name} is",
        "nonBlocking": f"non-blocking of {holding.what} for {holding.tenant.name} on "
        f"{supply.cluster.name} is",
    }[answer.question]
    return diagnose(
        "CAP045" if by_nature else "CAP044",
        number_place(holding),
        f"{what} not proven: {verdict.why}",
        label=f"{holding.guaranteed} of {holding.what}",
        related=_excesses(market, holding.tenant.name) if answer.question != "promised" else (),
        help=verdict.mend or "round sizes to divisors of the devices, or lower the limits",
    )


def _after_reclaim(answer: Assurance) -> Diagnostic:
    """CAP050: proven only once Kueue has taken back what others borrowed."""
    market, holding = answer.market, answer.holding
    cluster = market.supply.cluster
    return diagnose(
        "CAP050",
        number_place(holding),
        f"the guarantee of {holding.tenant.name} on {cluster.name} holds after reclaim: "
        f"{answer.question} is proven with what others are guaranteed, not with their limits",
        label=f"{holding.guaranteed} of {holding.what}",
        related=[
            Related(at(cluster.document, "spec", "addons", "kueue"), "Kueue takes it back"),
            *_excesses(market, holding.tenant.name),
        ],
        help="workloads outside of Kueue's queues are bounded by their limits alone",
    )
