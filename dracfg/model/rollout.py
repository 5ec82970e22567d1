"""kind: Rollout. The staged move of a tier: between device plugin and DRA, between ways of sharing,
or with a feature switched on, and back.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from dracfg.model.base import Duration, Name, PlainNumber, Reason, Spec, tag_by_shape

Everything = Literal["*"]
Names = Annotated[
    Annotated[Everything, Tag("all")] | Annotated[tuple[Name, ...], Tag("some")],
    Discriminator(tag_by_shape(text="all", list="some")),
]
Direction = Literal["forward", "halted", "rollback"]
Phase = Literal["open", "fenced"]
Subject = Literal["ownership", "sharing", "featureGate", "deviceMetadata"]
Protects = Literal["continuity", "throughput", "utilisation"]
Workloads = Literal["retryable", "any"]

START = "start"
"""The stage before the first one: nothing has moved, all is as the pools themselves say."""


class Split(Spec):
    """A tenant's limit while both paths are open: so many by plugin, so many by claims."""

    plugin: Annotated[int, Field(ge=0)]
    dra: Annotated[int, Field(ge=0)]


class Stage(Spec):
    """One step: these pools have moved, these tenants use what they moved to."""

    name: Name
    pools: Names
    tenants: Names
    workloads: Workloads
    """Which work may be there: `retryable` can be ended and begun anew, `any` also what can't."""
    split: dict[Name, Split] = {}
    """Per tenant, while a tier has both owners on a cluster and the minor counts them apart."""


Threshold = Annotated[
    Annotated[PlainNumber, Tag("number")] | Annotated[Duration, Tag("duration")],
    Discriminator(tag_by_shape(number="number", text="duration")),
]


class Gate(Spec):
    """A measurement that must hold before the next stage."""

    name: str = Field(min_length=1, max_length=100)
    promql: str = Field(min_length=1)
    """A query whose every sample is a value to be judged; no sample is no pass."""
    max: Threshold
    """The greatest value at which the next stage may be taken: a number, or a length of time."""
    halt: Threshold | None = None
    """The value above which the rollout must be halted; unless said, none."""
    over: Duration | None = None
    """How far back it must have held; the query alone decides unless said."""
    directions: tuple[Literal["forward", "rollback"], ...] = Field(
        default=("forward",), min_length=1
    )
    """On which way it is asked: in a rollback it tells whether that is complete."""


class Reading(Spec):
    """What one gate showed when it was asked."""

    gate: str = Field(min_length=1, max_length=100)
    value: str | None = Field(default=None, max_length=64)
    """The worst sample, in the unit of the query; none where there was no data."""
    limit: str = Field(max_length=64)
    passed: bool


class Evidence(Spec):
    """A verdict of the gates as `dracfg rollout` wrote it: it is appended to, never edited."""

    stage: Name
    phase: Phase = "open"
    direction: Direction
    verdict: Literal["passed", "failed", "missing"]
    at: str = Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$")
    """When it was asked, in UTC."""
    source: str = Field(min_length=1, max_length=300)
    """The Prometheus server without its credentials, or the file."""
    digest: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")
    """Of the answers, or of the recorded dumps of a halt or rollback."""
    readings: tuple[Reading, ...] = ()


class RolloutSpec(Spec):
    """The move of one tier, stage by stage; stages only widen."""

    tier: Name
    subject: Subject = "ownership"
    """What moves: who hands devices out, how they are shared, a feature gate of the pools' kubelets,
    or the driver's device-metadata files."""
    sharing: Name | None = None
    """For `sharing`: the policy that the pools move to."""
    replaces: Name | None = None
    """For `sharing`: the policy of the pools that it takes the place of; `whole` unless said."""
    gate: Annotated[str, Field(pattern=r"^[A-Z][A-Za-z0-9]*$")] | None = None
    """For `featureGate`: the gate that the kubelets of the moved pools get."""
    protects: Protects = "continuity"
    """What comes first: running work, the rate of finished work, or the use of the devices."""
    restores: Reason | None = None
    """How work that can't simply begin anew goes on from a checkpoint; needed before it moves."""
    stage: Name
    """Where it stands; `start` before the first stage. `dracfg rollout` moves it."""
    phase: Phase = "open"
    """`fenced` while the pools that move next let nothing new in, until they are empty."""
    direction: Direction = "forward"
    stages: tuple[Stage, ...] = Field(min_length=1)
    gates: tuple[Gate, ...] = ()
    evidence: tuple[Evidence, ...] = ()
