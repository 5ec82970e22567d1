"""kind: Driver. A DRA driver as this platform runs it: a preset, overridden where it differs."""

from typing import Any, Literal

from pydantic import Field

from dracfg.model.base import (
    AttributeName,
    CapacityName,
    Date,
    DriverName,
    ExtendedResource,
    Name,
    Spec,
)
from dracfg.model.cluster import ServiceAccountRef
from dracfg.model.devicemetadata import MetadataMetrics, MetadataVersion
from dracfg.model.objectives import DeviceMetrics

AttributeType = Literal["string", "int", "bool", "version", "strings", "ints", "bools", "versions"]
Enforcement = Literal["hardware", "driver", "none"]
Unit = Literal["bytes", "bit/s", "percent", "count"]


class DevicePlugin(Spec):
    """The device plugin that advertises the same hardware on pools that are not on DRA."""

    resources: tuple[ExtendedResource, ...] = Field(min_length=1)
    """The extended resources that it serves."""


class OpaqueConfig(Spec):
    """A kind of opaque parameters that the driver reads."""

    api_version: str | None = Field(
        default=None, min_length=1, examples=["resource.nvidia.com/v1beta1"]
    )
    """The apiVersion that its parameters carry."""
    kind: str | None = Field(default=None, min_length=1, examples=["GpuConfig"])
    """The kind that its parameters carry."""
    parameters: dict[str, Any] | None = None
    """JSON Schema (draft-07) of the parameters; needed where the preset has none."""


class EnforcementTrial(Spec):
    """What a trial on one node showed: whether shares were held to their amount of a capacity."""

    capacity: CapacityName
    """The capacity that was tried."""
    version: str = Field(min_length=1, examples=["0.5.0"])
    """The release that was tried."""
    date: Date = Field(examples=["2026-11-29"])
    """The day of the trial."""
    digest: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")
    """Of the recorded results."""
    enforced: bool
    """Whether shares were held to their size."""


class TrialLoad(Spec):
    """The load of a trial; no standard image exists. Its contract stands in docs/trials.md."""

    image: str = Field(pattern=r"^[^\s]+$", examples=["registry.example.com/share-trial:1"])
    """The image that loads a share and measures."""
    command: tuple[str, ...] = ()
    """In place of the image's entry point."""
    namespace: Name
    """Where its Jobs run; an exempt namespace of the cluster."""
    seconds: int = Field(default=120, ge=10, le=3600)
    """How long each container puts load on its share."""


class WebhookService(Spec):
    name: Name
    """The Service in front of it."""
    namespace: Name
    """The Service's namespace."""


class Webhook(Spec):
    """The driver's validating webhook, where its chart does not install the configuration."""

    service: WebhookService
    """Where the API server reaches it."""
    path: str = Field(pattern=r"^/[^\s]*$")
    """The path of its requests."""
    port: int = Field(default=443, ge=1, le=65535)
    """The Service's port."""
    cert_manager: str | None = Field(default=None, pattern=r"^[a-z0-9-]+/[a-z0-9.-]+$")
    """`NAMESPACE/NAME` of the cert-manager Certificate that signs the service."""
    ca_bundle: str | None = Field(default=None, pattern=r"^[A-Za-z0-9+/=]+$")
    """The CA in base64, where cert-manager does not inject it."""
    failure_policy: Literal["Ignore", "Fail"] = "Ignore"
    """What happens to a request that it does not answer."""


class DriverSpec(Spec):
    """A DRA driver of the platform."""

    preset: DriverName | None = None
    """The built-in description to start from."""
    version: str | None = Field(default=None, min_length=1, examples=["0.5.0"])
    """The release in use, as its publisher writes it."""
    installer: str | None = Field(default=None, min_length=1, examples=["GPU Operator"])
    """What installs driver and device plugin, as the preset names it; the driver's own chart unless said."""
    attributes: dict[AttributeName, AttributeType] = {}
    """Attributes beside those of the preset; names without a domain belong to the driver's."""
    capacity: tuple[CapacityName, ...] = ()
    """Capacities beside those of the preset, spelled as the driver publishes them."""
    units: dict[CapacityName, Unit] = {}
    """What an amount of a capacity counts; the preset's word unless said."""
    enforces: dict[CapacityName, Enforcement] = {}
    """What holds a share to its size, per capacity."""
    trial: TrialLoad | None = None
    """With it, a trial of every consumable policy is written for each pool that lists it."""
    trials: tuple[EnforcementTrial, ...] = ()
    """Records of what was measured; those of other releases than `version` prove nothing."""
    shareable: bool | None = None
    """Whether devices are published with allowMultipleAllocations; the preset's word unless said."""
    shares_one_allocation: bool | None = None
    """Whether several pods or containers may use one claim; the preset's word unless said."""
    restores_shares_after_restart: bool | None = None
    """Whether shares in use are known again after the driver restarts; the preset's word unless said."""
    resets_at_unprepare: bool | None = None
    """Whether a device is cleared before the next claim has it; the preset's word unless said."""
    device_plugin: DevicePlugin | None = None
    configs: tuple[OpaqueConfig, ...] = ()
    webhook: Webhook | None = None
    service_account: ServiceAccountRef | None = None
    """The identity of the driver's node plugins; with it admission holds them to their own slices."""
    device_metadata: bool = False
    """Whether the driver is set to write device-metadata files (KEP-5304)."""
    metadata_versions: tuple[MetadataVersion, ...] | None = Field(default=None, min_length=1)
    """The versions that its release writes into one file, newest first; the preset's word unless said."""
    metadata_metrics: MetadataMetrics | None = None
    """What Prometheus is asked about the files; without a name there is no alert."""
    device_metrics: DeviceMetrics | None = None
    """What Prometheus is asked about devices; without a name there is no alert and no panel."""
    feature_gates: dict[str, bool] = {}
    """The driver's own gates, such as MPSSupport."""
    values: dict[str, Any] = {}
    """Further values for the driver's Helm chart, merged over those that dracfg derives."""
