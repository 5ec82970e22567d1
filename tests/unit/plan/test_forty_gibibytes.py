"""A device of 40Gi in steps of 5Gi: each size, the eighth and the ninth share, a share released twice."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from dracfg.allocate import Inventory, load_inventory
from dracfg.allocate.claims import Claim, ClaimAllocation, ClaimSpec, DeviceResult
from dracfg.allocate.state import AllocationState
from dracfg.check.sizes import legal
from dracfg.kube.quantity import Quantity
from dracfg.kube.requestpolicy import RequestPolicy, ValidRange, consumed
from dracfg.model.sharing import CapacityPolicy
from dracfg.plan.proofs.blocking import non_blocking
from dracfg.plan.proofs.fits import fits
from dracfg.plan.proofs.shapes import Claims, Group, Kind, Others, Pool
from dracfg.source.records import parse_record

SIZES = yaml.safe_load((Path(__file__).parents[2] / "golden/forty/sizes.yaml").read_text())
CAPACITY = Quantity.parse("40Gi")
STEP = Quantity.parse("5Gi")
DEVICE = Pool((Group("cards", 1, 1, (40,)),), ("memory",))


@pytest.mark.parametrize("least", ["5Gi", "10Gi"])
def test_every_size(least: str) -> None:
    """Legal sizes consume themselves; any other is rounded up or refused, and so no size to name."""
    written = CapacityPolicy(min=Quantity.parse(least), max=CAPACITY, step=STEP)
    published = RequestPolicy(
        default=Quantity.parse(least),
        valid_range=ValidRange(Quantity.parse(least), CAPACITY, STEP),
    )
    found = {}
    for text in SIZES[f"min-{least}"]:
        size = Quantity.parse(text)
        taken = consumed(size, published, CAPACITY)
        found[text] = {
            "legal": legal(size, written),
            "consumes": None if taken is None else str(taken),
        }
    assert found == SIZES[f"min-{least}"]
    assert all(row["consumes"] == text for text, row in found.items() if row["legal"])


@pytest.mark.parametrize(("size", "most"), [(5, 8), (10, 4), (15, 2), (20, 2), (25, 1), (40, 1)])
def test_the_last_share_and_the_one_after(size: int, most: int) -> None:
    share = Kind(f"{size}Gi", (size,))
    assert fits(DEVICE, [Claims(share, most)]).word == "proven"
    assert fits(DEVICE, [Claims(share, most + 1)]).word == "refuted"
    assert non_blocking(DEVICE, Claims(share, 1), Others.of((share, most - 1))).word == "proven"
    assert non_blocking(DEVICE, Claims(share, 1), Others.of((share, most))).word == "refuted"


def test_with_min_raised_old_shares_stay_and_new_ones_fit_less_often() -> None:
    """A claim of 5Gi under the old policy still takes 5Gi beside claims of the new one."""
    old, new = Kind("5Gi", (5,)), Kind("10Gi", (10,))
    assert fits(DEVICE, [Claims(new, 4)]).word == "proven"
    assert fits(DEVICE, [Claims(old, 1), Claims(new, 3)]).word == "proven"
    assert fits(DEVICE, [Claims(old, 1), Claims(new, 4)]).word == "refuted"
    assert non_blocking(DEVICE, Claims(new, 1), Others.of((old, 6))).word == "proven"
    assert non_blocking(DEVICE, Claims(new, 1), Others.of((old, 7))).word == "refuted"


def inventory() -> Inventory:
    made: dict[str, Any] = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "s"},
        "spec": {
            "driver": "card.example.com",
            "nodeName": "node-a",
            "pool": {"name": "node-a", "generation": 1, "resourceSliceCount": 1},
            "devices": [
                {
                    "name": "card-0",
                    "allowMultipleAllocations": True,
                    "capacity": {"memory": {"value": "40Gi"}},
                }
            ],
        },
    }
    record, _ = parse_record("dump.json", json.dumps(made))
    return load_inventory([record], "1.36")[0]


def share(number: int) -> tuple[Claim, ClaimAllocation]:
    result = DeviceResult(
        "card",
        "card.example.com",
        "node-a",
        "card-0",
        share_id=f"share-{number}",
        consumed_capacity={"memory": STEP},
    )
    return Claim("team", f"c{number}", ClaimSpec(), f"uid-{number}"), ClaimAllocation((result,))


def test_a_share_released_twice_frees_once() -> None:
    state = AllocationState(inventory())
    for number in range(8):
        state = state.with_allocation(*share(number))
    (device,) = state.devices
    assert state.use(device).taken["memory"] == CAPACITY
    claim, _ = share(3)
    (part,) = state.parts(claim)
    once = state.release(part)
    twice = once.state.release(part)
    assert [result.share_id for result in once.freed] == ["share-3"]
    assert twice.freed == ()
    assert twice.state.use(device).taken["memory"] == Quantity.parse("35Gi")
