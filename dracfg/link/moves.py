"""Rollouts → what holds now: who hands out a pool's devices, which pools are fenced, who may claim.

A stage stands for all of its pools and tenants; `start` for none. On the way forward the pools that come
next are fenced until they are empty; in a rollback those that came last are, and the tenants that came
with them get no new claims, while what they hold stays, and stays counted. Knows only documents, so that
linking, lowering and the commands that move a rollout say the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import takewhile

from dracfg.dataclass import dataclass
from dracfg.model import kinds
from dracfg.model.pool import PoolState
from dracfg.model.rollout import START, RolloutSpec, Split, Stage, Subject

Pools = Mapping[str, kinds.NodePool]


@dataclass(frozen=True, slots=True)
class Move:
    """What a rollout makes of one pool that some stage of it moves.

    `moved`: the pool is as the rollout has it. `fenced`: it lets nothing new in, on its way there or
    back.
    """

    rollout: kinds.Rollout
    moved: bool
    fenced: bool


def position(spec: RolloutSpec) -> int:
    """Where a rollout stands among its stages; -1 at `start`, and where no stage has the name."""
    names = [stage.name for stage in spec.stages]
    return names.index(spec.stage) if spec.stage in names else -1


def stages_of(spec: RolloutSpec) -> tuple[str, ...]:
    """Every place that a rollout can stand at, in order."""
    return (START, *(stage.name for stage in spec.stages))


def holds_tier(pool: kinds.NodePool, tier: str) -> bool:
    """Whether nodes of the pool carry devices of the tier."""
    return any(devices.tier == tier for devices in pool.spec.devices)


def pools_at(spec: RolloutSpec, place: int, pools: Pools) -> frozenset[str]:
    """The pools of the tier that have moved at a place; none at -1."""
    if place < 0:
        return frozenset()
    named = spec.stages[place].pools
    return frozenset(
        name
        for name, pool in pools.items()
        if holds_tier(pool, spec.tier) and (named == "*" or name in named)
    )


def has_tenant(stage: Stage, tenant: str) -> bool:
    """Whether a tenant is part of a stage."""
    return stage.tenants == "*" or tenant in stage.tenants


def claims_now(spec: RolloutSpec, tenant: str, *, by_plugin: bool) -> bool:
    """Whether new work of a tenant may use what the tier moves to.

    `by_plugin` says whether some pool of the cluster takes new work the old way. Tenants join while the
    pools of their stage are being fenced, and on the way back stay while there is no other way for
    them: nobody is ever without a path.
    """
    place = position(spec)
    if spec.direction == "rollback":
        if by_plugin:
            place -= 1
    elif spec.phase == "fenced" and place + 1 < len(spec.stages):
        place += 1
    return place >= 0 and has_tenant(spec.stages[place], tenant)


def split_now(spec: RolloutSpec, tenant: str) -> Split | None:
    """How a tenant's limit is split between both paths where the rollout stands, if it says so.

    Who may make no new claims has the whole limit by plugin, unless claims of a later stage may be left:
    those stay counted, by the split of the first stage from here on that names the tenant. Where that
    leaves the plugin nothing, a tenant would be without a path: it has all of its limit there.
    """
    place = position(spec)
    if place < 0:
        return None
    if leaves_claims(spec):
        kept = next((one.split[tenant] for one in spec.stages[place:] if tenant in one.split), None)
        alone = kept is not None and kept.plugin == 0
        return None if alone and not claims_now(spec, tenant, by_plugin=True) else kept
    joined = claims_now(spec, tenant, by_plugin=True)
    return spec.stages[place].split.get(tenant) if joined else None


def leaves_claims(spec: RolloutSpec) -> bool:
    """Whether tenants of later stages may hold claims: on the way back, and from where it was left.

    That it has turned back since its start is told by its evidence.
    """
    if spec.direction == "rollback":
        return True
    since = takewhile(lambda one: one.stage != START, reversed(spec.evidence))
    return any(one.direction == "rollback" for one in since)


def fenced_pools(spec: RolloutSpec, pools: Pools) -> frozenset[str]:
    """The pools that let nothing new in: those that move next, or those that move back.

    A rebalance fences none, since what it ends comes back to the same pools.
    """
    place = position(spec)
    if spec.subject == "rebalance":
        return frozenset()
    here = pools_at(spec, place, pools)
    if spec.direction == "rollback":
        return here - pools_at(spec, place - 1, pools)
    if spec.phase == "fenced" and place + 1 < len(spec.stages):
        return pools_at(spec, place + 1, pools) - here
    return frozenset()


def moves(rollouts: Iterable[kinds.Rollout], pools: Pools) -> dict[str, tuple[Move, ...]]:
    """What becomes of each pool that some rollout moves, by the pool's name; a rebalance moves none."""
    found: dict[str, list[Move]] = {}
    for rollout in rollouts:
        spec = rollout.spec
        if spec.subject == "rebalance":
            continue
        now, fenced = pools_at(spec, position(spec), pools), fenced_pools(spec, pools)
        ever = frozenset[str]().union(
            *(pools_at(spec, place, pools) for place in range(len(spec.stages)))
        )
        for name in sorted(ever):
            found.setdefault(name, []).append(
                Move(rollout, moved=name in now, fenced=name in fenced)
            )
    return {name: tuple(reached) for name, reached in found.items()}


def of_ownership(reached: Iterable[Move], tiers: Collection[str]) -> tuple[Move, ...]:
    """Those of a pool's moves that change who hands out the devices of some tiers."""
    return _about(reached, "ownership", tiers)


def _about(reached: Iterable[Move], subject: Subject, tiers: Collection[str]) -> tuple[Move, ...]:
    return tuple(
        move
        for move in reached
        if move.rollout.spec.subject == subject and move.rollout.spec.tier in tiers
    )


def has_come(reached: Iterable[Move], subject: Subject, tiers: Collection[str]) -> bool | None:
    """Whether what a rollout of some tiers brings is on a pool already; None where none brings it."""
    found = _about(reached, subject, tiers)
    return any(move.moved for move in found) if found else None


def gates_now(reached: Iterable[Move]) -> tuple[str, ...]:
    """The feature gates that rollouts have brought to a pool's kubelets, by name."""
    specs = [move.rollout.spec for move in reached if move.moved]
    return tuple(
        sorted({spec.gate for spec in specs if spec.subject == "featureGate" and spec.gate})
    )


def state_now(said: PoolState, reached: Iterable[Move]) -> PoolState:
    """The state of a pool whose document says one: at least draining while it is fenced."""
    fenced = any(move.fenced for move in reached)
    return "draining" if fenced and said in ("open", "frozen") else said
