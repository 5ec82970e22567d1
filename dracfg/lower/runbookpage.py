"""The text of a pool's runbook: facts of `runbook` as Markdown.

See `markdown` for what becomes of text from the catalog.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.link.catalog import Pool
from dracfg.lower import commands
from dracfg.lower.markdown import code, prose, shell
from dracfg.lower.quarantine import FILE as RULES_FILE


@dataclass(frozen=True, slots=True)
class RunbookFacts:
    """What a runbook tells of a pool, beside the pool itself."""

    cluster: str
    selector: str
    drivers: Sequence[Mapping[str, Any]]
    kubelet: Mapping[str, str] | None
    taints: Sequence[Mapping[str, Any]]
    rules: Sequence[Mapping[str, Any]]
    off: str


def runbook_page(pool: Pool, facts: RunbookFacts) -> str:
    """Markdown, from the head to how everything is undone."""
    parts = (_head(pool, facts), _apply(facts), _fence(facts), _undo(facts))
    return "".join(f"{line}\n" for part in parts for line in part)


def _head(pool: Pool, facts: RunbookFacts) -> Iterator[str]:
    spec, description = pool.document.spec, pool.document.metadata.description
    yield f"# Node pool {code(pool.name)} of cluster {code(facts.cluster)}"
    yield ""
    if description:
        yield prose(description)
        yield ""
    spare = f"; {spec.spare.nodes} of them kept as spares" if spec.spare.nodes else ""
    yield f"- Nodes: {spec.nodes}, those with {code(facts.selector)}{spare}"
    for devices in pool.devices:
        tier = devices.tier
        yield f"- Each node: {devices.per_node} × {code(tier.name)} ({code(tier.driver.name)})"
    yield f"- State: {pool.state}"
    yield ""
    yield "| driver | handed out by | values |"
    yield "|---|---|---|"
    for driver in facts.drivers:
        owner = "DRA" if driver["owner"] == "dra" else "device plugin"
        values = code(driver["file"]) if driver["file"] else "none: no DRA driver"
        yield f"| {code(driver['name'])} | {owner} | {values} |"
    yield ""
    yield (
        "Words in capitals are yours to fill in. Keep the order of the steps: "
        "one device must never have two owners."
    )


def _apply(facts: RunbookFacts) -> Iterator[str]:
    yield "\n## Apply"
    if facts.kubelet is not None:
        yield "\n### Kubelet\n"
        yield commands.kubelet_file(facts.kubelet)
    for driver in facts.drivers:
        steps = commands.hand_over(driver, facts.selector)
        yield f"\n### {code(driver['name'])}\n\n{steps}".removesuffix("\n")


def _fence(facts: RunbookFacts) -> Iterator[str]:
    yield "\n## Fence and quarantine"
    if not facts.taints and not facts.rules:
        yield (
            "\nNothing is fenced. A `state` other than open, or an entry under `quarantine`, "
            "puts the steps here."
        )
    if facts.off:
        yield f"\nNot handed out: {prose(facts.off)}."
    for taint in facts.taints:
        yield from _taint(taint, facts.selector)
    if facts.taints:
        yield (
            "\nPods that run stay, except under NoExecute. The driver's own pods need a toleration "
            "of the taint, or they don't come back after a restart and no claim is cleaned up."
        )
    for rule in facts.rules:
        yield from _rule(rule)


def _taint(taint: Mapping[str, Any], selector: str) -> Iterator[str]:
    node = taint.get("node")
    since = f" (since {prose(taint['since'])})" if "since" in taint else ""
    yield f"\n{code(node) if node is not None else 'All nodes'}: {prose(taint['reason'])}{since}:"
    yield "\n```sh"
    for mark in taint["taints"]:
        yield commands.taint(mark, selector, node)
    of_node = shell(node) if node is not None else "NODE"
    yield f"kubectl get pods --all-namespaces --field-selector=spec.nodeName={of_node}"
    yield "```"


def _rule(rule: Mapping[str, Any]) -> Iterator[str]:
    entry = rule["entry"]
    device = f", device {code(entry.device)}" if entry.device else ""
    yield (
        f"\nDriver {code(entry.driver)}, resource pool {code(entry.pool)}{device}: "
        f"{prose(entry.reason)} (since {prose(entry.since)})."
    )
    if rule["on_node"]:
        yield "The node's taint covers it; pods that use it are these, `kubectl delete pod` ends them:"
    else:
        yield (
            f"A rule in {code(RULES_FILE)} is applied with the cluster's other objects. "
            "Namespace and pods of the claims on it:"
        )
    yield "\n```sh"
    yield (
        "kubectl get resourceclaims --all-namespaces --output=json | jq --raw-output "
        + shell(rule["filter"])
    )
    yield "```"


def _undo(facts: RunbookFacts) -> Iterator[str]:
    yield f"""
## Undo

- Taints: set the state back to open, or remove the entry under `quarantine`, compile, then take them off:

```sh
{commands.untaint(facts.selector)}
kubectl taint nodes NODE dracfg.dev/quarantine-
```

- Driver: `helm rollback RELEASE --namespace NAMESPACE`. To change the owner, change `owner` in the \
catalog, compile, and follow the steps above again."""
    if facts.kubelet is not None:
        folder, service = facts.kubelet["folder"], facts.kubelet["service"]
        yield (
            f"- Kubelet: `rm {folder}/90-dracfg.conf`, then `systemctl restart {service}`; "
            "only when nothing needs the gates any more."
        )
