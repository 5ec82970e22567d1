"""Admission policies compile in every minor; what the API server would refuse is found and placed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dracfg.check.policies import (
    MAX_CODE_POINTS,
    POLICY,
    PolicyCompiler,
    check_policies,
    packaged_shapes,
    policy_faults,
    shape,
)
from dracfg.diagnostics import Diagnostic
from dracfg.link.catalog import Catalog
from dracfg.lower.artifact import Unit

pytest.importorskip("cel_expr_python.cel", reason="cel-expr-python has no wheel here")

Edit = Callable[[dict[str, Any]], None]

HOLD = "\n  reclaim: {onUnknownNode: hold, timeout: 15m}"
HELD = (
    ("device: {capacity: {memory: 40Gi}}", "device: {capacity: {memory: 40Gi}}" + HOLD),
    ("shareable: true}", "shareable: true, serviceAccount: {namespace: npu, name: plugin}}"),
)
"""What brings the policies on held nodes and on drivers."""

CLUSTER = """gitops:
    engine: flux
    applier: {serviceAccount: {namespace: flux-system, name: kustomize-controller}}
    breakGlass: {users: [eve], groups: [admins]}
  nodeGuards:
    fencers: &who {users: [ann], groups: [ops], serviceAccounts: [{namespace: ops, name: bot}]}
    autoscalers: *who
  addons: {kueue: "0.17"}
  contact: 'gpu-team@example.org, "office hours" + more'
  podTemplateKinds:
    - apiGroup: jobset.x-k8s.io
      versions: [v1alpha2]
      resource: jobsets
      podSpecs: ['spec.replicatedJobs[].template.spec.template.spec']
    - apiGroup: ray.io
      versions: [v1]
      resource: rayclusters
      podSpecs: [spec.headGroupSpec.template.spec]
"""
SAID = (
    *HELD,
    (
        "mode: consumable",
        "mode: consumable\n  config: {kind: Share, apiVersion: v1, values: {a: 1}}",
    ),
    ("gitops: {engine: plain}\n", CLUSTER),
)
"""A cluster that says all that policies repeat."""


POOL = 'dyn({"fencing": dyn("a"), "selector": dyn({"b": "c"})})'
MORE = POOL.replace('"c"', '"c", "d": "e"')
ONE = POOL.replace('"c"', "1")
ESCAPED = POOL.replace('"c"', r'"\q"')


@pytest.fixture
def policies(build: Any) -> Callable[..., list[dict[str, Any]]]:
    """The policies of a repository with these edits."""

    def emitted(*edits: tuple[str, str]) -> list[dict[str, Any]]:
        return [
            artifact.object
            for unit in build(*edits).units
            for artifact in unit.artifacts
            if artifact.object.get("kind") == POLICY
        ]

    return emitted


def edited(units: tuple[Unit, ...], name: str, edit: Edit) -> tuple[Unit, ...]:
    """The units with the spec of one policy changed."""
    found = []
    for unit in units:
        artifacts = []
        for artifact in unit.artifacts:
            thing = artifact.object
            if thing.get("kind") == POLICY and thing["metadata"]["name"] == name:
                thing = copy.deepcopy(thing)
                edit(thing["spec"])
            artifacts.append(artifact._replace(object=thing))
        found.append(replace(unit, artifacts=tuple(artifacts)))
    assert tuple(found) != units
    return tuple(found)


def one(catalog: Catalog, units: tuple[Unit, ...]) -> Diagnostic:
    (found,) = check_policies(catalog, units)
    return found


@pytest.mark.parametrize("minor", ["1.34", "1.35", "1.36", "1.37"])
@pytest.mark.parametrize("edits", [(), HELD, SAID], ids=["least", "held", "all"])
def test_all_expressions_compile(policies: Any, minor: str, edits: Any) -> None:
    compiler = PolicyCompiler(minor)
    found = policies(('"1.36"', f'"{minor}"'), *edits)
    assert len(found) == (8 if not edits else 13)
    for policy in found:
        assert list(policy_faults(policy, compiler)) == []


def test_shapes_that_are_taken_on_trust_are_emitted_and_so_compiled_above(policies: Any) -> None:
    """Each packaged expression stands with lists or what is usual in its gaps, or needs more there."""
    emitted = set()
    for edits in ((), HELD, SAID):
        for policy in policies(*edits):
            spec = policy["spec"]
            named = [*spec.get("matchConditions", ()), *spec.get("variables", ())]
            emitted |= {shape(entry["expression"]) for entry in [*named, *spec["validations"]]}
    known = packaged_shapes()
    assert len(emitted & known) > len(emitted) * 0.9
    assert 'variables.tenant != ""' in known
    gaps = [text for text in known if "username in [" in text]
    assert len(gaps) > 10
    assert len(emitted.intersection(gaps)) > 10
    marks = ("jobTemplate", '"^()$"', "[dyn({})]")
    usual = ["{}", *(text for text in known if any(mark in text for mark in marks))]
    assert len(usual) == 5
    assert emitted.issuperset(usual)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ('["a", "b"]', "[]", False),
        ('["a", "b"]', '["c"]', True),
        ('["a", 1]', '["c"]', False),
        ('x["a"]', 'x["b"]', False),
        ('"^(a[.]b/c)$"', '"^(d.*|e)$"', True),
        ('"^(a(b)$"', '"^(d)$"', False),
        ('"^(a[b)$"', '"^(d)$"', False),
        ('"^(a\\\\b)$"', '"^(d)$"', False),
        (f"[{POOL}]", f"[{POOL}, {POOL}]", True),
        (f"[{POOL}]", f"[{MORE}]", True),
        (f"[{POOL}]", f"[{ONE}]", False),
        (f"[{POOL}]", f"[{ESCAPED}]", False),
        (f"[{POOL}]", f"[{POOL}, 1]", False),
    ],
)
def test_what_shapes_take_for_the_same(one: str, other: str, alike: bool) -> None:
    assert (shape(one) == shape(other)) is alike


@pytest.mark.parametrize(
    "edits",
    [
        (),
        HELD[:1],
        (("gitops: {engine: plain}", "gitops: {engine: plain}\n  contact: ask us, we're kind"),),
    ],
    ids=["least", "held", "contact"],
)
def test_nothing_is_compiled_where_documents_write_what_is_usual(
    build: Any, monkeypatch: Any, edits: Any
) -> None:
    monkeypatch.setattr(PolicyCompiler, "compile", None)
    repository = build(*edits)
    assert check_policies(repository.catalog, repository.units) == ()


def test_only_what_documents_write_is_compiled(build: Any, monkeypatch: Any) -> None:
    compiled: list[str] = []
    compile_ = PolicyCompiler.compile

    def noted(self: PolicyCompiler, has_params: bool, judged: Any) -> Any:
        compiled.append(judged.text)
        return compile_(self, has_params, judged)

    monkeypatch.setattr(PolicyCompiler, "compile", noted)
    repository = build(*SAID)
    assert check_policies(repository.catalog, repository.units) == ()
    assert any("jobsets" in text for text in compiled)
    assert any("office hours" in text for text in compiled)
    assert not packaged_shapes().intersection(map(shape, compiled))


def test_equal_texts_are_compiled_once(policies: Any, monkeypatch: Any) -> None:
    from dracfg.cel import CelEnvironment

    seen: list[tuple[str, Any]] = []
    compile_ = CelEnvironment.compile

    def noted(self: Any, expression: str, **more: Any) -> Any:
        seen.append((expression, (self.new.variables, more.get("results"))))
        return compile_(self, expression, **more)

    monkeypatch.setattr(CelEnvironment, "compile", noted)
    compiler = PolicyCompiler("1.36")
    for policy in policies(*SAID):
        assert list(policy_faults(policy, compiler)) == []
    assert len(seen) == len(set(seen))


def break_variable(spec: dict[str, Any]) -> None:
    spec["variables"][0]["expression"] = "has(object.spec) ? missing : {}"


def test_a_failure_names_policy_place_and_cluster(build: Any) -> None:
    repository = build()
    units = edited(repository.units, "dracfg-claims", break_variable)
    found = one(repository.catalog, units)
    assert found.code == "OBJ025"
    assert found.is_error
    assert found.message.startswith(
        "Kubernetes 1.36: spec.variables[0].expression of the policy dracfg-claims does not compile"
    )
    assert "undeclared reference to 'missing'" in found.message
    assert repository.text(found.span) == "east"
    line, caret = str(found.found).split("\n")
    assert line[caret.index("^") :].startswith("missing")


def test_what_reads_a_broken_variable_is_not_blamed_as_well(build: Any) -> None:
    repository = build()

    def edit(spec: dict[str, Any]) -> None:
        break_variable(spec)
        spec["validations"][0]["expression"] = "variables.annotations.size() > 7"

    found = one(repository.catalog, edited(repository.units, "dracfg-claims", edit))
    assert "spec.variables[0]" in found.message


@pytest.mark.parametrize(
    ("part", "text", "said"),
    [
        ("expression", '"a"', "must evaluate to bool"),
        ("expression", "variables.nothing", "undeclared reference"),
        ("expression", 'semver("1.0")', "must evaluate to bool but got kubernetes.Semver"),
        ("messageExpression", "1 + 1", "must evaluate to string"),
        ("messageExpression", "params.x", "undeclared reference to 'params'"),
    ],
)
def test_each_part_is_judged(build: Any, part: str, text: str, said: str) -> None:
    repository = build()

    def edit(spec: dict[str, Any]) -> None:
        spec["validations"][1][part] = text

    found = one(repository.catalog, edited(repository.units, "dracfg-claims", edit))
    assert f"spec.validations[1].{part} of the policy dracfg-claims does not" in found.message
    assert said in found.message


def test_conditions_know_no_variables(build: Any) -> None:
    repository = build()

    def edit(spec: dict[str, Any]) -> None:
        spec["matchConditions"] = [{"name": "c", "expression": "variables.managed"}]

    found = one(repository.catalog, edited(repository.units, "dracfg-claims", edit))
    assert "spec.matchConditions[0].expression" in found.message


@pytest.mark.parametrize("count", [64, 65])
def test_number_of_conditions(build: Any, count: int) -> None:
    repository = build()

    def edit(spec: dict[str, Any]) -> None:
        spec["matchConditions"] = [{"name": f"c{i}", "expression": "true"} for i in range(count)]

    found = check_policies(repository.catalog, edited(repository.units, "dracfg-claims", edit))
    assert [f.message.partition("dracfg-claims ")[2] for f in found] == (
        ["has 65 conditions"] if count > 64 else []
    )


@pytest.mark.parametrize(
    ("part", "text", "said"),
    [
        ("messageExpression", '"' + "é" * 2559 + '"', None),
        ("messageExpression", '"' + "é" * 2560 + '"', "has 5,122 bytes"),
        ("expression", "true" + " " * (MAX_CODE_POINTS - 3), "has 100,001 characters"),
    ],
)
def test_sizes(build: Any, part: str, text: str, said: str | None) -> None:
    repository = build()

    def edit(spec: dict[str, Any]) -> None:
        spec["validations"][0][part] = text

    found = check_policies(repository.catalog, edited(repository.units, "dracfg-claims", edit))
    assert [f.message.partition("dracfg-claims ")[2] for f in found] == ([said] if said else [])


def test_cost_is_judged_where_it_does_not_hang_on_the_request(build: Any) -> None:
    repository = build()
    numbers = "[" + ", ".join(map(str, range(120))) + "]"
    loops = f"{numbers}.all(a, {numbers}.all(b, {numbers}.all(c, a + b + c < 400)))"

    def costly(spec: dict[str, Any]) -> None:
        spec["validations"][0]["expression"] = loops

    def unbounded(spec: dict[str, Any]) -> None:
        spec["validations"][0]["expression"] = (
            "object.spec.all(a, object.spec.all(b, object.spec.all(c, a != b || b != c)))"
        )

    found = one(repository.catalog, edited(repository.units, "dracfg-claims", costly))
    assert found.code == "OBJ025"
    assert found.expected == "at most 1,000,000"
    units = edited(repository.units, "dracfg-claims", unbounded)
    assert check_policies(repository.catalog, units) == ()


def test_what_nobody_knows_is_unknown(build: Any) -> None:
    repository = build()

    def edit(spec: dict[str, Any]) -> None:
        spec["validations"][0]["expression"] = "google.protobuf.BoolValue{value: true} == true"

    found = one(repository.catalog, edited(repository.units, "dracfg-claims", edit))
    assert (found.code, found.severity) == ("OBJ026", "unknown")


def test_the_cause_is_the_path_the_contact_or_the_names(build: Any) -> None:
    repository = build(*SAID)

    def broken_path(spec: dict[str, Any]) -> None:
        (pods,) = (v for v in spec["variables"] if v["name"] == "pods")
        pods["expression"] = pods["expression"].replace('"jobTemplate"]', '"jobTemplate"')

    def broken_contact(spec: dict[str, Any]) -> None:
        spec["validations"][0]["messageExpression"] += '"'

    found = one(repository.catalog, edited(repository.units, "dracfg-workloads", broken_path))
    assert repository.text(found.span) == "podSpecs"
    line, caret = str(found.found).split("\n")
    assert len(line) <= 100
    assert len(caret) <= len(line) + 1
    found = one(repository.catalog, edited(repository.units, "dracfg-workloads", broken_contact))
    assert repository.text(found.span) == "contact"
    assert found.related
