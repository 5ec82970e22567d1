"""Where a rollout may go from where it stands: one step at a time, on the way there and back.

Pools move in two steps: first they are fenced until they are empty, then they change hands. On the way
back each stage's own pools are fenced at once, and the step leads to the stage before. A rebalance moves
claims and no pool: it goes from stage to stage without a fence.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from dracfg.dataclass import dataclass
from dracfg.link.moves import position, stages_of
from dracfg.model.rollout import Direction, Phase, RolloutSpec

Command = Literal["advance", "halt", "rollback"]


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a rollout stands."""

    stage: str
    phase: Phase
    direction: Direction

    def __str__(self) -> str:
        fenced = ", next pools fenced" if self.phase == "fenced" else ""
        way = "" if self.direction == "forward" else f", {self.direction}"
        return f"{self.stage}{fenced}{way}"


@dataclass(frozen=True, slots=True)
class Step:
    """A step that may be taken.

    `flips`: pools change hands by it, so those that do must be empty. `asks`: the gates of this way
    must hold first; None where nothing is asked.
    """

    command: Command
    before: Standing
    after: Standing
    flips: bool = False
    asks: Literal["forward", "rollback"] | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a step may not be taken, and what may be instead."""

    why: str
    instead: str


def standing(spec: RolloutSpec) -> Standing:
    """Where the document says that it stands."""
    return Standing(spec.stage, spec.phase, spec.direction)


def step(spec: RolloutSpec, command: Command) -> Step | Refused:
    """The step that a command means here."""
    here = standing(spec)
    match command:
        case "advance":
            return _advance(spec, here)
        case "halt":
            if here.direction == "halted":
                return Refused("it is halted already", "advance to go on, or rollback to go back")
            return Step("halt", here, replace(here, direction="halted"))
        case "rollback":
            if here.direction == "rollback":
                return Refused("it is on its way back already", "advance takes the next step back")
            after = Standing(here.stage, "open", "rollback")
            return Step("rollback", here, after)


def _advance(spec: RolloutSpec, here: Standing) -> Step | Refused:
    place, places = position(spec), stages_of(spec)
    flips = spec.subject != "rebalance"
    if here.direction == "halted":
        return Step("advance", here, replace(here, direction="forward"), asks="forward")
    if here.direction == "rollback":
        if place < 0:
            return Refused(
                "it is back at the start",
                "remove the Rollout, or write `direction: forward` to begin anew",
            )
        after = Standing(places[place], "open", "rollback")
        return Step("advance", here, after, flips=flips, asks="rollback")
    if place + 1 == len(spec.stages):
        return Refused(
            "it stands at its last stage",
            "write the owner or the policy into the NodePools and remove the Rollout"
            if flips
            else "remove the Rollout when no live claim is under an older version",
        )
    if flips and here.phase == "open":
        return Step("advance", here, replace(here, phase="fenced"), asks="forward")
    following = Standing(places[place + 2], "open", "forward")
    return Step("advance", here, following, flips=flips, asks="forward")


def reachable(spec: RolloutSpec) -> tuple[Standing, ...]:
    """Every standing that some sequence of steps leads to from the start."""
    found: dict[Standing, None] = {}
    pending = [Standing(stages_of(spec)[0], "open", "forward")]
    while pending:
        here = pending.pop()
        if here in found:
            continue
        found[here] = None
        moved = at(spec, here)
        for command in ("advance", "halt", "rollback"):
            taken = step(moved, command)
            if isinstance(taken, Step):
                pending.append(taken.after)
    return tuple(found)


def at(spec: RolloutSpec, here: Standing) -> RolloutSpec:
    """The rollout as if it stood elsewhere."""
    return spec.model_copy(
        update={"stage": here.stage, "phase": here.phase, "direction": here.direction}
    )
