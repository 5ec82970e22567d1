"""A small repository with everything that can be shown in it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dracfg.pipeline import Judgement, judge
from dracfg.show.subjects import Emitted, find

CATALOG = """\
apiVersion: dracfg.dev/v1alpha1
kind: Cluster
metadata: {name: east, description: Training.}
spec:
  kubernetes: "1.34"
  distribution: kubeadm
  gitops:
    engine: argocd
    repoURL: https://git.example.com/devices.git
    destination: {name: east}
    applier: {serviceAccount: {namespace: argocd, name: controller}}
  allowAlpha: {DRAConsumableCapacity: reviewed}
---
apiVersion: dracfg.dev/v1alpha1
kind: Driver
metadata: {name: gpu.nvidia.com}
spec: {preset: gpu.nvidia.com, version: 25.12.0, featureGates: {MPSSupport: true}}
---
apiVersion: dracfg.dev/v1alpha1
kind: Driver
metadata: {name: gpu.example.org}
spec:
  attributes: {model: string}
  capacity: [memory]
  enforces: {memory: driver}
  shareable: true
---
apiVersion: dracfg.dev/v1alpha1
kind: HardwareTier
metadata: {name: a100}
spec:
  driver: gpu.nvidia.com
  match: {attributes: {type: gpu, productName: A100}, capacity: {memory: {min: 40Gi}}}
  device: {attributes: {type: gpu, productName: A100}, capacity: {memory: 40Gi}}
  legacyResource: nvidia.com/gpu
  reclaim: {timeout: 1h}
---
apiVersion: dracfg.dev/v1alpha1
kind: HardwareTier
metadata: {name: l40s}
spec:
  driver: gpu.example.org
  match: {attributes: {model: L40S}, cel: ['device.driver == "gpu.example.org"']}
  device: {attributes: {model: L40S}, capacity: {memory: 40Gi}}
  reclaim: {timeout: 1h}
---
apiVersion: dracfg.dev/v1alpha1
kind: SharingPolicy
metadata: {name: slices}
spec:
  mode: consumable
  capacity: {memory: {min: 10Gi, step: 10Gi, max: 40Gi}}
  tenancy: {any: reviewed}
  sizes: [10Gi, 20Gi]
  reclaim: {timeout: 1h}
---
apiVersion: dracfg.dev/v1alpha1
kind: SharingPolicy
metadata: {name: mig}
spec:
  mode: partitioned
  tenancy: {any: reviewed}
  partitions:
    - {name: 1g.5gb, match: {attributes: {type: mig, profile: 1g.5gb}}, perDevice: 7}
  reclaim: {timeout: 1h}
---
apiVersion: dracfg.dev/v1alpha1
kind: NodePool
metadata: {name: training}
spec:
  cluster: east
  nodes: 8
  nodeSelector: {pool: training}
  devices: [{tier: a100, perNode: 8}]
  sharing: [whole]
  owner: {gpu.nvidia.com: dra}
  spare: {nodes: 1}
---
apiVersion: dracfg.dev/v1alpha1
kind: NodePool
metadata: {name: teaching}
spec:
  cluster: east
  nodes: 2
  nodeSelector: {pool: teaching}
  devices: [{tier: a100, perNode: 8}]
  sharing: [mig]
  owner: {gpu.nvidia.com: dra}
---
apiVersion: dracfg.dev/v1alpha1
kind: NodePool
metadata: {name: notebooks}
spec:
  cluster: east
  nodes: 4
  nodeSelector: {pool: notebooks}
  devices: [{tier: l40s, perNode: 4}]
  sharing: [slices]
  owner: {gpu.example.org: dra}
  quarantine: [{node: notebooks-4, reason: waits for parts, since: 2026-11-18}]
"""
VISION = """\
apiVersion: dracfg.dev/v1alpha1
kind: Tenant
metadata: {name: vision}
spec:
  access:
    use: [{group: vision-eng}, {user: ann}]
  namespaces:
    - {name: vision-train, clusters: [east], share: 3, labels: {team: vision}}
    - {name: vision-dev, clusters: [east]}
  entitlements:
    - {name: gpu, tier: a100, guaranteed: 16, limit: 32}
    - {name: slice, tier: l40s, sharing: slices, guaranteed: {10Gi: 8}, limit: {20Gi: 4}}
    - {name: part, tier: a100, sharing: mig, guaranteed: {1g.5gb: 4}}
  profiles:
    - name: train
      namespaces: [vision-train]
      requests:
        - {name: left, entitlement: gpu, count: 2}
        - {name: right, entitlement: gpu, count: 2}
      align: [{requests: [left, right], by: resource.kubernetes.io/pcieRoot}]
    - name: either
      requests:
        - name: gpu
          anyOf: [{entitlement: part, size: 1g.5gb}, {name: piece, entitlement: slice, size: 10Gi}]
    - name: small
      revision: 2
      requests: [{name: gpu, entitlement: slice, size: 10Gi}]
  sharedClaims: [{name: shared, profile: small, namespace: vision-dev, pods: 4}]
  offers: [{entitlement: slice, size: 10Gi, count: 2, to: lab}]
  adminAccess: [{namespace: vision-dev, tiers: [a100], reason: exporter of the platform}]
"""
LAB = """\
apiVersion: dracfg.dev/v1alpha1
kind: Tenant
metadata: {name: lab}
spec:
  namespaces: [{name: lab, clusters: [east]}]
  acceptedOffers: [{from: vision, entitlement: slice, size: 10Gi, count: 2}]
  profiles:
    - {name: try, requests: [{name: gpu, entitlement: vision-slice, size: 10Gi}]}
"""

Repository = Callable[..., Judgement]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """The repository as judged, with pairs of (old, new) text replaced in the catalog and tenants."""

    def build(*changes: tuple[str, str]) -> Judgement:
        texts = {
            "catalog/all.yaml": CATALOG,
            "tenants/vision.yaml": VISION,
            "tenants/lab.yaml": LAB,
        }
        for old, new in changes:
            assert any(old in text for text in texts.values())
            texts = {path: text.replace(old, new) for path, text in texts.items()}
        for path, text in texts.items():
            file = tmp_path / path
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return judge(tmp_path)

    return build


@pytest.fixture
def judged(repository: Repository) -> Judgement:
    found = repository()
    assert found.catalog.tenants.keys() == {"vision", "lab"}
    return found


@pytest.fixture
def emitted(judged: Judgement) -> Callable[[str], Emitted]:
    """An emitted object of the repository by its reference."""

    def get(ref: str) -> Emitted:
        subject = find(judged.catalog, judged.units, ref)
        assert isinstance(subject, Emitted)
        return subject

    return get
