"""What the catalog keeps from being handed out on a cluster, beside what its devices say themselves.

Quarantined nodes and devices; a pool that is frozen is a matter of the classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dracfg.allocate.devices import Device, Taint
from dracfg.link.catalog import Cluster
from dracfg.lower.quarantine import as_node_taints, device_taint_rules
from dracfg.model.tenant import Toleration

_KEPT_OUT = ("NoSchedule", "NoExecute")


@dataclass(frozen=True, slots=True)
class TaintRule:
    """A taint for one device, or for all of a driver's resource pool: a DeviceTaintRule."""

    driver: str
    pool: str
    device: str | None
    taint: Taint

    def selects(self, device: Device) -> bool:
        return (self.driver, self.pool) == (device.driver, device.pool) and (
            self.device is None or self.device == device.name
        )


@dataclass(frozen=True, slots=True)
class Restrictions:
    """`nodes` says by node why no pod goes there; `rules` taint devices."""

    nodes: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[TaintRule, ...] = ()

    def taints_against(
        self, device: Device, tolerations: tuple[Toleration, ...]
    ) -> tuple[Taint, ...]:
        """The taints that keep a request with these tolerations from the device."""
        taints = (*device.taints, *(rule.taint for rule in self.rules if rule.selects(device)))
        return tuple(
            taint
            for taint in taints
            if taint.effect in _KEPT_OUT and not any(_tolerates(one, taint) for one in tolerations)
        )


UNRESTRICTED = Restrictions()


def restrictions(cluster: Cluster) -> Restrictions:
    """The quarantine of every pool of the cluster, in the form that the cluster acts on."""
    nodes = {
        taint.node: f"{taint.node} is in quarantine: {taint.entry.reason}"
        for pool in cluster.pools
        for taint in as_node_taints(cluster, pool)
    }
    rules = []
    for artifact in device_taint_rules(cluster):
        spec = artifact.object["spec"]
        selector, taint = spec["deviceSelector"], spec["taint"]
        rules.append(
            TaintRule(
                selector["driver"],
                selector["pool"],
                selector.get("device"),
                Taint(taint["key"], taint["value"], taint["effect"]),
            )
        )
    return Restrictions(nodes, tuple(rules))


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    """ToleratesTaint of resource.k8s.io/v1: an empty key with Exists tolerates every taint."""
    if toleration.effect is not None and toleration.effect != taint.effect:
        return False
    if toleration.key is not None and toleration.key != taint.key:
        return False
    return toleration.operator == "Exists" or (toleration.value or "") == taint.value
