"""kind: PolicyTest. One request and the verdict it must get; lies in tests/policy/."""

from typing import Any, Literal

from pydantic import Field

from dracfg.model.base import Count, Name, Spec


class PolicyTestSpec(Spec):
    """Who does what, where, and whether it is allowed."""

    cluster: Name
    """The Cluster whose policies, roles and quotas judge."""
    user: str = Field(min_length=1)
    """Who asks."""
    groups: tuple[str, ...] = ()
    """Without those that authentication adds by itself, such as system:authenticated."""
    roles: tuple[str, ...] = ()
    """ClusterRoles that the user holds beside what dracfg binds: edit and the like in the namespace,
    cluster-admin and roles that dracfg emits or lists in the whole cluster."""
    user_extra: dict[str, tuple[str, ...]] = {}
    """Facts that authentication adds, such as authentication.kubernetes.io/node-name."""
    namespace: Name | None = None
    """The namespace of the object; none for kinds of the cluster."""
    operation: Literal["CREATE", "UPDATE", "DELETE"]
    """What is asked for."""
    subresource: str | None = Field(default=None, pattern=r"^[a-z]+$")
    """Such as status; left out for the object itself."""
    object: dict[str, Any] | None = None
    """The object as it is sent; of a deletion the object that stands."""
    object_file: str | None = None
    """A file beside the test, instead of `object`."""
    old_object: dict[str, Any] | None = None
    """What stands before an update. An object that dracfg emits need not be written out."""
    options: dict[str, Any] | None = None
    """Options of the request, such as gracePeriodSeconds of a deletion."""
    used: dict[str, Count] = {}
    """What the namespace holds already, by key of its quota."""
    expect: Literal["allow", "deny"]
    """The verdict that it must get."""
    rule: str | None = Field(default=None, pattern=r"^([A-Z]{3}[0-9]{3}|RBAC|QUOTA)$")
    """The code of the denial, or of the warning of what is allowed. RBAC and QUOTA name what denies
    without a code."""
    message: str | None = None
    """A part of the message that a denial must show."""
