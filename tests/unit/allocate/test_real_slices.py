"""Every published ResourceSlice of tests/data/slices, and what is expected of it."""

from collections import Counter
from pathlib import Path

import pytest

from dracfg.allocate import Inventory, load_inventory
from dracfg.diagnostics import Diagnostic
from dracfg.kube.quantity import Quantity
from dracfg.source.records import read_record

DATA = Path(__file__).parents[2] / "data" / "slices"

EXPECTED: dict[str, tuple[int, int, dict[str, int]]] = {
    # file: (devices, usable pools, findings by code)
    "amd/doc-demo-01.yaml": (0, 0, {"INV005": 2}),
    "cpu/doc-device-attributes-01.yaml": (2, 1, {}),
    "cpu/doc-feature-support-02.yaml": (1, 1, {}),
    "dranet/aws-eks-examples-gpu-efa-resourceslice-dranet.yaml": (7, 1, {}),
    "dranet/azure-aks-examples-gb300-resourceslice-dranet.yaml": (4, 1, {}),
    "dranet/azure-aks-examples-gb300-resourceslice-gpu.yaml": (4, 1, {}),
    "dranet/azure-aks-examples-mi300x-resourceslice-dranet.yaml": (8, 1, {}),
    "intel-gpu/slice-1.yaml": (2, 1, {}),
    "kep/kep4815-partitionable-03.yaml": (0, 0, {"INV005": 7, "INV012": 1}),
    "kep/kep5517-node-allocatable-01.yaml": (0, 0, {"INV004": 1, "INV005": 2}),
    "kep/kep5941-shared-capacity-01.yaml": (0, 0, {"INV004": 1, "INV013": 1}),
    "kep/kep5941-shared-capacity-02.yaml": (0, 0, {"INV004": 2, "INV005": 2, "INV013": 1}),
    "kep/kep5963-compat-groups-02.yaml": (3, 1, {}),
    "kep/kep5963-compat-groups-06.yaml": (4, 1, {}),
    "kep/kep5963-compat-groups-08.yaml": (3, 1, {}),
    "nvidia-consumable/derived-slice-a100-shares-4.yaml": (8, 1, {}),
    "nvidia-consumable/derived-slice-a100-shares-unlimited.yaml": (8, 1, {}),
    "nvidia-mig/derived-slice-a100-mig-counters.yaml": (3, 1, {"INV006": 24}),
    "nvidia/slice-reference-gpu.yaml": (1, 1, {}),
    "nvidia/slice-reference-mig.yaml": (1, 1, {"INV006": 1}),
    "nvidia/slice-reference-vfio.yaml": (1, 1, {}),
    "spyre/generated-resourceslices.yaml": (0, 0, {"INV003": 1}),
    "tpu/slice-kind-v1beta1.yaml": (2, 1, {}),
}


def load(file: str, minor: str | None = None) -> tuple[Inventory, tuple[Diagnostic, ...]]:
    record, faults = read_record(DATA, file)
    assert not faults
    return load_inventory([record], minor)


def test_no_file_is_left_out() -> None:
    assert {path.relative_to(DATA).as_posix() for path in DATA.rglob("*.yaml")} == set(EXPECTED)


@pytest.mark.parametrize("file", EXPECTED)
def test_a_published_slice_loads_or_is_found(file: str) -> None:
    inventory, faults = load(file)
    usable = sum(pool.usable for pool in inventory.pools)
    found = dict(Counter(fault.code for fault in faults))
    assert (len(inventory.devices), usable, found) == EXPECTED[file]
    assert all(fault.span is not None and fault.span.path == file for fault in faults)


def test_places_of_findings() -> None:
    _, faults = load("spyre/generated-resourceslices.yaml")
    assert str(faults[0].span) == "spyre/generated-resourceslices.yaml:18:5"
    _, faults = load("kep/kep4815-partitionable-03.yaml")
    assert str(faults[1].span) == "kep/kep4815-partitionable-03.yaml:47:7"


def test_facts_of_a_shared_device() -> None:
    inventory, _ = load("nvidia-consumable/derived-slice-a100-shares-4.yaml")
    device = inventory.device("gpu.nvidia.com", "node-f30a", "gpu-0")
    assert device is not None
    assert device.allow_multiple_allocations
    memory = device.capacity_fact("memory")
    assert memory is not None
    assert memory.value == Quantity.parse("40Gi")
    assert memory.request_policy is not None
    assert memory.request_policy.valid_range is not None
    assert memory.request_policy.valid_range.step == Quantity.parse("1Mi")
    assert device.capacity_fact("gpu.nvidia.com/memory") is None
    assert device.attribute("productName") == device.attribute("gpu.nvidia.com/productName")
    assert device.attribute("resource.kubernetes.io/pcieRoot") is not None
    assert device.attribute("pcieRoot") is None
    place = device.origin.span("capacity", "memory", "requestPolicy", "validRange", "step")
    assert place.line == 46
    assert inventory.devices_on("node-f30a") == inventory.devices
    assert inventory.devices_on("node-b") == ()


def test_counters_stand_in_a_slice_of_their_own() -> None:
    inventory, _ = load("kep/kep5963-compat-groups-06.yaml")
    (pool,) = inventory.pools_of("gpu.example.com")
    assert pool.counter_sets["gpu-0-counters"].counters == {
        "multiprocessors": Quantity.parse("100")
    }
    (taken,) = pool.devices[2].consumes_counters
    assert (taken.counter_set, taken.compatibility_groups) == ("gpu-0-counters", ("vgpu",))
    assert pool.node == "node-1"


@pytest.mark.parametrize(
    ("file", "minor", "codes"),
    [
        ("cpu/doc-feature-support-02.yaml", "1.35", {"INV004", "INV008"}),
        ("cpu/doc-feature-support-02.yaml", "1.36", set()),
        ("kep/kep5963-compat-groups-06.yaml", "1.36", {"INV004"}),
        ("kep/kep5963-compat-groups-06.yaml", "1.37", set()),
    ],
)
def test_a_known_minor_knows_its_own_fields(file: str, minor: str, codes: set[str]) -> None:
    _, faults = load(file, minor)
    assert {fault.code for fault in faults} == codes
