"""Gates, API versions and releases that a cluster must have for its objects."""

import pytest

from dracfg.check.gateview import consequence, first_minor_on
from dracfg.check.versions import check_releases, check_versions
from dracfg.kube.gates import GateUse

MINOR = 'kubernetes: "1.36"'
GATE = "DRAConsumableCapacity"


def cluster(minor="1.36", distribution="kubeadm", **more):
    """An edit that gives the cluster a minor, a distribution and further keys (as YAML text)."""
    lines = [f'kubernetes: "{minor}"', f"distribution: {distribution}"]
    lines += [f"{key}: {text}" for key, text in more.items()]
    return f"  {MINOR}\n  distribution: kubeadm\n", "".join(f"  {line}\n" for line in lines)


def findings(repository):
    catalog = repository.catalog
    of_clusters = check_versions(catalog, repository.units, repository.plans)
    return (*of_clusters, *check_releases(catalog))


def codes(repository):
    return [finding.code for finding in findings(repository)]


def test_a_sound_repository_has_no_findings(build):
    assert codes(build()) == []


@pytest.mark.parametrize("distribution", ["eks", "gke", "aks", "openshift"])
def test_a_managed_control_plane_without_the_gate(build, only, distribution):
    repository = build(cluster("1.34", distribution))
    found = only(findings(repository), "VER001")
    assert codes(repository) == ["VER001"]
    assert f"can't be set on {distribution}; it is on by default from 1.36" in found.message
    assert "the API server would drop capacity.requests" in found.message
    assert repository.text(found.span) == '"1.34"'
    assert "infer" in [repository.text(related.span) for related in found.related]


def test_a_managed_control_plane_that_is_known_to_have_it(build):
    stated = cluster(
        "1.34", "eks", featureGates=f"{{{GATE}: true}}", allowAlpha=f"{{{GATE}: tried}}"
    )
    assert codes(build(stated)) == []
    assert codes(build(cluster("1.36", "eks"))) == []


@pytest.mark.parametrize("distribution", ["kubeadm", "k3s", "kind", "generic"])
def test_an_alpha_gate_needs_a_reason(build, only, distribution):
    repository = build(cluster("1.34", distribution))
    found = only(findings(repository), "VER002")
    assert codes(repository) == ["VER002"]
    assert f"{GATE} is alpha in Kubernetes 1.34" in found.message
    assert "the claim would ask for a whole device" in found.message
    assert repository.text(found.span) == '"1.34"'
    assert codes(build(cluster("1.34", distribution, allowAlpha=f"{{{GATE}: tried}}"))) == []


def test_an_alpha_gate_is_shown_at_the_reasons_of_others(build, only):
    repository = build(cluster("1.34", allowAlpha="{DRADeviceTaints: tried}"))
    found = only(findings(repository), "VER002")
    assert repository.text(found.span) == "allowAlpha"


def test_a_stated_fact_needs_a_reason_as_well(build):
    assert codes(build(cluster("1.34", "eks", featureGates=f"{{{GATE}: true}}"))) == ["VER002"]


def test_an_alpha_gate_that_only_the_document_wants(build, only):
    repository = build(cluster("1.36", featureGates="{DRAListTypeAttributes: true}"))
    found = only(findings(repository), "VER002")
    assert "featureGates turns it on" in found.message


def test_a_needed_gate_may_not_be_off(build, only):
    repository = build(cluster(featureGates=f"{{{GATE}: false}}"))
    found = only(findings(repository), "VER003")
    assert codes(repository) == ["VER003"]
    assert repository.text(found.span) == "false"
    assert "the API server would drop capacity.requests" in found.message


def test_a_gate_on_which_a_needed_one_depends_may_not_be_off(build):
    off = cluster(
        "1.34",
        featureGates="{DynamicResourceAllocation: false}",
        allowAlpha=f"{{{GATE}: tried}}",
    )
    assert codes(build(off)) == ["VER003"]


def test_a_needed_dependency_that_is_off_is_one_finding(build):
    off = cluster(
        "1.34",
        featureGates=f"{{{GATE}: true, DynamicResourceAllocation: false}}",
        allowAlpha=f"{{{GATE}: tried}}",
    )
    assert codes(build(off)) == ["VER003"]


def test_a_gate_that_nothing_needs_may_be_off(build):
    assert codes(build(cluster(featureGates="{DRAPartitionableDevices: false}"))) == []


@pytest.mark.parametrize("field", ["featureGates", "allowAlpha"])
@pytest.mark.parametrize(
    ("name", "words", "fix"),
    [
        ("DRAConsumableCapacities", "has no feature gate", None),
        ("DRAConsumableCapacty", "has no feature gate", "DRAConsumableCapacity"),
        ("DRAOptionalNodePreparation", "the real gate is DRAOptionalNodeOperations", None),
        ("DRADerivedAttributes", "it exists in 1.37", None),
    ],
)
def test_gates_that_the_minor_does_not_know(build, only, field, name, words, fix):
    value = "true" if field == "featureGates" else "tried"
    repository = build(cluster(**{field: f"{{{name}: {value}}}"}))
    found = only(findings(repository), "VER004")
    assert words in found.message
    assert repository.text(found.span) == name
    if fix:
        assert found.fix == fix


@pytest.mark.parametrize(("least", "expected"), [("1.35", ["VER005"]), ("1.34", [])])
def test_a_driver_that_needs_a_newer_kubernetes(build, least, expected):
    repository = build(cluster("1.34", allowAlpha=f"{{{GATE}: tried}}"))
    driver = repository.catalog.drivers["gpu.nvidia.com"]
    preset = driver.preset
    object.__setattr__(driver, "preset", _needing(preset, least))
    found = findings(repository)
    assert [f.code for f in found] == expected
    assert all("gpu.nvidia.com needs Kubernetes 1.35 or later" in f.message for f in found)


def _needing(preset, least):
    from dataclasses import replace

    return replace(preset, kubernetes=replace(preset.kubernetes, min=least))


@pytest.mark.parametrize(
    ("minor", "gates", "expected"),
    [
        ("1.36", "{DRAAdminAccess: false}", ["VER006"]),
        ("1.36", "{DRAAdminAccess: true}", []),
        ("1.35", "{DRAAdminAccess: false}", []),
        ("1.36", "{ValidatingAdmissionPolicy: true}", ["VER006"]),
        ("1.36", "{DynamicResourceAllocation: false}", ["VER006"]),
    ],
)
def test_values_that_no_component_starts_with(build, minor, gates, expected):
    repository = build(cluster(minor, featureGates=gates, allowAlpha=f"{{{GATE}: tried}}"))
    found = [f for f in findings(repository) if f.code not in ("VER007", "VER009")]
    assert [f.code for f in found] == expected
    assert all(repository.text(f.span) in ("true", "false") for f in found)


@pytest.mark.parametrize(
    ("minor", "gate", "words"),
    [
        ("1.36", GATE, "is beta in Kubernetes 1.36"),
        ("1.37", "DRADeviceTaints", "is stable in Kubernetes 1.37"),
        ("1.36", "DRAListTypeAttributes", "nothing on east uses"),
    ],
)
def test_allowances_without_use(build, only, minor, gate, words):
    repository = build(cluster(minor, allowAlpha=f"{{{gate}: tried}}"))
    found = only(findings(repository), "VER007")
    assert words in found.message
    assert found.severity == "warning"
    assert repository.text(found.span) == gate


@pytest.mark.parametrize(
    ("version", "expected"),
    [("0.5.0", []), ("v0.5.0", []), ("0.5.1", ["VER008"]), ("25.12.0", []), ("0.6.0", ["VER008"])],
)
def test_releases_that_the_preset_does_not_list(build, version, expected):
    repository = build(("version: 0.5.0", f"version: {version}"))
    found = findings(repository)
    assert [f.code for f in found] == expected
    assert all(f.severity == "unknown" for f in found)
    assert all(repository.text(f.span) == version for f in found)


def test_a_gate_on_and_its_dependency_off(build, only):
    gates = "{DRADeviceBindingConditions: true, DRAResourceClaimDeviceStatus: false}"
    repository = build(cluster(featureGates=gates))
    found = only(findings(repository), "VER009")
    assert repository.text(found.span) == "false"
    assert repository.text(found.related[0].span) == "true"
    both = gates.replace("Conditions: true", "Conditions: false")
    assert codes(build(cluster(featureGates=both))) == []


QUARANTINE = (
    "  owner: {gpu.nvidia.com: dra}",
    (
        "  owner: {gpu.nvidia.com: dra}\n  quarantine:\n"
        "    - {driver: gpu.nvidia.com, pool: n1, device: gpu-0, reason: broken, since: 2026-11-01}"
    ),
)


def test_an_api_version_that_nobody_can_turn_on(build, only):
    gates = "{DRADeviceTaints: true, DRADeviceTaintRules: true}"
    repository = build(cluster("1.36", "eks", featureGates=gates), QUARANTINE)
    found = only(findings(repository), "VER011")
    assert "eks serves no resource.k8s.io/v1beta2" in found.message
    assert repository.text(found.span) == "eks"
    assert codes(build(cluster("1.36", featureGates=gates), QUARANTINE)) == []


def test_a_needed_gate_that_the_minor_lacks(build, only):
    listed = (
        "  version: 0.5.0\n",
        "  version: 0.5.0\n  featureGates: {DRAListTypeAttributes: true}\n",
    )
    repository = build(cluster("1.35", allowAlpha=f"{{{GATE}: tried}}"), listed)
    found = only(findings(repository), "VER012")
    assert "which Kubernetes 1.35 does not have; 1.36 is the first that does" in found.message
    assert repository.text(found.related[0].span) == "true"
    allowed = cluster("1.36", allowAlpha="{DRAListTypeAttributes: tried}")
    assert codes(build(allowed, listed)) == []


@pytest.mark.parametrize(
    ("gate", "minor"),
    [
        (GATE, "1.36"),
        ("DRAAdminAccess", "1.34"),
        ("DRADeviceTaintRules", "1.37"),
        ("DRADerivedAttributes", None),
        ("Nonsense", None),
    ],
)
def test_the_first_minor_that_has_a_gate_on(gate, minor):
    assert first_minor_on(gate) == minor


@pytest.mark.parametrize(
    ("pointer", "words"),
    [
        ("/spec/spec/devices/requests/0/exactly/capacity/requests", "ask for a whole device"),
        ("/spec/spec/devices/requests/1/firstAvailable/0/tolerations", "tainted devices"),
        ("/spec/devices/requests/0/exactly/adminAccess", "take devices for itself"),
        ("/spec/devices/constraints/2/distinctAttribute", "refuse the constraint"),
        ("/spec/extendedResourceName", "wait for a device plugin"),
        ("/spec/other", "the reason"),
    ],
)
def test_what_becomes_of_a_use(pointer, words):
    assert words in consequence(GateUse("G", "the reason", "ResourceClaim/a", pointer))
