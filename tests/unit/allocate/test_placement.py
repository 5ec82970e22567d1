"""Every profile of the repository's own example can be placed, on as many nodes as its pools have."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dracfg.allocate import Inventory
from dracfg.allocate.devices import Taint
from dracfg.allocate.inventory import inventory_of
from dracfg.allocate.modelled import modelled_inventory
from dracfg.allocate.placement import place
from dracfg.allocate.recorded import cluster_inventories, cluster_records
from dracfg.link.catalog import Catalog
from dracfg.link.index import index
from dracfg.link.linker import link
from dracfg.model.parse import parse
from dracfg.source import read_repository
from dracfg.source.records import read_record

ROOT = Path(__file__).parents[3]

# A node in quarantine holds nothing: one of l40s-east and one of l4-west.
ABLE = {
    "courses/exercise": (2, 6),
    "courses/project": (2, 6),
    "courses/thesis": (2, 6),
    "notebooks/scratch": (9, 10),
    "notebooks/notebook": (9, 10),
    "notebooks/notebook-large": (9, 10),
    "notebooks/notebook-data": (9, 10),
    "notebooks/notebook-stream": (9, 10),
    "search/reindex": (4, 6),
    "search/evaluate": (9, 10),
    "search/ranker": (4, 5),
    "serving/inference": (7, 8),
    "serving/small": (3, 3),
    "vision/train-x1": (4, 6),
    "vision/train-x2": (4, 6),
    "vision/train-x4": (4, 6),
    "vision/train-x8": (4, 6),
    "vision/fabric-test": (4, 6),
}
# The documents don't say which PCIe root a device is on.
NOT_SAID = {"vision/train-x2", "vision/train-x8", "vision/fabric-test"}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    parsed = parse(read_repository(ROOT).documents)
    return link(index(parsed.documents)[0], parsed.poisoned).catalog


@pytest.fixture(scope="module")
def inventories(catalog: Catalog) -> Mapping[str, Inventory]:
    own = {
        cluster.name: read_record(ROOT, cluster.document.spec.inventory)[0]
        for cluster in catalog.clusters.values()
    }
    records, lost = cluster_records(catalog, own, [])
    found, faults = cluster_inventories(catalog, records)
    assert not [*lost, *faults]
    return found


def placed(catalog: Catalog, inventories: Mapping[str, Inventory]) -> dict[str, tuple[int, ...]]:
    return {
        f"{tenant.name}/{profile.name}": (found.count("yes"), found.count("unknown"), found.total)
        for tenant in catalog.tenants.values()
        for profile in tenant.document.spec.profiles
        for found in place(catalog, tenant, profile, inventories)
    }


def test_on_what_is_recorded(catalog: Catalog, inventories: Mapping[str, Inventory]) -> None:
    assert placed(catalog, inventories) == {n: (able, 0, of) for n, (able, of) in ABLE.items()}


def tainted(inventory: Inventory) -> Inventory:
    """The same devices, each tainted by its driver."""
    taint = Taint("example.com/worn", "", "NoSchedule")
    slices = [
        replace(part, devices=tuple(replace(device, taints=(taint,)) for device in part.devices))
        for part in inventory.slices
    ]
    return inventory_of(slices, inventory.nodes.values())[0]


def test_taints_keep_claims_away_where_the_scheduler_looks_at_them(
    catalog: Catalog, inventories: Mapping[str, Inventory]
) -> None:
    """DRADeviceTaints is off by default in 1.34, which prod-east runs, and on in 1.36."""
    worn = {name: tainted(inventory) for name, inventory in inventories.items()}
    able = {name: ABLE[name][0] for name in ("vision/train-x1", "serving/small")}
    for name, on in (("vision/train-x1", False), ("serving/small", True)):
        assert placed(catalog, worn)[name][0] == (0 if on else able[name])


def test_on_what_is_modelled(catalog: Catalog) -> None:
    assert placed(catalog, {}) == {
        name: (0, able, of) if name in NOT_SAID else (able, 0, of)
        for name, (able, of) in ABLE.items()
    }


def test_modelled_devices_are_as_many_as_the_pools_say(catalog: Catalog) -> None:
    modelled = modelled_inventory(catalog.clusters["prod-east"])
    assert modelled.nodes == {"a100-east": 4, "a100-mig-east": 2, "l40s-east": 10, "fpga-east": 2}
    counted = {name: len(modelled.inventory.devices_on(name)) for name in modelled.nodes}
    # Eight GPUs and eight cards; four GPUs in four parts each; one GPU and one interface.
    assert counted == {"a100-east": 16, "a100-mig-east": 16, "l40s-east": 2, "fpga-east": 0}
    (one, *_) = modelled.devices_of(catalog.tiers["l40s-hami"])
    assert one.allow_multiple_allocations
    assert one.capacity["memory"].request_policy is not None


def test_what_a_model_leaves_out_is_not_decided(build: Callable[..., Any]) -> None:
    catalog = build(match="{attributes: {type: gpu, driver: {min: 1.2.0}}}")
    (found,) = place(
        catalog, catalog.tenants["team"], catalog.tenants["team"].document.spec.profiles[0], {}
    )
    assert [(n.count, n.result, n.reason) for n in found.nodes] == [
        (3, "unknown", "the modelled device does not say driver")
    ]
    assert found.modelled


def test_closed_classes_take_nothing(tmp_path: Path) -> None:
    for source in (*ROOT.glob("catalog/**/*.yaml"), *ROOT.glob("tenants/*.yaml")):
        text = source.read_text(encoding="utf-8")
        target = tmp_path / source.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text.replace("  nodes: 3\n", "  nodes: 3\n  state: frozen\n"))
    parsed = parse(read_repository(tmp_path).documents)
    frozen = link(index(parsed.documents)[0], parsed.poisoned).catalog
    tenant = frozen.tenants["serving"]
    (small,) = [p for p in tenant.document.spec.profiles if p.name == "small"]
    (found,) = place(frozen, tenant, small, {})
    assert found.failure == "class l40s-hami-memory-slices-5gi takes no new claims"
    assert found.result == "no"
