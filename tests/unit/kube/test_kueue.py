"""Kueue's gates by version."""

from __future__ import annotations

import pytest

from dracfg.kube.kueue import KueuePurpose, kueue_gate, kueue_gates, kueue_versions


@pytest.mark.parametrize(
    ("purpose", "names"),
    [
        ("claims", ("DynamicResourceAllocation", "KueueDRAIntegration", "KueueDRAIntegration")),
        (
            "extendedResources",
            (
                "DRAExtendedResources",
                "KueueDRAIntegrationExtendedResource",
                "KueueDRAIntegrationExtendedResource",
            ),
        ),
        (
            "counters",
            (
                None,
                "KueueDRAIntegrationPartitionableDevices",
                "KueueDRAIntegrationPartitionableDevices",
            ),
        ),
        ("capacity", (None, None, "KueueDRAIntegrationConsumableCapacity")),
    ],
)
def test_names_change_in_0_18(purpose: KueuePurpose, names: tuple[str | None, ...]) -> None:
    found = (kueue_gate(purpose, version) for version in ("0.17", "0.18", "0.19"))
    assert tuple(gate and gate.name for gate in found) == names


def test_old_names_are_locked_off_for_one_minor_and_then_gone() -> None:
    before, renamed, after = (kueue_gates(version) or {} for version in ("0.17", "0.18", "0.19"))
    for name in ("DynamicResourceAllocation", "DRAExtendedResources"):
        assert (before[name].stage, before[name].locked) == ("alpha", False)
        assert (renamed[name].stage, renamed[name].locked) == ("deprecated", True)
        assert renamed[name].default is False
        assert name not in after


def test_stages_move() -> None:
    stages = {
        version: {name: (gate.stage, gate.default) for name, gate in (found or {}).items()}
        for version in ("0.18", "0.19")
        for found in [kueue_gates(version)]
    }
    name = "KueueDRAIntegrationExtendedResource"
    assert stages["0.18"][name] == ("alpha", False)
    assert stages["0.19"][name] == ("beta", True)
    assert stages["0.18"]["KueueDRAIntegration"] == ("beta", True)


def test_a_patch_release_has_the_gates_of_its_minor() -> None:
    assert kueue_gates("0.17.3") == kueue_gates("0.17")


@pytest.mark.parametrize("version", ["0.13", "0.20", "1.0"])
def test_nothing_is_said_of_other_versions(version: str) -> None:
    assert kueue_gates(version) is None
    assert kueue_gate("claims", version) is None


@pytest.mark.parametrize("version", kueue_versions())
def test_what_a_gate_requires_exists_beside_it(version: str) -> None:
    known = kueue_gates(version) or {}
    assert known
    for gate in known.values():
        assert set(gate.requires) <= known.keys()
