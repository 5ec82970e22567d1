"""A small catalog with what a test asks for, and recorded devices for it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dracfg.allocate import Inventory, load_inventory
from dracfg.allocate.funnel import Funnel, funnel
from dracfg.allocate.narrowing import Ground
from dracfg.allocate.restrictions import restrictions
from dracfg.allocate.selection import Selection
from dracfg.link.catalog import Catalog
from dracfg.link.claims import claim_plan
from dracfg.link.classes import device_classes
from dracfg.link.index import index
from dracfg.link.linker import link
from dracfg.model.parse import parse
from dracfg.source import read_repository
from dracfg.source.records import parse_record

GPU, NIC = "gpu.example.org", "nic.example.org"
ROOT = "example.org/root"

PLATFORM = """
apiVersion: dracfg.dev/v1alpha1
kind: Cluster
metadata: {name: east}
spec: {kubernetes: "1.36", distribution: kubeadm, gitops: {engine: plain}}
---
apiVersion: dracfg.dev/v1alpha1
kind: Driver
metadata: {name: gpu.example.org}
spec:
  attributes: {type: string, model: string, link: string, driver: version, example.org/root: string}
  capacity: [memory]
  shareable: SHAREABLE
---
apiVersion: dracfg.dev/v1alpha1
kind: Driver
metadata: {name: nic.example.org}
spec: {attributes: {speed: int, example.org/root: string}}
---
apiVersion: dracfg.dev/v1alpha1
kind: HardwareTier
metadata: {name: big}
spec:
  driver: gpu.example.org
  match: MATCH
  device: {attributes: {type: gpu, model: B-80}, capacity: {memory: 80Gi}}
  parameters:
    link: {attribute: link, values: [nvlink, pcie]}
    memory: {capacity: memory, values: [80Gi, 160Gi]}
---
apiVersion: dracfg.dev/v1alpha1
kind: HardwareTier
metadata: {name: card}
spec: {driver: nic.example.org, match: {attributes: {speed: 400}}}
---
apiVersion: dracfg.dev/v1alpha1
kind: SharingPolicy
metadata: {name: shared}
spec:
  mode: consumable
  capacity: {memory: {min: 10Gi, step: 10Gi, max: 40Gi}}
  sizes: [10Gi, 30Gi]
  tenancy: sameTenant
---
apiVersion: dracfg.dev/v1alpha1
kind: NodePool
metadata: {name: gpus}
spec:
  cluster: east
  nodes: 3
  nodeSelector: {node.example.org/pool: gpus}
  devices: [{tier: big, perNode: 4, sharing: [SHARING]}, {tier: card, perNode: 2}]
  owner: {gpu.example.org: dra, nic.example.org: dra}
  quarantine: QUARANTINE
"""

TENANT = """
apiVersion: dracfg.dev/v1alpha1
kind: Tenant
metadata: {name: team}
spec:
  namespaces: [{name: team, clusters: [east]}]
  entitlements:
    - {name: gpu, tier: big, sharing: SHARING, guaranteed: GUARANTEED}
    - {name: nic, tier: card, guaranteed: 4}
  profiles:
"""

Build = Callable[..., Catalog]
Place = Callable[..., Funnel]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """The catalog with one profile: `build("requests: […]", match="{…}")`."""

    def made(
        profile: str = "requests: [{name: gpu, entitlement: gpu}]",
        *,
        match: str = "{attributes: {type: gpu, model: B-80}, capacity: {memory: {min: 80Gi}}}",
        sharing: str = "whole",
        quarantine: str = "[]",
    ) -> Catalog:
        shared = sharing == "shared"
        words = {
            "MATCH": match,
            "SHARING": sharing,
            "SHAREABLE": str(shared).lower(),
            "QUARANTINE": quarantine,
            "GUARANTEED": "{10Gi: 4, 30Gi: 4}" if shared else "4",
        }
        text, tenant = PLATFORM, f"{TENANT}    - {{name: work, {profile}}}\n"
        for word, meaning in words.items():
            text, tenant = text.replace(word, meaning), tenant.replace(word, meaning)
        for folder, content in (("catalog", text), ("tenants", tenant)):
            (tmp_path / folder).mkdir(exist_ok=True)
            (tmp_path / folder / "all.yaml").write_text(content, encoding="utf-8")
        sources = read_repository(tmp_path)
        parsed = parse(sources.documents)
        named, twice = index(parsed.documents)
        linked = link(named, parsed.poisoned)
        assert not [*sources.faults, *parsed.faults, *twice, *linked.faults]
        return linked.catalog

    return made


class Recorded:
    """Devices of the two drivers, and inventories of them."""

    @staticmethod
    def gpu(name: str, *, root: str | None = "a", memory: str = "80Gi", **attributes: str) -> Any:
        held = {"type": "gpu", "model": "B-80", **attributes}
        found: dict[str, Any] = {key: {"string": value} for key, value in held.items() if value}
        if root is not None:
            found[ROOT] = {"string": root}
        return {"name": name, "attributes": found, "capacity": {"memory": {"value": memory}}}

    @staticmethod
    def shared_gpu(name: str, *, memory: str = "80Gi", **more: Any) -> Any:
        device = Recorded.gpu(name, memory=memory)
        device["allowMultipleAllocations"] = True
        device["capacity"]["memory"] |= more
        return device

    @staticmethod
    def nic(name: str, root: str | None = "a") -> Any:
        found: dict[str, Any] = {"speed": {"int": 400}}
        if root is not None:
            found[ROOT] = {"string": root}
        return {"name": name, "attributes": found}

    @staticmethod
    def inventory(nodes: dict[str, dict[str, list[Any]]], **spec: Any) -> Inventory:
        """The inventory of devices by node and driver; `spec` changes every slice."""
        slices = [
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceSlice",
                "metadata": {"name": f"{node}-{driver}"},
                "spec": {
                    "driver": driver,
                    "nodeName": node,
                    "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
                    "devices": devices,
                    **spec,
                },
            }
            for node, held in nodes.items()
            for driver, devices in held.items()
        ]
        record, faults = parse_record("dump.json", json.dumps({"kind": "List", "items": slices}))
        assert not faults
        return load_inventory([record], "1.36")[0]


@pytest.fixture
def make() -> type[Recorded]:
    return Recorded


@pytest.fixture
def place() -> Place:
    """The funnel of the catalog's one profile on recorded devices: `place(catalog, inventory)`."""

    def placed(catalog: Catalog, inventory: Inventory, minor: str = "1.36") -> Funnel:
        cluster, tenant = catalog.clusters["east"], catalog.tenants["team"]
        classes = {plan.name: plan for plan in device_classes(catalog, cluster)}
        plan = claim_plan(tenant, tenant.document.spec.profiles[0], cluster, classes)
        assert plan is not None
        ground = Ground("east", minor, inventory, Selection(minor), restrictions(cluster))
        return funnel(plan, ground)

    return placed
