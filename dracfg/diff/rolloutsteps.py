"""DIF005-DIF007, DIF013 and DIF014: steps of rollouts that are illegal, and what may not move beside them.

A rollout fences what moves next, waits until it is empty, and moves it: three states, so three commits.
It turns in a commit of its own. Whether gates are met is judged where they are recorded.
"""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.check.places import place
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.diff.counterparts import alike
from dracfg.diff.machines import machine, transition_data
from dracfg.diff.pair import Pair
from dracfg.link.catalog import Catalog
from dracfg.link.moves import position, stages_of
from dracfg.model import kinds
from dracfg.model.rollout import START, RolloutSpec, Stage

_SUBJECT = ("tier", "subject", "sharing", "version", "replaces", "gate")
_QUIET = ("halted", "rollback")


def rollout_steps(pair: Pair) -> Iterator[Diagnostic]:
    """DIF005 for a stage, DIF006 for a subject or for stages behind it, DIF007 for a direction."""
    before, after = pair.base.judgement.catalog.rollouts, pair.head.judgement.catalog.rollouts
    for name, new in after.items():
        old = before.get(name)
        if old is None:
            yield from _begun(new)
        elif not alike(old.spec, new.spec):
            yield from _subject(old, new, _removed(pair.base.judgement.catalog))
            yield from _moved(old, new)
    if pair.head.judgement.catalog.is_complete("Rollout"):
        for name, old in before.items():
            if name not in after and not _is_over(old.spec):
                yield _abandoned(pair, old)


def rollout_companions(pair: Pair) -> Iterator[Diagnostic]:
    """DIF013 for a policy, DIF014 for a driver that changes in the same commit."""
    before, after = pair.base.judgement.catalog, pair.head.judgement.catalog
    for name, new in after.rollouts.items():
        old = before.rollouts.get(name)
        if _steps_on(old, new):
            yield from _policies(before, after, new)
        if old is not None and {old.spec.direction, new.spec.direction} & set(_QUIET):
            yield from _driver(before, after, old, new)


def _begun(new: kinds.Rollout) -> Iterator[Diagnostic]:
    if position(new.spec) >= 0:
        yield diagnose(
            "DIF005",
            place(new, "spec", "stage"),
            f"rollout {new.name} is new and stands at {new.spec.stage} already: its pools would go over "
            "with work on them",
            found=new.spec.stage,
            expected=START,
            help=f"begin with `stage: {START}`, then fence with `phase: fenced`, then move to "
            f"{new.spec.stages[0].name}, each in a commit of its own; `dracfg rollout advance` does it",
        )


def _moved(old: kinds.Rollout, new: kinds.Rollout) -> Iterator[Diagnostic]:
    was, now = position(old.spec), position(new.spec)
    turned = old.spec.direction != new.spec.direction
    if turned and not machine("direction").allows(old.spec.direction, new.spec.direction):
        yield _turn(old, new, "it can't turn that way")
    if was == now:
        return
    if turned:
        yield _turn(old, new, "it moves and turns in one commit")
        return
    step = int(transition_data()["direction"]["moves"][new.spec.direction])
    if step == 0:
        yield _stage(old, new, "it is halted, and moves all the same", old.spec.stage)
    elif now - was != step:
        places = stages_of(new.spec)
        named = [stage for stage in places if stage == old.spec.stage]
        following = places.index(named[0]) + step if named else 0
        expected = places[following] if 0 <= following < len(places) else old.spec.stage
        yield _stage(old, new, "it leaves stages out, or goes the other way", expected)
    elif step > 0 and _is_unfenced(old.spec, new.spec):
        yield _stage(
            old, new, "the pools that move were not fenced, so work may be on them", old.spec.stage
        )


def _is_unfenced(old: RolloutSpec, new: RolloutSpec) -> bool:
    """Whether pools move that were not fenced before; a rebalance moves none."""
    return new.subject != "rebalance" and (old.phase != "fenced" or new.phase != "open")


def _stage(old: kinds.Rollout, new: kinds.Rollout, why: str, expected: str) -> Diagnostic:
    return diagnose(
        "DIF005",
        place(new, "spec", "stage"),
        f"rollout {new.name} goes from {_where(old.spec)} to {_where(new.spec)}: {why}",
        found=f"{_where(old.spec)} -> {_where(new.spec)}",
        expected=expected,
        help=_way(new.spec),
    )


def _turn(old: kinds.Rollout, new: kinds.Rollout, why: str) -> Diagnostic:
    return diagnose(
        "DIF007",
        place(new, "spec", "direction"),
        f"rollout {new.name} goes from {_where(old.spec)} to {_where(new.spec)}: {why}",
        found=f"{old.spec.direction} -> {new.spec.direction}",
        expected=f"{new.spec.direction} at {old.spec.stage}",
        help="turn first and leave `stage` as it is; a rollback fences what moves back, and moves it "
        "in a later commit",
    )


def _where(spec: RolloutSpec) -> str:
    fenced = ", fenced" if spec.phase == "fenced" else ""
    return f"{spec.stage} ({spec.direction}{fenced})"


def _way(spec: RolloutSpec) -> str:
    places = ", ".join(stages_of(spec))
    if spec.direction == "rollback":
        return f"back by one stage of {places} at a time, each in a commit of its own"
    return (
        f"stages come one by one: {places}; fence with `phase: fenced`, wait until the pools are empty, "
        "then move on, each in a commit of its own"
    )


def _removed(catalog: Catalog) -> frozenset[str]:
    """Tenants that have nothing any more: a rollout may forget them, or they could never leave git."""
    states = {name: tenant.document.spec.state for name, tenant in catalog.tenants.items()}
    return frozenset(name for name, state in states.items() if state == "removed")


def _subject(old: kinds.Rollout, new: kinds.Rollout, gone: frozenset[str]) -> Iterator[Diagnostic]:
    """What has begun stays what it is; stages that were passed, and evidence, are what happened."""
    spec = old.spec
    if position(spec) < 0 and spec.phase == "open":
        return
    for key in _SUBJECT:
        was, now = getattr(spec, key), getattr(new.spec, key)
        if was != now:
            yield _remade(new, key, f"{was}", f"{now}", f"`{key}` of a rollout that is under way")
    passed = position(spec) + 1 + (spec.phase == "fenced")
    for i, stage in enumerate(spec.stages[:passed]):
        other = new.spec.stages[i] if i < len(new.spec.stages) else None
        if other is None or not alike(_reach(stage, gone), _reach(other, gone)):
            found = other.name if other is not None else "nothing"
            yield _remade(new, "stages", stage.name, found, "a stage that pools have come to")
            return
    kept = new.spec.evidence[: len(spec.evidence)]
    if not alike(spec.evidence, kept):
        yield _remade(new, "evidence", "recorded", "rewritten", "evidence that is only added to")


def _reach(stage: Stage, gone: frozenset[str]) -> tuple[object, ...]:
    tenants = stage.tenants
    left = tenants if tenants == "*" else tuple(name for name in tenants if name not in gone)
    return stage.name, stage.pools, left


def _remade(new: kinds.Rollout, key: str, was: str, now: str, what: str) -> Diagnostic:
    return diagnose(
        "DIF006",
        place(new, "spec", key),
        f"rollout {new.name} changes on its way: {what}",
        found=f"{was} -> {now}",
        expected=was,
        help=f"restore `{key}`; for another subject roll back to {START} first, or finish, and write a "
        "rollout of its own",
    )


def _is_over(spec: RolloutSpec) -> bool:
    """Whether nothing hangs on the rollout any more: all has moved, or nothing has.

    Nothing ever hangs on a rebalance: claims stay what they are without it.
    """
    if spec.subject == "rebalance":
        return True
    if spec.phase == "fenced":
        return False
    at = position(spec)
    return at < 0 or (at == len(spec.stages) - 1 and spec.direction == "forward")


def _abandoned(pair: Pair, old: kinds.Rollout) -> Diagnostic:
    return diagnose(
        "DIF006",
        place(old, "metadata", "name"),
        f"rollout {old.name} is taken out of git at {_where(old.spec)}: its pools would fall back to "
        "what they say themselves, with work on them",
        label=f"stands in {pair.base.name} alone",
        found=f"{old.spec.stage} -> no document",
        expected=f"{old.spec.stages[-1].name} or {START}",
        help=f"finish at {old.spec.stages[-1].name}, or roll back to {START}; then take it out, and let "
        "the pools say what has become of them in the same commit",
    )


def _steps_on(old: kinds.Rollout | None, new: kinds.Rollout) -> bool:
    if old is None:
        return position(new.spec) >= 0 or new.spec.phase == "fenced"
    return position(old.spec) != position(new.spec) or old.spec.phase != new.spec.phase


def _policies(before: Catalog, after: Catalog, new: kinds.Rollout) -> Iterator[Diagnostic]:
    """Policies of the tier's pools that have other numbers than the ones the last stage ran with."""
    tier = new.spec.tier
    names = {
        policy.name
        for pool in after.pools.values()
        for devices in pool.devices
        if devices.tier.name == tier
        for policy in devices.policies
    }
    names |= {new.spec.sharing} if new.spec.sharing is not None else set()
    for name in sorted(names):
        policy, was = after.policies.get(name), before.policies.get(name)
        if policy is None or policy.document is None:
            continue
        if was is not None and was.version == policy.version:
            continue
        yield diagnose(
            "DIF013",
            place(policy.document, "spec"),
            f"policy {name} changes in the commit in which rollout {new.name} goes on: if a gate fails, "
            "nothing tells which of the two it was",
            related=[Related(place(new, "spec", "stage"), f"now at {_where(new.spec)}")],
            found=f"{was.version if was is not None else 'no policy'} -> {policy.version}",
            expected="a commit for each",
            help=f"change {name} first and let that sync; move {new.name} in a later commit",
        )


def _driver(
    before: Catalog, after: Catalog, old: kinds.Rollout, new: kinds.Rollout
) -> Iterator[Diagnostic]:
    tier = after.tiers.get(new.spec.tier)
    was = before.drivers.get(tier.driver.name) if tier is not None else None
    if tier is None or was is None:
        return
    first, second = was.document.spec, tier.driver.document.spec
    direction = new.spec.direction if new.spec.direction in _QUIET else old.spec.direction
    for key, name in (
        ("version", "version"),
        ("values", "values"),
        ("feature_gates", "featureGates"),
    ):
        if alike(getattr(first, key), getattr(second, key)):
            continue
        yield diagnose(
            "DIF014",
            place(tier.driver.document, "spec", name),
            f"`{name}` of {tier.driver.name} changes while rollout {new.name} of {tier.name} is "
            f"{'halted' if direction == 'halted' else 'rolling back'}: running work counts on the "
            "driver as it is, and evidence is compared with it",
            related=[Related(place(new, "spec", "direction"), _where(new.spec))],
            found=f"`{name}` changed",
            expected=f"the driver as it was at {old.spec.stage}",
            help="finish the rollback, or go forward again, and let that sync; change the driver in a "
            "later commit",
        )
