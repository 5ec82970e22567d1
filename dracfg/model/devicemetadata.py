"""What containers may learn of their devices from files (KEP-5304): part of tiers and profiles."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from dracfg.model.base import AttributeName, Duration, Name, Quantity, Reason, Spec

MetadataVersion = Literal["v1beta1", "v1alpha1"]
"""A version of the file format, metadata.resource.k8s.io/…"""
Variable = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=128)]
"""The name of an environment variable."""
MetricName = Annotated[
    str, StringConstraints(pattern=r"^[a-zA-Z_:][a-zA-Z0-9_:]*$", max_length=256)
]
"""The name of a metric, as Prometheus has it."""
AbsolutePath = Annotated[str, StringConstraints(pattern=r"^/[^\s]*$", max_length=1024)]


class EnvironmentFallback(Spec):
    """Environment variables that the driver or the workload sets say the same."""

    to: Literal["environment"]
    variables: dict[AttributeName, Variable] = Field(min_length=1)
    """Attribute -> the variable that holds its value."""


class StartupProbeFallback(Spec):
    """A startup probe holds the container back until a valid file is there."""

    to: Literal["startupProbe"]
    within: Duration
    """How long the probe waits before the container is restarted."""


class LegacyPathFallback(Spec):
    """What the device plugin mounts; a pool where the plugin hands the hardware out must exist."""

    to: Literal["legacyPath"]
    path: AbsolutePath
    """Where the application finds it in the container."""


class StatusFallback(Spec):
    """Platform controllers read the claim's status; that needs API permission, workloads have none."""

    to: Literal["status"]
    reason: Reason


class NoFallback(Spec):
    """Without a file the application knows nothing of its devices, and says so."""

    to: Literal["none"]


Fallback = Annotated[
    EnvironmentFallback | StartupProbeFallback | LegacyPathFallback | StatusFallback | NoFallback,
    Field(discriminator="to"),
]


class ExposedMetadata(Spec):
    """How a tier's metadata files are read, and what is done where there is none."""

    fallback: Fallback | None = None
    """What the application does without a file; needed where only alpha versions are written."""
    max_size: Quantity | None = None
    """The most bytes of one file that are read; 64Ki unless said."""
    network_data: bool = False
    """Whether interface name, addresses and hardware address may be read as well."""


class MetadataMetrics(Spec):
    """Metrics about the files, whose names are the driver's own: no library up to 1.37 exports one.

    Alerts are written for those that are named.
    """

    generation_failures: MetricName | None = None
    """A counter of files that could not be written."""
    generation_seconds: MetricName | None = None
    """A histogram of the seconds that a file takes, without `_bucket`."""
    validation_failures: MetricName | None = None
    """A counter of files that were refused, as whoever validates them on the nodes exports it."""


class Reads(Spec):
    """What an application reads of its devices' metadata files."""

    requests: tuple[Name, ...] = ()
    """The profile's requests that this is about; all of them unless said."""
    required: tuple[AttributeName, ...] = ()
    """Attributes without which it does not start."""
    optional: tuple[AttributeName, ...] = ()
    """Attributes that it uses where they are there."""
    network_data: bool = False
    """Whether it needs interface name and addresses."""
    versions: tuple[MetadataVersion, ...] = Field(default=("v1beta1", "v1alpha1"), min_length=1)
    """Versions of the file that it understands."""
    wait: Duration = "0s"
    """How long it waits for a file at most."""
