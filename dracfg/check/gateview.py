"""One cluster's gate plan beside what its documents say of gates, and where each use comes from.

Judges nothing: rules ask here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property

from dracfg.check.places import distinct_spans, key_place, place
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Related, Span
from dracfg.kube.distributions import distribution
from dracfg.kube.features import ABSENT, GateState, feature_matrix
from dracfg.kube.gates import GateUse
from dracfg.link.catalog import Catalog, Cluster
from dracfg.lower.artifact import Artifact, Origin, Unit, origin_of
from dracfg.lower.gates import GatePlan
from dracfg.packaged import read_data

MOST_RELATED = 5


def first_minor_on(gate: str) -> str | None:
    """The first supported minor in which a gate is on by default."""
    return next((m for m in feature_matrix().minors if state_of(gate, m).default), None)


@dataclass(frozen=True)
class GateView:
    """One cluster with its plan and with what its documents say of gates."""

    catalog: Catalog
    cluster: Cluster
    plan: GatePlan
    units: Sequence[Unit]

    @property
    def minor(self) -> str:
        return self.cluster.minor

    @property
    def said(self) -> Mapping[str, bool]:
        return self.cluster.document.spec.feature_gates

    @property
    def allowed(self) -> Mapping[str, str]:
        return self.cluster.document.spec.allow_alpha

    @property
    def sets_gates(self) -> bool:
        known = distribution(self.cluster.document.spec.distribution)
        return known is None or known.sets_gates

    @cached_property
    def artifacts(self) -> Mapping[str, Artifact]:
        """The cluster's objects as gate uses name them."""
        return {
            _reference(artifact): artifact
            for unit in self.units
            if unit.synced and unit.path.startswith(f"{self.cluster.name}/")
            for artifact in unit.artifacts
        }

    def spec(self, *steps: str) -> Span:
        """A value of the Cluster, shown at one word."""
        return place(self.cluster.document, "spec", *steps)

    def key(self, *steps: str) -> Span:
        return key_place(self.cluster.document, "spec", *steps)

    def is_missing(self, gate: str) -> bool:
        """Needed, off by default, and not said to be on."""
        return not state_of(gate, self.minor).default and not self.said.get(gate, False)

    def users(self, gate: str) -> tuple[Related, ...]:
        """The places that need the gate, each once, the first few."""
        origins = dict.fromkeys(map(self._origin, self.plan.uses_of(gate)))
        known = (origin for origin in origins if origin is not None)
        return tuple(
            Related(span, "needs it")
            for _, span in distinct_spans(self.catalog, known, MOST_RELATED)
        )

    def without(self, gate: str) -> str:
        """What needs the gate and what would become of it, silent losses first."""
        words = dict.fromkeys(consequence(use) for use in self.plan.uses_of(gate))
        ordered = sorted(words, key=lambda text: text not in _drops().values())
        return "; ".join(ordered[:2])

    def _origin(self, use: GateUse) -> Origin | None:
        artifact = self.artifacts.get(use.object_ref)
        if artifact is not None:
            return artifact.origin
        kind, _, name = use.object_ref.partition("/")
        steps = tuple(_step(part) for part in use.pointer.split("/")[1:])
        match kind:
            case "NodePool" if name in self.catalog.pools:
                return origin_of(self.catalog.pools[name].document, *steps)
            case "Driver" if name in self.catalog.drivers:
                return origin_of(self.catalog.drivers[name].document, *steps)
            case _:
                return None


def consequence(use: GateUse) -> str:
    """What becomes of the use while its gate is off, as precisely as it is known."""
    steps = [step for step in use.pointer.split("/") if not step.isdigit()]
    path = "/".join(steps)
    for end, words in _drops().items():
        if path.endswith(f"/{end}"):
            return words
    return use.reason


def state_of(gate: str, minor: str) -> GateState:
    """The state of a gate in a minor; absent where no supported minor knows it."""
    known = feature_matrix().gate(gate)
    return known.at(minor) if known is not None else ABSENT


def _reference(artifact: Artifact) -> str:
    metadata = artifact.object["metadata"]
    parts = (artifact.object["kind"], metadata.get("namespace"), metadata["name"])
    return "/".join(part for part in parts if part)


def _step(part: str) -> str | int:
    return int(part) if part.isdigit() else part.replace("~1", "/").replace("~0", "~")


@cache
def _drops() -> Mapping[str, str]:
    drops: Mapping[str, str] = read_data("dracfg.check", "data/silent-drops.yaml")["drops"]
    return drops
