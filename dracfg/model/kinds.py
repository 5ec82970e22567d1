"""The documents of the language: one envelope a kind, and the list of kinds."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from dracfg.model.base import DriverName, Name, Spec
from dracfg.model.cluster import ClusterSpec
from dracfg.model.driver import DriverSpec
from dracfg.model.policytest import PolicyTestSpec
from dracfg.model.pool import NodePoolSpec
from dracfg.model.rollout import RolloutSpec
from dracfg.model.sharing import SharingPolicySpec
from dracfg.model.tenant import TenantSpec
from dracfg.model.tier import HardwareTierSpec

Description = Annotated[str, StringConstraints(max_length=2000)]


class Metadata(Spec):
    """The name of a document, unique among those of its kind."""

    name: Name
    description: Description = ""
    """For people; has no effect on the output."""


class DriverMetadata(Spec):
    """The name is the DRA driver's own, as it registers with the kubelet."""

    name: DriverName
    description: Description = ""


class _Document(Spec):
    api_version: Literal["dracfg.dev/v1alpha1"]

    @property
    def name(self) -> str:
        return str(self.metadata.name)  # type: ignore[attr-defined]


class Cluster(_Document):
    """One Kubernetes cluster."""

    kind: Literal["Cluster"]
    metadata: Metadata
    spec: ClusterSpec


class Driver(_Document):
    """A DRA driver of the platform."""

    kind: Literal["Driver"]
    metadata: DriverMetadata
    spec: DriverSpec = DriverSpec.model_construct()


class HardwareTier(_Document):
    """One kind of device."""

    kind: Literal["HardwareTier"]
    metadata: Metadata
    spec: HardwareTierSpec


class SharingPolicy(_Document):
    """How devices are handed out."""

    kind: Literal["SharingPolicy"]
    metadata: Metadata
    spec: SharingPolicySpec


class NodePool(_Document):
    """Nodes of one shape in one cluster."""

    kind: Literal["NodePool"]
    metadata: Metadata
    spec: NodePoolSpec


class Tenant(_Document):
    """A team and what it may have."""

    kind: Literal["Tenant"]
    metadata: Metadata
    spec: TenantSpec


class Rollout(_Document):
    """The staged move of a tier between device plugin and DRA."""

    kind: Literal["Rollout"]
    metadata: Metadata
    spec: RolloutSpec


class PolicyTest(_Document):
    """One request and the verdict it must get."""

    kind: Literal["PolicyTest"]
    metadata: Metadata
    spec: PolicyTestSpec


AnyDocument = Cluster | Driver | HardwareTier | SharingPolicy | NodePool | Tenant | Rollout


def home_of(document: AnyDocument) -> str:
    """The folder at the root that a document belongs into."""
    return "tenants" if isinstance(document, Tenant) else "catalog"


KINDS: Mapping[str, type[AnyDocument]] = MappingProxyType(
    {
        "Cluster": Cluster,
        "Driver": Driver,
        "HardwareTier": HardwareTier,
        "SharingPolicy": SharingPolicy,
        "NodePool": NodePool,
        "Tenant": Tenant,
        "Rollout": Rollout,
    }
)
"""The kinds that are read from `catalog/` and `tenants/`."""

TEST_KINDS: Mapping[str, type[PolicyTest]] = MappingProxyType({"PolicyTest": PolicyTest})
"""The kinds that are read from `tests/policy/`."""

AnyKind = Annotated[AnyDocument | PolicyTest, Field(discriminator="kind")]
