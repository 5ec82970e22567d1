"""Environments: versions, gates, limits, positions, and the variables of admission."""

from typing import Any

import pytest

from dracfg.cel import (
    Authorizer,
    CelEnvironment,
    Check,
    CompileFailure,
    Decision,
    EvaluationError,
    Program,
    Undecided,
    admission_environment,
    device_environment,
)
from dracfg.cel.engines import checking_engine, interpreting_engine

REQUEST = {
    "operation": "CREATE",
    "namespace": "team-a",
    "kind": {"group": "resource.k8s.io", "version": "v1", "kind": "ResourceClaim"},
    "userInfo": {
        "username": "system:serviceaccount:team-a:runner",
        "groups": ["system:authenticated"],
        "extra": {"authentication.kubernetes.io/node-name": ["node-1"]},
    },
    "dryRun": False,
}
CLAIM = {
    "metadata": {"name": "gpu", "labels": None},
    "spec": {
        "devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "gpu", "count": 2}}]}
    },
}
NAMESPACE = {"metadata": {"name": "team-a", "labels": {"tier": "gold"}}, "spec": {}, "status": {}}
INPUTS: dict[str, Any] = {
    "object": CLAIM,
    "oldObject": None,
    "request": REQUEST,
    "namespaceObject": NAMESPACE,
    "params": {"spec": {"max": 4}},
}
ADMISSION = admission_environment("1.36", has_params=True)


def compiled(environment: CelEnvironment, expression: str, **options: Any) -> Program:
    program = environment.compile(expression, **options)
    assert isinstance(program, Program), program
    return program


def failure(environment: CelEnvironment, expression: str, **options: Any) -> CompileFailure:
    result = environment.compile(expression, **options)
    assert isinstance(result, CompileFailure), result
    return result


def test_size_limit_counts_bytes_of_new_expressions() -> None:
    environment = device_environment("1.36", frozenset())
    head, tail = "device.driver == '", "'"
    fits = head + "x" * (10 * 1024 - len(head + tail)) + tail
    assert isinstance(environment.compile(fits), Program)
    longer = fits.replace("x", "é", 1)
    assert "10240 bytes" in failure(environment, longer).message
    assert isinstance(environment.compile(longer, stored=True), Program)


def test_gates_as_names_or_as_states() -> None:
    expression = "device.allowMultipleAllocations"
    on = device_environment("1.36", {"DRAConsumableCapacity": True})
    off = device_environment("1.36", {"DRAConsumableCapacity": False})
    assert isinstance(on.compile(expression), Program)
    assert "DRAConsumableCapacity" in failure(off, expression).message


def test_a_missing_library_says_since_when() -> None:
    message = failure(device_environment("1.34", frozenset()), "[2, 1].sort() == [1, 2]").message
    assert "1.34" in message and "1.35" in message
    message = failure(
        device_environment("1.36", frozenset()), 'device.driver.includes("x")'
    ).message
    assert "DRAListTypeAttributes" in message


def test_what_exists_nowhere_has_no_version() -> None:
    message = failure(device_environment("1.34", frozenset()), "[1].shuffle() == [1]").message
    assert message == "undeclared reference to 'shuffle' (in container '')"


def test_minor_before_the_first_known() -> None:
    with pytest.raises(ValueError, match=r"1\.33"):
        device_environment("1.33", frozenset())
    with pytest.raises(ValueError, match="minor"):
        device_environment("2.1", frozenset())


@pytest.mark.parametrize(
    "engine", [checking_engine(), interpreting_engine()], ids=lambda engine: engine.name
)
def test_positions_count_code_points_and_lines(engine: Any) -> None:
    expression = '"é𝄞" == "" ||\n  device.nope'
    found = failure(device_environment("1.36", frozenset(), engine), expression)
    assert (found.line, found.column) == (2, 9)
    assert expression[found.offset :] == ".nope"
    assert found.caret(expression) == "  device.nope\n........^"


def test_columns_after_wide_characters() -> None:
    expression = '"é𝄞" == "" || device.nope'
    found = failure(device_environment("1.36", frozenset()), expression)
    assert expression[found.offset :] == ".nope"


def test_the_first_of_several_failures() -> None:
    found = failure(device_environment("1.36", frozenset()), "nope || device.driver == 1")
    assert found.offset == 0


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("object.spec.devices.requests.all(r, has(r.exactly))", True),
        ("object.spec.devices.requests.all(r, r.exactly.count <= params.spec.max)", True),
        ("oldObject == null", True),
        ("oldObject != null && oldObject.spec.devices == object.spec.devices", False),
        ('request.operation == "CREATE" && request.namespace == "team-a"', True),
        ('request.kind.kind == "ResourceClaim"', True),
        ('"system:authenticated" in request.userInfo.groups', True),
        (
            "request.userInfo.extra[?'authentication.kubernetes.io/node-name'][0].orValue('') == 'node-1'",
            True,
        ),
        ("request.userInfo.extra[?'nope'][0].orValue('') == ''", True),
        ('namespaceObject.metadata.labels["tier"] == "gold"', True),
        ("has(request.subResource)", False),
        ("namespaceObject != null && has(namespaceObject.metadata.labels)", True),
        ("object.metadata.name.size() > 0 && isQuantity('1Gi')", True),
        ("object.metadata.labels == null", True),
    ],
)
def test_admission(expression: str, value: bool) -> None:
    assert compiled(ADMISSION, expression).evaluate(INPUTS) is value


@pytest.mark.parametrize(
    ("expression", "column"),
    [
        ("request.nope == 'x'", 8),
        ("request.userInfo.nope == 'x'", 17),
        ("namespaceObject.metadata.nope == 'x'", 25),
        ("object.spec", 1),
        ("device.driver == 'x'", 1),
        ("variables.nope", 1),
        ("cel.bind(x, object, x.spec == 1)", 1),
        ("object.spec.includes('x')", 21),
    ],
)
def test_admission_refuses(expression: str, column: int) -> None:
    assert failure(ADMISSION, expression).column == column


def test_cluster_scoped_objects_have_no_namespace() -> None:
    program = compiled(ADMISSION, "namespaceObject == null && oldObject == null")
    assert program.evaluate({**INPUTS, "namespaceObject": None}) is True
    assert program.evaluate(INPUTS) is False


def test_a_typo_in_an_object_is_a_run_time_error() -> None:
    outcome = compiled(ADMISSION, "object.spec.device.requests.size() == 0").evaluate(INPUTS)
    assert outcome == EvaluationError("no such key: device")


def test_params_only_where_the_policy_has_them() -> None:
    assert failure(admission_environment("1.36", has_params=False), "params == null").offset == 0


def test_message_expressions_are_strings() -> None:
    program = compiled(ADMISSION, "'denied: ' + object.metadata.name", results=("string",))
    assert program.evaluate(INPUTS) == "denied: gpu"
    assert (
        failure(ADMISSION, "1 + 1", results=("string",)).message
        == "must evaluate to string but got int"
    )


def test_variables_are_typed_composed_and_lazy() -> None:
    environment = ADMISSION
    for name, expression in (
        ("requests", "object.spec.devices.?requests.orValue([])"),
        ("total", "variables.requests.map(r, int(r.exactly.count)).sum()"),
        ("broken", "object.nope"),
    ):
        extended = environment.with_variable(name, expression)
        assert isinstance(extended, CelEnvironment), extended
        environment = extended
    assert compiled(environment, "variables.total == 2").evaluate(INPUTS) is True
    assert (
        compiled(environment, "variables.total == 2 || variables.broken").evaluate(INPUTS) is True
    )
    broken = compiled(environment, "variables.broken == 1").evaluate(INPUTS)
    assert isinstance(broken, EvaluationError) and "'broken'" in broken.message
    assert failure(environment, "variables.total == 'x'").column == 17
    assert failure(environment, "variables.totals == 1").message == "undefined field 'totals'"


CHECK = (
    "authorizer.group('resource.k8s.io').resource('resourceclaims')"
    ".namespace('team-a').check('create').allowed()"
)


def test_the_authorizer_is_undecided_without_a_decision() -> None:
    outcome = compiled(ADMISSION, CHECK).evaluate({**INPUTS, "authorizer": Authorizer()})
    assert isinstance(outcome, Undecided)


def test_the_authorizer_answers_from_decisions() -> None:
    check = Check(
        group="resource.k8s.io", resource="resourceclaims", namespace="team-a", verb="create"
    )
    for allowed in (True, False):
        authorizer = Authorizer({check: Decision(allowed)})
        assert compiled(ADMISSION, CHECK).evaluate({**INPUTS, "authorizer": authorizer}) is allowed
    assert failure(ADMISSION, "authorizer.group('x').check('get').allowed()").column == 28


def test_the_authorizer_can_be_left_out() -> None:
    environment = admission_environment("1.36", has_params=False, has_authorizer=False)
    assert failure(environment, CHECK).offset == 0


@pytest.mark.parametrize(
    "expression", ["object.spec.x == 1", "request.operation == 'CREATE'", "oldObject == null"]
)
def test_admission_on_the_interpreting_engine(expression: str) -> None:
    environment = admission_environment("1.36", has_params=False, engine=interpreting_engine())
    program = compiled(environment, expression)
    wanted = compiled(ADMISSION, expression).evaluate(INPUTS)
    assert type(program.evaluate(INPUTS)) is type(wanted)
