"""The authorizer of admission policies (kubernetes/apiserver: pkg/cel/library/authz.go).

There is no API server to ask. A check is answered from the decisions that the caller gives, and is
Unmodelled where it gives none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any

from dracfg.cel.outcomes import Unmodelled
from dracfg.dataclass import dataclass

__all__ = ["GLOBALS", "MEMBERS", "Authorizer", "Check", "Decision"]


@dataclass(frozen=True, slots=True)
class Check:
    """What is asked: a path, or a resource, of the request's user or a service account."""

    service_account: str = ""
    path: str = ""
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    field_selector: str = ""
    label_selector: str = ""
    verb: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """An authorizer's answer."""

    allowed: bool
    reason: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Authorizer:
    """An authorizer, or a check that is being built from it; the member functions tell which."""

    decisions: Mapping[Check, Decision] = field(default_factory=dict)
    check: Check = Check()

    def ask(self, **parts: str) -> Authorizer:
        """The same with more of the question."""
        return replace(self, check=replace(self.check, **parts))

    def decide(self, verb: str) -> Decision:
        """The decision given for the question."""
        question = replace(self.check, verb=verb)
        if question not in self.decisions:
            raise Unmodelled("the authorizer's decision is not given")
        return self.decisions[question]


def _required(name: str) -> Callable[[Authorizer, str], Authorizer]:
    def ask(authorizer: Authorizer, value: str) -> Authorizer:
        if not value:
            raise ValueError(f"{name} must not be empty")
        return authorizer.ask(**{name: value})

    return ask


def _part(name: str) -> Callable[[Authorizer, str], Authorizer]:
    return lambda authorizer, value: authorizer.ask(**{name: value})


GLOBALS: Mapping[str, Callable[..., Any]] = {}
MEMBERS: Mapping[str, Callable[..., Any]] = {
    "path": _required("path"),
    "group": _part("group"),
    "serviceAccount": lambda asker, space, name: asker.ask(service_account=f"{space}:{name}"),
    "resource": _required("resource"),
    "subresource": _part("subresource"),
    "namespace": _part("namespace"),
    "name": _part("name"),
    "fieldSelector": _part("field_selector"),
    "labelSelector": _part("label_selector"),
    "check": lambda asker, verb: asker.decide(verb),
    "errored": lambda decision: bool(decision.error),
    "error": lambda decision: decision.error,
    "allowed": lambda decision: decision.allowed,
    "reason": lambda decision: decision.reason,
}
