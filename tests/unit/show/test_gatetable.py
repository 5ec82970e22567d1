"""Tables of gates: which gates stand in them, where each is written, and why."""

from collections.abc import Callable
from typing import Any

import pytest

from dracfg.pipeline import Judgement
from dracfg.show.linked import aspect_document
from dracfg.show.subjects import Named, UnknownSubject

Repository = Callable[..., Judgement]


def table(judged: Judgement) -> dict[str, Any]:
    return aspect_document(judged.catalog, judged.units, Named("cluster", "east"), "gates")


def rows(judged: Judgement) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in table(judged)["gates"]}


def test_written_gate(judged: Judgement) -> None:
    found = table(judged)
    assert (found["kind"], found["cluster"], found["minor"]) == ("GateTable", "east", "1.34")
    row = rows(judged)["DRAConsumableCapacity"]
    assert row["components"] == ["kube-apiserver", "kube-scheduler", "kubelet"]
    assert (row["stage"], row["default"], row["wanted"]) == ("alpha", False, True)
    assert row["allowAlpha"] == "reviewed"
    assert "notWritten" not in row
    places = [(r["source"], r["object"], r["pointer"], r["uses"]) for r in row["reasons"]]
    assert places == [
        ("object", "east/DeviceClass/l40s-slices-10gi", "/spec/selectors/0/cel/expression", 2),
        (
            "object",
            "east/ResourceClaimTemplate/lab/try",
            "/spec/spec/devices/requests/0/exactly/capacity/requests",
            6,
        ),
        ("pool", "NodePool/notebooks", "/spec/devices/0", 1),
    ]


def test_dependencies_say_what_needs_them(judged: Judgement) -> None:
    row = rows(judged)["DynamicResourceAllocation"]
    assert (row["notWritten"], row["components"]) == ("default", [])
    assert {
        "source": "requires",
        "reason": "DRAConsumableCapacity does not start without it",
    } in row["reasons"]


def test_gate_that_the_cluster_turns_off(repository: Repository) -> None:
    """What depends on it goes off with it, and nothing that is off is called alpha."""
    judged = repository(
        ('"1.34"', '"1.36"'),
        ("  allowAlpha:", "  featureGates: {ResourceHealthStatus: false}\n  allowAlpha:"),
    )
    off, follower = (rows(judged)[f"ResourceHealthStatus{end}"] for end in ("", "Message"))
    assert (off["wanted"], off["components"]) == (False, ["kube-apiserver", "kubelet"])
    assert off["reasons"] == [
        {
            "source": "featureGates",
            "reason": "Cluster.featureGates sets false",
            "object": "Cluster/east",
            "pointer": "/spec/featureGates/ResourceHealthStatus",
            "uses": 1,
        }
    ]
    assert (follower["wanted"], follower["components"]) == (False, ["kube-apiserver", "kubelet"])
    assert follower["reasons"] == [
        {"source": "off", "reason": "does not start without ResourceHealthStatus, which is off"}
    ]


@pytest.mark.parametrize(
    ("minor", "gates", "name", "why"),
    [
        ("1.35", "DynamicResourceAllocation: true", "DynamicResourceAllocation", "locked"),
        ("1.34", "DRADerivedAttributes: true", "DRADerivedAttributes", "absent"),
        ("1.34", "NoSuchGate: true", "NoSuchGate", "absent"),
        ("1.36", "DRADeviceTaints: true", "DRADeviceTaints", "default"),
    ],
)
def test_not_written(repository: Repository, minor: str, gates: str, name: str, why: str) -> None:
    judged = repository(
        ('"1.34"', f'"{minor}"'), ("  allowAlpha:", f"  featureGates: {{{gates}}}\n  allowAlpha:")
    )
    row = rows(judged)[name]
    assert (row["components"], row["notWritten"]) == ([], why)


def test_alpha_that_nobody_allows(repository: Repository) -> None:
    judged = repository(("  allowAlpha: {DRAConsumableCapacity: reviewed}\n", ""))
    assert rows(judged)["DRAConsumableCapacity"]["allowAlpha"] is None
    off = repository(
        ("  allowAlpha:", "  featureGates: {DRAExtendedResource: false}\n  allowAlpha:")
    )
    assert "allowAlpha" not in rows(off)["DRAExtendedResource"]


def test_managed_control_planes_are_written_to_by_nobody(repository: Repository) -> None:
    judged = repository(
        ("distribution: kubeadm", "distribution: eks"),
        ("  allowAlpha:", "  featureGates: {DRAConsumableCapacity: true}\n  allowAlpha:"),
    )
    row = rows(judged)["DRAConsumableCapacity"]
    assert (row["components"], row["notWritten"]) == ([], "managed")
    assert row["reasons"][-1]["reason"] == "Cluster.featureGates states true"


def test_runtime_config(repository: Repository) -> None:
    """1.36 reads DeviceTaintRules through v1beta2, whether or not there are any."""
    gates = ("  allowAlpha:", "  featureGates: {DRADeviceTaintRules: true}\n  allowAlpha:")
    bare = table(repository(('"1.34"', '"1.36"'), gates))["runtimeConfig"]
    watched = {
        "source": "gate",
        "reason": "components watch it while DRADeviceTaintRules is on",
    }
    version = "resource.k8s.io/v1beta2"
    assert bare == [
        {"groupVersion": version, "components": ["kube-apiserver"], "reasons": [watched]}
    ]
    entry = (
        "{node: notebooks-4, reason",
        "{driver: gpu.example.org, pool: notebooks-4, reason",
    )
    (used,) = table(repository(('"1.34"', '"1.36"'), gates, entry))["runtimeConfig"]
    assert used["reasons"][0]["object"].startswith("east/DeviceTaintRule/dracfg-notebooks-")
    assert used["reasons"][1:] == [watched]


def test_runtime_config_before_the_gate_had_a_name(repository: Repository) -> None:
    """In 1.34 DRADeviceTaints makes components watch DeviceTaintRules as well."""
    gates = ("  allowAlpha:", "  featureGates: {DRADeviceTaints: true}\n  allowAlpha:")
    (found,) = table(repository(gates))["runtimeConfig"]
    assert found["groupVersion"] == "resource.k8s.io/v1alpha3"
    assert found["reasons"] == [
        {"source": "gate", "reason": "components watch it while DRADeviceTaints is on"}
    ]


@pytest.mark.parametrize(
    ("named", "aspect"), [(Named("cluster", "east"), "gate"), (Named("tenant", "lab"), "gates")]
)
def test_other_aspects(judged: Judgement, named: Named, aspect: str) -> None:
    with pytest.raises(UnknownSubject):
        aspect_document(judged.catalog, judged.units, named, aspect)
