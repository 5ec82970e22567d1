"""LIV052, LIV053, LIV065: what the kubelet and the drivers say of devices in use.

dracfg taints nothing: it writes the `quarantine` entry that would, with what that breaks.
Sources: KEP-4680 (allocatedResourcesStatus), KEP-5055 (device taints).
"""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.audit.finding import LiveFinding, LiveRule, live, related
from dracfg.audit.pods import DeviceHealth, Pod
from dracfg.audit.quarantining import breaks, entry, stays
from dracfg.audit.view import DeviceId, Holding, View
from dracfg.audit.words import (
    claim_object,
    claims_of,
    device_name,
    device_object,
    named,
    pod_object,
)

_SEVERE = ("NoSchedule", "NoExecute")


def unhealthy(view: View) -> Iterator[LiveFinding]:
    """LIV052: the kubelet reports Unhealthy. LIV065: it does not know."""
    told: set[tuple[str, DeviceId | str]] = set()
    for _, pod in sorted(view.dump.pods.items()):
        if pod.finished:
            continue
        for health in pod.health:
            if health.health == "Healthy" or not health.resource.startswith("claim:"):
                continue
            holding = _holding(view, pod, health)
            key = (health.health, holding.id if holding is not None else health.resource_id)
            if key not in told:
                told.add(key)
                yield _ill(view, pod, health, holding)


def _holding(view: View, pod: Pod, health: DeviceHealth) -> Holding | None:
    """The device that a health entry is about.

    Its id is `<driver>/<pool>/<device>`, or the first CDI id of the device, which by the common way
    of naming ends in the device's name (kubernetes/kubernetes@v1.37.2:pkg/kubelet/cm/dra/manager.go).
    """
    name, _, request = health.resource.removeprefix("claim:").partition("/")
    claims = {one.claim for one in pod.claims if one.name == name}
    held = [
        holding
        for holding in view.holdings
        if holding.claim.claim.namespace == pod.namespace
        and holding.claim.claim.name in claims
        and (not request or holding.result.request.partition("/")[0] == request)
    ]
    exact = [
        holding
        for holding in held
        if "/".join(holding.id) == health.resource_id
        or health.resource_id.endswith((f"={holding.id[2]}", f"-{holding.id[2]}"))
    ]
    if exact:
        return max(exact, key=lambda holding: len(holding.id[2]))
    return held[0] if len(held) == 1 else None


def _ill(view: View, pod: Pod, health: DeviceHealth, holding: Holding | None) -> LiveFinding:
    unknown = health.health != "Unhealthy"
    what = device_name(holding.id) if holding is not None else health.resource_id
    broken = breaks(view, holding) if holding is not None and not unknown else None
    step = "see whether the driver still reports; without news for 30 s the kubelet says Unknown"
    if not unknown:
        step = (
            f"commit `quarantine: [{entry(view, holding, health.message)}]` to the pool; "
            f"{stays(view, holding)}"
            if holding is not None
            else "find the device by its id, and quarantine it"
        )
    return live(
        "LIV065" if unknown else "LIV052",
        "needsPerson",
        pod.origin.span("status", "containerStatuses"),
        f"{what} is {'not known to be healthy' if unknown else 'unhealthy'}, and pod {pod.ref} uses it",
        label=health.message or f"container {health.container}",
        related=related(holding.span("device"), "allocated here") if holding is not None else (),
        found="; ".join(filter(None, (f"health {health.health}", health.message, broken))),
        expected="Healthy",
        step=step,
        objects=[
            *(
                [device_object(holding.id), claim_object(holding.claim)]
                if holding is not None
                else []
            ),
            pod_object(pod),
        ],
    )


def tainted(view: View) -> Iterator[LiveFinding]:
    """LIV053: a device that carries a taint against use, and is held."""
    for key, held in view.by_device.items():
        taking = [holding for holding in held if holding.takes]
        device = taking[0].device if taking else None
        if device is None:
            continue
        taints = [
            f"{taint.key}:{taint.effect}" for taint in device.taints if taint.effect in _SEVERE
        ] + [
            f"{rule.taint.key}:{rule.taint.effect} (rule {rule.name})"
            for rule in view.dump.inventory.taint_rules
            if rule.taint.effect in _SEVERE and rule.selects(key)
        ]
        if not taints:
            continue
        broken = breaks(view, taking[0])
        yield live(
            "LIV053",
            "needsPerson",
            taking[0].span("device"),
            f"{device_name(key)} is tainted, and {claims_of(taking)} "
            f"{'hold' if len({h.claim.ref for h in taking}) > 1 else 'holds'} it",
            label=named(taints),
            related=related(device.origin.span("taints"), "published"),
            found="; ".join(filter(None, (named(taints), broken))),
            expected="no taint, or no claim",
            step=f"ask the owners to move; {stays(view, taking[0])}",
            objects=[device_object(key), *(claim_object(holding.claim) for holding in taking)],
        )


RULES: tuple[LiveRule, ...] = (unhealthy, tainted)
