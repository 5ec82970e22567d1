"""A node pool → its runbook: what people do on the nodes, with exact commands, and how to undo it.

The text is a template, data/runbook.md.j2; see `markdown` for what becomes of text from the catalog.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dracfg.link.catalog import Cluster, Pool
from dracfg.link.driver import Driver
from dracfg.lower.helmvalues import chart_name, plugin_resources, values_file
from dracfg.lower.markdown import page
from dracfg.lower.quarantine import FILE as RULES_FILE
from dracfg.lower.quarantine import Quarantined, quarantined
from dracfg.model.pool import Quarantine

RUNBOOK = "RUNBOOK.md"

_K3S = ("/var/lib/rancher/k3s/agent/etc/kubelet.conf.d", "k3s-agent")
_OTHER = ("/etc/kubernetes/kubelet.conf.d", "kubelet")
"""(folder of kubelet drop-ins, service to restart)"""


def runbook(
    cluster: Cluster,
    pool: Pool,
    taints: Sequence[Mapping[str, Any]],
    *,
    has_kubelet_file: bool,
) -> str:
    """Markdown, the same for the same catalog; `taints` are those of the pool's taints.yaml."""
    spec = pool.document.spec
    folder, service = _K3S if cluster.document.spec.distribution == "k3s" else _OTHER
    drivers = {devices.tier.driver.name: devices.tier.driver for devices in pool.devices}
    return page("runbook.md.j2").render(
        pool=pool,
        spec=spec,
        cluster=cluster.name,
        description=pool.document.metadata.description,
        selector=",".join(f"{key}={value}" for key, value in sorted(spec.node_selector.items())),
        labels=sorted(spec.node_selector.items()),
        drivers=[_driver(pool, drivers[name]) for name in sorted(drivers)],
        kubelet={"folder": folder, "service": service} if has_kubelet_file else None,
        taints=taints,
        rules=_rule_entries(spec.quarantine, taints),
        rules_file=RULES_FILE,
        off=_off(quarantined(cluster, pool)),
    )


def _driver(pool: Pool, driver: Driver) -> dict[str, Any]:
    preset = driver.preset
    advertised = plugin_resources(pool, driver)
    columns = [
        f"{name}:.status.allocatable.{name.replace('.', chr(92) + '.')}" for name in advertised
    ]
    return {
        "name": driver.name,
        "owner": pool.owner(driver),
        "chart": chart_name(driver),
        "version": driver.document.spec.version,
        "file": values_file(driver) if driver.has_dra_driver else None,
        "columns": ",".join(["NODE:.metadata.name", *columns]) if columns else None,
        "one_switch": preset is not None and preset.device_plugin.cluster_wide_switch,
    }


def _rule_entries(
    entries: Sequence[Quarantine], taints: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """The entries that name a driver and a resource pool, with the filter that finds their claims."""
    nodes = {taint.get("node") for taint in taints}
    found = {}
    for entry in entries:
        if entry.driver is None or entry.pool is None:
            continue
        tests = [("driver", entry.driver), ("pool", entry.pool)]
        tests += [("device", entry.device)] if entry.device is not None else []
        condition = " and ".join(f".{key} == {json.dumps(value)}" for key, value in tests)
        found[condition] = {
            "entry": entry,
            "filter": f".items[] | select(any(.status.allocation.devices.results[]?; {condition}))"
            ' | "\\(.metadata.namespace) \\([.status.reservedFor[]?.name] | join(" "))"',
            "on_node": (entry.node or entry.pool.split("/")[0]) in nodes,
        }
    return [found[condition] for condition in sorted(found)]


def _off(counted: Quarantined) -> str:
    parts = [f"{counted.nodes} × whole node"] if counted.nodes else []
    parts += [f"{count} × {tier}" for tier, count in counted.devices.items()]
    return ", ".join(parts)
