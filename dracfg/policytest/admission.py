"""ValidatingAdmissionPolicies on one request, judged as kube-apiserver judges them.

All validations of all policies that match are evaluated; where one can't be evaluated the policy's
failurePolicy decides. The limits on the cost of expressions at run time are not followed. What the
CEL engine can't decide is unknown, never allowed.
Source: kubernetes/apiserver@v0.34.2:pkg/admission/plugin/policy/validating/{validator,dispatcher}.go,
pkg/admission/plugin/webhook/matchconditions/matcher.go.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any, Literal

from dracfg.cel import (
    Authorizer,
    CelEnvironment,
    EvaluationError,
    Program,
    Undecided,
    admission_environment,
)
from dracfg.cel.scope import Inputs, Value
from dracfg.dataclass import dataclass
from dracfg.lower.artifact import K8sObject
from dracfg.policytest.defaults import written_out
from dracfg.policytest.matching import matched_version
from dracfg.policytest.requests import Request
from dracfg.policytest.versions import converted

MESSAGE_BYTES = 5 * 1024
"""The longest text that a messageExpression may give."""
CODE = re.compile(r"([A-Z]{3}[0-9]{3}): ")

Action = Literal["Deny", "Warn", "Audit"]
Authorize = Callable[[Request], Authorizer]


@dataclass(frozen=True, slots=True)
class Validation:
    """One validation of a policy; `code` is the rule that its message names."""

    policy: str
    index: int
    code: str | None


@dataclass(frozen=True, slots=True)
class Failure:
    """A validation that does not hold, and what the user is told."""

    validation: Validation
    action: Action
    message: str


@dataclass(frozen=True, slots=True)
class Admitted:
    """What the policies say. `held` are the validations that were evaluated and hold.

    `unknown` are the reasons for which something was not decided; then the request is neither
    allowed nor, without a denial, denied.
    """

    failures: tuple[Failure, ...] = ()
    held: tuple[Validation, ...] = ()
    unknown: tuple[str, ...] = ()

    def of(self, action: Action) -> tuple[Failure, ...]:
        return tuple(failure for failure in self.failures if failure.action == action)


@dataclass(frozen=True, slots=True)
class _Rule:
    validation: Validation
    program: Program | Undecided
    message: str
    says: Program | Undecided | None


@dataclass(frozen=True, slots=True)
class Policy:
    """A compiled policy with the actions of its bindings."""

    name: str
    spec: Mapping[str, Any] = field(repr=False)
    bindings: tuple[Mapping[str, Any], ...] = field(repr=False)
    conditions: tuple[Program | Undecided, ...] = field(repr=False)
    rules: tuple[_Rule, ...] = field(repr=False)

    @property
    def fails_closed(self) -> bool:
        return bool(self.spec.get("failurePolicy", "Fail") == "Fail")

    @property
    def validations(self) -> tuple[Validation, ...]:
        return tuple(rule.validation for rule in self.rules)


def policies_of(objects: Iterable[K8sObject], minor: str) -> tuple[Policy, ...]:
    """The policies among objects that some binding puts into force, compiled for a minor."""
    listed = tuple(objects)
    bindings: dict[str, list[Mapping[str, Any]]] = {}
    for thing in listed:
        if thing["kind"] == "ValidatingAdmissionPolicyBinding":
            bindings.setdefault(thing["spec"]["policyName"], []).append(thing["spec"])
    return tuple(
        _compiled(thing, tuple(bindings[thing["metadata"]["name"]]), minor)
        for thing in listed
        if thing["kind"] == "ValidatingAdmissionPolicy" and thing["metadata"]["name"] in bindings
    )


def code_of(message: str) -> str | None:
    """The rule code that a message starts with."""
    found = CODE.match(message)
    return found[1] if found else None


def admit(
    policies: Iterable[Policy], request: Request, minor: str, authorize: Authorize
) -> Admitted:
    """What the policies say of a request, in their order."""
    failures: list[Failure] = []
    held: list[Validation] = []
    unknown: list[str] = []
    for policy in policies:
        version = matched_version(policy.spec["matchConstraints"], request, minor)
        if version is None:
            continue
        actions = _actions(policy, request, minor)
        if not actions:
            continue
        inputs = _inputs(request, version, authorize)
        found = _judge(policy, inputs)
        unknown += (f"policy {policy.name}: {reason}" for reason in found.unknown)
        held += found.held
        failures += (
            Failure(failure.validation, action, failure.message)
            for failure in found.failures
            for action in actions
        )
    return Admitted(tuple(failures), tuple(held), tuple(unknown))


def _compiled(thing: K8sObject, bindings: tuple[Mapping[str, Any], ...], minor: str) -> Policy:
    name, spec = thing["metadata"]["name"], thing["spec"]
    environment = admission_environment(minor, has_params="paramKind" in spec)
    conditions = tuple(
        _program(environment, condition["expression"])
        for condition in spec.get("matchConditions", ())
    )
    broken: Undecided | None = None
    for variable in spec.get("variables", ()):
        found = environment.with_variable(variable["name"], variable["expression"])
        if not isinstance(found, CelEnvironment):
            reason = found.reason if isinstance(found, Undecided) else found.message
            broken = Undecided(f"variable {variable['name']} does not compile: {reason}")
            break
        environment = found
    rules = tuple(
        _rule(environment, name, index, validation, broken)
        for index, validation in enumerate(spec.get("validations", ()))
    )
    return Policy(name, spec, bindings, conditions, rules)


def _rule(
    environment: CelEnvironment,
    policy: str,
    index: int,
    validation: Mapping[str, str],
    broken: Undecided | None,
) -> _Rule:
    message = validation.get("message", "").strip()
    says = validation.get("messageExpression")
    return _Rule(
        Validation(policy, index, code_of(message)),
        broken or _program(environment, validation["expression"]),
        message or f"failed expression: {validation['expression'].strip()}",
        None if says is None else broken or _program(environment, says, ("string",)),
    )


def _program(
    environment: CelEnvironment, expression: str, results: tuple[str, ...] | None = None
) -> Program | Undecided:
    found = environment.compile(expression, results=results)
    if isinstance(found, Program | Undecided):
        return found
    return Undecided(f"an expression does not compile: {found.message}")


def _actions(policy: Policy, request: Request, minor: str) -> tuple[Action, ...]:
    """What is done about failures, by all bindings that match."""
    found: dict[Action, None] = {}
    for binding in policy.bindings:
        matching = binding.get("matchResources")
        if matching is None or matched_version(matching, request, minor) is not None:
            found |= dict.fromkeys(binding["validationActions"])
    return tuple(found)


def _inputs(request: Request, version: str, authorize: Authorize) -> Inputs:
    old = None if request.old is None else written_out(converted(request.old, version))
    thing = None if request.object is None else written_out(converted(request.object, version))
    return {
        "object": thing,
        "oldObject": old,
        "request": _request(request, version),
        "namespaceObject": None if request.is_namespace else request.namespace,
        "authorizer": (asker := authorize(request)),
        "authorizer.requestResource": asker.ask(
            group=request.group,
            resource=request.resource,
            subresource=request.subresource,
            namespace=request.namespace_name,
            name=request.name,
        ),
    }


def _request(request: Request, version: str) -> dict[str, Any]:
    def kind(of: str) -> dict[str, str]:
        return {"group": request.group, "version": of, "kind": request.kind}

    def resource(of: str) -> dict[str, str]:
        return {"group": request.group, "version": of, "resource": request.resource}

    return {
        "operation": request.operation,
        "kind": kind(version),
        "resource": resource(version),
        "subResource": request.subresource,
        "requestKind": kind(request.version),
        "requestResource": resource(request.version),
        "requestSubResource": request.subresource,
        "name": request.name,
        "namespace": request.namespace_name,
        "userInfo": {
            "username": request.user,
            "groups": list(request.groups),
            "extra": {key: list(values) for key, values in request.extra.items()},
        },
        "dryRun": False,
        "options": None if request.options is None else dict(request.options),
    }


def _judge(policy: Policy, inputs: Inputs) -> Admitted:
    """One policy on inputs in its version; failures say Deny, bindings decide what becomes of it."""
    matched = _meets_conditions(policy, inputs)
    if isinstance(matched, Admitted):
        return matched
    if not matched:
        return Admitted()
    failures: list[Failure] = []
    held: list[Validation] = []
    unknown: list[str] = []
    for rule in policy.rules:
        value = _value(rule.program, inputs)
        if isinstance(value, Undecided):
            unknown.append(value.reason)
        elif isinstance(value, EvaluationError):
            if policy.fails_closed:
                expression = policy.spec["validations"][rule.validation.index]["expression"].strip()
                text = f"expression '{expression}' resulted in error: {value.message}"
                failures.append(Failure(rule.validation, "Deny", text))
        elif value is True:
            held.append(rule.validation)
        else:
            failures.append(Failure(rule.validation, "Deny", _message(rule, inputs)))
    return Admitted(tuple(failures), tuple(held), tuple(unknown))


def _meets_conditions(policy: Policy, inputs: Inputs) -> bool | Admitted:
    """Whether all conditions hold; one that doesn't decides, whatever errors others end in."""
    errors: list[str] = []
    undecided: list[str] = []
    for program in policy.conditions:
        value = _value(program, inputs)
        if value is False:
            return False
        if isinstance(value, Undecided):
            undecided.append(value.reason)
        elif isinstance(value, EvaluationError):
            errors.append(value.message)
    if undecided:
        return Admitted(unknown=tuple(undecided))
    if errors and policy.fails_closed:
        return Admitted((Failure(Validation(policy.name, 0, None), "Deny", "; ".join(errors)),))
    return not errors


def _message(rule: _Rule, inputs: Inputs) -> str:
    """What the expression says where that is one line of text, else the fixed message."""
    if rule.says is None:
        return rule.message
    said = _value(rule.says, inputs)
    if isinstance(said, str):
        text = said.strip()
        if text and "\n" not in text and len(text.encode()) <= MESSAGE_BYTES:
            return text
    return rule.message


def _value(program: Program | Undecided, inputs: Inputs) -> Value | EvaluationError | Undecided:
    """The value of an expression; variables that it reads are kept in the inputs for the next one."""
    if isinstance(program, Undecided):
        return program
    _keep_variables(program, inputs)
    return program.evaluate(inputs)


def _keep_variables(program: Program, inputs: Inputs) -> None:
    used = program.compiled.variables
    for name, variable in program.composed.items():
        key = f"variables.{name}"
        if key in inputs or (used is not None and name not in used):
            continue
        value = _value(variable, inputs)
        if not isinstance(value, EvaluationError | Undecided):
            inputs[key] = value
