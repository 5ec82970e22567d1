"""The Status with which an API server refuses → why, in parts that findings can name.

The forms of the messages are those of the API server:
kubernetes/apiserver@v0.36.3:pkg/endpoints/handlers/responsewriters/errors.go (rights),
pkg/admission/plugin/webhook/errors/statuserror.go and pkg/admission/plugin/policy/validating/
dispatcher.go (admission), pkg/endpoints/handlers/fieldmanager (conflicts);
kubernetes/apimachinery@v0.36.3:pkg/util/validation/field/errors.go (fields).
"""

from __future__ import annotations

import re
from typing import Any, Literal

from dracfg.dataclass import dataclass
from dracfg.live.connection import Answer

Why = Literal[
    "rights",  # the user lacks a right
    "grants",  # the object grants what the user does not hold
    "conflict",  # another manager owns fields
    "immutable",  # fields that can't change in place
    "admission",  # a policy, a webhook or a quota
    "invalid",  # the object breaks the API
    "namespace",  # the namespace is not there
    "missing",  # something else that the object names is not there
    "undecided",  # the server could not tell
]

_RIGHTS = re.compile(
    r'User "(?P<user>[^"]*)" cannot (?P<verb>\S+) resource "(?P<resource>[^"]+)"'
    r' in API group "(?P<group>[^"]*)"(?: in the namespace "(?P<namespace>[^"]*)")?'
)
_GRANTS = re.compile(r"is attempting to grant RBAC permissions not currently held")
_POLICY = re.compile(
    r"ValidatingAdmissionPolicy '(?P<policy>[^']+)' with binding '(?P<binding>[^']+)'"
    r" denied request(?:: (?P<said>.*))?",
    re.DOTALL,
)
_WEBHOOK = re.compile(
    r'admission webhook "(?P<webhook>[^"]+)" denied the request(?:[^:]*: (?P<said>.*))?', re.DOTALL
)
_NO_DRY_RUN = "does not support dry run"
_UNTYPED = "failed to create typed patch object"
"""How a server-side apply says that a field does not exist; the status is that of a server fault."""
_IMMUTABLE = re.compile(
    r"immutable|may not be (?:changed|updated)|updates to .* are forbidden", re.I
)
_MANAGER = re.compile(r'conflict with "((?:[^"\\]|\\.)*)"')
_FIELDS = (
    re.compile(r'(?:unknown|duplicate) field "([^"]+)"'),
    re.compile(r"(\.[^\s;:]+): (?:field not declared in schema|expected)"),
)


@dataclass(frozen=True, slots=True)
class Cause:
    """One fault of a Status: the field as the server writes it, what is wrong, whose it is."""

    field: str
    message: str
    manager: str = ""


@dataclass(frozen=True, slots=True)
class Right:
    """What a user may not do."""

    user: str
    verb: str
    group: str
    resource: str
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an object was refused. `by` is a policy, a webhook or a thing that is missing."""

    why: Why
    message: str
    causes: tuple[Cause, ...] = ()
    right: Right | None = None
    by: str = ""


def read_refusal(answer: Answer) -> Refusal:
    """What an answer that is not good says; whatever is not understood is undecided."""
    message = _text(answer.body.get("message")) or answer.text or f"status {answer.status}"
    details = answer.body.get("details")
    details = details if isinstance(details, dict) else {}
    causes = tuple(_causes(details)) or tuple(_causes_in(message))
    if denied := _admission(message):
        return denied
    match answer.status:
        case 403 if right := _RIGHTS.search(message):
            return Refusal("rights", message, right=_right(right))
        case 403 if _GRANTS.search(message):
            return Refusal("grants", message)
        case 403:
            return Refusal("admission", _said(message))
        case 404 if details.get("kind") == "namespaces":
            return Refusal("namespace", message, by=_text(details.get("name")))
        case 404 if details.get("name"):
            return Refusal("missing", message, by=_text(details.get("name")))
        case 409 if any(cause.manager for cause in causes):
            return Refusal("conflict", message, causes)
        case 422 if any(_IMMUTABLE.search(cause.message) for cause in causes):
            return Refusal("immutable", message, causes)
        case 400 if _NO_DRY_RUN in message:
            return Refusal("undecided", message)
        case 400 | 413 | 422:
            return Refusal("invalid", message, causes)
        case 500 if _UNTYPED in message:
            return Refusal("invalid", message, causes)
    return Refusal("undecided", message)


def read_right(answer: Answer) -> Right | None:
    """The right that an answer says is lacking; None where it says something else."""
    found = _RIGHTS.search(_text(answer.body.get("message")))
    return _right(found) if answer.status == 403 and found else None


def _right(found: re.Match[str]) -> Right:
    return Right(
        found["user"], found["verb"], found["group"], found["resource"], found["namespace"] or ""
    )


def _admission(message: str) -> Refusal | None:
    if found := _POLICY.search(message):
        return Refusal("admission", (found["said"] or message).strip(), by=found["policy"])
    if found := _WEBHOOK.search(message):
        return Refusal("admission", (found["said"] or message).strip(), by=found["webhook"])
    return None


def _said(message: str) -> str:
    """What follows `<resource> "<name>" is forbidden: `."""
    return message.partition(" is forbidden: ")[2] or message


def _causes(details: dict[str, Any]) -> list[Cause]:
    listed = details.get("causes")
    found = []
    for cause in listed if isinstance(listed, list) else ():
        if isinstance(cause, dict):
            message = _text(cause.get("message"))
            manager = ""
            if cause.get("reason") == "FieldManagerConflict":
                said = _MANAGER.search(message)
                manager = said[1] if said else message
            found.append(Cause(_text(cause.get("field")), message, manager))
    return found


def _causes_in(message: str) -> list[Cause]:
    """Fields that only the message names, as decoding does."""
    return [Cause(found, message) for form in _FIELDS for found in form.findall(message)]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
