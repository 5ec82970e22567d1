"""What is kept from being handed out on a cluster, beside what its devices say themselves.

Quarantined nodes and devices, and devices that recorded DeviceTaintRules taint; a pool that is frozen
is a matter of the classes. Taints of devices count only where the scheduler of the cluster looks at
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from dracfg.allocate.devices import Device, Taint
from dracfg.allocate.taintrules import TaintRule
from dracfg.dataclass import dataclass
from dracfg.link.catalog import Cluster
from dracfg.lower.artifact import K8sObject
from dracfg.lower.quarantine import as_node_taints, device_taint_rules, taint_rule_version
from dracfg.model.tenant import Toleration

_KEPT_OUT = ("NoSchedule", "NoExecute")


@dataclass(frozen=True, slots=True)
class Restrictions:
    """`nodes` says by node why no pod goes there; `rules` taint devices. `looks_at_taints` is
    whether the scheduler keeps from tainted devices at all.
    """

    nodes: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[TaintRule, ...] = ()
    looks_at_taints: bool = True

    def taints_of(self, device: Device) -> tuple[Taint, ...]:
        """What rules put on a device."""
        key = (device.driver, device.pool, device.name)
        return tuple(dict.fromkeys(rule.taint for rule in self.rules if rule.selects(key)))

    def taints_against(
        self, device: Device, tolerations: tuple[Toleration, ...]
    ) -> tuple[Taint, ...]:
        """The taints that keep a request with these tolerations from the device."""
        if not self.looks_at_taints:
            return ()
        return tuple(
            taint
            for taint in (*device.taints, *self.taints_of(device))
            if taint.effect in _KEPT_OUT and not any(_tolerates(one, taint) for one in tolerations)
        )


UNRESTRICTED = Restrictions()


def restrictions(
    cluster: Cluster, recorded: Iterable[TaintRule] = (), *, looks_at_taints: bool = True
) -> Restrictions:
    """The quarantine of every pool in the form that the cluster acts on, and its recorded rules.

    Rules count where components of the cluster read them; see `taint_rule_version`.
    """
    nodes = {
        taint.node: f"{taint.node} is in quarantine: {taint.entry.reason}"
        for pool in cluster.pools
        for taint in as_node_taints(cluster, pool)
    }
    rules = [_emitted(artifact.object) for artifact in device_taint_rules(cluster)]
    if taint_rule_version(cluster) is not None:
        rules += recorded
    return Restrictions(nodes, tuple(rules), looks_at_taints)


def _emitted(rule: K8sObject) -> TaintRule:
    selector, taint = rule["spec"]["deviceSelector"], rule["spec"]["taint"]
    return TaintRule(
        rule["metadata"]["name"],
        selector["driver"],
        selector["pool"],
        selector.get("device"),
        Taint(taint["key"], taint["value"], taint["effect"]),
    )


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    """ToleratesTaint of resource.k8s.io/v1: an empty key with Exists tolerates every taint."""
    if toleration.effect is not None and toleration.effect != taint.effect:
        return False
    if toleration.key is not None and toleration.key != taint.key:
        return False
    return toleration.operator == "Exists" or (toleration.value or "") == taint.value
