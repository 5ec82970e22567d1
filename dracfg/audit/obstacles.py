"""What stands in the way of a pending claim: the first step at which no recorded device is left.

The steps are those of the scheduler, one after the other: class, selectors, capacity, taints, use,
enough on one node, constraints. An estimate for people; `dracfg place` and the allocator decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field

from dracfg.allocate.claims import DeviceRequest
from dracfg.allocate.devices import Device
from dracfg.allocate.taintrules import TaintRule
from dracfg.audit.heldclaims import HeldClaim
from dracfg.audit.view import View
from dracfg.audit.words import count
from dracfg.cel import CelEnvironment, EvaluationError, Program, device_environment
from dracfg.dataclass import dataclass
from dracfg.kube.features import feature_matrix
from dracfg.kube.quantity import Quantity
from dracfg.kube.requestpolicy import consumed
from dracfg.lower.quarantine import taint_rule_version
from dracfg.lower.selectors import class_selectors


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A cause by its name in data/causes.yaml, and what a person reads."""

    cause: str
    text: str


@dataclass(slots=True)
class Obstacles:
    """Finds obstacles in one view; programs are compiled once."""

    view: View
    _environment: CelEnvironment = field(init=False)
    _programs: dict[str, Program | None] = field(default_factory=dict)
    _rules: tuple[TaintRule, ...] = field(init=False)
    """Those that components of the cluster read."""

    def __post_init__(self) -> None:
        cluster = self.view.cluster
        minor = cluster.minor if cluster is not None else feature_matrix().minors[-1]
        self._environment = device_environment(minor, frozenset())
        read = cluster is None or taint_rule_version(cluster) is not None
        self._rules = self.view.dump.inventory.taint_rules if read else ()

    def of(self, claim: HeldClaim) -> Obstacle | None:
        """The first request of the claim that nothing can serve; None where the record shows none."""
        for request in claim.claim.spec.requests:
            asks = (request.exactly,) if request.exactly is not None else request.first_available
            found = [self._of(ask) for ask in asks if ask is not None]
            first = next((obstacle for obstacle in found if obstacle is not None), None)
            if first is not None and None not in found:
                return Obstacle(first.cause, f"request {request.name}: {first.text}")
            missing = next((one for one in found if one and one.cause == "missingClass"), None)
            if missing is not None:
                # One class that is missing stops all alternatives (dynamicresources.go, PreFilter).
                return Obstacle(missing.cause, f"request {request.name}: {missing.text}")
        if claim.claim.spec.constraints:
            names = {
                constraint.match_attribute or constraint.distinct_attribute or ""
                for constraint in claim.claim.spec.constraints
            }
            said = ", ".join(sorted(names))
            return Obstacle(
                "constraint", f"no devices on one node agree with its constraint on {said}"
            )
        return None

    def _of(self, ask: DeviceRequest) -> Obstacle | None:
        texts = self._selectors(ask.device_class)
        if texts is None:
            return Obstacle("missingClass", f"there is no DeviceClass {ask.device_class}")
        devices = self.view.dump.inventory.devices
        selected: list[Device] = []
        for device in devices:
            outcome = self._matches((*texts, *ask.selectors), device)
            if isinstance(outcome, str):
                return Obstacle(
                    "selector", f"a selector fails on {device.name} of {device.pool}: {outcome}"
                )
            if outcome:
                selected.append(device)
        pools = self.view.dump.inventory.pools
        usable = {(pool.driver, pool.name) for pool in pools if pool.usable}
        if not selected:
            return Obstacle(
                "selector", f"class {ask.device_class} selects none of {len(devices)} devices"
            )
        whole = [device for device in selected if (device.driver, device.pool) in usable]
        if not whole:
            return Obstacle(
                "poolIncomplete", f"pool {selected[0].pool} is not published as a whole"
            )
        large = [device for device in whole if _amounts(ask, device) is not None]
        if not large:
            wanted = ", ".join(f"{key} {amount}" for key, amount in ask.capacity.items())
            return Obstacle("capacity", f"none of {count(len(whole), 'device')} has {wanted}")
        clean = [device for device in large if self._tolerated(ask, device)]
        if not clean:
            taints = ", ".join(sorted(set(self._taints(large[0]))))
            return Obstacle("taint", f"{count(len(large), 'device')} carry taints ({taints})")
        most = max(_by_node(clean).values())
        if ask.mode == "ExactCount" and most < ask.count:
            return Obstacle(
                "capacity", f"{ask.count} devices of one node are wanted, the most is {most}"
            )
        free = [device for device in clean if ask.admin_access or self._free(ask, device)]
        if not free:
            return self._taken(ask, clean)
        most = max(_by_node(free).values())
        if ask.mode == "ExactCount" and most < ask.count:
            return Obstacle(
                "deviceInUse",
                f"{ask.count} free devices of one node are wanted, the most is {most}",
            )
        return None

    def _selectors(self, name: str) -> Sequence[str] | None:
        known = self.view.dump.classes.get(name)
        if known is not None:
            return known.selectors
        plan = self.view.plans.get(name)
        if plan is not None and "DeviceClass" not in self.view.dump.recorded:
            return class_selectors(plan)
        return None if self.view.plans or "DeviceClass" in self.view.dump.recorded else ()

    def _matches(self, texts: Iterable[str], device: Device) -> bool | str:
        """Whether all hold; the message where one ends in an error."""
        for text in texts:
            if text not in self._programs:
                compiled = self._environment.compile(text, stored=True)
                self._programs[text] = compiled if isinstance(compiled, Program) else None
            program = self._programs[text]
            outcome = program.matches(device.facts) if program is not None else True
            if isinstance(outcome, EvaluationError):
                return outcome.message
            if outcome is False:
                return False
        return True

    def _taints(self, device: Device) -> Iterator[str]:
        key = (device.driver, device.pool, device.name)
        yield from (f"{taint.key}:{taint.effect}" for taint in device.taints)
        for rule in self._rules:
            if rule.selects(key):
                yield f"{rule.taint.key}:{rule.taint.effect}"

    def _tolerated(self, ask: DeviceRequest, device: Device) -> bool:
        for taint in self._taints(device):
            key, _, effect = taint.rpartition(":")
            if effect in ("NoSchedule", "NoExecute") and not any(
                one.effect in ("", effect)
                and (one.key == key or (not one.key and one.operator == "Exists"))
                for one in ask.tolerations
            ):
                return False
        return True

    def _free(self, ask: DeviceRequest, device: Device) -> bool:
        use = self.view.state.use((device.driver, device.pool, device.name))
        if not device.allow_multiple_allocations:
            return not use.exclusive
        left = self.view.state.remaining(device)
        amounts = _amounts(ask, device) or {}
        return not use.exclusive and all(amount <= left[key] for key, amount in amounts.items())

    def _taken(self, ask: DeviceRequest, devices: list[Device]) -> Obstacle:
        number = count(len(devices), "device")
        if not any(device.allow_multiple_allocations for device in devices):
            return Obstacle("deviceInUse", f"all of {number} are in use")
        key = next(iter(ask.capacity), None)
        if key is None:
            return Obstacle("deviceInUse", f"none of {number} has room for another share")
        left = [self.view.state.remaining(device).get(key, Quantity.of(0)) for device in devices]
        return Obstacle(
            "capacity",
            f"{ask.capacity[key]} of {key} is wanted, the most that is free is {max(left)}",
        )


def _amounts(ask: DeviceRequest, device: Device) -> dict[str, Quantity] | None:
    """What the request takes of the device; None where it is too small or lacks the capacity."""
    if any(key not in device.capacity for key in ask.capacity):
        return None
    if not device.allow_multiple_allocations:
        fits = all(amount <= device.capacity[key].value for key, amount in ask.capacity.items())
        return {} if fits else None
    taken = {}
    for key, fact in device.capacity.items():
        amount = consumed(ask.capacity.get(key), fact.request_policy, fact.value)
        if amount is None:
            return None
        taken[key] = amount
    return taken


def _by_node(devices: Iterable[Device]) -> dict[str, int]:
    """How many of them each node has; those that no node owns count for one place together."""
    found: dict[str, int] = {}
    for device in devices:
        node = device.nodes.node_name or ""
        found[node] = found.get(node, 0) + 1
    return found
