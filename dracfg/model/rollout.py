"""kind: Rollout. The staged move of a tier from its device plugin to DRA, or back."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from dracfg.model.base import Duration, Name, Quantity, Spec, tag_by_shape

Everything = Literal["*"]
Names = Annotated[
    Annotated[Everything, Tag("all")] | Annotated[tuple[Name, ...], Tag("some")],
    Discriminator(tag_by_shape(text="all", list="some")),
]


class Split(Spec):
    """A tenant's limit while both paths are open: so many by plugin, so many by claims."""

    plugin: Annotated[int, Field(ge=0)]
    dra: Annotated[int, Field(ge=0)]


class Stage(Spec):
    """One step: these pools are handed out by DRA, these tenants use claims."""

    name: Name
    pools: Names
    tenants: Names
    workloads: Literal["retryable", "any"]
    split: dict[Name, Split] = {}
    """Per tenant, while a tier has both owners on a cluster and the minor counts them apart."""


Threshold = Annotated[
    Annotated[Quantity, Tag("number")] | Annotated[Duration, Tag("duration")],
    Discriminator(tag_by_shape(number="number", text="duration")),
]


class Gate(Spec):
    """A measurement that must hold before the next stage."""

    name: str = Field(min_length=1)
    promql: str = Field(min_length=1)
    max: Threshold
    """The greatest value at which it holds: a number, or a length of time."""
    over: Duration | None = None


class RolloutSpec(Spec):
    """The move of one tier, stage by stage; stages only widen."""

    tier: Name
    stage: Name
    """Where it stands."""
    direction: Literal["forward", "halted", "rollback"] = "forward"
    stages: tuple[Stage, ...] = Field(min_length=1)
    gates: tuple[Gate, ...] = ()
