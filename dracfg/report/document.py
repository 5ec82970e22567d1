"""The report as data: one frozen document per section, and all of them as JSON.

Amounts are text as the catalog writes them (`40Gi`, `25G`, `8`); names are those of the catalog. Knows
nothing of where facts come from, nor of how they are shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Severity
from dracfg.diagnostics.render.document import SCHEMA_VERSION
from dracfg.report.proofdocument import Evidence, Ground, JointProof, Proof
from dracfg.report.section import Section, Word

KIND = "Report"
Holds = Literal["met", "notMet", "notAsked"]


@dataclass(frozen=True, slots=True)
class Summary(Section):
    """What the page opens with. Guarantees are counted by proof: one may have several."""

    clusters: int
    tenants: int
    devices: int
    proven: int
    refuted: int
    unknown: int
    errors: int
    undecided: int
    warnings: int
    notes: int
    waived: int


@dataclass(frozen=True, slots=True)
class Deduction(Section):
    """What is taken off, and why."""

    name: str
    amount: str
    why: str


@dataclass(frozen=True, slots=True)
class Figure(Section):
    """One capacity of one tier on one cluster, or its devices, from the racks to the promises.

    physical, less each deduction, is promiseable. `overcommit` is limit / promiseable, null where
    nothing can be promised.
    """

    cluster: str
    tier: str
    owner: str
    pools: tuple[str, ...]
    key: str
    devices: int
    a_device: str
    physical: str
    deductions: tuple[Deduction, ...]
    promiseable: str
    promised: str
    limit: str
    overcommit: str | None


@dataclass(frozen=True, slots=True)
class Holder(Section):
    """A claim on a device; `consumed` by capacity, empty where the device is held as a whole."""

    claim: str
    tenant: str | None
    device_class: str | None
    consumed: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class CapacityUse(Section):
    """One capacity of a recorded device. `fragmented` is free and less than the smallest size."""

    key: str
    total: str
    used: str
    free: str
    fragmented: str


@dataclass(frozen=True, slots=True)
class DeviceUse(Section):
    """One recorded device. `slices` is the ResourceSlice pool that publishes it."""

    node: str | None
    slices: str
    device: str
    driver: str
    tier: str | None
    state: Literal["idle", "allocated", "shared", "unknown", "unpublished"]
    reason: str | None
    capacity: tuple[CapacityUse, ...]
    holders: tuple[Holder, ...]


@dataclass(frozen=True, slots=True)
class PoolLedger(Section):
    """The recorded devices of one tier in one node pool; `pool` is null for nodes that no pool has.

    `at` is the newest moment that the record tells of.
    """

    cluster: str
    pool: str | None
    tier: str | None
    at: str | None
    devices: tuple[DeviceUse, ...]


@dataclass(frozen=True, slots=True)
class Holding(Section):
    """What a tenant may hold of one part of a tier on one cluster.

    `promised` says whether the guarantee is one: under sharing that nothing enforces it is not.
    """

    cluster: str
    tier: str
    entitlement: str
    sharing: str
    size: str | None
    borrowed_from: str | None
    guaranteed: int
    limit: int
    promised: bool


@dataclass(frozen=True, slots=True)
class TenantRights(Section):
    """A tenant with all that it may hold; `verdict` is the worst of its proofs, null without any."""

    name: str
    description: str | None
    state: str
    clusters: tuple[str, ...]
    verdict: Word | None
    holdings: tuple[Holding, ...]


@dataclass(frozen=True, slots=True)
class Lending(Section):
    """An offer of one tenant to another; `accepted` is how many the taker takes. `held` is what the
    record shows it to hold, by cluster; empty where nothing is recorded."""

    giver: str
    taker: str
    entitlement: str
    tier: str | None
    sharing: str | None
    size: str | None
    offered: int
    accepted: int
    held: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RolloutGate(Section):
    """A measurement before the next step, with its last reading that the Rollout holds.

    `waits_for` is what has to come before it can be asked.
    """

    name: str
    max: str
    halt: str | None
    directions: tuple[str, ...]
    value: str | None
    at: str | None
    holds: Holds
    waits_for: str | None


@dataclass(frozen=True, slots=True)
class RolloutStage(Section):
    """One stage: its pools, and the tenants that use what they move to; `*` stands for all."""

    name: str
    pools: tuple[str, ...]
    tenants: tuple[str, ...]
    place: Literal["done", "here", "ahead"]


@dataclass(frozen=True, slots=True)
class RolloutState(Section):
    """Where a move stands."""

    name: str
    tier: str
    subject: str
    protects: str
    stage: str
    phase: str
    direction: str
    stages: tuple[RolloutStage, ...]
    gates: tuple[RolloutGate, ...]


@dataclass(frozen=True, slots=True)
class DriverVersion(Section):
    """A driver of a cluster; null where the catalog names no release."""

    name: str
    version: str | None


@dataclass(frozen=True, slots=True)
class FeatureGate(Section):
    """A feature gate in a cluster's minor. `components` are those that it is written for."""

    name: str
    stage: str
    default: bool | None
    wanted: bool
    components: tuple[str, ...]
    not_written: str | None
    allow_alpha: str | None
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StatedObjective(Section):
    """A figure that a cluster, or one tier on it, is held to; alerts and gates of rollouts use it.

    `measured` says whether a metric of the minor, or one that a document names, tells it.
    """

    objective: str
    tier: str | None
    title: str
    limit: str
    measured: bool


@dataclass(frozen=True, slots=True)
class ClusterVersions(Section):
    """What runs on a cluster, what it is held to, and the gates that what is emitted needs."""

    name: str
    description: str | None
    kubernetes: str
    distribution: str
    engine: str
    kueue: str | None
    drivers: tuple[DriverVersion, ...]
    objectives: tuple[StatedObjective, ...]
    gates: tuple[FeatureGate, ...]


@dataclass(frozen=True, slots=True)
class SourceLine(Section):
    """A line of an excerpt; `start` and `end` are the marked columns, from 1, null where none is."""

    number: int
    text: str
    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True)
class Excerpt(Section):
    """The place that a finding points at, or a second one that makes it wrong."""

    file: str
    line: int
    column: int
    label: str
    lines: tuple[SourceLine, ...]


@dataclass(frozen=True, slots=True)
class Finding(Section):
    """A finding with its places, the main one first. `handling` says whose turn it is, for live ones;
    `waived` is the reason why it does not count."""

    code: str
    severity: Severity
    message: str
    cluster: str | None
    handling: str | None
    places: tuple[Excerpt, ...]
    found: str | None
    expected: str | None
    help: str | None
    waived: str | None


@dataclass(frozen=True, slots=True)
class Report(Section):
    """Everything, section by section. Keys may be added within a schemaVersion, never taken."""

    verdict: Word
    summary: Summary
    capacity: tuple[Figure, ...]
    ledger: tuple[PoolLedger, ...]
    tenants: tuple[TenantRights, ...]
    proofs: tuple[Proof, ...]
    joint_proofs: tuple[JointProof, ...]
    evidence: tuple[Evidence, ...]
    grounds: tuple[Ground, ...]
    offers: tuple[Lending, ...]
    rollouts: tuple[RolloutState, ...]
    clusters: tuple[ClusterVersions, ...]
    findings: tuple[Finding, ...]


def report_document(report: Report) -> dict[str, Any]:
    """`{schemaVersion, kind: Report, verdict, …}`."""
    body: dict[str, Any] = adapter().dump_python(report, mode="json", by_alias=True)
    return {"schemaVersion": SCHEMA_VERSION, "kind": KIND, **body}


@cache
def adapter() -> TypeAdapter[Report]:
    """What turns a report into JSON, and its types into a schema."""
    return TypeAdapter(Report)
