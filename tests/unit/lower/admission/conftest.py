"""Admission policies over requests: which of them match, and what they say."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from dracfg.cel import CelEnvironment, EvaluationError, Program, admission_environment
from dracfg.link.catalog import Catalog
from dracfg.link.classes import device_classes
from dracfg.lower.access import plural
from dracfg.lower.admission import admission
from dracfg.lower.artifact import K8sObject
from dracfg.lower.rights import claims_by_namespace, rights
from dracfg.lower.templates import claim_artifacts, template_artifacts
from dracfg.lower.tenancy import Tenancy

pytest.importorskip("cel_expr_python.cel", reason="cel-expr-python has no wheel here")

MINOR = "1.34"
"""New expressions compile in the environment of the minor before."""

Json = dict[str, Any]


class Unevaluated(Exception):
    """An expression could not be evaluated, which failurePolicy Fail answers with a denial."""


@dataclass(frozen=True)
class _Compiled:
    conditions: tuple[Program, ...]
    rules: tuple[tuple[Program, Program], ...]


@dataclass(frozen=True)
class Request:
    """An admission request; the kind of the object tells the resource unless it is named."""

    object: Json | None
    old: Json | None
    operation: str
    resource: str
    subresource: str
    namespace: Json | None
    user: str
    groups: tuple[str, ...]
    extra: Mapping[str, list[str]]
    options: Json | None

    @property
    def subject(self) -> Json:
        found = self.object if self.object is not None else self.old
        assert found is not None
        return found

    @property
    def group(self) -> str:
        return str(self.subject["apiVersion"]).rpartition("/")[0]

    @property
    def inputs(self) -> Json:
        metadata = self.subject["metadata"]
        version = self.subject["apiVersion"].rpartition("/")[2]
        return {
            "object": self.object,
            "oldObject": self.old,
            "request": {
                "operation": self.operation,
                "name": metadata.get("name", ""),
                "namespace": metadata.get("namespace", ""),
                "resource": {
                    "group": self.group,
                    "version": version,
                    "resource": self.resource,
                },
                "subResource": self.subresource,
                "userInfo": {
                    "username": self.user,
                    "groups": list(self.groups),
                    "extra": dict(self.extra),
                },
                "options": self.options,
            },
            "namespaceObject": self.namespace,
        }


@dataclass(frozen=True)
class Policies:
    """What is emitted for one cluster, by name, without the bindings."""

    specs: Mapping[str, Json]

    def denials(
        self,
        thing: Json | None,
        noted: Mapping[str, str] | None = None,
        *,
        policy: str | None = None,
        user: str = "ann",
        old: Json | None = None,
        namespace: str = "here",
        resource: str | None = None,
        subresource: str = "",
        groups: Iterable[str] = (),
        extra: Mapping[str, list[str]] | None = None,
        options: Json | None = None,
        operation: str | None = None,
    ) -> list[str]:
        """The messages of all rules, of one policy or of all, that don't hold.

        `noted` are the annotations of the object's namespace.
        """
        subject = thing if thing is not None else old
        assert subject is not None
        said = "DELETE" if thing is None else "CREATE" if old is None else "UPDATE"
        metadata: Json = {"name": namespace, "labels": {"kubernetes.io/metadata.name": namespace}}
        if noted is not None:
            metadata["annotations"] = dict(noted)
        request = Request(
            thing,
            old,
            operation or said,
            resource or plural(subject["kind"]),
            subresource,
            {"metadata": metadata} if "namespace" in subject["metadata"] else None,
            user,
            tuple(groups),
            extra or {},
            options,
        )
        return [
            message
            for name, spec in self.specs.items()
            if policy in (None, name) and _matches(spec, request)
            for message in _denials(_compile(json.dumps(spec)), request)
        ]


def _matches(spec: Json, request: Request) -> bool:
    constraints = spec["matchConstraints"]
    resource = "/".join(filter(None, (request.resource, request.subresource)))
    ruled = any(
        request.operation in rule["operations"]
        and request.group in rule["apiGroups"]
        and resource in rule["resources"]
        for rule in constraints["resourceRules"]
    )
    labels = [
        (thing["metadata"].get("labels") or {})
        for thing in (request.object, request.old)
        if thing is not None
    ]
    wanted = constraints["objectSelector"].get("matchLabels", {})
    chosen = any(wanted.items() <= found.items() for found in labels)
    name = request.namespace["metadata"]["name"] if request.namespace else None
    left_out = [
        value
        for term in constraints["namespaceSelector"].get("matchExpressions", ())
        for value in term["values"]
    ]
    return ruled and chosen and name not in left_out


@cache
def _compile(text: str) -> _Compiled:
    """Compiles as the API server does: conditions without variables, messages as text."""
    spec = json.loads(text)
    environment: Any = admission_environment(MINOR, has_params=False)
    conditions = tuple(
        _program(environment.compile(condition["expression"]))
        for condition in spec.get("matchConditions", ())
    )
    for variable in spec.get("variables", ()):
        environment = environment.with_variable(variable["name"], variable["expression"])
        assert isinstance(environment, CelEnvironment), (variable["name"], environment)
    return _Compiled(
        conditions,
        tuple(
            (
                _program(environment.compile(rule["expression"])),
                _program(environment.compile(rule["messageExpression"], results=("string",))),
            )
            for rule in spec["validations"]
        ),
    )


def _program(compiled: Any) -> Program:
    assert isinstance(compiled, Program), compiled
    return compiled


def _denials(compiled: _Compiled, request: Request) -> list[str]:
    inputs = request.inputs

    def value(program: Program) -> Any:
        found = program.evaluate(inputs)
        if isinstance(found, EvaluationError):
            raise Unevaluated(f"{program.expression}: {found.message}")
        return found

    if not all(value(condition) for condition in compiled.conditions):
        return []
    return [value(says) for rule, says in compiled.rules if not value(rule)]


@pytest.fixture
def policies_of() -> Callable[..., Policies]:
    """A linked catalog → the policies of its cluster east."""

    def build(catalog: Catalog) -> Policies:
        cluster = catalog.clusters["east"]
        found = admission(catalog, cluster, device_classes(catalog, cluster))
        things = [artifact.object for artifact in found]
        return Policies(
            {
                thing["metadata"]["name"]: thing["spec"]
                for thing in things
                if thing["kind"] == "ValidatingAdmissionPolicy"
            }
        )

    return build


@pytest.fixture
def rights_of() -> Callable[..., dict[str, str]]:
    """A linked catalog → the annotations of one of vision's namespaces."""

    def build(catalog: Catalog, namespace: str = "vision-train") -> dict[str, str]:
        cluster, tenant = catalog.clusters["east"], catalog.tenants["vision"]
        tenancy = Tenancy(catalog, cluster, tenant)
        emitted: list[K8sObject] = [
            artifact.object
            for artifact in (*template_artifacts(tenancy), *claim_artifacts(tenancy))
        ]
        return dict(rights(tenancy, claims_by_namespace(emitted))[namespace])

    return build


@pytest.fixture
def unevaluated() -> type[Exception]:
    """What is raised where an expression can't be evaluated."""
    return Unevaluated
