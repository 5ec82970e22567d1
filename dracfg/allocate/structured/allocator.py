"""The allocator: what Kubernetes' scheduler would allocate, on one node or on the best of many.

Gives the devices that k8s.io/dynamic-resource-allocation/structured gives in the minors 1.34 to
1.37. Two things that are random there are settled here: share ids, and the order of pools where
upstream takes that of a Go map (see `gathering`). Counters and groups are worked out anew for each
node, where upstream keeps the first node's for all; that differs only in defects of pool names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dracfg.allocate.claims import Claim, DeviceClass
from dracfg.allocate.inventory import Inventory
from dracfg.allocate.nodes import Node
from dracfg.allocate.structured.active import Activation
from dracfg.allocate.structured.allocated import AllocatedState
from dracfg.allocate.structured.behaviour import Behaviour, behaviour_of
from dracfg.allocate.structured.candidates import published
from dracfg.allocate.structured.constraints import Constraint, build_constraint
from dracfg.allocate.structured.demands import Demands
from dracfg.allocate.structured.features import Features
from dracfg.allocate.structured.gathering import Gathering, NodeView
from dracfg.allocate.structured.outcomes import (
    Allocation,
    Failed,
    NodeChoice,
    Outcome,
    Stop,
    Undecided,
    Unsatisfiable,
)
from dracfg.allocate.structured.picking import Picking
from dracfg.allocate.structured.requests import Plan, plan_claims
from dracfg.allocate.structured.results import ResultWriter
from dracfg.allocate.structured.scoring import best_score, score
from dracfg.allocate.structured.search import Search
from dracfg.allocate.structured.selectors import Selectors
from dracfg.allocate.structured.usage import Usage

BUDGET = 200_000
"""Devices that one search tries at most, before it is given up as undecided."""

_DEEPEST = 400


class Allocator:
    """Allocates from one inventory with one set of classes and features.

    Programs, device facts, outcomes of selectors and the pools of nodes are kept, so that many
    claims cost little. The inventory and the classes must not change meanwhile. `behaviour` is
    given to ask what another implementation would do; it is that of the features otherwise.
    """

    def __init__(
        self,
        inventory: Inventory,
        classes: Mapping[str, DeviceClass],
        features: Features,
        behaviour: Behaviour | None = None,
    ) -> None:
        self._classes, self._features = classes, features
        self._behaviour = behaviour or behaviour_of(features)
        everywhere = self._behaviour.counter_sets_everywhere
        parts = published(inventory, counter_sets_everywhere=everywhere)
        self._gathering = Gathering(parts, features, self._behaviour)
        self._selectors = Selectors(features, self._behaviour)
        self._demands = Demands(features, self._behaviour)
        self._views: dict[str, NodeView] = {}

    def allocate(
        self,
        claims: Sequence[Claim],
        node: Node,
        state: AllocatedState,
        budget: int = BUDGET,
    ) -> Outcome:
        """What the claims of one pod come to on a node.

        Claims that are allocated need the node to be one of theirs and are otherwise left alone.
        """
        return self._allocate(self._plan(claims), claims, node, state, budget)

    def allocate_on_nodes(
        self,
        claims: Sequence[Claim],
        nodes: Iterable[Node],
        state: AllocatedState,
        budget: int = BUDGET,
    ) -> NodeChoice:
        """The node with the highest score of prioritized lists; the first of equals.

        kube-scheduler weighs other plugins as well, looks at a part of a large cluster only, and
        picks one of equals at random. An error ends the trial, as it ends the scheduling of a pod.
        """
        plan = self._plan(claims)
        best = best_score(plan, self._features)
        chosen: str | None = None
        found: Outcome = Unsatisfiable("there is no node")
        highest = -1
        tried: dict[str, Outcome] = {}
        for node in nodes:
            outcome = self._allocate(plan, claims, node, state, budget)
            if isinstance(outcome, Failed):
                return NodeChoice(None, outcome, nodes=tried)
            if isinstance(outcome, Allocation):
                reached = score(plan, outcome, self._features)
                if reached > highest:
                    if chosen is not None:
                        tried[chosen] = found
                    chosen, found, highest = node.name, outcome, reached
                    if reached >= best:
                        break
                    continue
            tried[node.name] = outcome
        if chosen is None and tried:
            doubts = [one for one in tried.values() if isinstance(one, Undecided)]
            found = doubts[0] if doubts else _nowhere(tried)
        return NodeChoice(chosen, found, max(highest, 0), tried)

    def _plan(self, claims: Sequence[Claim]) -> Plan:
        pending = [claim for claim in claims if claim.allocation is None]
        return plan_claims(pending, self._classes, self._features, self._behaviour)

    def _view(self, node: Node) -> NodeView:
        view = self._views.get(node.name)
        if view is None or (view.node is not node and view.node != node):
            view = self._views[node.name] = self._gathering.view(node)
        return view

    def _allocate(
        self,
        plan: Plan,
        claims: Sequence[Claim],
        node: Node,
        state: AllocatedState,
        budget: int,
    ) -> Outcome:
        bound = self._bound_elsewhere(claims, node)
        if bound is not None or not plan.claims:
            return bound or Allocation(())
        if plan.depth > _DEEPEST:
            return Undecided("the claims of the pod take too many devices for one search")
        try:
            view = self._view(node)
            if self._is_hopeless(plan, view, state):
                return self._unsatisfiable(view)
            return self._search(plan, view, state, budget)
        except Stop as stop:
            return stop.outcome

    @staticmethod
    def _bound_elsewhere(claims: Iterable[Claim], node: Node) -> Outcome | None:
        for claim in claims:
            selector = claim.allocation.node_selector if claim.allocation is not None else None
            if selector is not None:
                selects = selector.selects(node)
                if selects is None:
                    return Undecided(f"the labels of node {node.name} are not recorded")
                if not selects:
                    return Unsatisfiable(f"claim {claim.name} is allocated for other nodes")
        return None

    def _is_hopeless(self, plan: Plan, view: NodeView, state: AllocatedState) -> bool:
        """Whether counting the free devices proves that there are too few.

        Only where the search could not end in an error instead, and no device counts twice.
        """
        if plan.least is None or view.barrier is not None or view.has_shareable:
            return False
        if self._behaviour.leaks and view.has_counters:
            return False
        if self._behaviour.recheck_by_position and self._features.consumable_capacity:
            return False
        if view.has_negative or not self._knows_constraints(plan):
            return False
        too_few = False
        for ask, number in plan.least.items():
            selected = self._selectors.selected_ids(ask, view)
            if selected is None:
                return False
            too_few |= number > len(selected.difference(state.devices))
        return too_few

    def _knows_constraints(self, plan: Plan) -> bool:
        """Whether no claim has a constraint that this implementation refuses."""
        knows = self._behaviour.knows_distinct
        return all(
            constraint.match_attribute is not None
            or (knows and constraint.distinct_attribute is not None)
            for constraint in plan.constraints
        )

    def _minds_order(self, plan: Plan) -> bool:
        """Whether a constraint may take devices in one order and not in another."""
        return self._behaviour.distinct == "request" and any(
            constraint.match_attribute is None for constraint in plan.constraints
        )

    def _search(self, plan: Plan, view: NodeView, state: AllocatedState, budget: int) -> Outcome:
        features, behaviour = self._features, self._behaviour
        usage = Usage(state, behaviour)
        activation = Activation(features, behaviour, self._selectors, self._demands, view, usage)
        requests = []
        constraints: list[list[Constraint]] = []
        for number, claim in enumerate(plan.claims):
            requests.append(activation.claim(plan, number))
            constraints.append(self._constraints(claim))
        picking = Picking(features, behaviour, view, usage, self._demands, constraints)
        checks_capacity = behaviour.knows_capacity and features.consumable_capacity
        search = Search(
            requests,
            view,
            behaviour,
            usage,
            picking,
            self._selectors,
            self._demands if checks_capacity else None,
            behaviour.combinations or not (activation.leaky or self._minds_order(plan)),
            budget,
        )
        if not search.run():
            return self._unsatisfiable(view)
        writer = ResultWriter(features, behaviour, view.node)
        return Allocation(
            tuple(
                writer.allocation(
                    claim,
                    plan.requests[number],
                    picking.results[number],
                    {
                        request: way
                        for (of, request), way in search.selected.items()
                        if of == number
                    },
                )
                for number, claim in enumerate(plan.claims)
            )
        )

    def _constraints(self, claim: Claim) -> list[Constraint]:
        made = []
        for number, wanted in enumerate(claim.spec.constraints):
            one = build_constraint(
                wanted, self._features, self._behaviour, self._selectors.attribute
            )
            if one is None:
                message = f"claim {claim.name}, constraint {number}: the allocator knows none such"
                raise Stop(Failed("unknown-constraint", message, claim.name))
            made.append(one)
        return made

    def _unsatisfiable(self, view: NodeView) -> Unsatisfiable:
        invalid = view.has_invalid_pool and not self._behaviour.aborts_on_invalid_pool
        return Unsatisfiable(f"the devices of node {view.node.name} do not suffice", invalid)


def _nowhere(tried: Mapping[str, Outcome]) -> Unsatisfiable:
    invalid = any(isinstance(one, Unsatisfiable) and one.invalid_pools for one in tried.values())
    return Unsatisfiable(f"none of {len(tried)} nodes has the devices", invalid)


def allocate(
    inventory: Inventory,
    classes: Mapping[str, DeviceClass],
    claims: Sequence[Claim],
    node: Node,
    state: AllocatedState,
    features: Features,
    budget: int = BUDGET,
) -> Outcome:
    """What the claims of one pod come to on a node; see `Allocator` for more than one question."""
    return Allocator(inventory, classes, features).allocate(claims, node, state, budget)
