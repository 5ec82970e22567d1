"""kind: Rollout. The staged move of a tier: between device plugin and DRA, between ways of sharing,
or with a feature switched on, and back.
"""

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Discriminator, Field, StringConstraints, Tag, model_validator
from pydantic_core import PydanticCustomError

from dracfg.model.base import Duration, Name, PlainNumber, Reason, Spec, tag_by_shape

Everything = Literal["*"]
Names = Annotated[
    Annotated[Everything, Tag("all")] | Annotated[tuple[Name, ...], Tag("some")],
    Discriminator(tag_by_shape(text="all", list="some")),
]
Direction = Literal["forward", "halted", "rollback"]
Phase = Literal["open", "fenced"]
Subject = Literal["ownership", "sharing", "featureGate", "deviceMetadata", "rebalance"]
Protects = Literal["continuity", "throughput", "utilisation"]
Workloads = Literal["retryable", "any"]
Measure = Annotated[str, StringConstraints(pattern=r"^[a-z][A-Za-z0-9]*$", max_length=64)]

START = "start"
"""The stage before the first one: nothing has moved, all is as the pools themselves say."""


class Split(Spec):
    """A tenant's limit while both paths are open: so many by plugin, so many by claims."""

    plugin: Annotated[int, Field(ge=0)]
    """The part that is asked for by the plugin's name."""
    dra: Annotated[int, Field(ge=0)]
    """The part that is asked for by claims."""


class Stage(Spec):
    """One step: these pools have moved, these tenants use what they moved to."""

    name: Name
    """The stage's name."""
    pools: Names
    """The pools that have moved when it stands; `*` for all of the tier."""
    tenants: Names
    """The tenants that ask by claims then; `*` for all."""
    workloads: Workloads
    """Which work may be there: `retryable` can be ended and begun anew, `any` also what can't."""
    split: dict[Name, Split] = {}
    """Per tenant, while a tier has both owners on a cluster and the minor counts them apart."""


Threshold = Annotated[
    Annotated[PlainNumber, Tag("number")] | Annotated[Duration, Tag("duration")],
    Discriminator(tag_by_shape(number="number", text="duration")),
]


class Gate(Spec):
    """A measurement that must hold before the next stage: one of dracfg's own, or a query."""

    model_config = ConfigDict(
        json_schema_extra={
            "dependencies": {"promql": ["name", "max"]},
            "not": {"required": ["measure", "promql"]},
        }
    )

    name: str | None = Field(default=None, min_length=1, max_length=100)
    """How it is called; a measure's own id unless said."""
    measure: Measure | None = None
    """A built-in measure such as driverErrors, with its limits; see docs/rollouts.md."""
    promql: str | None = Field(default=None, min_length=1)
    """A query whose every sample is a value to be judged; no sample is no pass."""
    max: Threshold | None = None
    """The greatest value at which the next stage may be taken: a number, or a length of time. The
    measure's own unless said."""
    halt: Threshold | None = None
    """The value above which the rollout must be halted; the measure's own unless said, and none for a
    query."""
    over: Duration | None = None
    """How far back it must have held; the query alone decides unless said."""
    directions: tuple[Literal["forward", "rollback"], ...] | None = Field(
        default=None, min_length=1
    )
    """On which way it is asked: in a rollback it tells whether that is complete. Those of the measure
    unless said, and forward for a query."""

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if (self.measure is None) == (self.promql is None):
            raise PydanticCustomError("either promql or measure is needed, and not both", "one")
        if self.promql is not None and (self.name is None or self.max is None):
            raise PydanticCustomError("a query needs a name and a max", "named")
        return self


class Reading(Spec):
    """What one gate showed when it was asked."""

    gate: str = Field(min_length=1, max_length=100)
    """The gate."""
    value: str | None = Field(default=None, max_length=64)
    """The worst sample, in the unit of the query; none where there was no data."""
    limit: str = Field(max_length=64)
    """What it was held against."""
    passed: bool
    """Whether it held."""


class Evidence(Spec):
    """A verdict of the gates as `dracfg rollout` wrote it: it is appended to, never edited."""

    stage: Name
    """The stage that it was taken at."""
    phase: Phase = "open"
    """Whether pools of the next stage were fenced."""
    direction: Direction
    """The way that was to be gone."""
    verdict: Literal["passed", "failed", "missing"]
    """Whether every gate held."""
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
    """The tier that moves."""
    subject: Subject = "ownership"
    """What moves: who hands devices out, how they are shared, a feature gate of the pools' kubelets,
    the driver's device-metadata files, or live claims that were made under older numbers of a policy."""
    sharing: Name | None = None
    """For `sharing`: the policy that the pools move to; for `rebalance`: the one whose claims are made
    anew."""
    version: Annotated[str, Field(pattern=r"^[0-9a-f]{8}$")] | None = None
    """For `rebalance`: the version of the policy that claims move to, as `policy-versions.yaml` names it."""
    replaces: Name | None = None
    """For `sharing`: the policy of the pools that it takes the place of; `whole` unless said."""
    gate: Annotated[str, Field(pattern=r"^[A-Z][A-Za-z0-9]*$")] | None = None
    """For `featureGate`: the gate that the kubelets of the moved pools get."""
    protects: Protects = "continuity"
    """What comes first: running work, the rate of finished work, or the use of the devices. It picks the
    gates of a Rollout that names none."""
    restores: Reason | None = None
    """How work that can't simply begin anew goes on from a checkpoint; needed before it moves."""
    stage: Name
    """Where it stands; `start` before the first stage. `dracfg rollout` moves it."""
    phase: Phase = "open"
    """`fenced` while the pools that move next let nothing new in, until they are empty."""
    direction: Direction = "forward"
    """Forward, halted, or on the way back."""
    stages: tuple[Stage, ...] = Field(min_length=1)
    gates: tuple[Gate, ...] = ()
    """What must hold before each step; those of what it protects unless said."""
    evidence: tuple[Evidence, ...] = ()
