"""Classes put to the devices of one cluster: which are taken, which fail, and what near ones lack.

Selectors run as the scheduler runs them: as stored expressions of the minor, in their order, up to
the first that is not true (kubernetes/dynamic-resource-allocation@v0.36.3
structured/internal/incubating/allocator_incubating.go). Knows neither claims nor nodes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias

from dracfg.allocate.conditions import Condition, conditions, conditions_of
from dracfg.allocate.devices import Attribute, Device
from dracfg.cel import (
    CompileFailure,
    EvaluationError,
    Program,
    Read,
    Undecided,
    device_environment,
)
from dracfg.cel.devices import OWN_DOMAIN
from dracfg.cel.environment import CelEnvironment
from dracfg.dataclass import dataclass
from dracfg.kube.quantity import Quantity
from dracfg.link.claims import Ask
from dracfg.link.classes import ClassPlan
from dracfg.lower.selectors import class_selectors, request_selectors
from dracfg.model.tier import CapacityRange, Match

Outcome: TypeAlias = "bool | EvaluationError | Undecided"


@dataclass(frozen=True, slots=True)
class Selected:
    """What a class makes of a device. `passed` counts the selectors that were true, in order."""

    passed: int
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class NearMiss:
    """The devices that a class leaves by the least, and what they lack.

    `lacks` holds the conditions that they fail and what they have instead: `productName is "…"`,
    `misses memory by 256Mi`.
    """

    devices: tuple[Device, ...]
    lacks: tuple[tuple[Condition, str], ...]

    @property
    def text(self) -> str:
        return " and ".join(words for _, words in self.lacks)


class Selection:
    """Evaluates classes on devices; programs are made once.

    `modelled` says that devices stand in for recorded ones: what their documents don't describe is
    then not known, rather than absent.
    """

    def __init__(self, minor: str, *, modelled: bool = False) -> None:
        self._environment = _environment(minor)
        self.modelled = modelled
        self._programs: dict[str, Program | CompileFailure | Undecided] = {}
        self._selectors: dict[ClassPlan, tuple[Program | CompileFailure | Undecided, ...]] = {}
        self._conditions: dict[ClassPlan, tuple[Condition, ...]] = {}

    def select(self, plan: ClassPlan, device: Device) -> Selected:
        """Whether the class takes the device, and how far its selectors got."""
        found = self._run(plan, device)
        return self._modelled(plan, device, found) if self.modelled else found

    def choose(self, ask: Ask, device: Device) -> Outcome:
        """What the request's own selectors make of a device that its class takes."""
        for text in request_selectors(ask):
            program, facts = self._program(text), device.facts
            if isinstance(program, CompileFailure):
                return Undecided(f"it does not compile: {program.message}")
            outcome = program.matches(facts) if isinstance(program, Program) else program
            if outcome is not True:
                asked = conditions_of(ask.plan.tier.driver, ask.chosen or Match())
                return self._told(asked, device, outcome) if self.modelled else outcome
        return True

    def depth(self, plan: ClassPlan) -> int:
        """The number of the class's selectors."""
        return len(self._compiled(plan))

    def compiles(self, plan: ClassPlan) -> bool:
        """Whether every selector of the class is known to compile."""
        return all(isinstance(program, Program) for program in self._compiled(plan))

    def near_miss(self, plan: ClassPlan, devices: Iterable[Device]) -> NearMiss | None:
        """What the devices of the class's driver lack that come nearest; None where there are none.

        Nearest is what fails the fewest conditions, then what misses a capacity by the least, then
        what gets as far as raw CEL, then what most devices have in common.
        """
        groups: dict[tuple[tuple[int, str], ...], tuple[int, list[Device]]] = {}
        asked = self._asked(plan)
        for device in devices:
            if device.driver != plan.tier.driver.name:
                continue
            failed = [
                (number, condition)
                for number, condition in enumerate(asked)
                if self._holds(condition, device) is not True
            ]
            # Raw CEL is put to devices only that meet what stands before it.
            failed = [item for item in failed if item[1].root != "cel"] or failed
            if failed:
                lacks = tuple((number, _lack(plan, c, device)) for number, c in failed)
                short = sum(_shortage(plan, c, device).nano for _, c in failed)
                groups.setdefault(lacks, (short, []))[1].append(device)
        if not groups:
            return None
        lacks, (_, nearest) = min(
            groups.items(),
            key=lambda item: (
                len(item[0]),
                item[1][0],
                asked[item[0][0][0]].root != "cel",
                -len(item[1][1]),
                item[0],
            ),
        )
        return NearMiss(tuple(nearest), tuple((asked[number], words) for number, words in lacks))

    def absent(self, condition: Condition, device: Device) -> tuple[Read, ...]:
        """The attributes and capacities that a condition reads and the device does not have."""
        program = self._program(condition.expression)
        facts = device.facts
        held: dict[str, Mapping[str, Mapping[str, object]]] = {
            "attributes": facts.attributes,
            "capacity": facts.capacity,
        }
        found = []
        for read in sorted(program.reads or ()) if isinstance(program, Program) else ():
            domain = device.driver if read.domain == OWN_DOMAIN else read.domain
            if read.id and read.id not in held[read.field].get(domain, {}):
                found.append(Read(read.field, domain, read.id))
        return tuple(found)

    def _run(self, plan: ClassPlan, device: Device) -> Selected:
        facts = device.facts
        for passed, program in enumerate(self._compiled(plan)):
            if isinstance(program, CompileFailure):
                return Selected(passed, Undecided(f"it does not compile: {program.message}"))
            outcome = program.matches(facts) if isinstance(program, Program) else program
            if outcome is not True:
                return Selected(passed, outcome)
        return Selected(len(self._compiled(plan)), True)

    def _modelled(self, plan: ClassPlan, device: Device, found: Selected) -> Selected:
        if found.outcome is True or device.driver != plan.tier.driver.name:
            return found
        return Selected(found.passed, self._told(self._asked(plan), device, found.outcome))

    def _told(self, asked: Iterable[Condition], device: Device, outcome: Outcome) -> Outcome:
        """An outcome in view of what a modelled device leaves open."""
        silent: dict[str, None] = {}
        for condition in asked:
            if self._holds(condition, device) is not True:
                absent = self.absent(condition, device)
                if not absent:
                    return False
                silent.update((name_of(read, device.driver), None) for read in absent)
        if not silent:
            return outcome
        return Undecided(f"the modelled device does not say {', '.join(silent)}")

    def _holds(self, condition: Condition, device: Device) -> Outcome:
        program = self._program(condition.expression)
        if isinstance(program, CompileFailure):
            return Undecided(program.message)
        return program.matches(device.facts) if isinstance(program, Program) else program

    def _compiled(self, plan: ClassPlan) -> tuple[Program | CompileFailure | Undecided, ...]:
        if plan not in self._selectors:
            self._selectors[plan] = tuple(map(self._program, class_selectors(plan)))
        return self._selectors[plan]

    def _asked(self, plan: ClassPlan) -> tuple[Condition, ...]:
        if plan not in self._conditions:
            self._conditions[plan] = conditions(plan)
        return self._conditions[plan]

    def _program(self, text: str) -> Program | CompileFailure | Undecided:
        if text not in self._programs:
            self._programs[text] = _compiled(self._environment, text)
        return self._programs[text]


def _environment(minor: str) -> CelEnvironment:
    """Where selectors of a minor run, all of them stored; minors with the same libraries are one."""
    own = device_environment(minor, frozenset())
    return replace(own, minor="", new=own.stored)


@lru_cache(maxsize=1024)
def _compiled(environment: CelEnvironment, text: str) -> Program | CompileFailure | Undecided:
    """Clusters, and states of a catalog, have most selectors in common."""
    return environment.compile(text, stored=True)


def name_of(read: Read, driver: str) -> str:
    """An attribute or a capacity as documents name it, without the domain of its own driver."""
    return read.id if read.domain == driver else f"{read.domain}/{read.id}"


def _lack(plan: ClassPlan, condition: Condition, device: Device) -> str:
    """What the device has in place of what a condition asks for."""
    match condition.root:
        case "sharing":
            return "is shareable" if condition.key == "exclusive" else "is not shareable"
        case "attributes":
            attribute = device.attribute(plan.tier.driver.spelling(condition.key))
            if attribute is None:
                return f"{condition.key} is not published"
            return f"{condition.key} is {shown(attribute)}"
        case "capacity":
            amount, bounds = _amount(plan, condition, device), condition.wanted
            if amount is None or not isinstance(bounds, CapacityRange):
                return f"{condition.key} is not published"
            verb = "exceeds" if bounds.max is not None and amount > bounds.max else "misses"
            return f"{verb} {condition.key} by {_shortage(plan, condition, device)}"
        case _:
            return f"selector {int(condition.key) + 2} is not true"


def _shortage(plan: ClassPlan, condition: Condition, device: Device) -> Quantity:
    """By how much a capacity is out of its bounds; 0 for everything else."""
    amount, bounds = _amount(plan, condition, device), condition.wanted
    if amount is not None and isinstance(bounds, CapacityRange):
        if bounds.min is not None and amount < bounds.min:
            return bounds.min - amount
        if bounds.max is not None and amount > bounds.max:
            return amount - bounds.max
    return Quantity.of(0)


def _amount(plan: ClassPlan, condition: Condition, device: Device) -> Quantity | None:
    """The capacity that a condition is about, under either of its two spellings."""
    if condition.root != "capacity":
        return None
    key = plan.tier.driver.spelling(condition.key)
    bare = key.removeprefix(f"{device.driver}/")
    fact = device.capacity_fact(bare) or device.capacity_fact(f"{device.driver}/{bare}")
    return fact.value if fact is not None else None


def shown(attribute: Attribute) -> str:
    """An attribute's value as a person would write it; text in quotes, versions without."""
    value = attribute.value
    items = value if isinstance(value, tuple) else (value,)
    quoted = attribute.type.startswith("string")
    words = [
        json.dumps(item, ensure_ascii=False) if quoted or isinstance(item, bool) else str(item)
        for item in items
    ]
    return f"[{', '.join(words)}]" if isinstance(value, tuple) else words[0]
