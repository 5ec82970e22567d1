"""A small catalog, and a recorded cluster that a test bends: claims, pods, nodes, slices, events.

Shapes are those of published dumps: kubernetes-sigs/dranet@f258477cbea0:examples (claims with
allocations and statuses, slices of gpu.nvidia.com) and Project-HAMi/k8s-dra-driver@ebeaad97463a
(shareable devices with a request policy).
"""

import copy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from dracfg.allocate.claimobjects import in_memory
from dracfg.audit import AuditReport, audit
from dracfg.audit.finding import LiveFinding
from dracfg.link.catalog import Catalog
from dracfg.link.index import index
from dracfg.link.linker import link
from dracfg.model.parse import parse
from dracfg.source import read_repository
from dracfg.source.records import Record

GPU, SHARED = "gpu.example.org", "shared.example.org"
Object = dict[str, Any]

PLATFORM = """
apiVersion: dracfg.dev/v1alpha1
kind: Cluster
metadata: {name: east}
spec:
  kubernetes: "1.36"
  distribution: kubeadm
  gitops: {engine: plain}
  exemptNamespaces: [{name: vendor, reason: its validator, devices: 1}]
---
apiVersion: dracfg.dev/v1alpha1
kind: Driver
metadata: {name: gpu.example.org}
spec: {attributes: {type: string, uuid: string}, capacity: [memory]}
---
apiVersion: dracfg.dev/v1alpha1
kind: Driver
metadata: {name: shared.example.org}
spec:
  attributes: {type: string}
  capacity: [memory]
  shareable: true
  enforces: {memory: driver}
---
apiVersion: dracfg.dev/v1alpha1
kind: HardwareTier
metadata: {name: big}
spec:
  driver: gpu.example.org
  match: {attributes: {type: gpu}}
  device: {attributes: {type: gpu}, capacity: {memory: 80Gi}}
  legacyResource: example.org/gpu
  reclaim: {timeout: 30m}
---
apiVersion: dracfg.dev/v1alpha1
kind: HardwareTier
metadata: {name: cut}
spec:
  driver: shared.example.org
  match: {attributes: {type: cut}}
  device: {attributes: {type: cut}, capacity: {memory: 40Gi}}
---
apiVersion: dracfg.dev/v1alpha1
kind: SharingPolicy
metadata: {name: slices}
spec:
  mode: consumable
  capacity: {memory: {min: 5Gi, step: 5Gi, max: 40Gi}}
  maxShares: 8
  tenancy: sameTenant
  sizes: [5Gi, 10Gi, 20Gi]
  reclaim: {onUnknownNode: hold, fencing: nodeLease, grace: 5m, timeout: 15m}
---
apiVersion: dracfg.dev/v1alpha1
kind: NodePool
metadata: {name: gpus}
spec:
  cluster: east
  nodes: 1
  nodeSelector: {example.org/pool: gpus}
  devices: [{tier: big, perNode: 2}]
  owner: {gpu.example.org: dra}
---
apiVersion: dracfg.dev/v1alpha1
kind: NodePool
metadata: {name: cuts}
spec:
  cluster: east
  nodes: 1
  nodeSelector: {example.org/pool: cuts}
  devices: [{tier: cut, perNode: 1, sharing: [slices]}]
  owner: {shared.example.org: dra}
"""
TENANTS = """
apiVersion: dracfg.dev/v1alpha1
kind: Tenant
metadata: {name: vision}
spec:
  namespaces: [{name: vision, clusters: [east]}]
  entitlements:
    - {name: gpu, tier: big, sharing: whole, guaranteed: 2}
    - {name: slice, tier: cut, sharing: slices, guaranteed: {10Gi: 4, 20Gi: 1}}
---
apiVersion: dracfg.dev/v1alpha1
kind: Tenant
metadata: {name: search}
spec:
  state: STATE
  namespaces: [{name: search, clusters: [east]}]
  entitlements: [{name: slice, tier: cut, sharing: slices, guaranteed: {10Gi: 2}}]
"""
NOW = "2026-11-29T12:00:00Z"


def catalog(root: Path, changes: Mapping[str, str] | None = None) -> Catalog:
    """The catalog, each text of `changes` in the place of its key."""
    text = {"catalog/platform.yaml": PLATFORM, "tenants/all.yaml": TENANTS}
    for path, content in text.items():
        for old, new in {"STATE": "active", **(changes or {})}.items():
            content = content.replace(old, new)
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content, encoding="utf-8")
    parsed = parse(read_repository(root).documents)
    assert not parsed.faults, parsed.faults
    named, twice = index(parsed.documents)
    linked = link(named, parsed.poisoned)
    assert not (*twice, *linked.faults), linked.faults
    return linked.catalog


class World:
    """A recorded cluster: one node with two whole GPUs, one with a device that is cut in shares."""

    def __init__(self, version: str) -> None:
        self.version = version
        self.objects: list[Object] = []
        self.uids = 0
        self.node("gpus-1", pool="gpus")
        self.node("cuts-1", pool="cuts")
        self.slice(GPU, "gpus-1", [self.gpu("gpu-0"), self.gpu("gpu-1")])
        self.slice(SHARED, "cuts-1", [self.cut("cut-0")])
        for name in ("vision", "search"):
            self.add("v1", "Namespace", name)

    def add(self, version: str, kind: str, name: str, **more: Any) -> Object:
        """Any object; `metadata` is joined with its name."""
        metadata = {"name": name, "creationTimestamp": "2026-11-29T08:00:00Z"}
        metadata |= more.pop("metadata", {})
        made = {"apiVersion": version, "kind": kind, "metadata": metadata, **more}
        self.objects.append(made)
        return made

    def gpu(self, name: str, memory: str = "80Gi", **attributes: str) -> Object:
        """A whole GPU."""
        typed = {"type": "gpu", "uuid": f"uuid-{name}"} | attributes
        return {
            "name": name,
            "attributes": {key: {"string": value} for key, value in typed.items()},
            "capacity": {"memory": {"value": memory}},
        }

    def cut(self, name: str, memory: str = "40Gi") -> Object:
        """A shareable device with a request policy."""
        policy = {"default": "5Gi", "validRange": {"min": "5Gi", "max": memory, "step": "5Gi"}}
        return {
            "name": name,
            "attributes": {"type": {"string": "cut"}},
            "allowMultipleAllocations": True,
            "capacity": {"memory": {"value": memory, "requestPolicy": policy}},
        }

    def slice(self, driver: str, node: str, devices: list[Object], **spec: Any) -> Object:
        """A slice that is a pool of its own, called after its node."""
        pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
        body = {"driver": driver, "nodeName": node, "pool": pool, "devices": devices, **spec}
        return self.add("resource.k8s.io/v1", "ResourceSlice", f"{node}-{driver}", spec=body)

    def node(self, name: str, pool: str, **status: Any) -> Object:
        """A node that answers."""
        ready = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-29T08:00:00Z"}
        return self.add(
            "v1",
            "Node",
            name,
            metadata={"labels": {"example.org/pool": pool}},
            spec={},
            status={"conditions": [ready], "allocatable": {}, **status},
        )

    def pod(
        self, name: str, node: str | None = "gpus-1", namespace: str = "vision", **more: Any
    ) -> Object:
        """A pod that runs and is Ready, with one claim of its own name."""
        self.uids += 1
        phase = more.pop("phase", "Running")
        ready = "True" if phase == "Running" else "False"
        conditions = [
            {
                "type": "PodScheduled",
                "status": "True" if node else "False",
                "lastTransitionTime": "2026-11-29T09:00:00Z",
            },
            {"type": "Ready", "status": ready, "lastTransitionTime": "2026-11-29T09:01:00Z"},
        ]
        spec = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"}]}
        spec |= {"nodeName": node} if node else {}
        return self.add(
            "v1",
            "Pod",
            name,
            metadata={"namespace": namespace, "uid": f"pod-{name}-{self.uids}"},
            spec=spec | more.pop("spec", {}),
            status={
                "phase": phase,
                "conditions": conditions,
                "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": name}],
                **more,
            },
        )

    def claim(
        self,
        name: str,
        devices: list[str] | None = None,
        namespace: str = "vision",
        pods: list[Object] | None = None,
        **more: Any,
    ) -> Object:
        """A claim for whole GPUs of gpus-1; `devices` is what it holds, None where it is pending."""
        self.uids += 1
        names = devices or []
        exactly = {
            "deviceClassName": "big",
            "allocationMode": "ExactCount",
            "count": len(names) or 1,
        }
        note = more.pop("note", "gpu=gpu/big/whole/-/-")
        results = [
            {"request": "gpu", "driver": GPU, "pool": "gpus-1", "device": device}
            for device in names
        ]
        made = self.add(
            "resource.k8s.io/v1",
            "ResourceClaim",
            name,
            metadata={
                "namespace": namespace,
                "uid": f"claim-{name}-{self.uids}",
                "annotations": {"dracfg.dev/requests": note},
            },
            spec={"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}},
            status={},
        )
        if devices is not None:
            made["status"] = {
                "allocation": {
                    "devices": {"results": results},
                    "allocationTimestamp": "2026-11-29T09:00:00Z",
                },
                "reservedFor": [self.consumer(pod) for pod in pods or []],
                **more,
            }
        return made

    def share(
        self,
        name: str,
        size: str = "10Gi",
        *,
        namespace: str = "vision",
        pods: list[Object] | None = None,
        version: str | None = None,
        share: str | None = None,
    ) -> Object:
        """A claim for a share of the device on cuts-1."""
        note = f"gpu=slice/cut/slices/{size}/{version or self.version}"
        made = self.claim(name, ["cut-0"], namespace, pods, note=note)
        number = share or f"00000000-0000-4000-8000-{self.uids:012}"
        made["status"]["allocation"]["devices"]["results"] = [
            {
                "request": "gpu",
                "driver": SHARED,
                "pool": "cuts-1",
                "device": "cut-0",
                "shareID": number,
                "consumedCapacity": {"memory": size},
            }
        ]
        exactly = made["spec"]["devices"]["requests"][0]["exactly"]
        exactly |= {
            "deviceClassName": f"cut-slices-{size.lower()}",
            "count": 1,
            "capacity": {"requests": {"memory": size}},
        }
        return made

    def consumer(self, pod: Object) -> Object:
        """The entry of `reservedFor` for a pod."""
        metadata = pod["metadata"]
        return {"resource": "pods", "name": metadata["name"], "uid": metadata["uid"]}

    def held(self, name: str, devices: list[str], **more: Any) -> tuple[Object, Object]:
        """A pod that runs and the claim that it holds."""
        pod = self.pod(name)
        return pod, self.claim(name, devices, pods=[pod], **more)

    def event(
        self, pod: Object, reason: str, message: str, at: str = "2026-11-29T11:59:00Z"
    ) -> Object:
        """An event on a pod."""
        self.uids += 1
        metadata = pod["metadata"]
        about = {key: metadata[key] for key in ("name", "namespace", "uid")}
        return self.add(
            "v1",
            "Event",
            f"e{self.uids}",
            metadata={"namespace": metadata["namespace"]},
            involvedObject={"kind": "Pod", **about},
            reason=reason,
            message=message,
            lastTimestamp=at,
        )

    def status(self, device: str, **condition: str) -> Object:
        """What a driver writes of a device of gpus-1 in `status.devices`."""
        written = {
            "type": "Ready",
            "status": "True",
            "reason": "DeviceReady",
            "message": "",
            "lastTransitionTime": "2026-11-29T09:00:00Z",
        }
        return {
            "driver": GPU,
            "pool": "gpus-1",
            "device": device,
            "conditions": [written | condition],
        }

    def remove(self, thing: Object) -> None:
        self.objects.remove(thing)

    def find(self, kind: str, name: str) -> Object:
        """The object that tests bend."""
        return next(
            thing
            for thing in self.objects
            if thing["kind"] == kind and thing["metadata"]["name"] == name
        )

    def record(self) -> Record:
        """Everything, with a Lease that says what time it is."""
        lease = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": "gpus-1", "namespace": "kube-node-lease"},
            "spec": {"renewTime": NOW},
        }
        return in_memory([*copy.deepcopy(self.objects), lease])


@pytest.fixture
def world(platform: Catalog) -> World:
    return World(platform.policies["slices"].version)


@pytest.fixture(scope="session")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    return catalog(tmp_path_factory.mktemp("platform"))


@pytest.fixture
def changed(tmp_path: Path) -> Callable[..., Catalog]:
    """The catalog with other texts in it."""
    return lambda changes: catalog(tmp_path, changes)


@pytest.fixture
def audited(platform: Catalog) -> Callable[..., AuditReport]:
    """The audit of a world against the catalog, or against another one."""

    def run(world: World, known: Catalog | None = platform) -> AuditReport:
        where = known.clusters["east"] if known is not None else None
        return audit(known, where, [world.record()])

    return run


@pytest.fixture
def codes(audited: Callable[..., AuditReport]) -> Callable[..., list[str]]:
    """The codes of what is found in a world."""

    def run(world: World, known: Catalog | None = None) -> list[str]:
        done = audited(world, known) if known is not None else audited(world)
        return [finding.code for finding in done.diagnostics]

    return run


@pytest.fixture
def found(audited: Callable[..., AuditReport]) -> Callable[..., LiveFinding]:
    """The one finding of a code."""

    def run(world: World, code: str, known: Catalog | None = None) -> LiveFinding:
        done = audited(world, known) if known is not None else audited(world)
        matching = [f for f in done.findings if f.diagnostic.code == code]
        assert len(matching) == 1, [f.diagnostic.code for f in done.findings]
        return matching[0]

    return run
