"""The same guarantees whole, in parts and in shares."""

from pathlib import Path

from dracfg.link.index import index
from dracfg.link.linker import link
from dracfg.model.parse import parse
from dracfg.plan.alternatives import Way, alternatives, ways_document
from dracfg.plan.assurance import markets
from dracfg.source import read_repository

CATALOG = """\
apiVersion: dracfg.dev/v1alpha1
kind: Cluster
metadata: {name: east}
spec: {kubernetes: "1.36", distribution: kubeadm, gitops: {engine: plain}}
---
apiVersion: dracfg.dev/v1alpha1
kind: Driver
metadata: {name: card.example.com}
spec: {attributes: {type: string, profile: string}, capacity: [memory], shareable: true}
---
apiVersion: dracfg.dev/v1alpha1
kind: HardwareTier
metadata: {name: card}
spec:
  driver: card.example.com
  device: {capacity: {memory: 40Gi}, counters: {memory: 40Gi}}
---
apiVersion: dracfg.dev/v1alpha1
kind: SharingPolicy
metadata: {name: slices}
spec:
  mode: consumable
  capacity: {memory: {min: 5Gi, step: 5Gi, max: 40Gi}}
  sizes: [5Gi, 15Gi]
  tenancy: sameTenant
---
apiVersion: dracfg.dev/v1alpha1
kind: SharingPolicy
metadata: {name: cut}
spec:
  mode: partitioned
  tenancy: sameTenant
  partitions: [{name: half, match: {attributes: {profile: half}}, consumes: {memory: 20Gi}, perDevice: 2}]
---
apiVersion: dracfg.dev/v1alpha1
kind: SharingPolicy
metadata: {name: tiny}
spec:
  mode: partitioned
  tenancy: sameTenant
  partitions: [{name: tenth, match: {attributes: {profile: tenth}}, consumes: {memory: 4Gi}}]
---
apiVersion: dracfg.dev/v1alpha1
kind: NodePool
metadata: {name: cards}
spec:
  cluster: east
  nodes: 2
  nodeSelector: {pool: cards}
  devices: [{tier: card, perNode: 2}]
  sharing: [slices]
  owner: {card.example.com: dra}
---
apiVersion: dracfg.dev/v1alpha1
kind: Tenant
metadata: {name: team}
spec:
  namespaces: [{name: team, clusters: [east]}]
  entitlements:
    - {name: slice, tier: card, sharing: slices, guaranteed: {5Gi: 3, 15Gi: 3}}
"""


def test_each_way_with_what_it_needs_and_loses(tmp_path: Path) -> None:
    """60Gi in six shares: six whole devices, three in halves, two in shares of 15, 15 and 5."""
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "all.yaml").write_text(CATALOG.rpartition("---\n")[0])
    (tmp_path / "tenants").mkdir()
    (tmp_path / "tenants" / "team.yaml").write_text(CATALOG.rpartition("---\n")[2])
    parsed = parse(read_repository(tmp_path).documents)
    named, _ = index(parsed.documents)
    catalog = link(named, parsed.poisoned).catalog
    (market,) = markets(catalog)
    found = {way.policy: way for way in alternatives(catalog, market)}
    assert found == {
        "whole": Way("exclusive", "whole", 6, 3, 1, 0.75, "refuted", "refuted"),
        "cut": Way("partitioned", "cut", 3, 2, 0, 0.5, "proven", "proven"),
        "slices": Way("consumable", "slices", 2, 1, 0, 0.25, "proven", "proven"),
        "tiny": Way("partitioned", "tiny", why_not="nothing holds slice 5Gi"),
    }
    assert ways_document((found["tiny"],)) == [
        {"mode": "partitioned", "policy": "tiny", "whyNot": "nothing holds slice 5Gi"}
    ]
