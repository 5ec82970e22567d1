"""What a tier or cluster promises of its claims over time, and the metrics that only a platform can name."""

from dracfg.model.base import Duration, PlainNumber, Spec
from dracfg.model.devicemetadata import MetricName


class Objectives(Spec):
    """Figures that hold in 99 of 100 minutes, over 30 days. Alerts tell when that is used up too fast.

    A p99 is the time within which 99 of 100 are done. A minute in which nothing happens counts for nothing.
    """

    allocation_p99: Duration | None = None
    """From a claim's creation until it is allocated."""
    preparation_p99: Duration | None = None
    """What the driver takes on the node before containers start."""
    ready_p99: Duration | None = None
    """From a claim's creation until its pod is ready: allocation, preparation, images and probes."""
    status_convergence_p99: Duration | None = None
    """Until the driver's binding conditions stand in the status of an allocated claim."""
    rejection_rate: PlainNumber | None = None
    """The share of claims that quota or policy may refuse: 0.01 for one in a hundred."""
    unavailable_devices: PlainNumber | None = None
    """The share of devices that may be out of use; the Driver names the metric."""
    restarts_per_day: PlainNumber | None = None
    """How often training may be restarted in a day; the Cluster names the metric."""


class DeviceMetrics(Spec):
    """Gauges of devices, whose names are those of the driver or of an exporter: none is standard.

    Alerts and panels are written for those that are named; their series are summed.
    """

    published: MetricName | None = None
    """Devices that the driver has published."""
    allocated: MetricName | None = None
    """Devices that some claim holds."""
    unavailable: MetricName | None = None
    """Devices that can't be given out."""
    fragmented: MetricName | None = None
    """Devices that are free in part, and too little so for the smallest size."""
    unhealthy: MetricName | None = None
    """Devices that are ill."""
    utilisation: MetricName | None = None
    """How much of each device is in use, from 0 to 1; averaged."""


class WorkloadMetrics(Spec):
    """Counters of what runs on devices, with a label `namespace`: none is standard.

    Alerts and panels are written for those that are named.
    """

    training_restarts: MetricName | None = None
    """Runs that began anew after a fault."""
    checkpoint_restores: MetricName | None = None
    """Runs that went on from a checkpoint."""
    checkpoint_restore_failures: MetricName | None = None
    """Checkpoints that could not be read."""
