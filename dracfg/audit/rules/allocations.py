"""LIV030-034 and LIV059: what is allocated, against what is published. Sums are exact.

The scheduler keeps these bounds itself; where one does not hold, two allocators were at work, the
API server was written to by hand, or a driver has changed what it publishes under its claims.
"""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.allocate.devices import Device
from dracfg.audit.finding import LiveFinding, LiveRule, live, related
from dracfg.audit.nodes import lost_node
from dracfg.audit.view import DeviceId, Holding, View
from dracfg.audit.words import (
    claim_object,
    claims_of,
    count,
    device_name,
    device_object,
    evidence,
    named,
)
from dracfg.diagnostics import Related
from dracfg.kube.quantity import Quantity
from dracfg.model.sharing import Consumable

_BUS = "resource.kubernetes.io/pciBusID"
_UUID = "uuid"


def over_bounds(view: View) -> Iterator[LiveFinding]:
    """LIV030: more of a capacity, of a counter or of shares than the device has."""
    for key, holdings in view.by_device.items():
        taking = [holding for holding in holdings if holding.takes]
        device = taking[0].device if taking else None
        if device is None:
            continue
        if device.allow_multiple_allocations:
            yield from _over_capacity(view, key, device, taking)
        yield from _over_shares(view, key, taking)
    yield from _over_counters(view)


def _over_capacity(
    view: View, key: DeviceId, device: Device, taking: list[Holding]
) -> Iterator[LiveFinding]:
    use = view.state.use(key)
    for name, fact in device.capacity.items():
        used = use.taken.get(name, Quantity.of(0))
        if used > fact.value:
            yield _over(
                key,
                taking,
                f"{name} of {device_name(key)} is given out beyond what it has",
                used=str(used),
                bound=str(fact.value),
                more=related(device.origin.span("capacity", name), "published"),
            )


def _over_shares(view: View, key: DeviceId, taking: list[Holding]) -> Iterator[LiveFinding]:
    for policy in {p.name: p for h in taking if (p := view.policy(h)) is not None}.values():
        most = policy.spec.max_shares if isinstance(policy.spec, Consumable) else None
        if most is not None and len(taking) > most:
            yield _over(
                key,
                taking,
                f"{device_name(key)} carries more shares than policy {policy.name} allows",
                used=str(len(taking)),
                bound=str(most),
            )


def _over_counters(view: View) -> Iterator[LiveFinding]:
    for pool in view.dump.inventory.pools:
        used: dict[tuple[str, str], Quantity] = {}
        by: dict[tuple[str, str], list[Holding]] = {}
        for device in pool.devices:
            taking = [
                holding
                for holding in view.by_device.get((device.driver, device.pool, device.name), ())
                if holding.takes
            ]
            for part in device.consumes_counters if taking else ():
                for name, amount in part.counters.items():
                    place = (part.counter_set, name)
                    used[place] = used.get(place, Quantity.of(0)) + amount
                    by.setdefault(place, []).extend(taking)
        for (set_name, name), amount in sorted(used.items()):
            counters = pool.counter_sets.get(set_name)
            bound = counters.counters.get(name) if counters is not None else None
            if bound is not None and amount > bound:
                key = by[set_name, name][0].id
                yield _over(
                    key,
                    by[set_name, name],
                    f"devices of pool {pool.name} ({pool.driver}) take more {name} than counter set "
                    f"{set_name} has",
                    used=str(amount),
                    bound=str(bound),
                )


def _over(
    key: DeviceId,
    taking: list[Holding],
    message: str,
    *,
    used: str,
    bound: str,
    more: list[Related] | None = None,
) -> LiveFinding:
    return live(
        "LIV030",
        "needsPerson",
        taking[-1].span(),
        message,
        label=f"one of {count(len(taking), 'allocation')}: {claims_of(taking)}",
        related=more or [],
        found=used,
        expected=f"{bound} or less",
        step="freeze the tier, look which claims the node has prepared, and let the owners of the "
        "latest ones end their pods; nothing is released for you",
        objects=[device_object(key), *(claim_object(holding.claim) for holding in taking)],
    )


def held_twice(view: View) -> Iterator[LiveFinding]:
    """LIV031: a device for one claim that several hold."""
    for key, holdings in view.by_device.items():
        taking = [holding for holding in holdings if holding.takes]
        use = view.state.use(key)
        if not use.exclusive or use.exclusive + len(use.shares) < 2:
            continue
        yield live(
            "LIV031",
            "needsPerson",
            taking[1].span("device"),
            f"{device_name(key)} is for one claim and held by {len(taking)}",
            label=taking[1].claim.ref,
            related=related(taking[0].span("device"), taking[0].claim.ref),
            found=named(f"{h.claim.ref} ({evidence(h)})" for h in taking),
            expected="one claim",
            step="look which claim the driver on the node has prepared, and let the owner of the "
            "other one recreate its pod; find out which second allocator wrote it",
            objects=[device_object(key), *(claim_object(h.claim) for h in taking)],
        )


def share_twice(view: View) -> Iterator[LiveFinding]:
    """LIV032: a ShareID names one share, in the whole cluster."""
    seen: dict[str, Holding] = {}
    for holding in view.holdings:
        share = holding.result.share_id
        if share is None:
            continue
        first = seen.setdefault(share, holding)
        if first is not holding:
            yield live(
                "LIV032",
                "needsPerson",
                holding.span("shareID"),
                f"ShareID {share} of {holding.claim.ref} is also that of {first.claim.ref}",
                related=related(first.span("shareID"), device_name(first.id)),
                found=f"{device_name(first.id)} and {device_name(holding.id)}",
                expected="a ShareID for each allocation",
                step="let the owner of the newer claim recreate its pod; drivers and limiters tell "
                "shares apart by this id alone",
                objects=[claim_object(first.claim), claim_object(holding.claim)],
            )


def not_published(view: View) -> Iterator[LiveFinding]:
    """LIV033: an allocation that names a device which no slice tells of."""
    if "ResourceSlice" not in view.dump.recorded:
        return
    pools = {(pool.driver, pool.name): pool for pool in view.dump.inventory.pools}
    drivers = {driver for driver, _ in pools}
    for holding in view.holdings:
        if holding.device is not None:
            continue
        driver, name, device = holding.id
        pool = pools.get((driver, name))
        if pool is not None and not pool.complete:
            continue  # LIV059 tells of the whole pool.
        if lost_node(view.dump, holding.node) is not None:
            continue  # Slices go with their Node object; LIV048 to LIV050 tell of the node.
        if pool is not None:
            published = count(len(pool.devices), "device")
            what = f"pool {name} has shrunk: it publishes {published}, without {device}"
        elif driver in drivers:
            what = f"{driver} no longer publishes pool {name}"
        else:
            what = f"{driver} publishes nothing"
        yield live(
            "LIV033",
            "needsPerson",
            holding.span("device"),
            f"claim {holding.claim.ref} holds {device}, and {what}",
            found=evidence(holding),
            step="look whether the driver runs on the node and sees the device; until then the "
            "allocation counts as held, and its pod must not be forced away",
            objects=[device_object(holding.id), claim_object(holding.claim)],
        )


def pool_not_whole(view: View) -> Iterator[LiveFinding]:
    """LIV059: allocations in a pool that the scheduler passes over, or that is recorded in part."""
    for pool in view.dump.inventory.pools:
        if pool.usable:
            continue
        held = [h for h in view.holdings if h.id[:2] == (pool.driver, pool.name)]
        if not held:
            continue
        reason = pool.invalid_reason or "not all of its slices are there"
        yield live(
            "LIV059",
            "retryable" if pool.invalid_reason is None else "needsPerson",
            held[0].span("pool"),
            f"{count(len(held), 'allocation')} in pool {pool.name} ({pool.driver}) can't be judged: "
            f"{reason}",
            step="wait until the driver has published the pool anew and record again"
            if pool.invalid_reason is None
            else "mend the driver that publishes it; what is held stays held",
            objects=sorted({claim_object(h.claim) for h in held}),
        )


def published_twice(view: View) -> Iterator[LiveFinding]:
    """LIV034: one piece of hardware under two names, both of them held.

    Devices that draw on one counter set are parts of each other, and the scheduler knows it.
    """
    seen: dict[tuple[str, ...], list[Holding]] = {}
    for holdings in view.by_device.values():
        for holding in holdings:
            if holding.device is not None and holding.takes:
                for identity in _identities(holding.device, holding.node):
                    seen.setdefault(identity, []).append(holding)
    told: set[frozenset[DeviceId]] = set()
    for identity, held in sorted(seen.items()):
        ids = {holding.id: holding for holding in held}
        if len(ids) < 2 or frozenset(ids) in told or _one_set(list(ids.values())):
            continue
        told.add(frozenset(ids))
        first, second = list(ids.values())[:2]
        yield live(
            "LIV034",
            "needsPerson",
            second.span("device"),
            f"{device_name(second.id)} and {device_name(first.id)} are one device, and both are held",
            label=second.claim.ref,
            related=related(first.span("device"), first.claim.ref),
            found=f"both have {identity[-2]} {identity[-1]}",
            expected="one published device for each piece of hardware",
            step="stop one of the two publishers on the node and freeze its pool; then let the owner "
            "of one claim recreate its pod",
            objects=[*map(device_object, ids), *(claim_object(h.claim) for h in ids.values())],
        )


def _identities(device: Device, node: str | None) -> Iterator[tuple[str, ...]]:
    bus = device.attribute(_BUS)
    if bus is not None and node is not None and bus.type == "string":
        yield node, "pciBusID", str(bus.value)
    uuid = device.attribute(_UUID)
    if uuid is not None and uuid.type == "string":
        yield "", "uuid", str(uuid.value)


def _one_set(held: list[Holding]) -> bool:
    """Whether all of them draw on one counter set, or are shares of one shareable device."""
    sets = [
        {part.counter_set for part in holding.device.consumes_counters}
        for holding in held
        if holding.device is not None
    ]
    return bool(sets) and bool(set.intersection(*sets))


RULES: tuple[LiveRule, ...] = (
    over_bounds,
    held_twice,
    share_twice,
    not_published,
    published_twice,
    pool_not_whole,
)
