"""From physical to promiseable: the textbook figure, and every deduction by name."""

from fractions import Fraction
from pathlib import Path

import pytest

from dracfg.kube.quantity import Quantity
from dracfg.link.catalog import Catalog
from dracfg.link.index import index
from dracfg.link.linker import link
from dracfg.model.parse import parse
from dracfg.plan.estimate import estimates, planning_figure
from dracfg.plan.plandocument import capacity_plan
from dracfg.source import read_repository

CLUSTER = """\
apiVersion: dracfg.dev/v1alpha1
kind: Cluster
metadata: {name: east}
spec: {kubernetes: "1.36", distribution: kubeadm, gitops: {engine: plain}}
---
apiVersion: dracfg.dev/v1alpha1
kind: Driver
metadata: {name: card.example.com}
spec:
  attributes: {type: string}
  capacity: [memory]
  enforces: {memory: driver}
  shareable: true
---
apiVersion: dracfg.dev/v1alpha1
kind: HardwareTier
metadata: {name: card}
spec:
  driver: card.example.com
  match: {attributes: {type: card}}
  device: {capacity: {memory: PUBLISHED}}
---
apiVersion: dracfg.dev/v1alpha1
kind: SharingPolicy
metadata: {name: slices}
spec:
  mode: consumable
  capacity: {memory: {min: 5Gi, step: 5Gi, max: 40Gi, reserve: RESERVE}}
  sizes: SIZES
  tenancy: sameTenant
---
apiVersion: dracfg.dev/v1alpha1
kind: NodePool
metadata: {name: cards}
spec:
  cluster: east
  nodes: 25
  nodeSelector: {pool: cards}
  devices: [{tier: card, perNode: 4}]
  sharing: [slices]
  owner: {card.example.com: dra}
  spare: {nodes: SPARE}
"""
TENANT = """\
apiVersion: dracfg.dev/v1alpha1
kind: Tenant
metadata: {name: team}
spec:
  namespaces: [{name: team, clusters: [east]}]
  entitlements:
    - {name: slice, tier: card, sharing: slices, guaranteed: {20Gi: 30}, limit: {20Gi: 60}}
"""


def catalog(root: Path, published: str, reserve: str, sizes: str, spare: int) -> Catalog:
    text = CLUSTER.replace("PUBLISHED", published).replace("RESERVE", reserve)
    text = text.replace("SIZES", sizes).replace("SPARE", str(spare))
    for path, content in (("catalog/all.yaml", text), ("tenants/team.yaml", TENANT)):
        (root / path).parent.mkdir()
        (root / path).write_text(content)
    parsed = parse(read_repository(root).documents)
    named, _ = index(parsed.documents)
    return link(named, parsed.poisoned).catalog


def test_the_textbook_figure() -> None:
    """100 devices x 40Gi x 70 % = 2800Gi."""
    assert planning_figure(100, Quantity.parse("40Gi"), Fraction(70, 100)) == Quantity.parse(
        "2800Gi"
    )


def test_the_textbook_fleet_before_deductions(tmp_path: Path) -> None:
    plan = capacity_plan(catalog(tmp_path, "40Gi", "0", "[20Gi]", 0), Fraction(7, 10))
    (tier,) = plan["tiers"]
    assert tier["figures"] == [
        {
            "key": "memory",
            "planned": "2800Gi",
            "devices": 100,
            "aDevice": "40Gi",
            "physical": "4000Gi",
            "deductions": [],
            "promiseable": "4000Gi",
            "promised": "600Gi",
            "limit": "1200Gi",
            "overcommit": "0.30",
        }
    ]
    assert [proof["verdict"] for proof in tier["proofs"]] == ["proven"]


@pytest.mark.parametrize(
    ("published", "reserve", "sizes", "spare", "expected"),
    [
        ("38Gi", "2Gi", "[5Gi, 20Gi]", 0, {"reserve": "200Gi", "step": "300Gi"}),
        ("40Gi", "0", "[5Gi, 20Gi]", 5, {"spare": "800Gi"}),
        ("40Gi", "0", "[15Gi, 20Gi]", 0, {"fragmentation": "1000Gi"}),
        ("40Gi", "0", "[15Gi]", 5, {"spare": "800Gi", "fragmentation": "800Gi"}),
    ],
)
def test_each_deduction_has_its_name(
    tmp_path: Path, published: str, reserve: str, sizes: str, spare: int, expected: dict[str, str]
) -> None:
    (found,) = estimates(catalog(tmp_path, published, reserve, sizes, spare))
    taken = {d.name: found.show(d.amount) for d in found.deductions if d.amount}
    assert taken == expected
    assert found.promiseable == found.physical - sum(d.amount for d in found.deductions)
