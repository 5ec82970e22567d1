"""What moved, as pictures of before and after on one scale.

Made from the states behind a plan rather than from its document, which has no arrangement and no line of
stages; what they show stands in the document as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice

from dracfg.dataclass import dataclass
from dracfg.diff.capacity import moved_estimates
from dracfg.diff.counterparts import alike
from dracfg.diff.jointproofs import moved_joint_proofs
from dracfg.diff.jointproofs import word as joint_word
from dracfg.diff.plan import DiffPlan
from dracfg.diff.proofs import moved_proofs, word
from dracfg.diff.shown import Shown
from dracfg.link.catalog import Catalog
from dracfg.link.gates import rollout_gates
from dracfg.link.moves import holds_tier
from dracfg.model import kinds
from dracfg.picture import (
    Column,
    arrangement,
    columns_of,
    joint_arrangement,
    matrix,
    stageline,
    waterfall,
)
from dracfg.plan.assurance import QUESTIONS, Assurance, markets
from dracfg.plan.estimate import Estimate
from dracfg.plan.jointassurance import JointAssurance

MOST = 40
"""Pairs that are drawn; the others are counted."""

_ABSENT = "not there"
_UNDRAWN = "by numbers alone"


@dataclass(frozen=True, slots=True)
class Sight:
    """One side of a pair: `<svg>` text, or None and what is said in its place."""

    svg: str | None
    words: str = ""


@dataclass(frozen=True, slots=True)
class SideBySide:
    """One thing before and after."""

    title: str
    before: Sight
    after: Sight


@dataclass(frozen=True, slots=True)
class Drawn:
    """The pairs of a plan; `left` are those that are not drawn."""

    pairs: tuple[SideBySide, ...] = ()
    left: int = 0


def draw_changes(plan: DiffPlan) -> Drawn:
    """Capacity of each tier whose figures moved, tenants whose numbers did, proofs that came out
    otherwise, and rollouts that went on; none where a side is a cluster or a tree of objects.
    """
    if plan.shown is None:
        return Drawn()
    found = _pairs(plan.shown)
    pairs = tuple(islice(found, MOST))
    return Drawn(pairs, sum(1 for _ in found))


def _pairs(shown: Shown) -> Iterator[SideBySide]:
    numbers = count(1)
    for make in (_capacity, _tenants, _proofs, _joint_proofs, _rollouts):
        yield from make(shown, numbers)


def _ids(numbers: Iterator[int]) -> tuple[str, str]:
    number = next(numbers)
    return f"dracfg-before-{number}", f"dracfg-after-{number}"


def _capacity(shown: Shown, numbers: Iterator[int]) -> Iterator[SideBySide]:
    """Of clusters alone, as the table of capacity is."""
    for moved in moved_estimates(shown.pair) if not shown.tenants else ():
        cluster, tier, _ = moved.place
        if shown.has_cluster(cluster):
            first, second = _ids(numbers)
            yield SideBySide(
                f"Capacity of {tier} on {cluster}: {moved.key}",
                _waterfall(moved.before, moved.after, first),
                _waterfall(moved.after, moved.before, second),
            )


def _waterfall(own: Estimate | None, other: Estimate | None, ident: str) -> Sight:
    if own is None:
        return Sight(None, _ABSENT)
    return Sight(waterfall(own, ident, beside=(other,) if other is not None else ()))


def _tenants(shown: Shown, numbers: Iterator[int]) -> Iterator[SideBySide]:
    """The columns of a cluster in which a tenant's numbers moved, with the rows of those tenants."""
    if not _is_understood(shown):
        return
    before, after = (
        _columns(side.judgement.catalog) for side in (shown.pair.base, shown.pair.head)
    )
    for cluster in sorted({column.cluster for column in (*before.values(), *after.values())}):
        if not shown.has_cluster(cluster):
            continue
        names = [
            name
            for name, column in (before | after).items()
            if column.cluster == cluster and any(_moved(before, after, name, shown))
        ]
        tenants = sorted({t for name in names for t in _moved(before, after, name, shown)})
        if tenants:
            sides = [[_or_empty(own, other, n) for n in names] for own, other in
                     ((before, after), (after, before))]  # fmt: skip
            first, second = _ids(numbers)
            yield SideBySide(
                f"Guarantees and limits on {cluster}",
                Sight(matrix(sides[0], tenants, first, beside=sides[1])),
                Sight(matrix(sides[1], tenants, second, beside=sides[0])),
            )


Columns = dict[str, Column]


def _columns(catalog: Catalog) -> Columns:
    return {column.name: column for column in columns_of(markets(catalog))}


def _or_empty(own: Columns, other: Columns, name: str) -> Column:
    return own[name] if name in own else replace(other[name], promiseable=0, cells={})


def _moved(before: Columns, after: Columns, name: str, shown: Shown) -> Iterator[str]:
    """Tenants whose numbers in a column differ."""
    first, second = (side[name].cells if name in side else {} for side in (before, after))
    for tenant in {**first, **second}:
        if first.get(tenant) != second.get(tenant) and shown.has_tenant(tenant):
            yield tenant


def _is_understood(shown: Shown) -> bool:
    """Whether both sides are understood whole, so that what is absent does not exist."""
    sides = (shown.pair.base, shown.pair.head)
    return not any(side.judgement.catalog.poisoned for side in sides)


def _proofs(shown: Shown, numbers: Iterator[int]) -> Iterator[SideBySide]:
    """Proofs with the same outcome on both sides, as of tenants with the same numbers, are one pair."""
    seen: set[tuple[object, ...]] = set()
    for place, before, after in moved_proofs(shown.pair):
        (cluster, tier, _), holding = place, after.holding
        if not (shown.has_cluster(cluster) and shown.has_tenant(holding.tenant.name)):
            continue
        verdicts = [None if one is None else id(one.verdict) for one in (before, after)]
        key = (place, after.question, holding.kind, after.devices, *verdicts)
        first, second = _ids(numbers)
        sides = _proof(before, first), _proof(after, second)
        if key not in seen and any(side.svg is not None for side in sides):
            seen.add(key)
            several = f" for {after.devices:,} devices" if after.devices > 1 else ""
            yield SideBySide(
                f"Proof of {tier} on {cluster}: {QUESTIONS[after.question]}, "
                f"{holding.tenant.name} {holding.what}{several}",
                *sides,
            )


def _proof(proof: Assurance | None, ident: str) -> Sight:
    if proof is None:
        return Sight(None, "not promised")
    svg = arrangement(proof, ident)
    return Sight(svg, word(proof) if svg is not None else f"{word(proof)} {_UNDRAWN}")


def _joint_proofs(shown: Shown, numbers: Iterator[int]) -> Iterator[SideBySide]:
    for before, after in moved_joint_proofs(shown.pair):
        demand = after.demand
        askers = {asker.tenant.name for asker in demand.askers}
        if not (shown.has_cluster(demand.cluster.name) and any(map(shown.has_tenant, askers))):
            continue
        first, second = _ids(numbers)
        sides = _joint_proof(before, first), _joint_proof(after, second)
        if any(side.svg is not None for side in sides):
            yield SideBySide(
                f"Proof of profile {demand.largest.profile.name} on {demand.cluster.name}: "
                f"{QUESTIONS[after.question]}",
                *sides,
            )


def _joint_proof(proof: JointAssurance | None, ident: str) -> Sight:
    if proof is None:
        return Sight(None, "not promised")
    svg = joint_arrangement(proof, ident)
    said = joint_word(proof)
    return Sight(svg, said if svg is not None else f"{said} {_UNDRAWN}")


def _rollouts(shown: Shown, numbers: Iterator[int]) -> Iterator[SideBySide]:
    """A rollout is nobody's own, so it is shown where no tenant is asked for."""
    if shown.tenants or not _is_understood(shown):
        return
    before, after = shown.pair.base.judgement.catalog, shown.pair.head.judgement.catalog
    for name in sorted({*before.rollouts, *after.rollouts}):
        old, new = before.rollouts.get(name), after.rollouts.get(name)
        same = old is not None and new is not None and alike(old.spec, new.spec)
        if same or not any(_reaches(side, shown, name) for side in (before, after)):
            continue
        first, second = _ids(numbers)
        yield SideBySide(
            f"Rollout {name}", _stageline(before, old, first), _stageline(after, new, second)
        )


def _reaches(catalog: Catalog, shown: Shown, name: str) -> bool:
    """Whether a rollout moves pools of a cluster that is shown."""
    rollout = catalog.rollouts.get(name)
    return rollout is not None and any(
        holds_tier(pool.document, rollout.spec.tier) and shown.has_cluster(pool.cluster)
        for pool in catalog.pools.values()
    )


def _stageline(catalog: Catalog, rollout: kinds.Rollout | None, ident: str) -> Sight:
    if rollout is None:
        return Sight(None, _ABSENT)
    pools = {name: pool.document for name, pool in catalog.pools.items()}
    return Sight(stageline(rollout, pools, ident, rollout_gates(catalog, rollout.spec)))
