"""The roles that dracfg emits, as its data lists them.

Knows who each role is for, nothing of tenants or clusters.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

from dracfg.dataclass import dataclass
from dracfg.packaged import read_data

RBAC_GROUP = "rbac.authorization.k8s.io"
RBAC_API = f"{RBAC_GROUP}/v1"

USE = "dracfg-tenant-use"
RUN = "dracfg-tenant-run"
VIEW = "dracfg-tenant-view"
OWN_CLAIMS = "dracfg-tenant-own-claims"
CLASS_READER = "dracfg-class-reader"
SLICE_READER = "dracfg-slice-reader"
MONITORING = "dracfg-monitoring"
PR_BOT = "dracfg-pr-bot"
PR_BOT_RECORDS = "dracfg-pr-bot-records"
SCHEDULER = "dracfg-scheduler"
APPLIER = "dracfg-applier"
DRIVER = "dracfg-driver-"
"""What the name of a driver's role starts with; the driver's name follows."""

Rule = dict[str, list[str]]
"""A PolicyRule of rbac.authorization.k8s.io/v1."""

Holder = Literal["tenant", "monitoring", "bot", "scheduler", "driver", "applier"]

_PLACEHOLDER = "<driver>"


@dataclass(frozen=True, slots=True)
class FixedRole:
    """A role of the list, with the kind of identity that it is for."""

    name: str
    holder: Holder
    rules: tuple[Rule, ...]


def fixed_roles() -> Mapping[str, FixedRole]:
    """The roles whose rules are the same on every cluster, by name in the order of the data."""
    return {
        name: FixedRole(name, entry["holder"], tuple(entry["rules"]))
        for name, entry in _document()["roles"].items()
    }


def driver_role(driver: str) -> FixedRole:
    """The role of a DRA driver's node plugin."""
    rules = tuple(
        {
            key: [driver if word == _PLACEHOLDER else word for word in words]
            for key, words in rule.items()
        }
        for rule in _document()["driver"]
    )
    return FixedRole(f"{DRIVER}{driver}", "driver", rules)


def applier_verbs() -> tuple[str, ...]:
    """What an engine does with the kinds that it applies."""
    return tuple(_document()["applierVerbs"])


@cache
def _document() -> dict[str, Any]:
    document: dict[str, Any] = read_data("dracfg.lower", "data/roles.yaml")
    return document
