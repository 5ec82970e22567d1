"""kind: Tenant. A team: its people, its namespaces, what it may have, and the claims it uses."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from dracfg.model.base import (
    NO_ENTRIES,
    Count,
    DriverName,
    LabelKey,
    LabelValue,
    Name,
    Positive,
    QualifiedAttribute,
    Reason,
    Spec,
    tag_by_shape,
)
from dracfg.model.cluster import ServiceAccountRef
from dracfg.model.devicemetadata import Reads

TenantState = Literal["active", "frozen", "draining", "removed"]
Visibility = Literal["none", "classes", "slices"]


class GroupSubject(Spec):
    group: str = Field(min_length=1)
    """A group, as the API server knows it."""


class UserSubject(Spec):
    user: str = Field(min_length=1)
    """A user name, as the API server knows it."""


class ServiceAccountSubject(Spec):
    service_account: ServiceAccountRef


def _subject_tag(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    return next((key for key in ("group", "user", "serviceAccount") if key in value), None)


Subject = Annotated[
    Annotated[GroupSubject, Tag("group")]
    | Annotated[UserSubject, Tag("user")]
    | Annotated[ServiceAccountSubject, Tag("serviceAccount")],
    Discriminator(_subject_tag),
]


class Access(Spec):
    """Who works for the tenant. `use` may run workloads with its claims, `view` may look."""

    use: tuple[Subject, ...] = ()
    """Run workloads with the tenant's claims."""
    view: tuple[Subject, ...] = ()
    """Look at them."""
    visibility: Visibility = "none"
    """What they may read beyond their namespaces: nothing, all device classes, or every published
    device of the cluster as well, with its node and serial numbers."""


class TenantNamespace(Spec):
    """A namespace of the tenant."""

    name: Name
    """The namespace."""
    clusters: tuple[Name, ...] = Field(min_length=1)
    """The Clusters on which the tenant has it."""
    share: Count = 1
    """Its part of each entitlement's quota, relative to the tenant's other namespaces of the cluster."""
    managed_by: Literal["dracfg", "external"] = "dracfg"
    """`external`: somebody else owns the Namespace object and must set the metadata that is handed out."""
    labels: dict[LabelKey, LabelValue] = NO_ENTRIES
    """Further labels of the Namespace."""


SizeName = Annotated[str, Field(min_length=1, max_length=63)]
Amounts = Annotated[
    Annotated[Count, Tag("count")] | Annotated[dict[SizeName, Count], Tag("bySize")],
    Discriminator(tag_by_shape(number="count", map="bySize")),
]


class Entitlement(Spec):
    """What the tenant may have of one tier, per cluster."""

    name: Name
    """What profiles name."""
    tier: Name
    """The HardwareTier."""
    sharing: Name = "whole"
    """The SharingPolicy by which devices are handed out; `whole` needs no document."""
    guaranteed: Amounts
    """Devices that are promised; a map by size or partition where the policy has them."""
    limit: Amounts | None = None
    """What quota enforces; for each size as much as is guaranteed unless said."""
    priority: Name | None = None
    """A priority of the cluster that pods with these devices may have."""


SizeText = Annotated[
    Annotated[str, Field(min_length=1, max_length=63), Tag("text")]
    | Annotated[int, Field(ge=1), Tag("number")],
    Discriminator(tag_by_shape(text="text", number="number")),
]


ChosenValue = Annotated[
    Annotated[str, Field(min_length=1, max_length=64), Tag("text")]
    | Annotated[int, Field(ge=-(2**63), le=2**63 - 1), Tag("number")],
    Discriminator(tag_by_shape(text="text", number="number")),
]


class Alternative(Spec):
    """One way to satisfy a request; the first that fits is taken."""

    name: Name | None = None
    """The alternative's name within the claim; its place says it otherwise."""
    entitlement: Name
    """The entitlement that it draws on."""
    count: Positive = 1
    """How many devices."""
    size: SizeText | None = None
    """A size or partition of the entitlement's policy."""
    choose: dict[Name, ChosenValue] = NO_ENTRIES
    """Values of the tier's parameters that the devices have."""


class Toleration(Spec):
    """A device taint that the request tolerates."""

    key: LabelKey | None = None
    """The taint's key; none tolerates all, with `Exists`."""
    operator: Literal["Exists", "Equal"] = "Equal"
    """Whether key alone or key and value are compared."""
    value: LabelValue | None = None
    """The taint's value."""
    effect: Literal["NoSchedule", "NoExecute"] | None = None
    """The effect that is tolerated; none means both."""
    toleration_seconds: Count | None = None
    """How long NoExecute is tolerated; without end unless said."""


class Request(Spec):
    """Devices of one entitlement, or the first of several alternatives."""

    name: Name
    """The request's name within the claim; containers may name it."""
    entitlement: Name | None = None
    """The entitlement that it draws on."""
    count: Positive = 1
    """How many devices."""
    size: SizeText | None = None
    """A size or partition of the entitlement's policy."""
    choose: dict[Name, ChosenValue] = NO_ENTRIES
    """Values of the tier's parameters that the devices have."""
    any_of: tuple[Alternative, ...] | None = Field(default=None, min_length=2, max_length=8)
    tolerations: tuple[Toleration, ...] = Field(default=(), max_length=16)


class Align(Spec):
    """Devices of these requests agree in an attribute, pair by pair."""

    requests: tuple[Name, ...] = Field(min_length=1, max_length=32)
    """The requests whose devices agree."""
    by: QualifiedAttribute
    """The attribute in which they agree, with its domain."""


class Distinct(Spec):
    """Devices of these requests all differ in an attribute."""

    requests: tuple[Name, ...] = Field(min_length=1, max_length=32)
    """The requests whose devices differ."""
    by: QualifiedAttribute
    """The attribute in which they differ, with its domain."""


class ProfileConfig(Spec):
    """Opaque parameters for some requests of a profile."""

    requests: tuple[Name, ...] = ()
    """The requests that they are for; all unless said."""
    driver: DriverName
    """The driver that reads them."""
    api_version: str | None = None
    """Their apiVersion, where the driver has several kinds."""
    kind: str | None = None
    """Their kind, where the driver has several."""
    values: dict[str, Any] = {}
    """The fields beside apiVersion and kind."""


class Profile(Spec):
    """What a workload names: one ResourceClaimTemplate in each of its namespaces."""

    name: Name
    """The template's name, as workloads write it."""
    namespaces: tuple[Name, ...] | None = Field(default=None, min_length=1)
    """The namespaces that get it; all of the tenant's unless said."""
    revision: Positive = 1
    """Raised with each change of the content: a template can't be edited in place."""
    requests: tuple[Request, ...] = Field(min_length=1, max_length=32)
    align: tuple[Align, ...] = ()
    distinct: tuple[Distinct, ...] = ()
    config: tuple[ProfileConfig, ...] = ()
    priority: Name | None = None
    """The priority that pods of this profile are meant to have."""
    reads: tuple[Reads, ...] = Field(default=(), max_length=32)
    """What the application reads of its devices' metadata files."""


class SharedClaim(Spec):
    """One claim for several pods of one namespace."""

    name: Name
    """The claim's name, as pods write it."""
    profile: Name
    """The profile that it is made from."""
    namespace: Name
    """The namespace that it is in."""
    pods: Annotated[int, Field(ge=1, le=256)]
    """The most pods that use it at a time."""


class Offer(Spec):
    """Lends part of an entitlement's quota to another tenant."""

    entitlement: Name
    """The entitlement that is lent from."""
    size: SizeText | None = None
    """The size or partition, where the entitlement has several."""
    count: Positive
    """How many."""
    to: Name
    """The tenant that may take them."""


class AcceptedOffer(Spec):
    """The taker's side of an offer."""

    from_: Name = Field(alias="from")
    """The tenant that lends."""
    entitlement: Name
    """Its entitlement."""
    size: SizeText | None = None
    """The size or partition, where the entitlement has several."""
    count: Positive
    """How many are taken."""


class AdminAccess(Spec):
    """Read access to devices in use, for monitoring: one namespace, named tiers, a reason."""

    namespace: Name
    """The namespace whose pods look."""
    tiers: tuple[Name, ...] = Field(min_length=1)
    """The tiers that they may look at."""
    reason: Reason
    """Why, for reviewers and auditors."""
    revision: Positive = 1
    """Raised when the content of the templates changes, as it may with the cluster's minor."""


class TenantSpec(Spec):
    """A team and what it may have."""

    state: TenantState = "active"
    """`frozen` makes no new claims, `draining` leaves, `removed` has no rights any more."""
    access: Access = Access.model_construct()
    namespaces: tuple[TenantNamespace, ...] = Field(min_length=1)
    entitlements: tuple[Entitlement, ...] = ()
    profiles: tuple[Profile, ...] = ()
    own_claims: bool = False
    """Whether the tenant may write claims and templates by hand, within its entitlements."""
    shared_claims: tuple[SharedClaim, ...] = ()
    offers: tuple[Offer, ...] = ()
    accepted_offers: tuple[AcceptedOffer, ...] = ()
    admin_access: tuple[AdminAccess, ...] = ()
