"""Selectors and derived attributes put to devices; each is evaluated once for equal devices.

Order and errors are those of isSelectable and selectorsMatch
(kubernetes/dynamic-resource-allocation@v0.34.4 to @v0.37.2): class before request, stored
expressions, an error at run time ends the allocation. Knows no state of allocation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeAlias

from dracfg.allocate.devices import Attribute
from dracfg.allocate.structured.allocated import DeviceId
from dracfg.allocate.structured.behaviour import Behaviour
from dracfg.allocate.structured.candidates import Candidate
from dracfg.allocate.structured.derived import DerivedAttributes
from dracfg.allocate.structured.features import Features
from dracfg.allocate.structured.gathering import NodeView
from dracfg.allocate.structured.outcomes import Failed, Stop, Undecided
from dracfg.allocate.structured.requests import Ask, Signature
from dracfg.cel import (
    CompileFailure,
    DeviceFacts,
    EvaluationError,
    Program,
    device_environment,
)
from dracfg.cel import Undecided as Doubt

_Compiled: TypeAlias = "Program | CompileFailure | Doubt"


class Selectors:
    """Programs and outcomes for one inventory and one set of features."""

    def __init__(self, features: Features, behaviour: Behaviour) -> None:
        self._environment = device_environment(features.minor, frozenset())
        self._features, self._behaviour = features, behaviour
        self._derived = DerivedAttributes(self._environment)
        self._programs: dict[str, _Compiled] = {}
        self._chains: dict[Signature, tuple[Program, ...] | None] = {}
        self._outcomes: dict[Signature, dict[Candidate, bool]] = {}
        self._facts: dict[Candidate, DeviceFacts] = {}
        self._selected: dict[NodeView, dict[Signature, tuple[Candidate, ...] | None]] = {}
        self._ids: dict[NodeView, dict[Signature, frozenset[DeviceId] | None]] = {}

    def selects(self, ask: Ask, candidate: Candidate, view: NodeView) -> bool:
        """Whether class, request and node select the device. Raises Stop on an error or a doubt."""
        if candidate.device.binding_conditions and not self._features.device_binding_and_status:
            return False
        outcomes = self._outcomes.setdefault(ask.signature, {})
        outcome = outcomes.get(candidate)
        if outcome is None:
            outcome = outcomes[candidate] = self._evaluate(ask, candidate)
        return outcome and candidate not in view.excluded

    def selected(self, ask: Ask, view: NodeView) -> tuple[Candidate, ...] | None:
        """The devices of the way that are selected; None where one can't be judged."""
        known = self._selected.setdefault(view, {})
        if ask.signature not in known:
            try:
                known[ask.signature] = tuple(
                    one for one in view.candidates if self.selects(ask, one, view)
                )
            except Stop:
                known[ask.signature] = None
        return known[ask.signature]

    def selected_ids(self, ask: Ask, view: NodeView) -> frozenset[DeviceId] | None:
        """The same as ids."""
        known = self._ids.setdefault(view, {})
        if ask.signature not in known:
            selected = self.selected(ask, view)
            known[ask.signature] = (
                None if selected is None else frozenset(candidate.id for candidate in selected)
            )
        return known[ask.signature]

    def attribute(self, ask: Ask, candidate: Candidate, name: str) -> Attribute | None:
        """The attribute that constraints see: derived by the request, else published."""
        expression = ask.derived.get(name)
        if expression is None:
            return candidate.attribute(name)
        return self._derived.value(ask, name, expression, candidate)

    def _evaluate(self, ask: Ask, candidate: Candidate) -> bool:
        chain = self._chain(ask)
        facts = self._facts_of(candidate)
        if chain is not None and (self._features.lists_in_cel or not candidate.has_lists):
            for program in chain:
                outcome = program.matches(facts)
                if outcome is not True:
                    break
            else:
                return True
            if outcome is False:
                return False
        return self._told(ask, candidate, facts)

    def _chain(self, ask: Ask) -> tuple[Program, ...] | None:
        """The programs of a signature, None where one does not compile."""
        if ask.signature not in self._chains:
            _, own, further = ask.signature
            programs = [self._program(text) for text in (*own, *further)]
            good = tuple(one for one in programs if isinstance(one, Program))
            self._chains[ask.signature] = good if len(good) == len(programs) else None
        return self._chains[ask.signature]

    def _told(self, ask: Ask, candidate: Candidate, facts: DeviceFacts) -> bool:
        """The same step by step, with the source of an error."""
        for owner, number, program in self._sources(ask):
            place = f"{owner}: selector {number}"
            if isinstance(program, CompileFailure):
                message = f"{place} does not compile: {program.message}"
                raise Stop(Failed("cel-compile", message, ask.claim, ask.wanted.name))
            outcome = program.matches(facts) if isinstance(program, Program) else program
            if candidate.has_lists and not self._features.lists_in_cel:
                outcome = EvaluationError("the device has an attribute with a list of values")
            if isinstance(outcome, EvaluationError):
                device = "/".join(candidate.id)
                message = f"{place} ends in an error on device {device}: {outcome.message}"
                raise Stop(Failed("cel-runtime", message, ask.claim, ask.wanted.name))
            if not isinstance(outcome, bool):
                raise Stop(Undecided(f"{place}: {outcome.reason}"))
            if not outcome:
                return False
        return True

    def _sources(self, ask: Ask) -> Iterable[tuple[str, int, _Compiled]]:
        name, own, further = ask.signature
        for number, text in enumerate(own):
            yield f"class {name}", number, self._program(text)
        for number, text in enumerate(further):
            yield f"claim {ask.claim}, request {ask.wanted.name}", number, self._program(text)

    def _program(self, text: str) -> _Compiled:
        if text not in self._programs:
            self._programs[text] = self._environment.compile(text, stored=True)
        return self._programs[text]

    def _facts_of(self, candidate: Candidate) -> DeviceFacts:
        """The facts as the implementation passes them: some say nothing of sharing."""
        if self._behaviour.knows_capacity or not candidate.shareable:
            return candidate.facts
        if candidate not in self._facts:
            alone = replace(candidate.facts, allow_multiple_allocations=False)
            self._facts[candidate] = alone
        return self._facts[candidate]
