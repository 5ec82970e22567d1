"""Guarantees whose proofs came out otherwise: one that held and no longer holds, or the other way.

A proof that fails is an error of the later side as well; here it is held against what it was, since
often somebody else's limit is what changed. Proofs are made again only where a tier's supply, or a
number of its holders, differs between the sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dracfg.check.guarantees import number_place
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Span
from dracfg.diff.change import Change, change
from dracfg.diff.counterparts import same_platform
from dracfg.diff.markets import Place, markets_by_place
from dracfg.diff.pair import Pair
from dracfg.diff.words import few, plural
from dracfg.link.catalog import Catalog, Cluster
from dracfg.link.classes import watched_tiers
from dracfg.link.memo import per_catalog
from dracfg.plan.assurance import QUESTIONS, Assurance, assured
from dracfg.plan.promises import Holding, Market
from dracfg.plan.proofs.verdict import Proven

RANKS = ("refuted", "unknown", "conditional", "after reclaim", "proven")
"""What a proof came to, worst first."""
_UNDECIDED = ("CAP044", "CAP045", "CAP050")
_CODES = {
    "promised": ("CAP040", "CAP041", *_UNDECIDED),
    "fits": ("CAP042", *_UNDECIDED),
    "nonBlocking": ("CAP043", *_UNDECIDED),
}
"""Question -> what the rules on guarantees say of it."""
_MOST = 5

Told = Mapping[tuple[str, Span], Diagnostic]
Key = tuple[str, str, str, str, int]
"""Tenant, entitlement, part, question and devices of one claim."""


@dataclass(frozen=True, slots=True)
class _Answers:
    """What became of the proofs of one tier: the worst of its markets together, then each by itself."""

    together: str
    each: Mapping[Key, Assurance]
    promised: tuple[Holding, ...]


@dataclass(frozen=True, slots=True)
class _Moved:
    """One guarantee whose proof came out otherwise."""

    holding: Holding
    question: str
    devices: int
    before: str | None
    after: str


def proof_changes(pair: Pair) -> Iterator[Change]:
    """Tiers of clusters that stand on both sides; none where a side is not understood whole."""
    told = _told(pair.head.judgement.findings)
    for place, first, second in _answered(pair):
        for moved in _grouped(_compared(first, second)):
            yield _change(place, moved, told)


def moved_proofs(pair: Pair) -> Iterator[tuple[Place, Assurance | None, Assurance]]:
    """(place, proof before, proof after) of each guarantee whose proof came out otherwise."""
    for place, first, second in _answered(pair):
        for key, answer in second.each.items() if second is not None else ():
            other = first.each.get(key) if first is not None else None
            if _has_moved(word(other) if other is not None else None, word(answer)):
                yield place, other, answer


def _answered(pair: Pair) -> Iterator[tuple[Place, _Answers | None, _Answers | None]]:
    """The proofs of every tier that something differs for which a proof looks at."""
    before, after = pair.base.judgement.catalog, pair.head.judgement.catalog
    if before.poisoned or after.poisoned:
        return
    old, new = markets_by_place(before, after)
    for place in sorted(new):
        cluster, _, _ = place
        if cluster not in before.clusters:
            continue
        first, second = old.get(place, ()), new[place]
        if not is_same(before, after, first, second):
            yield place, _answers(before, first), _answers(after, second)


def _has_moved(before: str | None, after: str) -> bool:
    """A guarantee that is new and proven has not."""
    return before != after and not (before is None and after == "proven")


def word(answer: Assurance) -> str:
    """refuted, unknown, conditional, after reclaim or proven."""
    if not isinstance(answer.verdict, Proven):
        return answer.verdict.word
    if answer.is_conditional:
        return "conditional"
    return "after reclaim" if answer.reclaimed else "proven"


def is_same(
    before: Catalog, after: Catalog, first: Sequence[Market], second: Sequence[Market]
) -> bool:
    """Whether nothing that a proof looks at differs."""
    if len(first) != len(second):
        return False
    was, now = first[0].supply.cluster, second[0].supply.cluster
    return (
        same_platform(was, now)
        and all(map(_is_equal, first, second))
        and _watched(before, was) == _watched(after, now)
    )


@per_catalog
def _watched(catalog: Catalog, cluster: Cluster) -> tuple[str, ...]:
    return tuple(tier.name for tier in watched_tiers(catalog, cluster))


def _is_equal(one: Market, other: Market) -> bool:
    return (
        (one.supply.pool, one.supply.restored, one.exempt, one.foreign)
        == (other.supply.pool, other.supply.restored, other.exempt, other.foreign)
        and len(one.holdings) == len(other.holdings)
        and all(
            mine is its or _numbers(mine) == _numbers(its)
            for mine, its in zip(one.holdings, other.holdings, strict=True)
        )
    )


def _numbers(holding: Holding) -> tuple[object, ...]:
    return (
        holding.tenant.name,
        holding.name,
        holding.part.name,
        holding.kind,
        holding.guaranteed,
        holding.limit,
        holding.claims,
        holding.is_combined,
        holding.given_back,
    )


def _answers(catalog: Catalog, own: Sequence[Market]) -> _Answers | None:
    """None where nothing is promised."""
    promised = [h for market in own for h in market.holdings if h.is_promised]
    if not promised:
        return None
    together, each = "proven", {}
    for market in own:
        for answer in assured(catalog, market):
            if answer.question == "promised":
                together = min(together, word(answer), key=RANKS.index)
            else:
                each[proof_key(answer)] = answer
    ordered = sorted(promised, key=lambda holding: (-holding.guaranteed, holding.tenant.name))
    return _Answers(together, each, tuple(ordered))


def proof_key(answer: Assurance) -> Key:
    """What a proof is of, the same on both sides."""
    holding = answer.holding
    name = holding.grant.name if answer.question == "nonBlocking" else ""
    part = holding.part.name if answer.question == "nonBlocking" else ""
    return holding.tenant.name, name, part, answer.question, answer.devices


def _compared(first: _Answers | None, second: _Answers | None) -> Iterator[_Moved]:
    if second is None:
        return
    was = first.together if first is not None else None
    if _has_moved(was, second.together):
        for holding in second.promised:
            yield _Moved(holding, "promised", 1, was, second.together)
    for key, answer in second.each.items():
        other = first.each.get(key) if first is not None else None
        before, after = word(other) if other is not None else None, word(answer)
        if _has_moved(before, after):
            yield _Moved(answer.holding, answer.question, answer.devices, before, after)


def _grouped(moved: Iterator[_Moved]) -> Iterator[list[_Moved]]:
    """Those of one question that moved alike: one cause, however many tenants it reaches."""
    found: dict[tuple[str, str | None, str], list[_Moved]] = {}
    for one in moved:
        found.setdefault((one.question, one.before, one.after), []).append(one)
    yield from found.values()


def _told(findings: Sequence[Diagnostic]) -> Told:
    """What the rules on guarantees say of the later side, by code and the number it is said of."""
    codes = {code for known in _CODES.values() for code in known}
    return {
        (finding.code, finding.span): finding
        for finding in findings
        if finding.code in codes and finding.span is not None
    }


def _change(place: Place, moved: Sequence[_Moved], told: Told) -> Change:
    cluster, tier, _ = place
    first = moved[0]
    tenants = list(dict.fromkeys(one.holding.tenant.name for one in moved))
    kind = "proof-gained"
    if first.before is None:
        kind = "proof-missing"
    elif RANKS.index(first.after) < RANKS.index(first.before):
        kind = "proof-lost"
    spans = [number_place(one.holding) for one in moved]
    places = [(code, span) for span in spans for code in _CODES[first.question]]
    said = next((told[place] for place in places if place in told), None)
    namespaces = (p.name for one in moved for p in one.holding.tenant.places_on(cluster))
    return change(
        kind,
        f"proof of {tier}: {QUESTIONS[first.question]}",
        first.before,
        first.after,
        cluster=cluster,
        tenant=tenants[0] if len(tenants) == 1 else None,
        namespaces=dict.fromkeys(namespaces),
        span=spans[0],
        details=(*_whose(moved), *mend(said)),
    )


def _whose(moved: Sequence[_Moved]) -> Iterator[str]:
    names = [
        f"{one.holding.tenant.name} {one.holding.what}"
        + (f" in claims for {plural(one.devices, 'device')}" if one.devices > 1 else "")
        for one in moved
    ]
    yield f"guarantee of {few(names, _MOST)}"


def mend(said: Diagnostic | None) -> Iterator[str]:
    """What the finding on the later side says: why, and the least change that mends it."""
    if said is not None:
        yield f"{said.code}: {said.message}"
        if said.help:
            yield f"mended by: {said.help}"
