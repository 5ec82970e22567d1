"""A small world by hand, and the worlds of the repository's own example."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from dracfg.cel import Authorizer
from dracfg.pipeline import judge
from dracfg.policytest.admission import Admitted, admit, policies_of
from dracfg.policytest.load import LoadedTest, load_tests
from dracfg.policytest.requests import Request, named_namespace
from dracfg.policytest.run import worlds_of
from dracfg.policytest.world import World

Json = dict[str, Any]
ROOT = Path(__file__).parents[3]
MINOR = "1.34"


def policy(*validations: Json, name: str = "p", **spec: Any) -> list[Json]:
    """A policy over pods with a binding that denies."""
    actions = spec.pop("actions", ["Deny"])
    rules = [
        {
            "operations": ["CREATE", "UPDATE", "DELETE"],
            "apiGroups": [""],
            "apiVersions": ["v1"],
            "resources": ["pods"],
        }
    ]
    constraints = {"resourceRules": rules} | spec.pop("matchConstraints", {})
    body = {"matchConstraints": constraints, "validations": list(validations), **spec}
    return [
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": name},
            "spec": body,
        },
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": name},
            "spec": {"policyName": name, "validationActions": actions},
        },
    ]


def pod(**metadata: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "here", **metadata},
        "spec": {"containers": [{"name": "main", "image": "web:1"}]},
    }


def request(thing: Json | None = None, **changes: Any) -> Request:
    """Ann makes a pod."""
    made: Json = {
        "operation": "CREATE",
        "user": "ann",
        "groups": ("system:authenticated",),
        "object": thing or pod(),
        "old": None,
        "namespace": named_namespace("here"),
    }
    return Request(**(made | changes))


@pytest.fixture
def build_policy() -> Callable[..., list[Json]]:
    return policy


@pytest.fixture
def build_pod() -> Callable[..., Json]:
    return pod


@pytest.fixture
def build_request() -> Callable[..., Request]:
    return request


@pytest.fixture
def ask() -> Callable[..., Admitted]:
    """Objects and a request → what the policies among the objects say."""

    def judged(objects: list[Json], asked: Request, minor: str = MINOR) -> Admitted:
        return admit(policies_of(objects, minor), asked, minor, lambda _: Authorizer())

    return judged


@pytest.fixture(scope="session")
def worlds() -> Mapping[str, World]:
    """The clusters of the example repository."""
    pytest.importorskip("cel_expr_python.cel", reason="cel-expr-python has no wheel here")
    judged = judge(ROOT)
    found = worlds_of(judged.catalog, judged.units)
    return {name: found[name] for name in judged.catalog.clusters}


@pytest.fixture(scope="session")
def examples() -> Mapping[str, LoadedTest]:
    """The tests of the example repository by name."""
    loaded = load_tests(ROOT)
    assert loaded.findings == ()
    return {test.name: test for test in loaded.tests}
