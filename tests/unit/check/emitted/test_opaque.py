"""Opaque parameters against what the driver reads."""

import pytest

from dracfg.check.opaque import check_opaque

HEAD = "apiVersion: resource.nvidia.com/v1beta1, kind: GpuConfig"
GATES = ("  version: 0.5.0\n", "  version: 0.5.0\n  featureGates: {TimeSlicingSettings: true}\n")


def profile(text, driver="gpu.nvidia.com"):
    """An edit that gives the profile `train` a config."""
    return (
        "    - {name: infer",
        f"      config: [{{driver: {driver}, {text}}}]\n    - {{name: infer",
    )


def policy(config, sharing="turns"):
    """A policy in force on the GPUs with a config, as (edit, documents)."""
    more = (
        "apiVersion: dracfg.dev/v1alpha1\nkind: SharingPolicy\n"
        f"metadata: {{name: {sharing}}}\n"
        f"spec: {{mode: timeSliced, tenancy: sameTenant, replicas: 4, config: {{{config}}}}}\n"
    )
    edit = (
        "  devices: [{tier: a100, perNode: 8}]\n",
        f"  devices: [{{tier: a100, perNode: 8, sharing: [whole, {sharing}]}}]\n",
    )
    return edit, more


def codes(repository):
    return [finding.code for finding in check_opaque(repository.catalog)]


def test_a_repository_without_parameters(build):
    assert codes(build()) == []


@pytest.mark.parametrize(
    "values",
    [
        "{}",
        "{sharing: {strategy: TimeSlicing}}",
        "{sharing: {strategy: TimeSlicing, timeSlicingConfig: {interval: Long}}}",
    ],
)
def test_parameters_that_fit(build, values):
    assert codes(build(GATES, profile(f"{HEAD}, values: {values}"))) == []


@pytest.mark.parametrize(
    ("values", "text", "words", "fix"),
    [
        (
            "{sharing: {strategy: TimeSlicing, timeSlicingConfig: {interval: Longer}}}",
            "Longer",
            "sharing.timeSlicingConfig.interval can't be Longer",
            "Long",
        ),
        ("{sharing: {strategy: 5}}", "5", "sharing.strategy can't be 5", None),
        ("{sharing: {strateg: TimeSlicing}}", "strateg", "is no field of it", "strategy"),
        ("{sharing: {}}", "sharing", "sharing lacks strategy", None),
        ("{sharing: fast}", "fast", "sharing must be a map", None),
        (
            "{sharing: {strategy: TimeSlicing, mpsConfig: {}}}",
            "mpsConfig",
            "sharing.mpsConfig is not allowed there",
            None,
        ),
    ],
)
def test_parameters_that_do_not_fit(build, values, text, words, fix):
    repository = build(GATES, profile(f"{HEAD}, values: {values}"))
    found = {f.message: f for f in check_opaque(repository.catalog) if f.code == "OBJ013"}
    matching = [f for message, f in found.items() if words in message]
    assert len(matching) == 1, list(found)
    assert repository.text(matching[0].span) == text
    assert matching[0].fix == fix


def test_only_the_unknown_field_is_named(build, only):
    values = "{sharing: {strategy: TimeSlicing, speed: 1}}"
    repository = build(GATES, profile(f"{HEAD}, values: {values}"))
    found = only(check_opaque(repository.catalog), "OBJ013")
    assert repository.text(found.span) == "speed"
    assert found.expected == "mpsConfig, strategy, timeSlicingConfig"


def test_numbers_are_held_to_their_bounds(build, only):
    gates = ("  version: 0.5.0\n", "  version: 0.5.0\n  featureGates: {MPSSupport: true}\n")
    text = "{sharing: {strategy: MPS, mpsConfig: {defaultActiveThreadPercentage: %s}}}"
    repository = build(gates, profile(f"{HEAD}, values: {text % 101}"))
    found = only(check_opaque(repository.catalog), "OBJ013")
    assert "must be at most 100" in found.message
    assert repository.text(found.span) == "101"
    assert codes(build(gates, profile(f"{HEAD}, values: {text % 100}"))) == []


def test_the_config_of_a_policy_is_judged_where_it_stands(build, only):
    edit, more = policy(f"{HEAD}, values: {{sharing: {{strategy: Turns}}}}")
    repository = build(GATES, edit, more=more)
    found = only(check_opaque(repository.catalog), "OBJ013")
    assert repository.text(found.span) == "Turns"
    assert found.span.path == "catalog/more.yaml"
    edit, more = policy(f"{HEAD}, values: {{sharing: {{strategy: TimeSlicing}}}}")
    assert codes(build(GATES, edit, more=more)) == []


def test_a_policy_that_no_pool_lists_is_not_judged(build):
    _, more = policy(f"{HEAD}, values: {{sharing: {{strategy: Turns}}}}")
    assert codes(build(more=more)) == []


@pytest.mark.parametrize(
    ("head", "text", "fix"),
    [
        ("apiVersion: resource.nvidia.com/v1beta1, kind: GpuConfg", "GpuConfg", "GpuConfig"),
        (
            "apiVersion: resource.nvidia.com/v1, kind: GpuConfig",
            "resource.nvidia.com/v1",
            "resource.nvidia.com/v1beta1",
        ),
        ("apiVersion: a.org/v1, kind: Whatever", "Whatever", None),
    ],
)
def test_a_kind_that_the_driver_does_not_read(build, only, head, text, fix):
    repository = build(profile(head))
    found = only(check_opaque(repository.catalog), "OBJ014")
    assert repository.text(found.span) == text
    assert found.fix == fix


def test_parameters_without_a_kind(build, only):
    repository = build(profile("values: {a: 1}"))
    found = only(check_opaque(repository.catalog), "OBJ014")
    assert "(no kind)" in found.message


VFIO = "apiVersion: resource.nvidia.com/v1beta1, kind: VfioDeviceConfig"


@pytest.mark.parametrize(("version", "expected"), [("25.8.1", ["OBJ014"]), ("25.12.0", [])])
def test_a_kind_that_came_later(build, version, expected):
    edit = (
        "  version: 0.5.0\n",
        f"  version: {version}\n  featureGates: {{PassthroughSupport: true}}\n",
    )
    assert codes(build(edit, profile(VFIO))) == expected


def test_a_kind_that_is_read_from_claims_alone(build, only):
    more = (
        "apiVersion: dracfg.dev/v1alpha1\nkind: Driver\nmetadata: {name: dra.cpu}\n"
        "spec: {preset: dra.cpu}\n---\n"
        "apiVersion: dracfg.dev/v1alpha1\nkind: HardwareTier\nmetadata: {name: cpu}\n"
        "spec: {driver: dra.cpu}\n---\n"
        "apiVersion: dracfg.dev/v1alpha1\nkind: SharingPolicy\nmetadata: {name: pinned}\n"
        "spec: {mode: exclusive, config: {apiVersion: v1alpha1, values: {cpuConfig: {}}}}\n---\n"
        "apiVersion: dracfg.dev/v1alpha1\nkind: NodePool\nmetadata: {name: cpus}\n"
        "spec: {cluster: east, nodes: 1, nodeSelector: {pool: cpus}, sharing: [pinned],\n"
        "  devices: [{tier: cpu, perNode: 1}], owner: {dra.cpu: dra}}\n"
    )
    repository = build(more=more)
    found = only(check_opaque(repository.catalog), "OBJ014")
    assert "does not read v1alpha1 from the config of a policy" in found.message
    written = profile("apiVersion: v1alpha1, values: {cpuConfig: {}}", driver="dra.cpu")
    assert codes(build(written, more=more.replace("sharing: [pinned]", "state: open"))) == []


def test_nothing_describes_the_parameters(build, only):
    repository = build(profile("kind: Thing, apiVersion: a/v1", driver="npu.example.org"))
    found = only(check_opaque(repository.catalog), "OBJ017")
    assert found.severity == "warning"
    assert repository.text(found.span) == "Thing"


def described(schema):
    """An edit that describes the parameters of the driver without a preset."""
    return (
        "capacity: [memory], shareable: true}",
        (
            "capacity: [memory], shareable: true,\n"
            f"  configs: [{{apiVersion: a/v1, kind: Thing, parameters: {schema}}}]}}"
        ),
    )


THING = "apiVersion: a/v1, kind: Thing"


@pytest.mark.parametrize(
    ("values", "expected"),
    [("{level: 3}", []), ("{level: 30}", ["OBJ013"]), ("{level: high}", ["OBJ013"])],
)
def test_a_driver_can_describe_its_own(build, values, expected):
    schema = "{properties: {level: {type: integer, maximum: 9}}}"
    repository = build(
        described(schema), profile(f"{THING}, values: {values}", driver="npu.example.org")
    )
    assert codes(repository) == expected


def test_a_driver_that_describes_its_own_reads_nothing_else(build, only):
    repository = build(
        described("{}"), profile("apiVersion: a/v1, kind: Thong", driver="npu.example.org")
    )
    assert only(check_opaque(repository.catalog), "OBJ014").fix == "Thing"


@pytest.mark.parametrize(
    ("schema", "text", "words"),
    [
        ("{type: texts}", "texts", "is not valid"),
        ("{properties: {a: {minimum: low}}}", "low", "is not of type 'number'"),
        (
            "{$ref: 'https://example.org/a.json'}",
            "'https://example.org/a.json'",
            "https://example.org/a.json lies outside it",
        ),
    ],
)
def test_a_schema_that_can_not_be_used(build, only, schema, text, words):
    used = profile(f"{THING}, values: {{a: 1}}", driver="npu.example.org")
    repository = build(described(schema), used)
    found = only(check_opaque(repository.catalog), "OBJ018")
    assert codes(repository) == ["OBJ018"]
    assert words in found.message
    assert repository.text(found.span) == text


def test_a_reference_that_leads_nowhere(build, only):
    repository = build(described("{properties: {a: {$ref: '#/definitions/b'}}}"))
    assert "leads nowhere" in only(check_opaque(repository.catalog), "OBJ018").message


def test_numbers_that_manifests_do_not_carry(build, only):
    used = profile(f"{THING}, values: {{a: [{{b: 0.5}}, 5, '0.5']}}", driver="npu.example.org")
    repository = build(described("{}"), used)
    found = only(check_opaque(repository.catalog), "OBJ019")
    assert repository.text(found.span) == "0.5"


@pytest.mark.parametrize(
    ("strategy", "gate"), [("TimeSlicing", "TimeSlicingSettings"), ("MPS", "MPSSupport")]
)
def test_parameters_that_need_a_gate_of_the_driver(build, only, strategy, gate):
    written = profile(f"{HEAD}, values: {{sharing: {{strategy: {strategy}}}}}")
    repository = build(written)
    found = only(check_opaque(repository.catalog), "VER010")
    assert f"its gate {gate} is on, which is off by default" in found.message
    assert repository.text(found.span) == strategy
    on = ("  version: 0.5.0\n", f"  version: 0.5.0\n  featureGates: {{{gate}: true}}\n")
    assert codes(build(on, written)) == []
    off = ("  version: 0.5.0\n", f"  version: 0.5.0\n  featureGates: {{{gate}: false}}\n")
    repository = build(off, written)
    found = only(check_opaque(repository.catalog), "VER010")
    assert repository.text(found.related[0].span) == gate


VALUES = (
    "  version: 0.5.0\n  featureGates: {{MPSSupport: {}}}\n"
    "  values: {{featureGates: {{MPSSupport: {}}}}}\n"
)
MPS = profile(f"{HEAD}, values: {{sharing: {{strategy: MPS}}}}")


@pytest.mark.parametrize(("gates", "values", "found"), [("false", "true", 0), ("true", "false", 1)])
def test_a_gate_of_the_driver_among_the_chart_values_wins(build, gates, values, found):
    repository = build(("  version: 0.5.0\n", VALUES.format(gates, values)), MPS)
    findings = check_opaque(repository.catalog)
    assert [one.code for one in findings] == ["VER010"] * found
    for one in findings:
        (related,) = one.related
        line = (repository.root / related.span.path).read_text().split("\n")[related.span.line - 1]
        assert line.strip().startswith("values:")
        assert one.help == "set values: {featureGates: {MPSSupport: true}} in Driver gpu.nvidia.com"


def test_a_release_without_the_gate_does_not_ask_for_it(build):
    assert codes(build(("version: 0.5.0", "version: 25.3.2"), MPS)) == []


def test_a_gate_on_the_pools_that_serve_the_claim(build):
    """Where no pool hands the devices out by DRA, nothing reads the parameters."""
    plugin = ("owner: {gpu.nvidia.com: dra}", "owner: {gpu.nvidia.com: devicePlugin}")
    assert "VER010" not in codes(build(plugin, MPS))


def test_a_kind_that_needs_a_gate_as_a_whole(build, only):
    repository = build(profile(VFIO))
    found = only(check_opaque(repository.catalog), "VER010")
    assert repository.text(found.span) == "VfioDeviceConfig"


DRANET = (
    "apiVersion: dracfg.dev/v1alpha1\nkind: Driver\nmetadata: {name: dra.net}\n"
    "spec: {preset: dra.net, version: 1.4.0}\n"
)


def test_parameters_without_a_kind_have_a_schema_too(build, only):
    repository = build(profile("values: {interface: {mtu: 9}}", driver="dra.net"), more=DRANET)
    found = only(check_opaque(repository.catalog), "OBJ013")
    assert "interface.mtu must be at least 68" in found.message
    assert repository.text(found.span) == "9"
    fits = profile("values: {interface: {mtu: 9000}}", driver="dra.net")
    assert codes(build(fits, more=DRANET)) == []


def test_a_kind_where_the_parameters_carry_none(build, only):
    head = "apiVersion: dra.net/v1, kind: NetworkConfig, values: {}"
    repository = build(profile(head, driver="dra.net"), more=DRANET)
    found = only(check_opaque(repository.catalog), "OBJ014")
    assert repository.text(found.span) == "NetworkConfig"
    assert found.help == "its parameters carry no kind: leave it out"
