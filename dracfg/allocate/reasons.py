"""Why a request finds too few devices on a node, in the words of a report."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dracfg.allocate.constrained import Bound
from dracfg.allocate.devices import Device
from dracfg.allocate.narrowing import Ground, Narrowed
from dracfg.kube.quantity import Quantity
from dracfg.link.claims import Ask, ClaimRequest

_PLURAL = re.compile(r"\b(misses|exceeds)\b")


def in_the_way(
    ask: Ask,
    request: ClaimRequest,
    ground: Ground,
    own: Sequence[Device],
    found: Narrowed,
    wanted: int,
    under: Bound | None,
) -> str | None:
    """The first step after which devices are too few, in words; None where they suffice.

    `own` are the devices of the class's driver, `wanted` those of all requests like this one.
    """
    taken = found.selected[-1]
    shared = bool(taken) and all(device.allow_multiple_allocations for device in taken)
    least = ask.count if shared else wanted
    if len(own) < least:
        return f"{_devices(len(own)) if own else 'no device'} of {ask.plan.tier.driver.name} here"
    if len(taken) < least and ask.chosen is not None and len(found.selected[-2]) >= least:
        chosen = [*ask.chosen.attributes, *ask.chosen.capacity]
        return f"{_devices(len(taken))} with the {' and '.join(chosen)} that it chooses"
    if len(taken) < least:
        kept = {id(device) for device in taken}
        missed = [device for device in own if id(device) not in kept]
        near = ground.selection.near_miss(ask.plan, missed)
        if near is None:
            return f"class {ask.plan.name} takes {_devices(len(taken))}"
        return _counted(near.text, len(near.devices), len(own))
    if len(found.roomy) < least:
        kept = {id(device) for device in found.roomy}
        return _no_room(ask, [device for device in taken if id(device) not in kept])
    if len(found.untainted) < least:
        taints = [
            refused[0]
            for device in found.roomy
            if (refused := ground.restrictions.taints_against(device, request.tolerations))
        ]
        text = f"{taints[0].key}={taints[0].value}:{taints[0].effect}"
        return f"{_devices(len(taints))} tainted {text}"
    if under is not None and under.most < wanted:
        return under.reason
    return None


def _no_room(ask: Ask, missed: Sequence[Device]) -> str:
    """What the devices lack that come nearest to the capacity that is asked for."""
    short: dict[tuple[str, Quantity], int] = {}
    for device in missed:
        for key, amount in ask.plan.capacity.items():
            fact = device.capacity_fact(key)
            if fact is None:
                return f"capacity {key} is not published under that name"
            if fact.value < amount:
                by = amount - fact.value
                short[key, by] = short.get((key, by), 0) + 1
    if not short:
        named = ", ".join(f"{key} {amount}" for key, amount in ask.plan.capacity.items())
        return f"the request policies of {_devices(len(missed))} don't take {named}"
    (key, by), count = min(short.items(), key=lambda item: (item[0][1], -item[1], item[0][0]))
    return f"{_devices(count)} miss{'es' if count == 1 else ''} {key} by {by}"


def _counted(text: str, count: int, seen: int) -> str:
    """`productName is "…"`, `4 devices miss memory by 256Mi`; how many, where it is not all."""
    if text.startswith(("misses", "exceeds")):
        return f"{_devices(count)} {text if count == 1 else _PLURAL.sub(_without_ending, text)}"
    return text if count == seen else f"{text} on {count} of {seen}"


def _without_ending(verb: re.Match[str]) -> str:
    return verb[0].removesuffix("es") if verb[0] == "misses" else verb[0].removesuffix("s")


def _devices(count: int) -> str:
    return f"{count} device{'' if count == 1 else 's'}"
