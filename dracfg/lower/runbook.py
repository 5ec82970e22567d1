"""A node pool → its runbook: what people do on the nodes, with exact commands, and how to undo it.

Gathers the facts that `runbookpage` puts into words.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dracfg.link.catalog import Cluster, Pool
from dracfg.link.driver import Driver
from dracfg.lower.helmvalues import chart_name, plugin_resources, values_file
from dracfg.lower.quarantine import Quarantined, quarantined
from dracfg.lower.runbookpage import RunbookFacts, runbook_page
from dracfg.model.pool import Quarantine

RUNBOOK = "RUNBOOK.md"

_K3S = ("/var/lib/rancher/k3s/agent/etc/kubelet.conf.d", "k3s-agent")
_OTHER = ("/etc/kubernetes/kubelet.conf.d", "kubelet")
"""(folder of kubelet drop-ins, service to restart)"""
_MOST_TERMS = 16
"""Of an affinity that people still read."""


def runbook(
    cluster: Cluster,
    pool: Pool,
    taints: Sequence[Mapping[str, Any]],
    *,
    has_kubelet_file: bool,
) -> str:
    """Markdown, the same for the same catalog; `taints` are those of the pool's taints.yaml."""
    drivers = {devices.tier.driver.name: devices.tier.driver for devices in pool.devices}
    facts = RunbookFacts(
        cluster=cluster.name,
        selector=selector_of(pool),
        drivers=[driver_facts(cluster, pool, drivers[name]) for name in sorted(drivers)],
        kubelet=kubelet_facts(cluster) if has_kubelet_file else None,
        taints=taints,
        rules=_rule_entries(pool.document.spec.quarantine, taints),
        off=_off(quarantined(cluster, pool)),
    )
    return runbook_page(pool, facts)


def selector_of(pool: Pool) -> str:
    """How the nodes of a pool are named in a command."""
    labels = sorted(pool.document.spec.node_selector.items())
    return ",".join(f"{key}={value}" for key, value in labels)


def kubelet_facts(cluster: Cluster) -> dict[str, str]:
    """`{folder, service}` of the drop-ins, as the cluster's distribution has them."""
    folder, service = _K3S if cluster.document.spec.distribution == "k3s" else _OTHER
    return {"folder": folder, "service": service}


Term = list[tuple[str, list[str]]]
"""(label, values that it must not have): all must be true for the term to be."""


def kept_off(cluster: Cluster, pool: Pool, driver: Driver) -> tuple[list[Term], list[str]]:
    """Node selector terms that keep a device plugin off a pool, and the names of pools left out of them.

    An affinity holds all terms that it needs at once, so that every other pool that DRA has of the
    driver is in them too, unless that makes too many. A node is of a pool by all of its labels:
    for each pool one of them must differ, and any of the terms will do.
    """
    others = [
        one
        for one in cluster.pools
        if one is not pool
        and one.owner(driver) == "dra"
        and any(devices.tier.driver is driver for devices in one.devices)
    ]
    own = _least(frozenset({item}) for item in pool.document.spec.node_selector.items())
    terms = own
    for other in others:
        selector = other.document.spec.node_selector.items()
        terms = _least(term | {item} for term in terms for item in selector)
        if len(terms) > _MOST_TERMS:
            return _spelled(own), [one.name for one in others]
    return _spelled(terms), []


def _least(terms: Iterable[frozenset[tuple[str, str]]]) -> set[frozenset[tuple[str, str]]]:
    """The terms that no other one makes needless by asking for less."""
    found = set(terms)
    return {term for term in found if not any(other < term for other in found)}


def _spelled(terms: Iterable[frozenset[tuple[str, str]]]) -> list[Term]:
    return sorted(
        [
            (key, sorted(value for label, value in term if label == key))
            for key in sorted(dict(term))
        ]
        for term in terms
    )


def driver_facts(cluster: Cluster, pool: Pool, driver: Driver) -> dict[str, Any]:
    """`{name, owner, chart, version, file, columns, kept_off, not_in, one_switch}` of a driver on a pool.

    `columns` shows what its device plugin advertises; None where no name of it is known.
    """
    advertised = plugin_resources(pool, driver)
    owner = pool.owner(driver)
    terms, left_out = kept_off(cluster, pool, driver) if owner == "dra" else ([], [])
    columns = [column(name, ".status.allocatable") for name in advertised]
    return {
        "name": driver.name,
        "owner": owner,
        "chart": chart_name(driver),
        "version": driver.document.spec.version,
        "file": values_file(driver) if driver.has_dra_driver else None,
        "columns": ",".join(["NODE:.metadata.name", *columns]) if columns else None,
        "kept_off": terms,
        "not_in": left_out,
        "one_switch": driver.is_one_switch,
    }


def column(resource: str, path: str) -> str:
    """A column of `kubectl --output=custom-columns` with the amount of a resource that stands at a path."""
    return f"{resource}:{path}.{resource.replace('.', chr(92) + '.')}"


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
