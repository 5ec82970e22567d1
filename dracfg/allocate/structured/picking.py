"""One device for one request: whether it can be picked, and how that is undone.

Follows allocateDevice and rollbackDevice of kubernetes/dynamic-resource-allocation@v0.34.4 to
@v0.37.2, with what 1.34 and 1.35 forget to give back. Knows no order of search.
"""

from __future__ import annotations

from collections.abc import Sequence

from dracfg.allocate.structured.behaviour import Behaviour
from dracfg.allocate.structured.candidates import Candidate
from dracfg.allocate.structured.constraints import Constraint
from dracfg.allocate.structured.consumption import Amounts, Demand
from dracfg.allocate.structured.counters import Counters, Groups, GroupsUndo
from dracfg.allocate.structured.demands import Demands
from dracfg.allocate.structured.features import Features
from dracfg.allocate.structured.gathering import NodeView
from dracfg.allocate.structured.outcomes import Failed, Stop
from dracfg.allocate.structured.requests import Ask
from dracfg.allocate.structured.usage import Usage
from dracfg.dataclass import dataclass

OPTIONAL_NODE_OPERATIONS = "DRAOptionalNodeOperations"


@dataclass(frozen=True, slots=True)
class Picked:
    """A device picked for a request; `amounts` only where it is a share of a device."""

    ask: Ask
    candidate: Candidate
    amounts: Amounts | None


@dataclass(slots=True)
class Pick:
    """What picking has changed, so that it can be undone."""

    claim: int
    ask: Ask
    candidate: Candidate
    groups: GroupsUndo | None = None
    drew: bool = False
    constraints: int = 0
    marked: bool = False
    amounts: Amounts | None = None
    had_shares: bool = False


class Picking:
    """Picks devices for the requests of a pod's claims on one node."""

    def __init__(
        self,
        features: Features,
        behaviour: Behaviour,
        view: NodeView,
        usage: Usage,
        demands: Demands,
        constraints: Sequence[Sequence[Constraint]],
    ) -> None:
        self._features, self._behaviour = features, behaviour
        self._view, self._usage, self._demands = view, usage, demands
        self._constraints = constraints
        self._counters = Counters(view, behaviour, usage.holds_counters)
        self._groups = Groups(view, usage.holds_counters)
        self._checks_capacity = behaviour.knows_capacity and features.consumable_capacity
        self.results: list[list[Picked]] = [[] for _ in constraints]

    def pick(
        self, claim: int, ask: Ask, candidate: Candidate, wanted: int, *, must: bool
    ) -> Pick | None:
        """Picks the device, the `wanted`th of its request; None where that is not possible.

        `must`: a constraint that does not hold is an error, as All has it.
        """
        done = Pick(claim, ask, candidate)
        if self._reserve(done) and self._hold(done, must) and self._consume(done, wanted):
            self.results[claim].append(Picked(ask, candidate, done.amounts))
            return done
        return None

    def undo(self, done: Pick) -> None:
        """Puts a device back that was picked last."""
        self.results[done.claim].pop()
        usage, candidate = self._usage, done.candidate
        leaks = self._behaviour.leaks
        if done.amounts is not None and (done.amounts or not leaks):
            keep = done.had_shares and not leaks
            usage.restore(candidate.id, done.amounts, keep=keep)
        if leaks and done.amounts is not None:
            # A share keeps its counters, as nothing of 1.34 and 1.35 gives them back.
            done.drew = False
        self._revert(done)

    def _reserve(self, done: Pick) -> bool:
        """Whether the device is free, and its counters and groups allow for it."""
        candidate, claim = done.candidate, done.claim
        shares = self._shares(candidate)
        if done.ask.wanted.admin_access:
            if not shares and self._usage.picked_for(candidate.id, claim):
                return False
        elif self._usage.in_use(candidate.id):
            return False
        if not self._node_can_skip(candidate):
            return False
        if not candidate.groups:
            return True
        if not self._features.partitionable_devices:
            return False
        if (
            shares
            and self._behaviour.shares_take_counters_once
            and self._usage.is_shared(candidate.id)
        ):
            return True
        if self._features.compatibility_groups:
            done.groups = self._groups.join(candidate)
            if done.groups is None:
                return False
        if self._behaviour.all_forgets_pool and done.ask.takes_all:
            message = f"the scheduler of this minor panics on all devices of {candidate.slice.pool}"
            raise Stop(Failed("panic", message, done.ask.claim, done.ask.wanted.name))
        if not self._counters.take(candidate):
            self._revert(done)
            return False
        done.drew = True
        return True

    def _hold(self, done: Pick, must: bool) -> bool:
        """Whether taints and constraints allow for the device."""
        ask, candidate = done.ask, done.candidate
        if self._features.device_taints and not ask.tolerates(
            candidate.device, self._behaviour.blocks_on_any_effect
        ):
            self._reject(done)
            return False
        for constraint in self._constraints[done.claim]:
            if not constraint.add(ask, candidate):
                self._reject(done)
                if must:
                    device = "/".join(candidate.id)
                    message = (
                        f"claim {ask.claim}, request {ask.wanted.name}: device {device} is one of"
                        " all devices, and a constraint does not hold with it"
                    )
                    failed = Failed("constraint-unsatisfied", message, ask.claim, ask.wanted.name)
                    raise Stop(failed)
                return False
            done.constraints += 1
        return True

    def _consume(self, done: Pick, wanted: int) -> bool:
        """Marks the device as in use, or takes a share of it."""
        candidate = done.candidate
        shares = self._shares(candidate)
        if not shares:
            self._usage.mark(candidate.id, done.claim)
            done.marked = True
        if not self._checks_capacity:
            return True
        seen = self._seen(done, wanted)
        demand = self._demands.of(done.ask, seen)
        if demand is None or not self._usage.fits(seen.id, demand):
            if not self._behaviour.leaks:
                self._revert(done)
            return False
        if shares:
            self._share(done, demand if seen is candidate else self._own_demand(done))
        return True

    def _share(self, done: Pick, demand: Demand) -> None:
        done.had_shares = self._usage.is_consuming(done.candidate.id)
        done.amounts = demand.amounts
        self._usage.consume(done.candidate.id, demand.amounts)

    def _own_demand(self, done: Pick) -> Demand:
        return self._demands.of(done.ask, done.candidate) or Demand({}, ())

    def _seen(self, done: Pick, wanted: int) -> Candidate:
        """The device whose capacity is looked at: in 1.34 one found by a wrong number."""
        if not self._behaviour.recheck_by_position:
            return done.candidate
        ask, part = done.ask, done.candidate.slice
        for other in self._view.by_key[done.candidate.pool].devices:
            if other.slice is part and other.position == wanted:
                return other
        message = f"the scheduler of this minor panics: slice {part.name} has too few devices"
        raise Stop(Failed("panic", message, ask.claim, ask.wanted.name))

    def _reject(self, done: Pick) -> None:
        """Takes back what a rejected device had reserved, as far as the minor does so."""
        if self._behaviour.leaks:
            done.drew = False
        self._revert(done)

    def _revert(self, done: Pick) -> None:
        if done.marked:
            self._usage.unmark(done.candidate.id, done.claim)
        for constraint in self._constraints[done.claim][: done.constraints]:
            constraint.remove(done.ask)
        if done.groups is not None:
            self._groups.leave(done.groups)
        if done.drew:
            self._counters.release(done.candidate)

    def _shares(self, candidate: Candidate) -> bool:
        return self._checks_capacity and candidate.shareable

    def _node_can_skip(self, candidate: Candidate) -> bool:
        if not self._behaviour.skips_node_operations or not candidate.slice.skip_node_operations:
            return True
        declared = OPTIONAL_NODE_OPERATIONS in self._view.node.declared_features
        return self._features.optional_node_operations and declared
