"""How large a file can get: never less than a file that a driver writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from dracfg.check.metadatasize import largest_file
from dracfg.link.exposure import exposures
from dracfg.pipeline import judge
from tests.unit.metadata.conftest import nic
from tests.unit.metadata.fakedriver import Claim, FakeDriver

GOLDEN = Path(__file__).parents[2] / "golden" / "metadata"


@pytest.mark.parametrize("devices", [1, 2])
def test_a_real_file_is_smaller(devices: int) -> None:
    catalog = judge(GOLDEN, level="intent").catalog
    (one,) = (one for one in exposures(catalog.clusters["beta"]) if one.tier.name == "nic-100g")
    widest = {"network": {"string": "x" * 64}, "mtu": {"int": -(2**63)}, "rdma": {"bool": False}}
    device = {**nic("x" * 63), "pool": "y" * 63, "attributes": widest}
    driver = FakeDriver(Path(), Path(), versions=one.versions)
    written = driver.stream(Claim("c" * 63), "device/link", [device] * devices)
    assert len(written) <= largest_file(catalog, one)


def test_a_tier_that_nobody_asks_for_has_no_file() -> None:
    catalog = judge(GOLDEN, level="intent").catalog
    found = {one.tier.name: one for one in exposures(catalog.clusters["alpha"])}
    assert largest_file(catalog, found["flex-170"]) > 0
