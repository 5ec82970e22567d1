"""kind: PolicyTest. One request and the verdict it must get; lies in tests/policy/."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from dracfg.model.base import Name, Spec


class PolicyTestSpec(Spec):
    """Who does what, where, and whether it is allowed."""

    cluster: Name
    user: str = Field(min_length=1)
    groups: tuple[str, ...] = ()
    namespace: Name | None = None
    operation: Literal["CREATE", "UPDATE", "DELETE"]
    object: dict[str, Any] | None = None
    object_file: str | None = None
    """A file beside the test, instead of `object`."""
    expect: Literal["allow", "deny"]
    rule: str | None = Field(default=None, pattern=r"^[A-Z]{3}[0-9]{3}$")
    message: str | None = None
    """A part of the message that a denial must show."""
