"""Puts a case to dracfg's allocator, by way of what reads recorded objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dracfg.allocate.claimobjects import in_memory, read_claims
from dracfg.allocate.claims import Claim, DeviceClass
from dracfg.allocate.inventory import Inventory, load_inventory
from dracfg.allocate.nodes import Node
from dracfg.allocate.state import AllocationState
from dracfg.allocate.structured.allocated import AllocatedState
from dracfg.allocate.structured.allocator import Allocator
from dracfg.allocate.structured.behaviour import Behaviour
from dracfg.allocate.structured.features import Features
from dracfg.diagnostics import Diagnostic
from tests.oracle.answers import Answer, of_dracfg

CONTRADICTIONS = ("INV012", "INV013", "INV014", "INV015", "INV016")
"""Findings that cases are meant to have: pools that don't hold together, two keys of one name."""


BUDGET = 4_000
"""Devices that one search tries at most. A case that takes more decides nothing."""


class Refused(ValueError):
    """A case that holds objects which dracfg's readers do not take."""

    def __init__(self, findings: list[Diagnostic]) -> None:
        super().__init__("; ".join(f"{one.code} {one.message}" for one in findings))


@dataclass(frozen=True, slots=True)
class Question:
    """A case as dracfg's allocator takes it."""

    inventory: Inventory
    classes: Mapping[str, DeviceClass]
    claims: tuple[Claim, ...]
    node: Node
    state: AllocatedState
    features: Features

    def answer(self, behaviour: Behaviour | None = None) -> Answer:
        """dracfg's answer; with a behaviour, that of an allocator which behaves so."""
        allocator = Allocator(self.inventory, self.classes, self.features, behaviour)
        return of_dracfg(allocator.allocate(self.claims, self.node, self.state, BUDGET))


def question(case: Mapping[str, Any]) -> Question:
    """Reads a case. Raises Refused where it is none that an API server would hold."""
    minor = case["minor"]
    published = in_memory([case["node"], *case["slices"]], "slices")
    inventory, findings = load_inventory([published], minor)
    asked, more = read_claims(
        [in_memory([*case["classes"], *case["claims"], *case["allocated"]], "claims")], minor
    )
    refused = [one for one in (*findings, *more) if one.code not in CONTRADICTIONS]
    if refused:
        raise Refused(refused)
    gates = frozenset(case["gates"])
    held = [claim for claim in asked.claims if claim.allocation is not None]
    state = AllocationState.of(held, inventory)
    return Question(
        inventory,
        {one.name: one for one in asked.classes},
        tuple(claim for claim in asked.claims if claim.allocation is None),
        inventory.nodes[case["node"]["metadata"]["name"]],
        state.allocated(consumable="DRAConsumableCapacity" in gates),
        Features.of(minor, gates),
    )


def ask(case: Mapping[str, Any]) -> Answer:
    """dracfg's answer. Raises Refused where the case is none that an API server would hold."""
    return question(case).answer()
