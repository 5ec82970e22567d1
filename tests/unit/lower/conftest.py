"""A small platform and its tenants, linked, for tests of what they are lowered to."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dracfg.link.catalog import Catalog
from dracfg.link.index import index
from dracfg.link.linker import link
from dracfg.model.parse import parse
from dracfg.source.composer import compose

CatalogOf = Callable[..., Catalog]

PLATFORM = """
apiVersion: dracfg.dev/v1alpha1
kind: Cluster
metadata: {name: east}
spec:
  kubernetes: "1.36"
  distribution: kubeadm
  gitops:
    engine: flux
    applier: {serviceAccount: {namespace: flux-system, name: kustomize-controller}}
---
apiVersion: dracfg.dev/v1alpha1
kind: Driver
metadata: {name: gpu.example.org}
spec: {attributes: {model: string}, capacity: [memory, gpu.example.org/cores], shareable: true}
---
apiVersion: dracfg.dev/v1alpha1
kind: HardwareTier
metadata: {name: a100}
spec:
  driver: gpu.example.org
  match: {attributes: {model: A100}}
  device: {capacity: {memory: 40Gi, cores: 100}}
---
apiVersion: dracfg.dev/v1alpha1
kind: HardwareTier
metadata: {name: l40s}
spec:
  driver: gpu.example.org
  match: {attributes: {model: L40S}}
  device: {capacity: {memory: 48Gi, cores: 100}}
---
apiVersion: dracfg.dev/v1alpha1
kind: SharingPolicy
metadata: {name: slices}
spec:
  mode: consumable
  capacity:
    memory: {min: 5Gi, step: 5Gi, max: 40Gi}
    cores: {min: 10, step: 10, max: 100, default: 20}
  sizedBy: memory
  tenancy: sameTenant
  sizes: [10Gi, 20Gi]
---
apiVersion: dracfg.dev/v1alpha1
kind: NodePool
metadata: {name: training}
spec:
  cluster: east
  nodes: 4
  nodeSelector: {pool: training}
  devices: [{tier: a100, perNode: 8}]
  owner: {gpu.example.org: dra}
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
"""

VISION = """
apiVersion: dracfg.dev/v1alpha1
kind: Tenant
metadata: {name: vision}
spec:
  access:
    use: [{group: vision-eng}, {user: ann}, {serviceAccount: {namespace: ci, name: runner}}]
    view: [{group: guests}]
  namespaces:
    - {name: vision-train, clusters: [east], labels: {team: vision}}
    - {name: vision-monitor, clusters: [east], share: 0}
  entitlements:
    - {name: gpu, tier: a100, guaranteed: 16}
    - {name: extra, tier: a100, guaranteed: 2}
    - {name: slice, tier: l40s, sharing: slices, guaranteed: {10Gi: 8}}
  profiles:
    - {name: train, requests: [{name: gpu, entitlement: gpu, count: 8}]}
    - name: either
      requests:
        - name: gpu
          anyOf: [{entitlement: extra, count: 4}, {entitlement: slice, size: 10Gi, count: 2}]
  adminAccess: [{namespace: vision-monitor, tiers: [a100], reason: exporter of the platform}]
"""


@pytest.fixture
def platform() -> str:
    """A cluster with whole A100s and L40S that are shared in sizes."""
    return PLATFORM


@pytest.fixture
def vision() -> str:
    """A tenant with two entitlements to one class, a size, and a namespace that watches."""
    return VISION


@pytest.fixture
def catalog_of() -> CatalogOf:
    """Texts of documents → the linked catalog; a fault in them fails the test."""

    def build(*texts: str) -> Catalog:
        documents, faults = compose("all.yaml", "---\n".join(texts))
        parsed = parse(documents)
        found, doubles = index(parsed.documents)
        linked = link(found, parsed.poisoned)
        # A repository keeps tenants and platform apart; here all of them stand in one file.
        wrong = [fault for fault in parsed.faults if fault.code != "MOD010"]
        assert not [*faults, *wrong, *doubles, *linked.faults]
        return linked.catalog

    return build
