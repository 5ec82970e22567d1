"""A small repository on disk, read and lowered, for rules on what is emitted from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from dracfg.diagnostics import Diagnostic, Span
from dracfg.link.catalog import Catalog
from dracfg.link.index import index
from dracfg.link.linker import link
from dracfg.lower.artifact import Unit
from dracfg.lower.gates import GatePlan
from dracfg.lower.units import gate_plan, lower
from dracfg.model.parse import parse
from dracfg.source import read_repository
from dracfg.source.standing import Standing

CATALOG = """\
apiVersion: dracfg.dev/v1alpha1
kind: Cluster
metadata: {name: east}
spec:
  kubernetes: "1.36"
  distribution: kubeadm
  gitops: {engine: plain}
---
apiVersion: dracfg.dev/v1alpha1
kind: Driver
metadata: {name: gpu.nvidia.com}
spec:
  preset: gpu.nvidia.com
  version: 0.5.0
---
apiVersion: dracfg.dev/v1alpha1
kind: Driver
metadata: {name: npu.example.org}
spec: {attributes: {model: string}, capacity: [memory], shareable: true}
---
apiVersion: dracfg.dev/v1alpha1
kind: HardwareTier
metadata: {name: a100}
spec:
  driver: gpu.nvidia.com
  match: {attributes: {type: gpu, productName: NVIDIA A100}}
  device: {capacity: {memory: 40Gi}}
---
apiVersion: dracfg.dev/v1alpha1
kind: HardwareTier
metadata: {name: npu}
spec:
  driver: npu.example.org
  match: {attributes: {model: N1}}
  device: {capacity: {memory: 32Gi}}
---
apiVersion: dracfg.dev/v1alpha1
kind: SharingPolicy
metadata: {name: slices}
spec:
  mode: consumable
  capacity: {memory: {min: 8Gi, step: 8Gi, max: 32Gi}}
  tenancy: sameTenant
  sizes: [8Gi, 16Gi]
---
apiVersion: dracfg.dev/v1alpha1
kind: NodePool
metadata: {name: gpus}
spec:
  cluster: east
  nodes: 4
  nodeSelector: {pool: gpus}
  devices: [{tier: a100, perNode: 8}]
  owner: {gpu.nvidia.com: dra}
---
apiVersion: dracfg.dev/v1alpha1
kind: NodePool
metadata: {name: npus}
spec:
  cluster: east
  nodes: 4
  nodeSelector: {pool: npus}
  devices: [{tier: npu, perNode: 4}]
  sharing: [slices]
  owner: {npu.example.org: dra}
"""

TENANT = """\
apiVersion: dracfg.dev/v1alpha1
kind: Tenant
metadata: {name: vision}
spec:
  namespaces:
    - {name: vision-train, clusters: [east]}
  entitlements:
    - {name: gpu, tier: a100, guaranteed: 8}
    - {name: slice, tier: npu, sharing: slices, guaranteed: {8Gi: 4}}
  profiles:
    - name: train
      requests:
        - {name: gpu, entitlement: gpu, count: 2}
    - {name: infer, requests: [{name: npu, entitlement: slice, size: 8Gi}]}
"""

Edit = tuple[str, str]


@dataclass(frozen=True)
class Repository:
    """What one repository says and what it is lowered to."""

    root: Path
    catalog: Catalog
    units: tuple[Unit, ...]

    @property
    def plans(self) -> dict[str, GatePlan]:
        return {
            cluster.name: gate_plan(cluster, self.units)
            for cluster in self.catalog.clusters.values()
        }

    @property
    def standing(self) -> Standing:
        """The tree as it stands once this repository has been compiled."""
        files: dict[str, list[dict[str, object]]] = {}
        for unit in self.units:
            for artifact in unit.artifacts if unit.synced else ():
                files.setdefault(f"{unit.path}/{artifact.file}", []).append(artifact.object)
        return Standing({path: tuple(objects) for path, objects in files.items()})

    def text(self, span: Span | None) -> str:
        """The characters that a span on one line covers."""
        assert span is not None
        assert span.line == span.end_line
        line = (self.root / span.path).read_text().split("\n")[span.line - 1]
        return line[span.column - 1 : span.end_column - 1]


Build = Callable[..., Repository]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Makes the repository with edits (old text, new text) and further documents."""

    def made(*edits: Edit, more: str = "", standing: Standing | None = None) -> Repository:
        texts = {"catalog/all.yaml": CATALOG, "tenants/vision.yaml": TENANT}
        for old, new in edits:
            held = [path for path, text in texts.items() if old in text]
            assert held, f"{old!r} stands nowhere"
            texts[held[0]] = texts[held[0]].replace(old, new, 1)
        if more:
            texts[f"{'tenants' if 'kind: Tenant' in more else 'catalog'}/more.yaml"] = more
        root = tmp_path / f"r{len(list(tmp_path.iterdir()))}"
        for path, text in texts.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        sources = read_repository(root)
        parsed = parse(sources.documents)
        found, doubles = index(parsed.documents)
        linked = link(found, parsed.poisoned)
        assert not (*sources.faults, *parsed.faults, *doubles, *linked.faults)
        units = lower(linked.catalog, standing or Standing())
        return Repository(root, linked.catalog, units)

    return made


Only = Callable[[Iterable[Diagnostic], str], Diagnostic]


@pytest.fixture
def only() -> Only:
    """The one finding of a code; any other number of them fails the test."""

    def pick(findings: Iterable[Diagnostic], code: str) -> Diagnostic:
        found = list(findings)
        matching = [finding for finding in found if finding.code == code]
        assert len(matching) == 1, [(f.code, f.message) for f in found]
        return matching[0]

    return pick
