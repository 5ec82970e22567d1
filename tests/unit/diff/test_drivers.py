"""Another release or setting of a driver: what it publishes, and who reads that."""

from pathlib import Path

import pytest

from dracfg.diff.drivers import driver_changes
from tests.unit.diff.pairs import DRIVERS, POOLS, TIERS, Case, Edit, hold

_NVIDIA, _NIC = "gpu.nvidia.com", "nic.example.com"
_TYPE = "attributes: {type: gpu, productName: NVIDIA A100-SXM4-40GB, driverVersion"
_INDEX: Edit = (TIERS, _TYPE, _TYPE.replace("type: gpu", "type: gpu, index: {min: 0}"))
_FORM = f"how {_NVIDIA} publishes devices"
_COUNTED = "not shareable, with shared counters"
_PLAIN = "not shareable, without shared counters"
_RAW: Edit = (
    TIERS,
    "capacity: {memory: {min: 40Gi}}\n",
    "capacity: {memory: {min: 40Gi}}\n    cel: ['device.attributes[\"gpu.nvidia.com\"].index >= 0']\n",
)


def _from(version: str) -> Edit:
    return DRIVERS, "version: 0.5.0", f"version: {version}"


def _to(before: str, after: str) -> Edit:
    return DRIVERS, f"version: {before}", f"version: {after}"


def _publishes(before: str | None, after: str | None) -> tuple[str | None, ...]:
    return "driver-publishes", f"what {_NVIDIA} publishes", before, after


CASES = (
    Case(
        "a structured match reads what is dropped",
        (_to("25.3.2", "25.8.0"),),
        (_from("25.3.2"), _INDEX),
        told=(
            ("attribute-dropped", f"attribute index of {_NVIDIA}", "int", None),
            _publishes("25.3.2", "25.8.0"),
        ),
        says=(
            "selectors of a100-40g, a100-40g-mig-1g-5gb",
            "tiers that name it: a100-40g",
            "uuid says the same",
            "minor is gone",
        ),
    ),
    Case(
        "raw CEL reads what is dropped",
        (_to("25.3.2", "25.8.0"),),
        (_from("25.3.2"), _RAW),
        told=(
            ("attribute-dropped", f"attribute index of {_NVIDIA}", "int", None),
            _publishes("25.3.2", "25.8.0"),
        ),
        says=("selectors of a100-40g, a100-40g-mig-1g-5gb",),
    ),
    Case(
        "nobody reads what is dropped",
        (_to("25.3.2", "25.8.0"),),
        (_from("25.3.2"),),
        told=(_publishes("25.3.2", "25.8.0"),),
        says=("index is gone", "minor is gone", "parentIndex is gone"),
        impact="none",
    ),
    Case(
        "a profile tells devices apart by what is dropped",
        ((DRIVERS, "subnet: string, ", ""),),
        told=(("attribute-dropped", f"attribute subnet of {_NIC}", "string", None),),
        says=("profiles that name it: vision/train-x8",),
        impact="restrictive",
    ),
    Case(
        "another type",
        ((DRIVERS, "speed: int", "speed: string"),),
        told=(("attribute-retyped", f"attribute speed of {_NIC}", "int", "string"),),
        says=("selectors of cx7-400g",),
        impact="restrictive",
    ),
    Case(
        "a capacity that is no longer published",
        ((DRIVERS, "capacity: [bandwidth]", "capacity: []"),),
        told=(("capacity-dropped", f"capacity bandwidth of {_NIC}", "published", None),),
        says=("selectors of cx7-400g",),
    ),
    Case(
        "a release that nobody knows",
        (_to("0.5.0", "9.9.9"),),
        told=(("driver-unlisted", f"release 9.9.9 of {_NVIDIA}", "0.5.0", "9.9.9"),),
        says=("known releases: 25.8.1, 25.12.0, 0.4.0, 0.4.1, 0.5.0",),
        impact="none",
    ),
    Case(
        "a gate that comes with the release",
        (_to("25.8.1", "25.12.0"),),
        (_from("25.8.1"),),
        told=(
            ("driver-gate-stage", f"gate DynamicMIG of {_NVIDIA}", None, "alpha"),
            _publishes("25.8.1", "25.12.0"),
            ("slice-layout", _FORM, _PLAIN, _COUNTED),
        ),
    ),
    Case(
        "partitions are no longer made as they are asked for",
        ((DRIVERS, "featureGates: {DynamicMIG: true}", "featureGates: {DynamicMIG: false}"),),
        told=(("slice-layout", _FORM, _COUNTED, _PLAIN),),
        says=("tiers of it: a100-40g",),
        impact="new-claims",
    ),
    Case("only a number of nodes", ((POOLS, "nodes: 12", "nodes: 13"),)),
    Case("a driver's own word on enforcement", ((DRIVERS, "sharesOneAllocation: true, ", ""),)),
)
FUNCTIONS = (driver_changes,)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_drivers(case: Case, tmp_path: Path) -> None:
    hold(case, driver_changes(case.pair(tmp_path)))
