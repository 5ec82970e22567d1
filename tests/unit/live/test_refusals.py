"""Statuses of the API server, as Kubernetes 1.34 to 1.37 write them."""

from __future__ import annotations

from typing import Any

import pytest

from dracfg.live.connection import Answer
from dracfg.live.refusals import Cause, Right, read_refusal, read_right
from tests.unit.live.conftest import Reply, status

RIGHTS = (
    'resourcequotas "q" is forbidden: User "ann" cannot patch resource "resourcequotas" '
    'in API group "" in the namespace "team"'
)
IMMUTABLE = (
    'ResourceClaimTemplate.resource.k8s.io "t" is invalid: spec: Invalid value: {}: '
    "field is immutable"
)


def answer(reply: Reply) -> Answer:
    body: Any = reply.body
    return Answer(reply.status, body if isinstance(body, dict) else {}, "page")


@pytest.mark.parametrize(
    ("reply", "why", "by"),
    [
        (status(403, RIGHTS, "Forbidden"), "rights", ""),
        (
            status(
                403,
                'deviceclasses.resource.k8s.io "a" is forbidden: ValidatingAdmissionPolicy '
                "'dracfg-guard' with binding 'dracfg-guard' denied request: TEN037: no",
            ),
            "admission",
            "dracfg-guard",
        ),
        (
            status(422, "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no", "Invalid"),
            "admission",
            "p",
        ),
        (status(400, 'admission webhook "h.io" denied the request: no'), "admission", "h.io"),
        (
            status(403, 'admission webhook "h" denied the request without explanation'),
            "admission",
            "h",
        ),
        (status(403, 'resourceclaims "c" is forbidden: exceeded quota: q, used: 1'), "admission", ""),
        (
            status(
                403,
                'rolebindings "r" is forbidden: user "u" (groups=["g"]) is attempting to grant RBAC '
                "permissions not currently held:\n{APIGroups:[apps]}",
            ),
            "grants",
            "",
        ),
        (status(404, 'namespaces "n" not found', "NotFound", kind="namespaces", name="n"), "namespace", "n"),
        (status(404, 'clusterroles "c" not found', kind="clusterroles", name="c"), "missing", "c"),
        (status(422, IMMUTABLE, causes=[{"field": "spec", "message": "field is immutable"}]),
         "immutable", ""),
        (status(422, "no", causes=[{"field": "spec.a", "message": "must be positive"}]), "invalid", ""),
        (status(400, 'strict decoding error: unknown field "spec.a"'), "invalid", ""),
        (status(400, "admission webhook h does not support dry run"), "undecided", ""),
        (status(500, "failed calling webhook"), "undecided", ""),
        (status(500, "failed to create typed patch object (n/q; /v1): .a: field not declared in schema"),
         "invalid", ""),
        (status(409, "the object has been modified", "Conflict"), "undecided", ""),
        (Reply(502, b"<html>"), "undecided", ""),
    ],
)  # fmt: skip
def test_why(reply: Reply, why: str, by: str) -> None:
    refusal = read_refusal(answer(reply))
    assert (refusal.why, refusal.by) == (why, by)


def test_rights() -> None:
    right = Right("ann", "patch", "", "resourcequotas", "team")
    assert read_refusal(answer(status(403, RIGHTS))).right == right
    assert read_right(answer(status(403, RIGHTS))) == right
    assert read_right(answer(status(403, "no"))) is None
    wide = RIGHTS.replace('in the namespace "team"', "at the cluster scope")
    assert read_right(answer(status(403, wide))) == Right("ann", "patch", "", "resourcequotas", "")


def test_the_words_of_a_policy_alone() -> None:
    message = (
        "x is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: TEN: no"
    )
    assert read_refusal(answer(status(403, message))).message == "TEN: no"


def test_conflicts_name_managers_and_fields() -> None:
    causes = [
        {
            "reason": "FieldManagerConflict",
            "message": 'conflict with "kubectl-edit" using v1',
            "field": ".spec.hard.x",
        },
        {
            "reason": "FieldManagerConflict",
            "message": 'conflict with "a \\"b\\"" with subresource "status" using v1',
            "field": ".spec.y",
        },
    ]
    refusal = read_refusal(answer(status(409, "Apply failed with 2 conflicts", causes=causes)))
    assert refusal.why == "conflict"
    assert [(cause.manager, cause.field) for cause in refusal.causes] == [
        ("kubectl-edit", ".spec.hard.x"),
        ('a \\"b\\"', ".spec.y"),
    ]


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ('strict decoding error: unknown field "spec.hrad"', "spec.hrad"),
        (
            "failed to create typed patch object (team/q; /v1): .spec.hrad: field not declared in schema",
            ".spec.hrad",
        ),
    ],
)
def test_fields_that_only_the_message_names(message: str, field: str) -> None:
    assert read_refusal(answer(status(400, message))).causes == (Cause(field, message),)


@pytest.mark.parametrize("body", [{}, {"details": 3}, {"details": {"causes": [4, {"field": 5}]}}])
def test_statuses_that_are_none(body: dict[str, Any]) -> None:
    assert read_refusal(Answer(422, body, "page")).message == "page"
