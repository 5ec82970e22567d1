"""Picked devices → `status.allocation` of their claims.

Follows the end of Allocate and createNodeSelector of
kubernetes/dynamic-resource-allocation@v0.34.4 to @v0.37.2, with the repeated configuration of
minors before 1.37 (kubernetes/kubernetes#139731, #139732). Knows no search.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from dracfg.allocate.claims import (
    Claim,
    ClaimAllocation,
    DeviceResult,
    OpaqueConfig,
)
from dracfg.allocate.nodes import NAME_FIELD, Node, NodeSelector, Requirement
from dracfg.allocate.structured.behaviour import Behaviour
from dracfg.allocate.structured.candidates import Candidate
from dracfg.allocate.structured.features import Features
from dracfg.allocate.structured.picking import Picked
from dracfg.allocate.structured.requests import Ask, PlannedRequest
from dracfg.dataclass import dataclass

SHARES = uuid.UUID("6f1d6b0e-0a5e-5d34-9d7e-6a3c1f0b7a51")
"""The namespace of share ids."""


@dataclass(frozen=True, slots=True)
class ResultWriter:
    """Writes allocations as one minor's allocator does, for one node."""

    features: Features
    behaviour: Behaviour
    node: Node

    def allocation(
        self,
        claim: Claim,
        requests: Sequence[PlannedRequest],
        picked: Sequence[Picked],
        selected: Mapping[int, int],
    ) -> ClaimAllocation:
        """The allocation of one claim; `selected` is request → alternative."""
        chosen = [request.asks[selected.get(number, 0)] for number, request in enumerate(requests)]
        return ClaimAllocation(
            results=tuple(self._result(claim, number, one) for number, one in enumerate(picked)),
            config=tuple(self._config(claim, chosen)),
            node_selector=self._node_selector(one.candidate for one in picked),
        )

    def _result(self, claim: Claim, number: int, picked: Picked) -> DeviceResult:
        ask, candidate = picked.ask, picked.candidate
        driver, pool, name = candidate.id
        device = candidate.device
        binds = self.features.device_binding_and_status
        return DeviceResult(
            request=ask.result_name,
            driver=driver,
            pool=pool,
            device=name,
            admin_access=ask.wanted.admin_access,
            tolerations=ask.wanted.tolerations if self.behaviour.results_tolerations else (),
            share_id=None if picked.amounts is None else share_id(claim, number),
            consumed_capacity=picked.amounts or {},
            binding_conditions=device.binding_conditions if binds else (),
            binding_failure_conditions=device.binding_failure_conditions if binds else (),
            skip_node_operations=candidate.slice.skip_node_operations
            if self.behaviour.skips_node_operations
            else (),
        )

    def _config(self, claim: Claim, chosen: Sequence[Ask]) -> Iterator[OpaqueConfig]:
        """Class entries once for each class, then the claim's entries for requests it has."""
        by_class: dict[str, list[Ask]] = {}
        for ask in chosen:
            if ask.device_class is not None:
                by_class.setdefault(ask.device_class.name, []).append(ask)
        for asks in by_class.values():
            names = tuple(ask.result_name for ask in asks)
            device_class = asks[0].device_class
            for config in device_class.config if device_class is not None else ():
                yield self._widened(replace(config, source="FromClass", requests=names), chosen)
        for config in claim.spec.config:
            number = sum(_names(config.requests, ask) for ask in chosen)
            if not config.requests:
                number = 1
            elif not self.behaviour.repeats_config:
                number = min(number, 1)
            for _ in range(number):
                yield self._widened(replace(config, source="FromClaim"), chosen)

    def _widened(self, config: OpaqueConfig, chosen: Sequence[Ask]) -> OpaqueConfig:
        """From 1.37 on an entry for every request names none."""
        if self.behaviour.widens_config and all(_names(config.requests, ask) for ask in chosen):
            return replace(config, requests=())
        return config

    def _node_selector(self, picked: Iterable[Candidate]) -> NodeSelector | None:
        expressions: list[Requirement] = []
        fields: list[Requirement] = []
        for candidate in picked:
            device, part = candidate.device, candidate.slice
            nodes = device.nodes if part.per_device_nodes else part.nodes
            binds = self.behaviour.knows_binding and device.binds_to_node
            if binds or (nodes is not None and nodes.node_name is not None):
                only = Requirement(NAME_FIELD, "In", (self.node.name,))
                return NodeSelector(fields=(only,))
            if nodes is not None and nodes.selector is not None:
                _merge(expressions, nodes.selector.expressions)
                _merge(fields, nodes.selector.fields)
        if not expressions and not fields:
            return None
        return NodeSelector(tuple(expressions), tuple(fields))


def share_id(claim: Claim, number: int) -> str:
    """The id of a share: kube-scheduler draws it at random, here it follows from the claim.

    A UUID of version 5 over the claim's UID (its namespace and name where it has none) and the
    place of the device in the result.
    """
    owner = claim.uid or f"{claim.namespace}/{claim.name}"
    return str(uuid.uuid5(SHARES, f"{owner}/{number}"))


def _names(requests: Iterable[str], ask: Ask) -> bool:
    """Whether requests of a configuration name this one, or the alternative that was taken."""
    return ask.request in requests or ask.result_name in requests


def _merge(into: list[Requirement], more: Iterable[Requirement]) -> None:
    for requirement in more:
        if not any(_same(requirement, known) for known in into):
            into.append(requirement)


def _same(one: Requirement, other: Requirement) -> bool:
    return (
        one.key == other.key
        and one.operator == other.operator
        and set(one.values) == set(other.values)
    )
