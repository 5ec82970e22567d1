"""Tiers that nothing in their matches tells apart, put to recorded devices."""

from __future__ import annotations

from pathlib import Path

import pytest

from dracfg.pipeline import judge
from dracfg.plan.disjoint import tier_proofs

CATALOG = """\
apiVersion: dracfg.dev/v1alpha1
kind: Cluster
metadata: {name: east}
spec:
  kubernetes: "1.36"
  distribution: kubeadm
  gitops: {engine: plain}
  inventory: catalog/inventory/east.yaml
---
apiVersion: dracfg.dev/v1alpha1
kind: Driver
metadata: {name: gpu.example.org}
spec: {attributes: {model: string, rank: int}, capacity: [memory]}
---
apiVersion: dracfg.dev/v1alpha1
kind: HardwareTier
metadata: {name: big}
spec:
  driver: gpu.example.org
  match: {capacity: {memory: {min: 40Gi}}}
  device: {capacity: {memory: 40Gi}}
  reclaim: {timeout: 15m}
---
apiVersion: dracfg.dev/v1alpha1
kind: HardwareTier
metadata: {name: small}
spec:
  driver: gpu.example.org
  match: {attributes: {model: S}}
  device: {capacity: {memory: 16Gi}}
  reclaim: {timeout: 15m}
---
apiVersion: dracfg.dev/v1alpha1
kind: NodePool
metadata: {name: nodes}
spec:
  cluster: east
  nodes: 1
  nodeSelector: {pool: nodes}
  devices: [{tier: big, perNode: 1}, {tier: small, perNode: 1}]
  owner: {gpu.example.org: dra}
"""

SLICE = """\
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: node-1}
spec:
  driver: gpu.example.org
  nodeName: node-1
  pool: {name: node-1, generation: 1, resourceSliceCount: COUNT}
  devices:
    - name: gpu-0
      attributes: {model: {string: BIG}}
      capacity: {memory: {value: 40Gi}}
    - name: gpu-1
      attributes: {model: {string: S}}
      capacity: {memory: {value: SMALL}}
"""


def repository(root: Path, small: str, count: int = 1) -> Path:
    text = SLICE.replace("SMALL", small).replace("COUNT", str(count))
    for path, content in (
        ("catalog/all.yaml", CATALOG),
        ("catalog/inventory/east.yaml", text),
    ):
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    return root


@pytest.mark.parametrize(
    ("small", "count", "proven", "words"),
    [
        ("16Gi", 1, True, ("2 recorded devices",)),
        ("48Gi", 1, False, ("node-1/gpu-1",)),
        ("16Gi", 2, False, ()),
    ],
    ids=["apart", "one device of both", "a pool that is not recorded as a whole"],
)
def test_a_record_decides(
    tmp_path: Path, small: str, count: int, proven: bool, words: tuple[str, ...]
) -> None:
    judged = judge(repository(tmp_path, small, count))
    (proof,) = tier_proofs(judged.catalog, judged.inventories)
    assert (proof.by == "inventory") is proven
    assert proof.words == words
    found = [finding for finding in judged.findings if finding.code == "TEN054"]
    assert bool(found) is not proven
    assert all(word in found[0].message for word in words if not proven)


def test_without_a_record_nothing_is_proven(tmp_path: Path) -> None:
    judged = judge(repository(tmp_path, "16Gi"))
    (proof,) = tier_proofs(judged.catalog)
    assert (proof.by, proof.words) == (None, ())


def test_an_attribute_that_differs_needs_no_record(tmp_path: Path) -> None:
    root = repository(tmp_path, "16Gi")
    file = root / "catalog" / "all.yaml"
    text = file.read_text().replace("match: {capacity", "match: {attributes: {model: B}, capacity")
    file.write_text(text)
    (proof,) = tier_proofs(judge(root).catalog)
    assert (proof.by, proof.words) == ("expressions", ("model",))
