"""The part of the report that tells of proofs: what was asked, what came out, and what convinces of it.

Knows nothing of how anything is proven.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from dracfg.dataclass import dataclass
from dracfg.report.section import Section, Word


@dataclass(frozen=True, slots=True)
class Ground(Section):
    """What a proof rests on. `accepted` is the reason with which somebody takes it on."""

    what: str
    stage: str
    accepted: str | None


@dataclass(frozen=True, slots=True)
class Proof(Section):
    """One question about one guarantee. `evidence` and `rests_on` are positions in the report's lists.

    `promised`: all guarantees of the tier lie on devices together. `fits`: the tenant's do beside what
    others may hold. `nonBlocking`: a claim for so many `devices` is never refused.
    """

    cluster: str
    tier: str
    tenant: str
    entitlement: str
    guaranteed: int
    question: Literal["promised", "fits", "nonBlocking"]
    devices: int
    verdict: Word
    after_reclaim: bool
    conditional: bool
    evidence: int
    rests_on: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class JointAsker(Section):
    """A profile of a tenant, and how many of its claims come of what the tenant is guaranteed."""

    tenant: str
    profile: str
    claims: int


@dataclass(frozen=True, slots=True)
class JointProof(Section):
    """One question about claims that ask for several things at once, of all tenants of a cluster that ask
    alike. `asks` says what each is for, `evidence` is a position in the report's list.

    `fits`: all of them lie on nodes together, beside all else that is guaranteed. `nonBlocking`: none is
    ever refused. `modelled`: nodes are those that the catalog describes, since none are recorded.
    """

    cluster: str
    asks: str
    claims: int
    askers: tuple[JointAsker, ...]
    question: Literal["fits", "nonBlocking"]
    verdict: Word
    modelled: bool
    evidence: int


@dataclass(frozen=True, slots=True)
class Carried(Section):
    """So many shares of a class on a device; `size` by capacity, empty for a whole device."""

    device_class: str
    shares: int
    size: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Filled(Section):
    """`devices` of a node pool that all carry the same. `capacity` is what each of them offers."""

    pool: str
    devices: int
    capacity: Mapping[str, str]
    carries: tuple[Carried, ...]


@dataclass(frozen=True, slots=True)
class FilledNode(Section):
    """Joint claims on a node, or on each of the `nodes` that it stands for: of each claim its devices,
    as `<driver>/<pool>/<device>`."""

    node: str
    nodes: int
    claims: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Evidence(Section):
    """What convinces a reader of a verdict.

    A packing shows where everything lies, an arrangement how others leave no room, a placement the node
    of each joint claim, a bound what was added up, a search what was tried; open is a question that was
    not decided. `devices` are those of the first two, `nodes` those of a placement, else they are empty.
    """

    form: Literal["packing", "arrangement", "placement", "bound", "search", "open"]
    text: str
    mend: str | None
    devices: tuple[Filled, ...] = ()
    nodes: tuple[FilledNode, ...] = ()
