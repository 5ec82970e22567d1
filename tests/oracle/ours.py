"""Puts a case to dracfg's allocator, by way of what reads recorded objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dracfg.allocate.claimobjects import in_memory, read_claims
from dracfg.allocate.inventory import load_inventory
from dracfg.allocate.state import AllocationState
from dracfg.allocate.structured.allocator import allocate
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


def ask(case: Mapping[str, Any]) -> Answer:
    """dracfg's answer. Raises Refused where the case is none that an API server would hold."""
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
    outcome = allocate(
        inventory,
        {one.name: one for one in asked.classes},
        [claim for claim in asked.claims if claim.allocation is None],
        inventory.nodes[case["node"]["metadata"]["name"]],
        state.allocated(consumable="DRAConsumableCapacity" in gates),
        Features.of(minor, gates),
        BUDGET,
    )
    return of_dracfg(outcome)
