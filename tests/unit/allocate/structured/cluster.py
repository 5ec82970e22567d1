"""A small cluster for tests of the allocator: slices as Kubernetes has them, claims in short."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dracfg.allocate.claimobjects import in_memory
from dracfg.allocate.claims import (
    Claim,
    ClaimConstraint,
    ClaimSpec,
    DeviceClass,
    DeviceRequest,
    OpaqueConfig,
    Request,
)
from dracfg.allocate.inventory import Inventory, load_inventory
from dracfg.allocate.nodes import Node
from dracfg.allocate.structured import AllocatedState, Allocation, Features, Outcome, allocate
from dracfg.kube.features import feature_matrix

DRIVER = "gpu.example.com"
NODE = Node("node-1", {"zone": "east"})
CLASSES = {
    "gpu": DeviceClass(
        "gpu",
        ('device.driver == "gpu.example.com"',),
        (OpaqueConfig("gpu.example.com", {"mode": "class"}),),
    ),
    "any": DeviceClass("any"),
}
MINORS = ("1.34", "1.35", "1.36", "1.37")


def device(name: str, **content: Any) -> dict[str, Any]:
    """A device; `attributes` may be given as plain values."""
    plain: Mapping[str, Any] = content.pop("attributes", {})
    attributes = {key: _typed(value) for key, value in plain.items()}
    return {"name": name, "attributes": attributes, **content}


def _typed(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    return {
        "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "string": value
    }


@dataclass
class Cluster:
    """Slices of one driver; each method returns the cluster, so that calls chain."""

    minor: str = "1.37"
    slices: list[dict[str, Any]] = field(default_factory=list)

    def add(
        self,
        name: str,
        devices: Iterable[dict[str, Any]] = (),
        *,
        pool: str = "node-1",
        driver: str = DRIVER,
        generation: int = 1,
        count: int = 1,
        where: Mapping[str, Any] | None = None,
        counters: Sequence[dict[str, Any]] = (),
        **more: Any,
    ) -> Cluster:
        spec: dict[str, Any] = {
            "driver": driver,
            "pool": {"name": pool, "generation": generation, "resourceSliceCount": count},
            **({"nodeName": "node-1"} if where is None else where),
            **more,
        }
        if found := list(devices):
            spec["devices"] = found
        if counters:
            spec["sharedCounters"] = list(counters)
        self.slices.append(
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceSlice",
                "metadata": {"name": name},
                "spec": spec,
            }
        )
        return self

    def inventory(self) -> Inventory:
        found, _ = load_inventory([in_memory(self.slices)], self.minor)
        return found

    def features(self, *, without: Iterable[str] = ()) -> Features:
        """Every gate of the minor is on, but for those named."""
        gates = feature_matrix().gates
        on = {name for name, gate in gates.items() if gate.at(self.minor).stage != "absent"}
        return Features.of(self.minor, frozenset(on - set(without)))

    def ask(
        self,
        *claims: Claim,
        state: AllocatedState | None = None,
        node: Node = NODE,
        without: Iterable[str] = (),
        budget: int = 50_000,
    ) -> Outcome:
        features = self.features(without=without)
        held = state or AllocatedState()
        return allocate(self.inventory(), CLASSES, claims, node, held, features, budget)


def wants(name: str = "req", count: int = 1, **more: Any) -> Request:
    """A request for devices of the class gpu."""
    given = {"device_class": "gpu", "count": count, **more}
    return Request(name, DeviceRequest(name, **given))


def claim(*requests: Request, name: str = "claim", **more: Any) -> Claim:
    """A pending claim; `constraints` and `config` go to its spec."""
    constraints: tuple[ClaimConstraint, ...] = more.get("constraints", ())
    spec = ClaimSpec(requests, constraints, more.get("config", ()))
    return Claim("team", name, spec, uid=f"uid-{name}")


def picked(outcome: Outcome) -> list[str]:
    """The names of the allocated devices, `request=device`, over all claims."""
    assert isinstance(outcome, Allocation), outcome
    return [f"{one.request}={one.device}" for result in outcome.results for one in result.results]
