"""A draft → SharingPolicy, NodePool and Rollout documents, as lines with the questions that concern them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dracfg.draft.decisions import Decision
from dracfg.draft.draft import Draft
from dracfg.draft.lines import Document, Line, head
from dracfg.draft.needs import Need
from dracfg.draft.pools import DraftPolicy, DraftPool
from dracfg.draft.scalars import flow_list, flow_map, scalar
from dracfg.link.measures import protection
from dracfg.link.presets import load_preset
from dracfg.model.rollout import Protects

_PROTECTS: Protects = "continuity"
"""What a person has decided nothing of can't lose by."""


def policy_documents(draft: Draft) -> Iterator[Document]:
    """Sharing as the plugin's configuration has it."""
    for policy in draft.hardware.policies:
        yield _policy(policy)


def _policy(policy: DraftPolicy) -> Document:
    replicas = policy.replicas
    if replicas.strategy == "timeSlicing":
        values = "{sharing: {strategy: TimeSlicing, timeSlicingConfig: {interval: Default}}}"
    else:
        values = "{sharing: {strategy: MPS}}"
    preset = load_preset(policy.driver)
    config = next(one for one in preset.configs if one.kind is not None)
    how = Decision(
        f"whether replicas: {replicas.count} of {replicas.resource} become turns or shares",
        f"the plugin counts each device {replicas.count} times and bounds nothing. Here it is turns, as "
        f"it was. Where the driver counts shares, mode consumable with `shares: {replicas.count}` holds "
        "their number; its word `unlimited` has no bound at all",
        (replicas.place,),
    )
    who = Decision(
        f"who may meet on one device under {policy.name}",
        "the plugin lets anybody; nothing keeps their memory apart, so the draft says one tenant only",
        (replicas.place,),
    )
    return [
        *head("SharingPolicy", policy.name),
        Line("  mode: timeSliced", decisions=(how,)),
        Line(f"  replicas: {replicas.count}"),
        Line("  tenancy: sameTenant", decisions=(who,)),
        Line("  isolation: none"),
        Line("  guarantee: none", note="turns promise no capacity"),
        Line("  config:"),
        Line(f"    apiVersion: {scalar(config.api_version or '')}"),
        Line(f"    kind: {scalar(config.kind or '')}"),
        Line(f"    values: {values}"),
    ]


def pool_documents(draft: Draft) -> Iterator[Document]:
    """One for each group of nodes that are alike."""
    for pool in draft.hardware.pools:
        yield _pool(draft, pool)


def _pool(draft: Draft, pool: DraftPool) -> Document:
    devices = []
    ways = {part.policy or "whole" for part in pool.parts}
    for part in pool.parts:
        shared = f", sharing: [{part.policy}]" if part.policy and len(ways) > 1 else ""
        tier = scalar(part.tier)
        devices.append(f"    - {{tier: {tier}, perNode: {part.per_node}{shared}}}")
    owners = {part.driver: part.owner for part in pool.parts}
    counted = [
        Line(f"    # The plugin counts each device of {part.tier} {part.replicas} times.")
        for part in pool.parts
        if part.policy is None and part.replicas > 1
    ]
    verdicts = [verdict for part in pool.parts if (verdict := draft.verdict_of(part.tier))]
    words = {one.word for one in verdicts}
    moving = [one.tier for one in verdicts if one.moves and one.tier]
    why = "".join(words) if len(words) < 2 else f"move of {', '.join(moving)}; the others stay"
    spare = Decision(
        f"how many nodes of {pool.name} are kept for failures",
        "none are; every node that is promised and fails breaks a promise",
        (pool.place,),
    )
    return [
        *head("NodePool", pool.name),
        Line(f"  cluster: {scalar(draft.cluster.name)}"),
        Line(f"  nodes: {len(pool.nodes)}", note="as recorded", decisions=(spare,)),
        Line(
            f"  nodeSelector: {flow_map({k: scalar(v) for k, v in pool.selector.items()})}",
            decisions=pool.questions,
        ),
        Line("  devices:"),
        *counted,
        *(Line(text) for text in devices),
        *([Line(f"  sharing: {flow_list(ways)}")] if len(ways) == 1 else []),
        Line(f"  owner: {flow_map({k: str(v) for k, v in owners.items()})}", note=why),
    ]


def rollout_documents(draft: Draft) -> Iterator[Document]:
    """One for each tier that moves: the smallest pool first, then all others."""
    for verdict in draft.verdicts:
        if not verdict.moves or verdict.tier is None:
            continue
        tier = verdict.tier
        pools = sorted(
            draft.hardware.pools_of(tier), key=lambda pool: (pool.units(tier), pool.name)
        )
        needs = [need for need in draft.needs if need.tier == tier]
        first = sorted(needs, key=lambda n: (not n.is_retryable, n.guaranteed, n.namespace))[0]
        split = _splits(needs, first.namespace, pools[0].units(tier))
        canary = Decision(
            f"whether {first.namespace} tries it first, on {pools[0].name}",
            "the smallest pool, and of the namespaces that ask for it the one "
            + ("whose work begins anew by itself" if first.is_retryable else "that asks for least"),
            (pools[0].place,),
        )
        protects = Decision(
            f"what comes first while {tier} moves",
            "running work does here, which picks the gates below and the order of a pool's steps; it may be "
            "the rate of finished work (`throughput`), or the use of the devices (`utilisation`)",
        )
        gates = Decision(
            f"which limits hold {tier} back from its next stage",
            "each measure has its own `max` and `halt` unless they are written beside it, as `dracfg rollout "
            "status` shows them; whether your Prometheus has these metrics is not recorded",
        )
        yield [
            *head("Rollout", f"{tier}-to-claims"),
            Line(f"  tier: {scalar(tier)}"),
            Line(
                "  stage: start",
                note="nothing has moved",
                decisions=tuple(_installers(verdict.driver)),
            ),
            Line(f"  protects: {_PROTECTS}", decisions=(protects,)),
            Line("  stages:"),
            Line("    - name: canary", decisions=(canary,)),
            Line(f"      pools: [{scalar(pools[0].name)}]"),
            Line(f"      tenants: [{scalar(first.namespace)}]"),
            Line("      workloads: retryable"),
            Line(f"      split: {flow_map(split)}"),
            Line("    - name: everyone"),
            Line('      pools: "*"'),
            Line('      tenants: "*"'),
            Line("      workloads: retryable", note="for other work say how it `restores`"),
            Line("  gates:", decisions=(gates,)),
            *(Line(f"    - {{measure: {name}}}") for name in protection(_PROTECTS).gates),
        ]


def _installers(driver: str) -> Iterator[Decision]:
    """Installers that can't have plugin and driver on one cluster."""
    for installer in load_preset(driver).installers:
        only = installer.exclusive
        if only is not None:
            yield Decision(
                f"whether {driver} is installed by {installer.name}",
                f"{installer.name} has either {only.device_plugin} or {only.dra} for the whole {only.scope}: "
                "pools can't move one by one under it, so the driver comes by another way, or all move at "
                "once",
            )


def _splits(needs: Sequence[Need], first: str, units: int) -> dict[str, str]:
    """What each has of either path while only the first pool has moved, in the order of the names.

    All join while the other pools are being emptied and take nothing new, so that each has its smallest
    claim at least; the one that tries it has what is left.
    """
    limits: dict[str, int] = {}
    least: dict[str, int] = {}
    for need in needs:
        limits[need.namespace] = limits.get(need.namespace, 0) + need.limit
        smallest = min(need.counts, default=1)
        least[need.namespace] = min(least.get(need.namespace, smallest), smallest)
    left = units - sum(count for name, count in least.items() if name != first)
    found = {}
    for name, limit in sorted(limits.items()):
        dra = min(limit, max(left, least[name]) if name == first else least[name])
        found[name] = f"{{plugin: {limit - dra}, dra: {dra}}}"
    return found
