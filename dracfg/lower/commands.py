"""Steps and commands on the nodes of one pool, in Markdown, for every page that tells them.

`driver` is what `runbook.driver_facts` gives, `selector` that of the pool's nodes. Knows no page.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from dracfg.lower.markdown import prose, shell

_AFFINITY = """\
```yaml
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms:"""


def kubelet_file(kubelet: Mapping[str, str]) -> str:
    """How the pool's file of the kubelet is set to work."""
    folder, service = kubelet["folder"], kubelet["service"]
    return f"""\
On each node; the kubelet must run with `--config-dir={folder}`, which reads files that end in `.conf`:

```sh
install -D -m 0644 kubelet.conf {folder}/90-dracfg.conf
systemctl restart {service}
```"""


def release(driver: Mapping[str, Any]) -> str:
    """How a driver is installed for the pool, and how to see that it publishes."""
    chart = driver["chart"] or "CHART"
    version = f" --version {shell(driver['version'])}" if driver["version"] else ""
    return f"""\
```sh
helm upgrade --install RELEASE REPOSITORY/{chart} --namespace NAMESPACE{version} \
--values {shell(driver["file"])}
kubectl get resourceslices --field-selector=spec.driver={shell(driver["name"])}
```"""


def advertised(driver: Mapping[str, Any], selector: str) -> str:
    """How to see what the driver's device plugin advertises."""
    return f"""\
```sh
kubectl get nodes --selector={shell(selector)} --output=custom-columns={shell(driver["columns"])}
```"""


def hand_over(driver: Mapping[str, Any], selector: str) -> str:
    """The steps to the owner that the driver has now; whole lines, none where there is nothing to do."""
    return "".join(f"{line}\n" for line in _hand_over(driver, selector))


def _hand_over(driver: Mapping[str, Any], selector: str) -> Iterator[str]:
    is_dra, file, columns = driver["owner"] == "dra", driver["file"], driver["columns"]
    if driver["one_switch"]:
        yield "Driver and device plugin are one switch for the whole cluster here."
        yield ""
    if is_dra and columns:
        yield from _keep_away(driver, selector)
        if file:
            yield ""
    if is_dra and file:
        install = "Then install" if columns else "Install"
        yield f"{install} the driver, one release a pool, and see that every node publishes its devices:"
    elif file:
        yield "First take the driver away, and see that none of these nodes publishes devices:"
    if file:
        yield ""
        yield release(driver)
    if not is_dra:
        yield ""
        lead = "Then let the device plugin in" if file else "The device plugin runs here"
        yield f"{lead}: its DaemonSet must select these nodes."
        if columns:
            yield ""
            yield advertised(driver, selector)


def _keep_away(driver: Mapping[str, Any], selector: str) -> Iterator[str]:
    joined = (
        f" joined with that of {prose(', '.join(driver['not_in']))}" if driver["not_in"] else ""
    )
    yield (
        f"First keep the device plugin away: its DaemonSet gets this affinity{joined}, "
        "then its pods leave these nodes."
    )
    yield ""
    yield _AFFINITY
    for term in driver["kept_off"]:
        yield "        - matchExpressions:"
        for key, values in term:
            yield f"            - {{key: {json.dumps(key)}, operator: NotIn, values: {json.dumps(values)}}}"
    yield "```"
    yield ""
    yield "Go on when no node shows a number above 0:"
    yield ""
    yield advertised(driver, selector)


def taint(mark: Mapping[str, str], selector: str, node: str | None = None) -> str:
    """The command that puts a taint on a node, or on all nodes of the pool."""
    whom = shell(node) if node else f"--selector={shell(selector)}"
    written = shell(f"{mark['key']}={mark['value']}:{mark['effect']}")
    return f"kubectl taint nodes {whom} {written} --overwrite"


def untaint(selector: str) -> str:
    """The command that takes the pool's own taint off its nodes."""
    return f"kubectl taint nodes --selector={shell(selector)} dracfg.dev/pool-"
