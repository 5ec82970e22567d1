"""Policies by hand: which requests they see, and what they say, as kube-apiserver's own tests have it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dracfg.policytest.admission import Admitted
from dracfg.policytest.matching import selects
from dracfg.policytest.requests import Request, named_namespace

pytest.importorskip("cel_expr_python.cel", reason="cel-expr-python has no wheel here")

Json = dict[str, Any]
Build = Callable[..., Any]
Ask = Callable[..., Admitted]

NO = {"expression": "false", "message": "TEN999: no"}


def texts(said: Admitted) -> list[str]:
    return [failure.message for failure in said.failures]


@pytest.mark.parametrize(
    ("validation", "message"),
    [
        ({"expression": "false", "message": " no "}, "no"),
        ({"expression": "1 > 2"}, "failed expression: 1 > 2"),
        ({**NO, "messageExpression": '"TEN999: " + object.metadata.name'}, "TEN999: web"),
        ({**NO, "messageExpression": '"a\\nb"'}, "TEN999: no"),
        ({**NO, "messageExpression": '"  "'}, "TEN999: no"),
        ({**NO, "messageExpression": "string(object.spec.nodeName)"}, "TEN999: no"),
    ],
)
def test_what_the_user_is_told(
    build_policy: Build, build_request: Build, ask: Ask, validation: Json, message: str
) -> None:
    assert texts(ask(build_policy(validation), build_request())) == [message]


@pytest.mark.parametrize(("failure_policy", "denied"), [("Fail", True), ("Ignore", False)])
def test_an_error_is_decided_by_the_failure_policy(
    build_policy: Build, build_request: Build, ask: Ask, failure_policy: str, denied: bool
) -> None:
    objects = build_policy({"expression": "object.spec.nope == 1"}, failurePolicy=failure_policy)
    said = ask(objects, build_request())
    assert bool(said.failures) is denied
    assert not denied or "resulted in error: no such key: nope" in texts(said)[0]


@pytest.mark.parametrize(
    ("conditions", "failure_policy", "expected"),
    [
        (["true"], "Fail", ["TEN999: no"]),
        (["false"], "Fail", []),
        (["object.spec.nope", "false"], "Fail", []),
        (["object.spec.nope == 1"], "Fail", ["no such key: nope"]),
        (["object.spec.nope == 1"], "Ignore", []),
    ],
)
def test_match_conditions(
    build_policy: Build,
    build_request: Build,
    ask: Ask,
    conditions: list[str],
    failure_policy: str,
    expected: list[str],
) -> None:
    named = [{"name": f"c{i}", "expression": text} for i, text in enumerate(conditions)]
    objects = build_policy(NO, matchConditions=named, failurePolicy=failure_policy)
    assert texts(ask(objects, build_request())) == expected


def test_a_variable_fails_only_where_it_is_read(
    build_policy: Build, build_request: Build, ask: Ask
) -> None:
    variables = [
        {"name": "broken", "expression": "object.spec.nope"},
        {"name": "name", "expression": "string(object.metadata.name)"},
    ]
    good = {"expression": 'variables.name == "web"'}
    bad = {"expression": "variables.name == 'web' && variables.broken == 1"}
    said = ask(build_policy(good, bad, variables=variables), build_request())
    assert [one.index for one in said.held] == [0]
    assert [one.validation.index for one in said.failures] == [1]


@pytest.mark.parametrize(
    ("actions", "denials", "warnings"),
    [(["Deny"], 1, 0), (["Warn"], 0, 1), (["Deny", "Audit"], 1, 0), (["Audit"], 0, 0)],
)
def test_actions_of_the_binding(
    build_policy: Build,
    build_request: Build,
    ask: Ask,
    actions: list[str],
    denials: int,
    warnings: int,
) -> None:
    said = ask(build_policy(NO, actions=actions), build_request())
    assert (len(said.of("Deny")), len(said.of("Warn"))) == (denials, warnings)


def test_without_a_binding_nothing_is_in_force(
    build_policy: Build, build_request: Build, ask: Ask
) -> None:
    assert ask(build_policy(NO)[:1], build_request()) == Admitted()


def test_a_binding_may_narrow(build_policy: Build, build_request: Build, ask: Ask) -> None:
    objects = build_policy(NO)
    objects[1]["spec"]["matchResources"] = {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "there"}}
    }
    assert ask(objects, build_request()) == Admitted()


def test_what_is_not_decided_is_unknown(
    build_policy: Build, build_request: Build, ask: Ask
) -> None:
    asks = {"expression": 'authorizer.path("/healthz").check("get").allowed()'}
    said = ask(build_policy(asks), build_request())
    assert said.failures == said.held == ()
    assert "the authorizer's decision is not given" in said.unknown[0]


def test_a_policy_that_does_not_compile_is_unknown(
    build_policy: Build, build_request: Build, ask: Ask
) -> None:
    said = ask(build_policy({"expression": "objet.spec == 1"}), build_request())
    assert "does not compile" in said.unknown[0]


def rule(**changes: Any) -> Json:
    made = {
        "operations": ["*"],
        "apiGroups": [""],
        "apiVersions": ["*"],
        "resources": ["pods"],
    }
    return {"resourceRules": [made | changes]}


@pytest.mark.parametrize(
    ("constraints", "changes", "seen"),
    [
        (rule(), {}, True),
        (rule(operations=["DELETE"]), {}, False),
        (rule(apiGroups=["apps"]), {}, False),
        (rule(apiVersions=["v2"]), {}, False),
        (rule(), {"subresource": "status"}, False),
        (rule(resources=["pods/*"]), {"subresource": "status"}, True),
        (rule(resources=["*/status"]), {"subresource": "status"}, True),
        (rule(resources=["*"]), {"subresource": "status"}, False),
        (rule(resources=["*/*"]), {}, True),
        (rule(scope="Cluster"), {}, False),
        (rule(scope="Namespaced"), {}, True),
        (rule(resourceNames=["db"]), {}, False),
        ({**rule(), "excludeResourceRules": rule()["resourceRules"]}, {}, False),
        ({**rule(), "namespaceSelector": {"matchLabels": {"a": "b"}}}, {}, False),
        (
            {
                **rule(),
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "here"}},
            },
            {},
            True,
        ),
        ({**rule(), "objectSelector": {"matchLabels": {"ours": "yes"}}}, {}, False),
    ],
)
def test_which_requests_a_policy_sees(
    build_policy: Build,
    build_request: Build,
    ask: Ask,
    constraints: Json,
    changes: Json,
    seen: bool,
) -> None:
    said = ask(build_policy(NO, matchConstraints=constraints), build_request(**changes))
    assert bool(said.failures) is seen


def test_taking_the_label_off_is_seen(
    build_policy: Build, build_request: Build, build_pod: Build, ask: Ask
) -> None:
    constraints = {**rule(), "objectSelector": {"matchLabels": {"ours": "yes"}}}
    asked = build_request(build_pod(), operation="UPDATE", old=build_pod(labels={"ours": "yes"}))
    assert ask(build_policy(NO, matchConstraints=constraints), asked).failures


def test_no_policy_sees_policies(build_policy: Build, build_request: Build, ask: Ask) -> None:
    objects = build_policy(NO, matchConstraints=rule(apiGroups=["*"], resources=["*"]))
    asked = build_request(objects[0], namespace=None)
    assert ask(objects, asked) == Admitted()


@pytest.mark.parametrize(
    ("match_policy", "version", "seen"),
    [
        ("Equivalent", "v1", True),
        ("Equivalent", "v1beta2", True),
        ("Equivalent", "v1beta1", True),
        ("Exact", "v1", True),
        ("Exact", "v1beta1", False),
    ],
)
def test_other_versions_are_seen_in_the_rules_own(
    build_policy: Build,
    build_request: Build,
    ask: Ask,
    match_policy: str,
    version: str,
    seen: bool,
) -> None:
    flat = version == "v1beta1"
    device = {"deviceClassName": "gpu"}
    asked = {"name": "a"} | (device if flat else {"exactly": device})
    claim = {
        "apiVersion": f"resource.k8s.io/{version}",
        "kind": "ResourceClaim",
        "metadata": {"name": "c", "namespace": "here"},
        "spec": {"devices": {"requests": [asked]}},
    }
    constraints = rule(
        apiGroups=["resource.k8s.io"], apiVersions=["v1"], resources=["resourceclaims"]
    )
    says = (
        'request.kind.version + " for " + request.requestKind.version + ": "'
        " + string(object.spec.devices.requests[0].exactly.deviceClassName)"
    )
    objects = build_policy(
        {**NO, "messageExpression": says},
        matchConstraints={**constraints, "matchPolicy": match_policy},
    )
    said = ask(objects, build_request(claim))
    assert texts(said) == ([f"v1 for {version}: gpu"] if seen else [])


@pytest.mark.parametrize(("operation", "selected"), [("CREATE", True), ("DELETE", True)])
def test_a_namespace_is_chosen_by_its_own_labels(
    build_policy: Build, build_request: Build, ask: Ask, operation: str, selected: bool
) -> None:
    thing = named_namespace("here")
    constraints = {
        **rule(resources=["namespaces"]),
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "here"}},
    }
    asked: Request = build_request(
        thing,
        operation=operation,
        namespace=None,
        object=None if operation == "DELETE" else thing,
        old=thing if operation == "DELETE" else None,
    )
    says = '"null: " + string(namespaceObject == null)'
    objects = build_policy({**NO, "messageExpression": says}, matchConstraints=constraints)
    assert texts(ask(objects, asked)) == (["null: true"] if selected else [])


@pytest.mark.parametrize(
    ("operator", "values", "taken"),
    [
        ("In", ["x"], True),
        ("In", ["y"], False),
        ("NotIn", ["y"], True),
        ("NotIn", ["x"], False),
        ("Exists", None, True),
        ("DoesNotExist", None, False),
    ],
)
def test_label_selectors(operator: str, values: list[str] | None, taken: bool) -> None:
    term = {"key": "a", "operator": operator} | ({} if values is None else {"values": values})
    assert selects({"matchExpressions": [term]}, {"a": "x"}) is taken
