"""Catalog, slices and the node itself: one finding for each way in which three accounts can differ.

Labels and amounts follow a p5.48xlarge node with feature discovery (NVIDIA/k8s-device-plugin@02f65ccaccda:
internal/lm/resource.go), series those of NVIDIA/dcgm-exporter@5f9250c211a0, with UUID and Hostname.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from dracfg.allocate import load_inventory
from dracfg.audit import audit
from dracfg.check.inventory import check_inventory
from dracfg.check.reconciled import nodes_of
from dracfg.check.recordednodes import check_nodes
from dracfg.diagnostics import Diagnostic
from dracfg.link.catalog import Catalog
from dracfg.source.records import Record, parse_record
from tests.unit.check.nodecatalog import CATALOG, catalog_of

DATA = Path(__file__).parents[2] / "data"
"""Published objects; SOURCES.md beside them names where from."""
CODES = ("INV041", "INV046", "INV049", "INV060", "INV061", "INV062")
PRODUCT = "NVIDIA H100 80GB HBM3"
GPU: Mapping[str, Any] = {
    "attributes": {
        "type": {"string": "gpu"},
        "productName": {"string": PRODUCT},
        "driverVersion": {"version": "580.126.9"},
    },
    "capacity": {"memory": {"value": "81559Mi"}},
}


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    return catalog_of(tmp_path)


def node(name: str, labels: Mapping[str, str], **status: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"example.org/pool": "p5", **labels}},
        "status": status,
    }


def published(name: str, devices: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{name}-gpus"},
        "spec": {
            "driver": "gpu.nvidia.com",
            "nodeName": name,
            "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": f"gpu-{i}", **device} for i, device in enumerate(devices)],
        },
    }


def answer(by_node: Mapping[str, Sequence[str]], **more: str) -> dict[str, Any]:
    """What `/api/v1/query` says of DCGM_FI_DEV_GPU_TEMP."""
    return {
        "status": "success",
        "data": {
            "resultType": "vector",
            "result": [
                {
                    "metric": {
                        "__name__": "DCGM_FI_DEV_GPU_TEMP",
                        "Hostname": name,
                        "UUID": uuid,
                        **more,
                    },
                    "value": [1795305600.781, "41"],
                }
                for name, uuids in by_node.items()
                for uuid in uuids
            ],
        },
    }


def recorded(*objects: dict[str, Any]) -> Record:
    record, faults = parse_record("dump.json", "\n".join(map(json.dumps, objects)))
    assert not faults
    return record


def judge(catalog: Catalog, *objects: dict[str, Any]) -> tuple[Diagnostic, ...]:
    """All that is found of numbers, and of nodes; what classes take and devices publish is left out."""
    records = {"east": [recorded(*objects)]}
    inventory, _ = load_inventory(records["east"], "1.36")
    nodes = nodes_of(catalog, {"east": inventory}, records)
    found = (*check_inventory(catalog, {"east": inventory}, nodes), *check_nodes(catalog, nodes))
    return tuple(one for one in found if one.code in CODES)


GFD = "nvidia.com/gpu.count"


@pytest.mark.parametrize(
    ("slices", "seen", "code", "found", "expected", "cause"),
    [
        (4, "4", None, "", "", ""),
        (4, None, None, "", "", ""),
        (3, "4", "INV049", "published 3; pool p5 says 4 of h100", "4", "node and catalog agree"),
        (4, "3", "INV049", "published 4; pool p5 says 4 of h100", "3", "slices and catalog agree"),
        (3, "3", "INV041", "3 on n, as the nodes themselves see", "4", "slices and nodes agree"),
        (3, "2", "INV049", "published 3; pool p5 says 4 of h100", "2", "no two agree"),
        (3, None, "INV041", "3 on n", "4", "see the driver's log"),
    ],
)
def test_every_way_to_differ_is_one_finding(
    catalog: Catalog,
    slices: int,
    seen: str | None,
    code: str | None,
    found: str,
    expected: str,
    cause: str,
) -> None:
    labels = {} if seen is None else {GFD: seen}
    judged = judge(catalog, node("n", labels), published("n", [GPU] * slices))
    assert [one.code for one in judged] == ([] if code is None else [code])
    for one in judged:
        assert (one.found, one.expected) == (found, expected)
        assert one.help is not None
        assert one.help.startswith(cause)


@pytest.mark.parametrize("per_node", [1, 2, 3])
def test_three_accounts_are_found_once_or_not_at_all(tmp_path: Path, per_node: int) -> None:
    """Whatever the numbers: nothing where all that are known agree, else one finding that has them all."""
    catalog = catalog_of(tmp_path, CATALOG.replace("perNode: 4", f"perNode: {per_node}"))
    right = [node("a", {GFD: str(per_node)}), published("a", [GPU] * per_node)]
    for slices, seen in itertools.product((0, 1, 2, 3), (None, 1, 2, 3)):
        labels = {} if seen is None else {GFD: str(seen)}
        here = [published("n", [GPU] * slices)] if slices else []
        judged = judge(catalog, *right, node("n", labels), *here)
        agree = slices == per_node and seen in (None, per_node)
        assert len(judged) == (0 if agree else 1), (slices, seen)
        for one in judged:
            told = f"{one.found} {one.expected}"
            known = {per_node, slices or "none", *([] if seen is None else [seen])}
            assert all(str(number) in told for number in known), (slices, seen)


@pytest.mark.parametrize(
    ("labels", "status", "expected", "cause"),
    [
        ({GFD: "4"}, {}, "4", "the driver does not run there, the node sees its devices"),
        ({}, {}, "4", "the driver does not run there: see its pod"),
        ({GFD: "5"}, {}, "5", "the driver does not run there"),
        ({GFD: "4"}, {"capacity": {"nvidia.com/gpu": "4"}}, "4", "the device plugin still serves"),
        (
            {GFD: "4"},
            {"conditions": [{"type": "Ready", "status": "Unknown"}]},
            "4",
            "the node is not Ready",
        ),
    ],
)
def test_a_driver_that_publishes_nothing_on_a_node(
    catalog: Catalog,
    labels: dict[str, str],
    status: dict[str, Any],
    expected: str,
    cause: str,
) -> None:
    others = [node("a", {GFD: "4"}), published("a", [GPU] * 4)]
    (one,) = judge(catalog, *others, node("n", labels, **status))
    assert (one.code, one.found) == ("INV060", "published none; pool p5 says 4 of h100")
    assert one.expected == expected
    assert one.help is not None
    assert one.help.startswith(cause)
    assert one.message == "gpu.nvidia.com publishes nothing on node n"


def test_nodes_that_are_odd_alike_are_named_together(catalog: Catalog) -> None:
    nodes = [node(name, {GFD: "4"}) for name in "edcba"]
    (one,) = judge(catalog, *nodes, published("z", [GPU] * 4))
    assert one.message == "gpu.nvidia.com publishes nothing on nodes a, b, c and 2 more"


def test_a_node_that_is_down_is_no_other_way_to_differ(catalog: Catalog) -> None:
    down = {"conditions": [{"type": "Ready", "status": "False"}]}
    slices = [published(name, [GPU] * 4) for name in "ab"]
    (one,) = judge(catalog, node("a", {GFD: "3"}), node("b", {GFD: "3"}, **down), *slices)
    assert one.message.startswith("nodes a and b themselves see another number of devices")
    assert one.help is not None
    assert "a card has failed" in one.help


def test_where_no_slice_is_recorded_nothing_is_said_of_drivers(catalog: Catalog) -> None:
    assert judge(catalog, node("n", {GFD: "4"})) == ()


def test_a_slice_that_is_missing_leaves_it_open(catalog: Catalog) -> None:
    part = published("n", [GPU] * 3)
    part["spec"]["pool"]["resourceSliceCount"] = 2
    assert [one.code for one in judge(catalog, node("n", {GFD: "4"}), part)] == ["INV041"]


@pytest.mark.parametrize(
    ("labels", "status", "codes"),
    [
        ({GFD: "4"}, {}, []),
        ({GFD: "3"}, {}, ["INV041"]),
        ({}, {"capacity": {"nvidia.com/gpu": "3"}}, []),
        ({"nvidia.com/gpu.replicas": "1"}, {"capacity": {"nvidia.com/gpu": "3"}}, ["INV041"]),
        ({"nvidia.com/gpu.replicas": "8"}, {"capacity": {"nvidia.com/gpu": "32"}}, []),
        ({"nvidia.com/gpu.replicas": "8"}, {"capacity": {"nvidia.com/gpu": "24"}}, ["INV041"]),
    ],
)
def test_a_pool_of_the_device_plugin_is_held_against_its_nodes(
    tmp_path: Path, labels: dict[str, str], status: dict[str, Any], codes: list[str]
) -> None:
    judged = judge(catalog_of(tmp_path, owner="devicePlugin"), node("n", labels, **status))
    assert [one.code for one in judged] == codes
    for one in judged:
        assert (one.found, one.expected) == ("3 seen by the node", "4")


def test_exporters_are_counted_by_device(catalog: Catalog) -> None:
    """A series for each part of a card counts once; a Prometheus of many clusters tells which is which."""
    here = answer({"n": ["GPU-1", "GPU-2", "GPU-3", "GPU-3"]}, cluster="east")
    there = answer({"n": ["GPU-8", "GPU-9"]}, cluster="west")
    here["data"]["result"] += there["data"]["result"]
    (one,) = judge(catalog, node("n", {}), published("n", [GPU] * 4), here)
    assert (one.code, one.expected) == ("INV049", "3")
    assert one.span is not None
    assert one.span.line == 3


def test_sources_of_a_node_that_differ_are_named(catalog: Catalog) -> None:
    series = answer({"n": ["GPU-1", "GPU-2", "GPU-3"]})
    (one,) = judge(catalog, node("n", {GFD: "4"}), published("n", [GPU] * 4), series)
    assert one.expected == f"4 by {GFD}, 3 by DCGM_FI_DEV_GPU_TEMP"
    assert one.help is not None
    assert one.help.startswith(f"slices, catalog and {GFD} agree, so look at DCGM_FI_DEV_GPU_TEMP")
    assert [place.label for place in one.related] == [
        "3 by DCGM_FI_DEV_GPU_TEMP",
        "published: 4",
        "what pool p5 says",
    ]


@pytest.mark.parametrize(
    ("series", "said"),
    [
        (answer({"other": ["GPU-1"]}), "devices on other, and no such Node"),
        (answer({"n": ["GPU-1"]}, __name__="up"), "no series of a known exporter"),
        (answer({"n": ["GPU-1"]}, cluster="west"), "no series of this cluster"),
        ({"status": "success", "data": {"resultType": "matrix", "result": []}}, "instant query"),
        (answer({"n": [""]}, UUID=""), None),
    ],
)
def test_an_answer_that_counts_nothing_is_told(
    catalog: Catalog, series: dict[str, Any], said: str | None
) -> None:
    judged = judge(catalog, node("n", {}), published("n", [GPU] * 4), series)
    assert [one.code for one in judged] == ([] if said is None else ["INV062"])
    for one in judged:
        assert said is not None
        assert said in one.message


def test_labels_of_the_target_do_not_hide_those_of_the_exporter(catalog: Catalog) -> None:
    series = answer({"prometheus": ["GPU-1"]}, exported_Hostname="n")
    (one,) = judge(catalog, node("n", {}), published("n", [GPU] * 4), series)
    assert (one.code, one.expected) == ("INV049", "1")


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({"nvidia.com/gpu.memory": "81920"}, None),
        ({"nvidia.com/gpu.memory": "79200"}, None),
        ({"nvidia.com/gpu.memory": "40960"}, ("memory", "published 81559Mi; pool p5 says 80Gi")),
        ({"nvidia.com/gpu.memory": "0"}, None),
        ({"nvidia.com/gpu.memory": "lots"}, None),
        ({"nvidia.com/cuda.driver-version.full": "580.126.09"}, None),
        (
            {"nvidia.com/cuda.driver-version.full": "570.86.15"},
            ("version of the kernel driver", "published 580.126.9"),
        ),
        ({"nvidia.com/cuda.driver-version.full": "unknown"}, None),
        ({"nvidia.com/gpu.product": "NVIDIA-L4"}, ("product", f"published {PRODUCT}")),
        ({"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb", GFD: "28"}, None),
    ],
)
def test_what_labels_say_beside_the_number(
    catalog: Catalog, labels: dict[str, str], said: tuple[str, str] | None
) -> None:
    judged = judge(catalog, node("n", labels), published("n", [GPU] * 4))
    assert [(one.code, one.found) for one in judged] == (
        [] if said is None else [("INV049", said[1])]
    )
    for one in judged:
        assert said is not None
        assert f"another {said[0]} than gpu.nvidia.com publishes" in one.message


def mig(**more: Any) -> dict[str, Any]:
    """A part of a card, as it is published."""
    told = {"type": {"string": "mig"}, "productName": {"string": PRODUCT}, **more}
    return {"attributes": told, "capacity": {"memory": {"value": "9856Mi"}}}


def text(value: str) -> dict[str, str]:
    return {"string": value}


def test_parts_count_with_the_card_that_they_are_cut_from(catalog: Catalog) -> None:
    cards = [mig(parentUUID=text(f"GPU-{i}")) for i in (0, 0, 0, 1)]
    whole = {**GPU, "attributes": {**GPU["attributes"], "uuid": text("GPU-2")}}
    labels = {"nvidia.com/gpu.memory": "81920"}
    slices = published("n", [*cards, whole])
    (one,) = judge(catalog, node("n", {**labels, GFD: "3"}), slices)
    assert (one.code, one.found) == ("INV041", "1 on n")
    (one,) = judge(catalog, node("n", {**labels, GFD: "4"}), slices)
    assert (one.code, one.found) == ("INV049", "published 3; pool p5 says 4 of h100")


def test_parts_of_one_bus_address_are_one_card(catalog: Catalog) -> None:
    """Dynamic MIG publishes a card and its parts; the parts have no uuid before they are prepared."""
    bus = {"resource.kubernetes.io/pciBusID": text("0000:65:00.0")}
    whole = {**GPU, "attributes": {**GPU["attributes"], "uuid": text("GPU-0"), **bus}}
    slices = published("n", [whole, mig(**bus), mig(**bus)])
    (one,) = judge(catalog, node("n", {GFD: "4"}), slices)
    assert one.found == "published 1; pool p5 says 4 of h100"


def test_counters_tell_cards_apart(catalog: Catalog) -> None:
    def takes(number: int) -> dict[str, Any]:
        consumed = [{"counterSet": f"gpu-{number}", "counters": {"memory": {"value": "10Gi"}}}]
        return {**mig(), "consumesCounters": consumed}

    devices = published("n", [takes(0), takes(0), takes(1)])
    counters = published("n", [])
    del counters["spec"]["devices"]
    counters["metadata"]["name"] = "n-counters"
    counters["spec"]["sharedCounters"] = [
        {"name": f"gpu-{i}", "counters": {"memory": {"value": "80Gi"}}} for i in range(2)
    ]
    for part in (devices, counters):
        part["spec"]["pool"]["resourceSliceCount"] = 2
    (one,) = judge(catalog, node("n", {GFD: "4"}), devices, counters)
    assert one.found == "published 2; pool p5 says 4 of h100"


def test_a_tier_of_parts_says_no_number_of_cards(tmp_path: Path) -> None:
    catalog = catalog_of(tmp_path, CATALOG.replace("type: gpu", "type: mig"))
    slices = published("n", [mig(parentUUID=text(f"GPU-{i}")) for i in range(4)])
    assert judge(catalog, node("n", {GFD: "4"}), slices) == ()
    (one,) = judge(catalog, node("n", {GFD: "5"}), slices)
    assert one.expected == "5"
    assert one.help is not None
    assert one.help.startswith("see the driver's log")


def test_the_label_of_a_node_with_two_products_counts_one_of_them(tmp_path: Path) -> None:
    other = {**GPU, "attributes": {**GPU["attributes"], "productName": text("NVIDIA L4")}}
    slices = published("n", [GPU, GPU, GPU, other])
    labels = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}
    catalog = catalog_of(tmp_path)
    assert judge(catalog, node("n", {**labels, GFD: "3"}), slices) == ()
    (one,) = judge(catalog, node("n", {**labels, GFD: "4"}), slices)
    assert (one.code, one.expected) == ("INV049", "5")


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        (("NVIDIA-H100-80GB-HBM3", "81559"), ("NVIDIA-H100-80GB-HBM3", "81920"), None),
        (("NVIDIA-H100-80GB-HBM3", "81559"), ("NVIDIA-H100-80GB-HBM3-SHARED", "81559"), None),
        (
            ("NVIDIA-H100-80GB-HBM3", "81920"),
            ("NVIDIA-H100-NVL", "95830"),
            "NVIDIA-H100-80GB-HBM3 with 80Gi on 1 and NVIDIA-H100-NVL with 95830Mi on 1",
        ),
        (
            ("", "40960"),
            ("", "81920"),
            "40Gi on 1 and 80Gi on 1",
        ),
        (("", "40960"), ("", ""), None),
    ],
)
def test_nodes_of_one_pool_are_of_one_shape(
    tmp_path: Path, first: tuple[str, str], second: tuple[str, str], found: str | None
) -> None:
    catalog = catalog_of(tmp_path, owner="devicePlugin")
    nodes = []
    for name, (product, memory) in (("a", first), ("b", second)):
        told = {"nvidia.com/gpu.product": product, "nvidia.com/gpu.memory": memory}
        nodes.append(node(name, {key: value for key, value in told.items() if value}))
    judged = judge(catalog, *nodes)
    assert [(one.code, one.found) for one in judged] == (
        [] if found is None else [("INV061", found)]
    )


def test_the_live_level_names_the_pools_that_drifted(catalog: Catalog) -> None:
    record = recorded(node("n", {GFD: "4"}), published("n", [GPU] * 3))
    done = audit(catalog, catalog.clusters["east"], [record])
    found = {one.diagnostic.code: one.objects for one in done.findings}
    assert found["INV049"] == ("NodePool/p5",)


@pytest.mark.parametrize(
    ("file", "name", "cards", "product", "memory"),
    [
        ("dranet/azure-aks-examples-gb300-resourceslice-gpu", "node-76f4", 4, "NVIDIA-GB300", "284208"),
        ("nvidia/slice-reference-gpu", "node-a", 1, "NVIDIA-A100-PCIE-40GB", "40960"),
        ("nvidia/slice-reference-mig", "node-a", 1, "NVIDIA-A100-PCIE-40GB", "40536"),
        ("nvidia/slice-reference-vfio", "node-a", 1, "NVIDIA-A100-PCIE-40GB", "40960"),
        ("nvidia-mig/derived-slice-a100-mig-counters", "node-a", 1, "NVIDIA-A100-SXM4-40GB", "40960"),
        ("nvidia-consumable/derived-slice-a100-shares-4", "node-f30a", 8, "", "40960"),
    ],
)  # fmt: skip
def test_real_slices_beside_a_node_that_sees_the_same(
    catalog: Catalog, file: str, name: str, cards: int, product: str, memory: str
) -> None:
    record, faults = parse_record(file, (DATA / "slices" / f"{file}.yaml").read_text())
    assert not faults
    slices = [item.data for item in record.objects]
    told = {"example.org/pool": "none", "nvidia.com/gpu.memory": memory}
    told |= {"nvidia.com/gpu.product": product} if product else {}
    assert judge(catalog, node(name, {**told, GFD: str(cards)}), *slices) == ()
    (one,) = judge(catalog, node(name, {**told, GFD: str(cards + 1)}), *slices)
    assert (one.code, one.found) == ("INV049", f"published {cards}")


def test_a_real_node_of_the_device_plugin(tmp_path: Path) -> None:
    """Labels and amounts of node-p5-h100.yaml; the pool has it by a label that it carries."""
    text_ = CATALOG.replace("example.org/pool: p5", 'nvidia.com/gpu.present: "true"')
    text_ = text_.replace("perNode: 4", "perNode: 8")
    path = DATA / "legacy" / "legacy-nodes" / "node-p5-h100.yaml"
    record, _ = parse_record(path.name, path.read_text())
    assert judge(catalog_of(tmp_path, text_, "devicePlugin"), record.objects[0].data) == ()
    other = tmp_path / "other"
    other.mkdir()
    nine = catalog_of(other, text_.replace("perNode: 8", "perNode: 9"), "devicePlugin")
    (one,) = judge(nine, record.objects[0].data)
    assert (one.code, one.found) == ("INV041", "8 seen by the node")


AMD = """
apiVersion: dracfg.dev/v1alpha1
kind: Driver
metadata: {name: gpu.amd.com}
spec: {preset: gpu.amd.com, version: 1.0.1}
---
apiVersion: dracfg.dev/v1alpha1
kind: HardwareTier
metadata: {name: mi300}
spec:
  driver: gpu.amd.com
  match: {attributes: {type: amdgpu}}
  device: {attributes: {type: amdgpu}, capacity: {memory: 196592Mi}}
---
"""


@pytest.mark.parametrize(
    ("labels", "codes"),
    [
        ({"beta.amd.com/gpu.device-id.74a1": "2", "amd.com/gpu.vram": "192G"}, []),
        ({"beta.amd.com/gpu.device-id.74a1": "1"}, ["INV049"]),
        (
            {
                "beta.amd.com/gpu.device-id.74a1": "16",
                "amd.com/compute-memory-partition": "cpx_nps4",
            },
            [],
        ),
        (
            {
                "beta.amd.com/gpu.device-id.74a1": "8",
                "amd.com/compute-memory-partition": "spx_nps1",
            },
            ["INV049"],
        ),
        ({"amd.com/gpu.vram": "64G"}, ["INV049"]),
        ({"amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM"}, []),
        ({"amd.com/gpu.driver-version": "6.12.12"}, []),
        ({"amd.com/gpu.driver-version": "6.10.5"}, ["INV049"]),
    ],
)
def test_labels_of_the_amd_labeller(
    tmp_path: Path, labels: dict[str, str], codes: list[str]
) -> None:
    """The device is that of ROCm/k8s-gpu-dra-driver@2622427226d5:docs/demo.md."""
    pool = (
        CATALOG.split("---")[-1].replace("h100", "mi300").replace("gpu.nvidia.com", "gpu.amd.com")
    )
    text_ = CATALOG.split("---")[0] + "---" + AMD + pool.replace("perNode: 4", "perNode: 2")
    device = {
        "attributes": {
            "type": {"string": "amdgpu"},
            "productName": {"string": "AMD_Instinct_MI300X_OAM"},
            "driverVersion": {"version": "6.12.12"},
        },
        "capacity": {"memory": {"value": "196592Mi"}},
    }
    slices = published("n", [device, device])
    slices["spec"]["driver"] = "gpu.amd.com"
    series = {
        "status": "success",
        "data": {
            "resultType": "vector",
            "result": [
                {
                    "metric": {
                        "__name__": "gpu_total_vram",
                        "hostname": "n",
                        "serial_number": serial,
                        "gpu_id": serial,
                    },
                    "value": [1795305600, "196592"],
                }
                for serial in ("1", "2")
            ],
        },
    }
    judged = judge(catalog_of(tmp_path, text_), node("n", labels), slices, series)
    assert [one.code for one in judged] == codes
