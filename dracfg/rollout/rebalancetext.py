"""A plan of a rebalance as a document for programs, and as text for people who carry it out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dracfg.allocate.claims import DeviceResult
from dracfg.audit.words import count
from dracfg.rollout.rebalance import Plan, Step
from dracfg.rollout.rebalanceproof import Landing
from dracfg.rollout.rebalancework import Work

_RESIZES = {
    "yes": "the driver can resize a share in place, but no claim can be changed once it is allocated",
    "no": "no share resizes in place",
    "unknown": "whether a share resizes in place is not known",
}


def plan_document(plan: Plan) -> dict[str, Any]:
    """`{cluster, policy, version, older, drivers[], steps[], unproven[], waiting[], …}`."""
    spec = plan.rollout.spec
    return {
        "verdict": plan.verdict,
        "cluster": plan.cluster.name,
        "policy": plan.policy.name,
        "version": plan.policy.version,
        "older": dict(plan.older),
        "drivers": [
            {
                "driver": plan.tier.driver.name,
                "resizesShareInPlace": plan.resizes,
                "so": "re-create",
            }
        ],
        "keptForGuarantees": plan.kept,
        "withoutRoom": [
            {
                "tenant": one.room.tenant,
                "entitlement": one.room.what,
                "devices": one.devices,
                "after": one.after,
            }
            for one in plan.short
        ],
        "steps": [_step(number, step) for number, step in enumerate(plan.steps, 1)],
        "unproven": [
            {**_work(one.work), "stage": one.stage, "why": one.why} for one in plan.blocked
        ],
        "waiting": [
            {"claims": list(one.claims), "who": one.who, "why": one.why} for one in plan.waiting
        ],
        "wayBack": list(_way_back(plan)) if spec.direction != "rollback" else [],
        "refused": None if plan.turned else _refusal(plan),
    }


def _work(work: Work) -> dict[str, Any]:
    controller = work.controller
    return {
        "kind": controller.kind,
        "namespace": controller.namespace,
        "name": controller.name,
        "pods": [one.pod.name for one in work.pods],
        "versions": list(work.versions),
    }


def _step(number: int, step: Step) -> dict[str, Any]:
    return {
        "number": number,
        "stage": step.stage,
        "now": step.now,
        **_work(step.work),
        "claims": [
            {
                "claim": one.renewed.held.ref,
                "template": one.renewed.template,
                "node": one.node,
                "before": [_device(result) for result in one.before],
                "after": [_device(result) for result in one.after],
            }
            for one in step.landings
        ],
        "commands": list(commands(step.work)),
    }


def _device(result: DeviceResult) -> dict[str, Any]:
    return {
        "driver": result.driver,
        "pool": result.pool,
        "device": result.device,
        "consumedCapacity": {
            key: str(one) for key, one in sorted(result.consumed_capacity.items())
        },
    }


def commands(work: Work) -> Iterator[str]:
    """What a person runs. The manifest is edited first where its pods name a template of before."""
    controller = work.controller
    manifest = f"<manifest of {controller.kind} {controller.name}>"
    current = {one.template for one in work.renewed}
    if work.templates - current:
        yield f"dracfg migrate workload {manifest} --bump --in-place"
        yield (
            f"kubectl --namespace {controller.namespace} delete {controller.kind.lower()} "
            f"{controller.name} --cascade=foreground"
        )
        yield f"kubectl apply --filename {manifest}"
        return
    pods = " ".join(one.pod.name for one in work.pods)
    yield f"kubectl --namespace {controller.namespace} delete pod {pods}"


def plan_text(plan: Plan) -> str:
    """The plan for a terminal."""
    return "\n".join(_lines(plan)) + "\n"


def _lines(plan: Plan) -> Iterator[str]:
    total = sum(plan.older.values())
    versions = ", ".join(f"{name} ({number})" for name, number in plan.older.items())
    yield f"rebalance of {plan.policy.name} on {plan.cluster.name}: {plan.verdict}"
    yield (
        f"  version in force {plan.policy.version}; {count(total, 'claim')} to be made anew"
        + (f" from {versions}" if versions else "")
    )
    if not plan.turned:
        yield f"  no step: {_refusal(plan)}"
        return
    yield f"  {plan.tier.driver.name}: {_RESIZES[plan.resizes]}, so claims are made anew"
    yield (
        f"  kept free at each step for what is guaranteed and not held: {count(plan.kept, 'device')}"
    )
    for short in plan.short:
        yield (
            f"  {short.room.tenant} is guaranteed {short.devices} of {short.room.what} more than there "
            f"is room for; after the last step {short.after}"
        )
    yield from _steps(plan.steps)
    if plan.blocked:
        yield "not proven, so no step"
        for one in plan.blocked:
            yield f"  {one.work.controller} (stage {one.stage}): {one.why}"
    if plan.waiting:
        yield "waits for a person"
        for waiting in plan.waiting:
            yield f"  {', '.join(waiting.claims)} of {waiting.who}: {waiting.why}"
    if plan.steps and plan.rollout.spec.direction != "rollback":
        yield "way back"
        yield from (f"  {line}" for line in _way_back(plan))


def _steps(steps: Iterable[Step]) -> Iterator[str]:
    head: tuple[str, bool] | None = None
    for number, step in enumerate(steps, 1):
        if head != (step.stage, step.now):
            head = step.stage, step.now
            yield f"stage {step.stage}" if step.now else f"stage {step.stage}, not yet"
        pods = count(len(step.work.pods), "pod")
        yield f"  {number}. {step.work.controller}: {pods}, from {', '.join(step.work.versions)}"
        for landing in step.landings:
            yield f"     {landing.renewed.held.ref}: {_before(landing)} -> {_after(landing)}"
        if step.now:
            yield from (f"     $ {command}" for command in commands(step.work))


def _before(landing: Landing) -> str:
    return _devices(landing.before)


def _after(landing: Landing) -> str:
    return f"{_devices(landing.after)} on {landing.node}"


def _devices(results: Iterable[DeviceResult]) -> str:
    return ", ".join(f"{one.pool}/{one.device}{_amounts(one.consumed_capacity)}" for one in results)


def _amounts(consumed: Mapping[str, object]) -> str:
    told = " ".join(f"{key} {amount}" for key, amount in sorted(consumed.items()))
    return f" ({told})" if told else ""


def _refusal(plan: Plan) -> str:
    name, version = plan.policy.name, plan.rollout.spec.version
    if plan.rollout.spec.direction == "rollback":
        return (
            f"{name} still has the numbers of {version}; put those of the older version back, which "
            "stand in retired/policy-versions.yaml, and compile"
        )
    return f"{name} has other numbers than those of {version}"


def _way_back(plan: Plan) -> Iterator[str]:
    older = ", ".join(plan.older)
    yield f"dracfg rollout rollback {plan.rollout.name} --record record.json"
    yield (
        f"put the numbers of {older} back into {plan.policy.name} (they stand in "
        "retired/policy-versions.yaml), and dracfg compile"
    )
    taken = sum(step.now for step in plan.steps)
    if taken:
        order = f"from step {taken} down to step 1" if taken > 1 else "step 1"
        yield (
            f"then {order}, as far as they were taken, by the same commands: what each held before is "
            "free once it has ended"
        )
