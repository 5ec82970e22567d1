"""Which recorded devices a class takes."""

from pathlib import Path

import pytest

from dracfg.diff.matches import match_changes
from tests.unit.diff.pairs import Case, Edit, hold

_PLATFORM, _RECORD = "catalog/platform.yaml", "catalog/inventory/east.yaml"
_HAS = """    cel: ['has(device.attributes["gpu.example.org"].firmware)']\n"""
_WIDE: Edit = (_PLATFORM, _HAS, "")
_GONE: Edit = (
    _RECORD,
    """\
    - name: gpu-1
      attributes: {type: {string: gpu}, model: {string: B-80}}
      capacity: {memory: {value: 80Gi}}
""",
    "",
)
_CLAIM = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: held, namespace: train}
spec:
  devices:
    requests:
    - {name: gpu, exactly: {deviceClassName: big, allocationMode: ExactCount, count: 1}}
status:
  allocation:
    devices:
      results:
      - {request: gpu, driver: gpu.example.org, pool: gpus-1, device: gpu-1}
"""

CASES = (
    Case(
        "a condition is dropped",
        (_WIDE,),
        base="recorded",
        told=(("class-match", "class big", "matches 1 device", "matches 2 devices"),),
        says=("now also: gpus-1/gpu-1",),
        impact="new-claims",
    ),
    Case(
        "a condition is added",
        (
            (
                _PLATFORM,
                "capacity: {memory: {min: 80Gi}}\n",
                "capacity: {memory: {min: 80Gi}}\n" + _HAS,
            ),
        ),
        (_WIDE,),
        base="recorded",
        told=(("class-match", "class big", "matches 2 devices", "matches 1 device"),),
        says=("no longer: gpus-1/gpu-1",),
        impact="new-claims",
    ),
    Case(
        "other words for the same devices",
        ((_PLATFORM, "capacity: {memory: {min: 80Gi}}", "capacity: {memory: {min: 64Gi}}"),),
        base="recorded",
        told=(("class-match-kept", "class big", "matches 1 device", "matches 1 device"),),
        impact="none",
    ),
    Case(
        "equal amounts",
        ((_PLATFORM, "{memory: {min: 80Gi}}", "{memory: {min: 81920Mi}}"),),
        base="recorded",
    ),
    Case(
        "a device is no longer recorded",
        (_GONE,),
        (_WIDE,),
        base="recorded",
        told=(("record-moved", "recorded devices of big", "2 devices", "1 device"),),
        says=("gone: gpus-1/gpu-1",),
        impact="none",
    ),
)
FUNCTIONS = (match_changes,)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_matches(case: Case, tmp_path: Path) -> None:
    hold(case, match_changes(case.pair(tmp_path)))


def test_claims_on_devices_that_are_left_out(tmp_path: Path) -> None:
    case = Case(
        "claims are named",
        CASES[1].after,
        CASES[1].before,
        base="recorded",
        recorded=_CLAIM,
        on="east",
        told=CASES[1].told,
        says=("claims on them keep their devices until they end",),
        workloads=("train/held",),
    )
    hold(case, match_changes(case.pair(tmp_path)))
