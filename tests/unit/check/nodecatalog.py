"""A cluster with one pool of NVIDIA cards, for tests of what is recorded of its nodes."""

from __future__ import annotations

from pathlib import Path

from dracfg.link.catalog import Catalog
from dracfg.link.index import index
from dracfg.link.linker import link
from dracfg.model.parse import parse
from dracfg.source import read_repository

CATALOG = """
apiVersion: dracfg.dev/v1alpha1
kind: Cluster
metadata: {name: east}
spec: {kubernetes: "1.36", distribution: kubeadm, gitops: {engine: plain}}
---
apiVersion: dracfg.dev/v1alpha1
kind: Driver
metadata: {name: gpu.nvidia.com}
spec: {preset: gpu.nvidia.com, version: 0.5.0}
---
apiVersion: dracfg.dev/v1alpha1
kind: HardwareTier
metadata: {name: h100}
spec:
  driver: gpu.nvidia.com
  match: {attributes: {type: gpu}}
  device: {attributes: {type: gpu}, capacity: {memory: 80Gi}}
---
apiVersion: dracfg.dev/v1alpha1
kind: NodePool
metadata: {name: p5}
spec:
  cluster: east
  nodes: 1
  nodeSelector: {example.org/pool: p5}
  devices: [{tier: h100, perNode: 4}]
  owner: {gpu.nvidia.com: OWNER}
"""


def catalog_of(root: Path, text: str = CATALOG, owner: str = "dra") -> Catalog:
    (root / "catalog").mkdir()
    (root / "catalog" / "all.yaml").write_text(text.replace("OWNER", owner), encoding="utf-8")
    named, _ = index(parse(read_repository(root).documents).documents)
    return link(named, frozenset()).catalog
