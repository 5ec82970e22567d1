"""Driver presets: the shipped data and its reader."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from dracfg.link import presets
from dracfg.link.presetdata import Answer, ConfigFact, build
from dracfg.link.presets import Preset, load_preset, preset_names, preset_problems

DRIVERS = (
    "compute-domain.nvidia.com",
    "dra.cpu",
    "dra.memory",
    "dra.net",
    "dra.nvme",
    "fpga.intel.com",
    "gaudi.intel.com",
    "gpu.amd.com",
    "gpu.example.com",
    "gpu.intel.com",
    "gpu.nvidia.com",
    "hami-core-gpu.project-hami.io",
    "npu.rebellions.ai",
    "ovsdpdk.k8snetworkplumbingwg.io",
    "qat.intel.com",
    "spyre.ibm.com",
    "sriovnetwork.k8snetworkplumbingwg.io",
    "tpu.google.com",
)
FOLDER = resources.files("dracfg.link") / "presets"
NVIDIA = "resource.nvidia.com/v1beta1"


def raw(driver: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((FOLDER / f"{driver}.yaml").read_text())
    return content


def errors(config: ConfigFact | None, parameters: Mapping[str, Any]) -> list[str]:
    assert config is not None
    validator = jsonschema.Draft7Validator(config.schema)
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(parameters)]


def gpu_config(**sharing: Any) -> dict[str, Any]:
    return {"apiVersion": NVIDIA, "kind": "GpuConfig", "sharing": sharing}


# The shipped files


def test_every_driver_has_a_preset() -> None:
    assert preset_names() == DRIVERS


@pytest.mark.parametrize("driver", DRIVERS)
def test_file_is_sound(driver: str) -> None:
    assert list(preset_problems(raw(driver))) == []
    assert load_preset(driver).driver == driver


@pytest.mark.parametrize("driver", DRIVERS)
def test_no_key_is_written_twice(driver: str) -> None:
    pending: list[Any] = [yaml.compose((FOLDER / f"{driver}.yaml").read_text())]
    while pending:
        node = pending.pop()
        if isinstance(node, yaml.MappingNode):
            keys = [key.value for key, _ in node.value]
            assert sorted(set(keys)) == sorted(keys), node.start_mark
            pending.extend(value for _, value in node.value)
        elif isinstance(node, yaml.SequenceNode):
            pending.extend(node.value)


@pytest.mark.parametrize("driver", DRIVERS)
def test_schemas_of_parameters_are_draft_07_and_closed(driver: str) -> None:
    for config in load_preset(driver).configs:
        jsonschema.Draft7Validator.check_schema(config.schema)
        named = {"apiVersion": config.api_version, "kind": config.kind}
        given = {key: value for key, value in named.items() if value is not None}
        assert any("surprise" in text for text in errors(config, {**given, "surprise": 1}))


@pytest.mark.parametrize("driver", DRIVERS)
def test_exclusions_are_mutual(driver: str) -> None:
    gates = load_preset(driver).driver_gates
    for gate in gates.values():
        for other in gate.excludes:
            assert gate.name in gates[other].excludes


@pytest.mark.parametrize("driver", DRIVERS)
def test_an_answer_names_its_source(driver: str) -> None:
    for name, fact in load_preset(driver).facts.items():
        assert fact.answer == "unknown" or fact.source, name


FACTS = {
    "restoresSharesAfterRestart",
    "survivesReboot",
    "refusesDoublePrepare",
    "resetsAtUnprepare",
    "writesStatusDevices",
    "resizesShareInPlace",
    "sharesOneAllocation",
}
IDENTITY = re.compile(
    r"uuid|serial|.*index|minor|mac|sid|(?!.*(root|vendor|device|link)).*pci.*(addr|bus).*|parent.*",
    re.IGNORECASE,
)


@pytest.mark.parametrize("driver", DRIVERS)
def test_every_fact_is_answered(driver: str) -> None:
    preset = load_preset(driver)
    assert set(preset.facts) == (set() if preset.plugin_only else FACTS)
    assert {fact.answer for fact in preset.facts.values()} <= {"yes", "no", "unknown"}


@pytest.mark.parametrize("driver", DRIVERS)
def test_what_tells_one_device_from_another_is_marked(driver: str) -> None:
    for fact in load_preset(driver).attributes.values():
        name = fact.name.rpartition("/")[2]
        assert fact.identity or not IDENTITY.fullmatch(name), fact.name


@pytest.mark.parametrize("driver", DRIVERS)
def test_what_devices_have_in_common_is_not_marked(driver: str) -> None:
    common = {"productName", "model", "driverVersion", "type", "vendor", "numaNode", "pcieRoot"}
    for fact in load_preset(driver).attributes.values():
        assert not (fact.identity and fact.name.rpartition("/")[2] in common), fact.name


@pytest.mark.parametrize(
    ("driver", "takes"),
    [
        ("gpu.nvidia.com", "last"),
        ("gpu.example.com", "last"),
        ("dra.net", "first"),
        ("dra.cpu", "one"),
        ("sriovnetwork.k8snetworkplumbingwg.io", "merged"),
    ],
)
def test_which_of_several_configs_counts(driver: str, takes: str) -> None:
    fact = load_preset(driver).config_precedence
    assert fact is not None
    assert fact.takes == takes
    assert fact.source


@pytest.mark.parametrize("driver", DRIVERS)
def test_lookups_are_fields_of_the_parameters(driver: str) -> None:
    for config in load_preset(driver).configs:
        for pair in config.lookups.items():
            assert set(pair) <= config.schema["properties"].keys()


def test_bad_versions_match_their_examples() -> None:
    for driver in DRIVERS:
        for bad in load_preset(driver).bad_versions:
            assert bad.example is None or re.search(bad.pattern, bad.example)
            assert not re.search(bad.pattern, "580.126.9")


# Releases


def test_releases_follow_publication_not_numbers() -> None:
    nvidia = load_preset("gpu.nvidia.com")
    calendar, semantic = nvidia.release_index("25.12.0"), nvidia.release_index("0.4.0")
    assert calendar is not None
    assert semantic == calendar + 1
    assert nvidia.release_index("v0.5.0") == nvidia.release_index("0.5.0")
    assert nvidia.release_index("24.1.0") is None


def test_index_and_minor_leave_in_25_8() -> None:
    nvidia = load_preset("gpu.nvidia.com")
    assert {"index", "minor"} <= set(nvidia.attributes_at("25.3.2"))
    assert not {"index", "minor"} & set(nvidia.attributes_at("25.8.0"))
    assert nvidia.dropped_at("25.3.2") == {}
    assert nvidia.dropped_at("25.8.0")["index"] == "25.8.0"
    assert nvidia.dropped_at("0.5.0")["pcieBusID"] == "25.12.0"


@pytest.mark.parametrize("version", [None, "9.9.9"])
def test_unknown_version_has_all_that_was_never_dropped(version: str | None) -> None:
    known = load_preset("gpu.nvidia.com").attributes_at(version)
    assert "index" not in known
    assert "partition<N>" in known
    assert load_preset("gpu.nvidia.com").dropped_at(version or "9.9.9") == {}


@pytest.mark.parametrize(
    ("driver", "key", "absent", "present"),
    [
        ("gpu.nvidia.com", "resource.kubernetes.io/numaNode", "0.4.1", "0.5.0"),
        ("gpu.nvidia.com", "resource.kubernetes.io/pciBusID", "25.8.1", "25.12.0"),
        ("gpu.intel.com", "resource.kubernetes.io/pcieRoot", "0.9.1", "0.10.0"),
        ("gpu.amd.com", "resource.kubernetes.io/pciBusID", "0.1.0", "1.0.0"),
        ("dra.net", "rdmaDevice", "1.0.1", "1.1.0"),
        ("dra.cpu", "resource.kubernetes.io/pcieRoot", "0.1.0", "0.2.0"),
    ],
)
def test_since(driver: str, key: str, absent: str, present: str) -> None:
    preset = load_preset(driver)
    assert preset.attribute(key, absent) is None
    assert preset.attribute(key, present) is not None


def test_what_is_on_the_main_branch_is_in_no_release() -> None:
    dranet = load_preset("dra.net")
    key = "resource.kubernetes.io/numaNode"
    assert all(dranet.attribute(key, release) is None for release in dranet.releases)
    assert dranet.attribute(key) is not None


def test_gates_by_release() -> None:
    nvidia = load_preset("gpu.nvidia.com")
    assert nvidia.gates_at("25.3.0") == {}
    assert "ConsumableShares" not in nvidia.gates_at("0.4.1")
    assert nvidia.gates_at("0.5.0")["ConsumableShares"] == "alpha"
    assert nvidia.driver_gates["DeviceMetadata"].requires == ("PassthroughSupport",)


# Keys


@pytest.mark.parametrize(
    ("driver", "key", "spelled"),
    [
        ("gpu.nvidia.com", "memory", "memory"),
        ("gpu.nvidia.com", "gpu.nvidia.com/memory", "memory"),
        ("gpu.nvidia.com", "gpu.nvidia.com/memorySlice3", "memorySlice3"),
        ("gpu.nvidia.com", "partition4", "partition4"),
        ("gpu.nvidia.com", "memorySlice", None),
        ("gpu.nvidia.com", "other.example.com/memory", None),
        ("gpu.nvidia.com", "resource.kubernetes.io/pcieRoot", "resource.kubernetes.io/pcieRoot"),
        ("gpu.nvidia.com", "pcieRoot", None),
        ("dra.cpu", "cpu", "dra.cpu/cpu"),
        ("dra.cpu", "dra.cpu/cpu", "dra.cpu/cpu"),
        ("dra.net", "ifName", "dra.net/ifName"),
        ("dra.cpu", "dra.net/numaNode", "dra.net/numaNode"),
        ("gpu.example.com", "cpu", "gpu.example.com/cpu"),
    ],
)
def test_spelled(driver: str, key: str, spelled: str | None) -> None:
    assert load_preset(driver).spelled(key) == spelled


def test_memory_is_a_capacity_not_an_attribute() -> None:
    nvidia = load_preset("gpu.nvidia.com")
    assert nvidia.attribute("memory") is None
    assert nvidia.capacity_fact("gpu.nvidia.com/memory") is not None


# Sharing


def test_hami_shares_are_enforced_and_always_on() -> None:
    hami = load_preset("hami-core-gpu.project-hami.io")
    assert hami.shareable.when == "always"
    cores, memory = hami.capacity["cores"], hami.capacity["memory"]
    assert (cores.unit, cores.enforces) == ("percent", "driver")
    assert (memory.unit, memory.enforces) == ("bytes", "driver")
    policy = cores.request_policy
    assert policy is not None
    assert (policy.default, policy.min, policy.max, policy.step) == ("100", "0", "100", "1")
    policy = memory.request_policy
    assert policy is not None
    assert (policy.default, policy.min, policy.max) == ("capacity", "1Mi", "capacity")


@pytest.mark.parametrize(
    ("shares", "default", "least"),
    [("unlimited", "0", "0"), ("memory", "capacity", "1Mi"), (8, "0", "0")],
)
def test_nvidia_memory_policy_follows_the_chart(
    shares: str | int, default: str, least: str
) -> None:
    memory = load_preset("gpu.nvidia.com").capacity["memory"]
    assert memory.enforces == "none"
    assert memory.request_policy is None
    policy = memory.policy_for({"consumableShares": shares})
    assert policy is not None
    assert (policy.default, policy.min) == (default, least)
    assert memory.policy_for({}) is None


def test_shares_are_counted_only_with_an_integer() -> None:
    nvidia = load_preset("gpu.nvidia.com")
    assert "shares" not in nvidia.capacities_at("0.4.1")
    shares = nvidia.capacities_at("0.5.0")["shares"]
    assert shares.policy_for({"consumableShares": "unlimited"}) is None
    assert shares.policy_for({"consumableShares": 4}) is not None


def test_policy_by_device_type() -> None:
    size = load_preset("dra.memory").capacity["size"]
    huge = size.policy_for({}, "hugepages-1g")
    assert huge is not None
    assert huge.step == "1Gi"
    assert size.policy_for({}) is None


# Opaque parameters


ACCEPTED = [
    ("gpu.nvidia.com", gpu_config(strategy="TimeSlicing", timeSlicingConfig={"interval": "Long"})),
    ("gpu.nvidia.com", gpu_config(strategy="TimeSlicing")),
    (
        "gpu.nvidia.com",
        gpu_config(
            strategy="MPS",
            mpsConfig={
                "defaultActiveThreadPercentage": 50,
                "defaultPinnedDeviceMemoryLimit": "10Gi",
                "defaultPerDevicePinnedMemoryLimit": {"0": "5Gi"},
            },
        ),
    ),
    ("gpu.nvidia.com", {"apiVersion": NVIDIA, "kind": "MigDeviceConfig"}),
    (
        "gpu.nvidia.com",
        {
            "apiVersion": NVIDIA,
            "kind": "VfioDeviceConfig",
            "iommu": {"backendPolicy": "PreferIommuFD", "enableAPIDevice": True},
        },
    ),
    (
        "compute-domain.nvidia.com",
        {"apiVersion": NVIDIA, "kind": "ComputeDomainChannelConfig", "domainID": "a"},
    ),
    (
        "sriovnetwork.k8snetworkplumbingwg.io",
        {
            "apiVersion": "sriovnetwork.k8snetworkplumbingwg.io/v1alpha1",
            "kind": "VfConfig",
            "netAttachDefName": "vf-test1",
        },
    ),
    ("dra.cpu", {"apiVersion": "v1alpha1", "cpuConfig": {"cpuset": "0-3,8"}}),
    ("dra.net", {"interface": {"name": "net1", "mtu": 9000}, "routes": [{"destination": "::/0"}]}),
    ("dra.nvme", {"apiVersion": "nvme.dra.io/v1alpha1", "kind": "NvmeConfig", "mode": "vfio"}),
    (
        "ovsdpdk.k8snetworkplumbingwg.io",
        {
            "apiVersion": "ovsdpdk.k8snetworkplumbingwg.io/v1alpha1",
            "kind": "OvsPortConfig",
            "vlan": 4095,
            "policing": {"max_rate": 0},
        },
    ),
    ("gpu.amd.com", {"apiVersion": "gpu.resource.amd.com/v1alpha1", "kind": "GpuConfig"}),
]

REFUSED = [
    (
        "gpu.nvidia.com",
        gpu_config(strategy="TimeSlicing", timeSlicingConfig={"interval": "long"}),
        "$.sharing.timeSlicingConfig.interval",
    ),
    ("gpu.nvidia.com", gpu_config(strategy="TimeSlicing", mpsConfig={}), "$.sharing.mpsConfig"),
    (
        "gpu.nvidia.com",
        gpu_config(strategy="MPS", timeSlicingConfig={"interval": "Long"}),
        "$.sharing.timeSlicingConfig",
    ),
    (
        "gpu.nvidia.com",
        gpu_config(strategy="MPS", mpsConfig={"defaultActiveThreadPercentage": 101}),
        "$.sharing.mpsConfig.defaultActiveThreadPercentage",
    ),
    (
        "gpu.nvidia.com",
        gpu_config(
            strategy="MPS", mpsConfig={"defaultPerDevicePinnedMemoryLimit": {"gpu-a": "1Gi"}}
        ),
        "$.sharing.mpsConfig.defaultPerDevicePinnedMemoryLimit",
    ),
    ("gpu.nvidia.com", gpu_config(strategy="Mps"), "$.sharing.strategy"),
    (
        "gpu.nvidia.com",
        {
            "apiVersion": NVIDIA,
            "kind": "MigDeviceConfig",
            "sharing": {"strategy": "TimeSlicing"},
        },
        "$.sharing.strategy",
    ),
    ("dra.cpu", {"apiVersion": "v1alpha1", "cpuConfig": {"cpuset": "a-b"}}, "$.cpuConfig.cpuset"),
    ("dra.net", {"interface": {"mtu": 10}}, "$.interface.mtu"),
    (
        "dra.net",
        {"interface": {"dhcp": True, "addresses": ["10.0.0.1/24"]}},
        "$.interface.addresses",
    ),
    ("dra.net", {"interface": {"vrf": {"name": "v"}}, "rules": [{"priority": 1}]}, "$.rules"),
    (
        "dra.nvme",
        {"apiVersion": "nvme.dra.io/v1alpha1", "kind": "NvmeConfig", "mode": "file"},
        "$.mode",
    ),
    (
        "ovsdpdk.k8snetworkplumbingwg.io",
        {
            "apiVersion": "ovsdpdk.k8snetworkplumbingwg.io/v1alpha1",
            "kind": "OvsPortConfig",
            "vlan": 4096,
        },
        "$.vlan",
    ),
]


@pytest.mark.parametrize(("driver", "parameters"), ACCEPTED)
def test_parameters_accepted(driver: str, parameters: dict[str, Any]) -> None:
    config = load_preset(driver).config(parameters.get("apiVersion"), parameters.get("kind"))
    assert errors(config, parameters) == []


@pytest.mark.parametrize(("driver", "parameters", "place"), REFUSED)
def test_parameters_refused(driver: str, parameters: dict[str, Any], place: str) -> None:
    config = load_preset(driver).config(parameters.get("apiVersion"), parameters.get("kind"))
    found = errors(config, parameters)
    assert found
    assert all(error.startswith(f"{place}:") for error in found)


def test_parameters_of_another_version_are_unknown() -> None:
    nvidia = load_preset("gpu.nvidia.com")
    assert nvidia.config("resource.nvidia.com/v1alpha1", "GpuConfig") is None
    assert nvidia.config(None, None) is None


@pytest.mark.parametrize(
    ("sharing", "gates"),
    [
        ({"strategy": "MPS"}, ("MPSSupport",)),
        ({"strategy": "TimeSlicing"}, ("TimeSlicingSettings",)),
        ({}, ()),
    ],
)
def test_parameters_need_driver_gates(sharing: dict[str, str], gates: tuple[str, ...]) -> None:
    nvidia = load_preset("gpu.nvidia.com")
    config = nvidia.config(NVIDIA, "GpuConfig")
    assert config is not None
    assert config.gates_for(gpu_config(**sharing)) == gates
    vfio = nvidia.config(NVIDIA, "VfioDeviceConfig")
    assert vfio is not None
    assert vfio.gates_for({}) == ("PassthroughSupport",)


# Migration


def test_cpu_parameters_are_for_claims_only() -> None:
    config = load_preset("dra.cpu").config("v1alpha1", None)
    assert config is not None
    assert config.allowed_in == ("claim",)


def test_sriov_has_one_switch_for_the_cluster() -> None:
    assert load_preset("sriovnetwork.k8snetworkplumbingwg.io").device_plugin.cluster_wide_switch
    assert not load_preset("gpu.nvidia.com").device_plugin.cluster_wide_switch


def test_gpu_operator_is_exclusive_by_cluster() -> None:
    installers = {
        installer.name: installer for installer in load_preset("gpu.nvidia.com").installers
    }
    exclusive = installers["GPU Operator"].exclusive
    assert exclusive is not None
    assert (exclusive.scope, exclusive.device_plugin, exclusive.dra) == (
        "cluster",
        "ClusterPolicy",
        "GPUCluster",
    )


def test_owner_of_the_amd_class_can_be_switched() -> None:
    (cls,) = load_preset("gpu.amd.com").classes
    assert cls.create_switch is not None
    assert (cls.create_switch.value_path, cls.create_switch.disable) == (
        "deviceClass.create",
        False,
    )


def test_nvidia_class_takes_the_legacy_name() -> None:
    classes = {cls.name: cls for cls in load_preset("gpu.nvidia.com").classes}
    name = classes["gpu.nvidia.com"].extended_resource_name
    assert name is not None
    assert (name.name, name.when, name.default) == ("nvidia.com/gpu", "v1", "set")
    assert classes["mig.nvidia.com"].extended_resource_name is None


def test_fpga_has_only_a_plugin() -> None:
    fpga = load_preset("fpga.intel.com")
    assert fpga.plugin_only
    assert fpga.device_plugin.patterns == ("fpga.intel.com/*",)
    assert not load_preset("gpu.nvidia.com").plugin_only


# The reader


def test_a_bare_word_is_an_answer() -> None:
    facts = load_preset("gpu.nvidia.com").facts
    assert facts["resizesShareInPlace"] == Answer("unknown")
    assert facts["refusesDoublePrepare"].answer == "yes"


@pytest.mark.parametrize("name", ["gpu.nvidia.co", "schema", "../presets/gpu.nvidia.com", ""])
def test_no_preset(name: str) -> None:
    with pytest.raises(KeyError):
        load_preset(name)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"colour": "green"}, "colour"),
        ({"releases": ["1.0.0", "1.0.0"]}, "non-unique"),
        ({"attributes": {"model": {"type": "string", "since": "3.0.0"}}}, "3.0.0 is not listed"),
        ({"webhook": {"ships": "yes", "since": "3.0.0"}}, "$.webhook.since: release 3.0.0"),
        ({"attributes": {"model": {"type": "string", "gate": "Nope"}}}, "Nope is not described"),
        ({"attributes": {"model": {"type": "string", "deviceTypes": ["x"]}}}, "x is not described"),
        ({"attributes": {"model": {"type": "text"}}}, "'text' is not one of"),
        ({"facts": {"survivesReboot": True}}, "survivesReboot"),
    ],
)
def test_problems_are_named(change: dict[str, Any], problem: str) -> None:
    assert any(problem in text for text in preset_problems(raw("dra.nvme") | change))


def test_unknown_key_has_no_field() -> None:
    with pytest.raises(TypeError):
        build(Preset, {"driver": "a", "title": "b", "device": "gpu", "colour": "green"})


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """One preset, ``nic.example.org``, registered as an entry point by another package."""
    file = tmp_path / "nic.yaml"
    entry = importlib.metadata.EntryPoint(
        "nic.example.org", "example:preset", presets.ENTRY_POINT_GROUP
    )
    monkeypatch.setattr(importlib.metadata.EntryPoint, "load", lambda _self: lambda: file)

    def entry_points(**wanted: Any) -> importlib.metadata.EntryPoints:
        return importlib.metadata.EntryPoints((entry,)).select(**wanted)

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    load_preset.cache_clear()
    return file


def test_registered_preset(registered: Path) -> None:
    registered.write_text(yaml.safe_dump(raw("dra.nvme") | {"driver": "nic.example.org"}))
    assert "nic.example.org" in preset_names()
    assert load_preset("nic.example.org").device == "nvme"
    assert load_preset("dra.nvme").driver == "dra.nvme"


@pytest.mark.parametrize(
    ("change", "problem"),
    [({"driver": "other.example.org"}, "is registered as"), ({"colour": 1}, "colour")],
)
def test_registered_preset_that_is_wrong(
    registered: Path, change: dict[str, Any], problem: str
) -> None:
    content = raw("dra.nvme") | {"driver": "nic.example.org"} | change
    registered.write_text(yaml.safe_dump(content))
    with pytest.raises(ValueError, match=problem):
        load_preset("nic.example.org")
