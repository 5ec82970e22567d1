"""dracfg's data of feature gates beside the programs that have them, in each built minor."""

from __future__ import annotations

import pytest

from dracfg.kube.features import feature_matrix
from tests.cluster.conftest import MINORS
from tests.cluster.controlplane import ControlPlane, launch_until_ended
from tests.cluster.emitted import COMPONENTS
from tests.cluster.gates import GATES, known, listed, refusal

API_SERVER = "kube-apiserver"
WITHOUT_DEPENDENCIES = ("1.34",)
"""Minors whose components start whatever a gate depends on."""

each_minor = pytest.mark.parametrize("minor", MINORS or ["none"])
each_component = pytest.mark.parametrize("component", COMPONENTS)


@each_minor
@each_component
def test_stages_and_defaults(minor: str, component: str) -> None:
    """Each gate of alpha or beta in the data is listed so, where it has an effect."""
    found = listed(minor, component)
    ours = {
        gate.name: (state.stage, state.default)
        for gate in known(minor)
        if (state := gate.at(minor)).stage in ("alpha", "beta") and component in gate.components
    }
    assert {name: found.get(name) for name in ours} == ours


@each_minor
def test_no_gate_is_missing_from_the_data(minor: str) -> None:
    names = {name for name in listed(minor, API_SERVER) if name.startswith("DRA")}
    assert names <= {gate.name for gate in known(minor)}


@each_minor
def test_absent_gates_stop_the_api_server(minor: str) -> None:
    absent = {name for name, gate in GATES.items() if gate.at(minor).stage == "absent"}
    gone = {name for name, gate in GATES.items() if gate.never_emit}
    for name in sorted({*absent, *gone, *feature_matrix().not_landed}):
        assert "unrecognized feature gate" in refusal(minor, API_SERVER, f"{name}=true"), name


@each_minor
@each_component
def test_unknown_gates_stop_each_component(minor: str, component: str) -> None:
    assert "unrecognized feature gate: NoSuchGate" in refusal(minor, component, "NoSuchGate=true")


@each_minor
def test_locked_gates_stop_the_api_server(minor: str) -> None:
    """The other value of a gate that the data calls locked, and of no other."""
    for gate in known(minor):
        state = gate.at(minor)
        said = refusal(minor, API_SERVER, f"{gate.name}={str(not state.default).lower()}")
        assert ("feature is locked" in said) is bool(state.locked), f"{gate.name}: {said}"
        assert not refusal(minor, API_SERVER, f"{gate.name}={str(state.default).lower()}")


@each_minor
def test_gates_need_their_dependencies(minor: str) -> None:
    for gate in known(minor):
        for needed in gate.requires:
            if gate.settable(minor) and GATES[needed].settable(minor):
                said = refusal(minor, API_SERVER, f"{gate.name}=true,{needed}=false")
                refused = (
                    f"{gate.name} is enabled, but depends on features that are disabled" in said
                )
                assert refused is (minor not in WITHOUT_DEPENDENCIES), (gate.name, needed, said)


@each_component
def test_refused_control_plane_ends(control_plane: ControlPlane, component: str) -> None:
    """Not only the flags: the program itself, started as the running one was, ends."""
    program = launch_until_ended(
        control_plane, {component: ("--feature-gates=NoSuchGate=true",)}, component
    )
    try:
        assert program.wait(60) == 1
        assert "unrecognized feature gate: NoSuchGate" in program.tail()
    finally:
        program.stop()
