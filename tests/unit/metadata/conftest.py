"""A node with a fake driver, and the schemas of two tiers as dracfg emits them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.metadata.fakedriver import Claim, FakeDriver

EMITTED = Path(__file__).parents[2] / "golden" / "metadata" / "out"
SECRET = "PLANTED-5f724f14-NOT-TO-BE-SHOWN"
"""A value that stands in attributes and may come out nowhere."""


def schemas(tier: str = "nic-100g", cluster: str = "beta") -> list[dict[str, Any]]:
    found = sorted((EMITTED / cluster / "metadata").glob(f"{tier}.*.json"))
    assert found
    return [json.loads(path.read_text(encoding="utf-8")) for path in found]


def nic(name: str = "eth-0", *, ready: bool = True, **attributes: Any) -> dict[str, Any]:
    """A device of the golden tier nic-100g; `model` is on no list."""
    device: dict[str, Any] = {
        "pool": "node-1",
        "name": name,
        "attributes": {
            "network": {"string": "data"},
            "mtu": {"int": 9000},
            "model": {"string": SECRET},
            **attributes,
        },
    }
    if ready:
        device["networkData"] = {
            "interfaceName": "net1",
            "ips": ["10.0.0.7/24"],
            "hardwareAddress": "02:00:00:00:00:01",
        }
    return device


@pytest.fixture
def driver(tmp_path: Path) -> FakeDriver:
    return FakeDriver(tmp_path / "host", tmp_path / "container")


@pytest.fixture
def claim() -> Claim:
    return Claim("trainer-nic-x7k2p")
