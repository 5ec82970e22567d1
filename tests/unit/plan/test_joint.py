"""What joint claims add up to, what nodes they are put to, and what is left beside them."""

from pathlib import Path

import yaml

from dracfg.allocate.inventory import Inventory, load_inventory
from dracfg.allocate.structured import Features
from dracfg.link.catalog import Catalog
from dracfg.link.index import index
from dracfg.link.linker import link
from dracfg.model.parse import parse
from dracfg.plan.jointassurance import JointAssurance, joint_assurances
from dracfg.plan.jointdemand import joint_demands
from dracfg.plan.proofs.verdict import Proven, Refuted, Unknown
from dracfg.source import read_repository
from dracfg.source.records import parse_record

BASE = Path(__file__).parents[2] / "cases" / "_base" / "recorded.yaml"
TENANT = """\
apiVersion: dracfg.dev/v1alpha1
kind: Tenant
metadata: {{name: {name}}}
spec:
  access: {{use: [{{group: {name}}}], view: [{{group: support}}]}}
  namespaces: [{{name: {name}, clusters: [east]}}]
  entitlements:
    - {{name: gpu, tier: big, guaranteed: {gpus}}}
    - {{name: nic, tier: card, guaranteed: {cards}}}
  profiles:
    - name: pair
      requests: [{{name: {request}, entitlement: gpu}}, {{name: nic, entitlement: nic}}]
"""


def repository(
    root: Path, nodes: str, *tenants: tuple[str, int, int], request: str = "gpu"
) -> tuple[Catalog, Inventory]:
    files = yaml.safe_load(BASE.read_text())["files"]
    files["catalog/platform.yaml"] = files["catalog/platform.yaml"].replace("nodes: 1", nodes)
    for name, gpus, cards in tenants:
        files[f"tenants/{name}.yaml"] = TENANT.format(
            name=name, gpus=gpus, cards=cards, request=request if name == "vision" else "gpu"
        )
    for path, text in files.items():
        (root / path).parent.mkdir(exist_ok=True, parents=True)
        (root / path).write_text(text)
    record, _ = parse_record("east.yaml", files["catalog/inventory/east.yaml"])
    inventory, _ = load_inventory([record])
    return linked(root), inventory


def linked(root: Path) -> Catalog:
    parsed = parse(read_repository(root).documents)
    named, _ = index(parsed.documents)
    return link(named, parsed.poisoned).catalog


def answers(catalog: Catalog, inventory: Inventory | None = None) -> list[JointAssurance]:
    inventories = {} if inventory is None else {"east": inventory}
    features = {"east": Features.of("1.36", frozenset())}
    return list(joint_assurances(catalog, joint_demands(catalog), inventories, features))


def test_the_same_claims_of_all_tenants_are_one_demand(tmp_path: Path) -> None:
    """Names of requests make no difference; each tenant has as many as its scarcer guarantee."""
    tenants = (("vision", 4, 2), ("search", 1, 3))
    catalog, _ = repository(tmp_path, "nodes: 3", *tenants, request="accelerator")
    (demand,) = joint_demands(catalog)
    assert {asker.tenant.name: asker.claims for asker in demand.askers} == {
        "vision": 2,
        "search": 1,
    }


def test_each_tenant_alone_has_room_and_both_have_not(tmp_path: Path) -> None:
    catalog, inventory = repository(tmp_path / "one", "nodes: 1", ("vision", 1, 1))
    (alone,) = answers(catalog, inventory)
    assert isinstance(alone.verdict, Proven)
    tenants = (("vision", 1, 1), ("search", 1, 1))
    catalog, inventory = repository(tmp_path / "two", "nodes: 1", *tenants)
    (both,) = answers(catalog, inventory)
    assert isinstance(both.verdict, Refuted)
    assert (both.verdict.reason.needed, both.verdict.reason.most) == (2, 1)


def test_spare_nodes_hold_no_claims(tmp_path: Path) -> None:
    tenant = ("vision", 2, 2)
    catalog, _ = repository(tmp_path / "all", "nodes: 2", tenant)
    assert [answer.verdict.word for answer in answers(catalog)] == ["proven"]
    catalog, _ = repository(tmp_path / "less", "nodes: 2\n  spare: {nodes: 1}", tenant)
    assert [answer.verdict.word for answer in answers(catalog)] == ["refuted"]


def test_other_guarantees_keep_their_room(tmp_path: Path) -> None:
    """Two pairs need the cards of both nodes, and leave no two GPUs on one of them."""
    repository(tmp_path, "nodes: 2", ("vision", 2, 2))
    platform = tmp_path / "catalog/platform.yaml"
    platform.write_text(
        platform.read_text().replace("{tier: big, perNode: 1}", "{tier: big, perNode: 2}")
    )
    assert [answer.verdict.word for answer in answers(linked(tmp_path))] == ["proven"]
    twos = TENANT.format(name="search", gpus=2, cards=0, request="gpu")
    pair = twos[twos.index("    - name: pair") :]
    two = "    - name: two\n      requests: [{name: gpu, entitlement: gpu, count: 2}]\n"
    (tmp_path / "tenants/search.yaml").write_text(twos.replace(pair, two))
    (answer,) = answers(linked(tmp_path))
    assert isinstance(answer.verdict, Unknown)
    assert "beside them no room was found for what else is guaranteed of big" in answer.verdict.why


def test_a_device_that_several_nodes_reach_counts_on_none(tmp_path: Path) -> None:
    catalog, _ = repository(tmp_path, "nodes: 1", ("vision", 1, 1))
    text = (tmp_path / "catalog/inventory/east.yaml").read_text()
    gpu, card = text.split("---\n")
    shared = card.replace("nodeName: gpus-1", "allNodes: true")
    record, _ = parse_record("east.yaml", f"{gpu}---\n{shared}")
    inventory, _ = load_inventory([record])
    (answer,) = answers(catalog, inventory)
    assert isinstance(answer.verdict, Unknown)
    assert "reachable from several nodes" in answer.verdict.why
