"""Rollouts of the catalog → the stage each stands at, and what its gates last showed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from dracfg.link.catalog import Catalog
from dracfg.link.gates import AskedGate, rollout_gates, waits_for
from dracfg.link.moves import pools_at, position
from dracfg.model.kinds import NodePool, Rollout
from dracfg.model.rollout import START, RolloutSpec, Stage
from dracfg.report.document import Holds, RolloutGate, RolloutStage, RolloutState
from dracfg.rollout.gates import written


def rollout_states(catalog: Catalog) -> Iterator[RolloutState]:
    """Every rollout, by name."""
    pools = {name: pool.document for name, pool in catalog.pools.items()}
    for rollout in catalog.rollouts.values():
        yield _state(catalog, rollout, pools)


def _state(catalog: Catalog, rollout: Rollout, pools: dict[str, NodePool]) -> RolloutState:
    spec = rollout.spec
    here = position(spec)
    return RolloutState(
        name=rollout.name,
        tier=spec.tier,
        subject=spec.subject,
        protects=spec.protects,
        stage=spec.stage,
        phase=spec.phase,
        direction=spec.direction,
        stages=(
            RolloutStage(START, (), (), _place(-1, here)),
            *(
                RolloutStage(
                    stage.name, tuple(sorted(pools_at(spec, i, pools))), _tenants(stage),
                    _place(i, here),
                )
                for i, stage in enumerate(spec.stages)
            ),
        ),
        gates=tuple(_gate(catalog, spec, gate) for gate in rollout_gates(catalog, spec)),
    )  # fmt: skip


def _tenants(stage: Stage) -> tuple[str, ...]:
    return ("*",) if stage.tenants == "*" else tuple(stage.tenants)


def _place(number: int, here: int) -> Literal["done", "here", "ahead"]:
    if number == here:
        return "here"
    return "done" if number < here else "ahead"


def _gate(catalog: Catalog, spec: RolloutSpec, gate: AskedGate) -> RolloutGate:
    """The last reading of the gate that somebody wrote into the Rollout, if any."""
    read = [
        (evidence, reading)
        for evidence in spec.evidence
        for reading in evidence.readings
        if reading.gate == gate.name
    ]
    evidence, reading = read[-1] if read else (None, None)
    holds: Holds = "notAsked"
    if reading is not None:
        holds = "met" if reading.passed else "notMet"
    return RolloutGate(
        name=gate.name,
        max=written(gate.max),
        halt=None if gate.halt is None else written(gate.halt),
        directions=gate.directions,
        value=None if reading is None else reading.value,
        at=None if evidence is None else evidence.at,
        holds=holds,
        waits_for=waits_for(catalog, spec, gate),
    )
