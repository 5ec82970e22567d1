"""INV046 and INV049: what Nodes say of themselves, beside slices and catalog.

Labels and amounts follow a p5.48xlarge node with feature discovery: NVIDIA/k8s-device-plugin@02f65ccaccda
(internal/lm/resource.go).
"""

from pathlib import Path
from typing import Any

import pytest

from dracfg.allocate import load_inventory
from dracfg.allocate.claimobjects import in_memory
from dracfg.check.reconciled import nodes_of
from dracfg.check.recordednodes import check_nodes
from dracfg.diagnostics import Diagnostic
from dracfg.link.catalog import Catalog
from tests.unit.check.nodecatalog import CATALOG, catalog_of


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    text = CATALOG.replace("perNode: 4", "perNode: 2")
    device = "capacity: {memory: 80Gi}}\n"
    return catalog_of(
        tmp_path, text.replace(device, f"{device}  legacyResource: example.org/gpu\n")
    )


def judge(
    catalog: Catalog,
    labels: dict[str, str] | None = None,
    allocatable: dict[str, Any] | None = None,
    **device: Any,
) -> tuple[Diagnostic, ...]:
    """What is found of a node with two GPUs; `device` is laid over the second one."""
    attributes = {"type": {"string": "gpu"}, "productName": {"string": "NVIDIA H100 80GB HBM3"}}
    devices = [
        {"name": name, "attributes": attributes, "capacity": {"memory": {"value": "80Gi"}}}
        for name in ("gpu-0", "gpu-1")
    ]
    devices[1] |= device
    record = in_memory(
        [
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": "n", "labels": {"example.org/pool": "p5", **(labels or {})}},
                "status": {"allocatable": allocatable or {}},
            },
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceSlice",
                "metadata": {"name": "s"},
                "spec": {
                    "driver": "gpu.nvidia.com",
                    "nodeName": "n",
                    "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1},
                    "devices": devices,
                },
            },
        ]
    )
    inventory, faults = load_inventory([record], "1.36")
    assert not faults
    return check_nodes(catalog, nodes_of(catalog, {"east": inventory}, {"east": [record]}))


@pytest.mark.parametrize(
    ("allocatable", "found"),
    [
        ({"nvidia.com/gpu": "2"}, ["INV046"]),
        ({"example.org/gpu": 2}, ["INV046"]),
        ({"nvidia.com/gpu": "0"}, []),
        ({"amd.com/gpu": "2", "cpu": "8"}, []),
        ({"nvidia.com/gpu": "what"}, []),
    ],
)
def test_two_owners(catalog: Catalog, allocatable: dict[str, Any], found: list[str]) -> None:
    assert [f.code for f in judge(catalog, allocatable=allocatable)] == found


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        ({"nvidia.com/gpu.count": "2", "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}, []),
        ({"nvidia.com/gpu.count": "8"}, ["8"]),
        ({"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3-SHARED"}, []),
        ({"nvidia.com/gpu.product": "NVIDIA-L40S"}, ["NVIDIA-L40S"]),
        ({"nvidia.com/gpu.count": "many"}, []),
        ({}, []),
    ],
)
def test_what_the_node_sees(catalog: Catalog, labels: dict[str, str], found: list[str]) -> None:
    judged = judge(catalog, labels)
    assert [f.expected for f in judged] == found
    assert {f.code for f in judged} <= {"INV049"}


def test_catalog_slices_and_node_are_named_together(catalog: Catalog) -> None:
    (finding,) = judge(catalog, {"nvidia.com/gpu.count": "8"})
    assert finding.found == "published 2; pool p5 says 2 of h100"


def test_parts_of_a_device_are_not_counted(catalog: Catalog) -> None:
    part = {"type": {"string": "mig"}, "parentUUID": {"string": "GPU-1"}}
    assert judge(catalog, {"nvidia.com/gpu.count": "1"}, attributes=part) == ()
