"""Who writes and who reads each field on the way of a claim, and what its stages mean.

Data with its sources in data/responsibilities.yaml. Knows nothing of catalogs, and nothing of roles and
policies but the names that the data gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.packaged import read_data


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of a claim's way: what it is, where it is seen, and what must not be taken from it."""

    name: str
    is_: str
    seen: str
    not_yet: str


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts. `users` are the user names that the API server sees, empty where they are many.

    `holder` names the emitted roles that are for the actor; None where dracfg emits none.
    """

    name: str
    title: str
    users: tuple[str, ...] = ()
    holder: str | None = None


@dataclass(frozen=True, slots=True)
class Right:
    """One of `verbs` on `resource`, written `plural[.group][/subresource]`."""

    resource: str
    verbs: tuple[str, ...]

    @property
    def group(self) -> str:
        """The API group, empty for the core group."""
        return self.resource.partition("/")[0].partition(".")[2]

    @property
    def path(self) -> str:
        """The resource as rules write it: `resourceclaims/status`."""
        plural, _, _ = self.resource.partition("/")[0].partition(".")
        _, slash, subresource = self.resource.partition("/")
        return f"{plural}{slash}{subresource}"


@dataclass(frozen=True, slots=True)
class Responsibility:
    """Part of an object with its writers and readers.

    Who has all of `needs` can write it; `granted` are the holders that emitted roles give them to, and
    `policies` the emitted policies that judge it.
    """

    kind: str
    part: str
    stage: str
    writers: tuple[str, ...]
    readers: tuple[str, ...]
    when: str
    failure: str
    emits: str
    needs: tuple[Right, ...]
    granted: tuple[str, ...]
    policies: tuple[str, ...]


@cache
def stages() -> tuple[Stage, ...]:
    """The stages of a claim, in order."""
    return tuple(
        Stage(entry["name"], entry["is"], entry["seen"], entry["notYet"])
        for entry in _document()["stages"]
    )


@cache
def actors() -> Mapping[str, Actor]:
    """Every actor by its name in the data."""
    return MappingProxyType(
        {
            name: Actor(name, facts["title"], tuple(facts.get("users", ())), facts.get("holder"))
            for name, facts in _document()["actors"].items()
        }
    )


@cache
def responsibilities() -> tuple[Responsibility, ...]:
    """Every field in the order of the data."""
    return tuple(
        Responsibility(
            entry["kind"],
            entry["part"],
            entry["stage"],
            tuple(entry["writers"]),
            tuple(entry["readers"]),
            entry["when"],
            entry["failure"],
            entry["emits"],
            tuple(Right(right["resource"], tuple(right["verbs"])) for right in entry["needs"]),
            tuple(entry["granted"]),
            tuple(entry["policies"]),
        )
        for entry in _document()["fields"]
    )


def _document() -> dict[str, Any]:
    document: dict[str, Any] = read_data("dracfg.kube", "data/responsibilities.yaml")
    return document
