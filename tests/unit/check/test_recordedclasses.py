"""Classes from elsewhere: what a record shows of them, and how they are mended."""

from pathlib import Path
from typing import Any

import pytest

from dracfg.allocate import load_inventory
from dracfg.allocate.claimobjects import in_memory
from dracfg.check.recordedclasses import check_classes
from dracfg.diagnostics import Diagnostic
from dracfg.link.catalog import Catalog, Cluster
from dracfg.model import kinds
from dracfg.source.records import Record, read_record

EAST = Cluster(
    "east",
    kinds.Cluster.model_validate(
        {
            "apiVersion": "dracfg.dev/v1alpha1",
            "kind": "Cluster",
            "metadata": {"name": "east"},
            "spec": {
                "kubernetes": "1.36",
                "distribution": "kubeadm",
                "gitops": {"engine": "plain"},
            },
        }
    ),
    (),
)
CATALOG = Catalog({"east": EAST}, {}, {}, {}, {}, {}, {})


def recorded(*drivers: str, selectors: list[str]) -> Record:
    slices: list[dict[str, Any]] = [
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": driver},
            "spec": {
                "driver": driver,
                "nodeName": "a",
                "pool": {"name": "a", "generation": 1, "resourceSliceCount": 1},
                "devices": [{"name": "d"}],
            },
        }
        for driver in drivers
    ]
    made = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "theirs"},
        "spec": {"selectors": [{"cel": {"expression": text}} for text in selectors]},
    }
    return in_memory([*slices, made], "dump")


def findings(record: Record) -> tuple[Diagnostic, ...]:
    inventory, _ = load_inventory([record], "1.36")
    return check_classes(CATALOG, {"east": inventory}, {"east": [record]})


READS = 'device.attributes["{}"].type == "gpu"'
TESTS = 'device.driver == "{}" && has(device.attributes["{}"].type) && '


@pytest.mark.parametrize("driver", ["gpu.nvidia.com", "npu.example.org"])
def test_the_help_shows_the_whole_where_the_driver_is_known(driver: str) -> None:
    record = recorded("npu.example.org", "nic.example.org", selectors=[READS.format(driver)])
    (found,) = findings(record)
    assert found.code == "SEL009"
    assert found.help == f"write {TESTS.format(driver, driver)}{READS.format(driver)}"
    (related,) = found.related
    assert driver not in related.label


@pytest.mark.parametrize(
    "text", ["device.allowMultipleAllocations", READS.format("gone.example.org")]
)
def test_the_help_is_general_where_it_is_not(text: str) -> None:
    (found,) = findings(recorded("npu.example.org", selectors=[text]))
    assert found.help == 'begin with device.driver == "…" &&'


@pytest.mark.parametrize(
    "selectors",
    [
        [],
        ['device.driver == "npu.example.org"', READS.format("npu.example.org")],
        ['device.driver == "npu.example.org" && device.allowMultipleAllocations'],
        ["this is no expression"],
    ],
)
def test_classes_that_are_left_alone(selectors: list[str]) -> None:
    assert findings(recorded("npu.example.org", selectors=selectors)) == ()


def test_two_charts_that_install_one_name() -> None:
    """The classes of two published charts, both of which answer to nvidia.com/gpu."""
    data = Path(__file__).parents[2] / "data" / "real"
    charts = [
        read_record(data, file)[0]
        for file in ("nvidia/deviceclasses-helm.yaml", "hami/deviceclass-helm.yaml")
    ]
    inventory, _ = load_inventory([recorded("gpu.nvidia.com", selectors=[])], "1.36")
    (found,) = check_classes(CATALOG, {"east": inventory}, {"east": charts})
    assert found.code == "OWN013"
    assert found.message.endswith("both answer to nvidia.com/gpu")
    assert not check_classes(CATALOG, {"east": inventory}, {"east": charts[:1]})
