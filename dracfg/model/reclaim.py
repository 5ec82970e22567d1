"""What becomes of an allocation when things go wrong: part of tiers and sharing policies."""

from typing import Literal

from dracfg.model.base import Duration, Spec

Action = Literal["hold", "release", "person"]
"""hold: the devices stay taken. release: Kubernetes gives them back. person: somebody decides."""

Fencing = Literal["none", "nodeLease", "outOfServiceTaint"]


class Reclaim(Spec):
    """For each way in which an allocation can get stuck: hold it, let Kubernetes release it, or ask a person.

    The defaults are what Kubernetes does by itself.
    """

    on_pending: Action = "hold"
    """A claim that nothing has been allocated to."""
    on_scheduling_failed: Action = "release"
    """An allocation whose pod was not bound, or whose binding conditions failed or timed out."""
    on_prepare_failed: Action = "person"
    """A claim that the driver on the node refuses to prepare."""
    on_unknown_node: Action = "hold"
    """An allocation on a node that no longer answers."""
    on_pod_recreated: Action = "release"
    """A claim from a template whose pod was replaced."""
    on_claim_unreserved: Action = "release"
    """A claim that no pod reserves any more."""
    on_tenant_draining: Action = "hold"
    """The claims of a tenant that is being drained."""
    fencing: Fencing = "nodeLease"
    """What proves that an unknown node runs nothing any more."""
    grace: Duration = "10m"
    """How long a state may last before it counts."""
    timeout: Duration
    """After this long a person is told."""
