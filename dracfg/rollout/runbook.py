"""A rollout where it stands → the page that people work by: steps, checks, when to stop, the way back.

Everything comes from the catalog and from what it lowers to, so that the page says what is compiled.
The text is a template, data/runbook.md.j2. Knows nothing of what was measured.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from dracfg.link.catalog import Catalog, Cluster, Grant, Pool, Tier
from dracfg.link.gates import asked_gates, clusters_of, order_of, pools_of, rollout_gates, waits_for
from dracfg.link.moves import fenced_pools, has_come, has_tenant, pools_at, position
from dracfg.link.steps import Refused, Standing, Step, at, standing, step
from dracfg.lower import commands
from dracfg.lower.artifact import Unit
from dracfg.lower.helmvalues import NODE_SELECTORS, NOWHERE, placement, plugin_resources
from dracfg.lower.markdown import code, prose, shell
from dracfg.lower.nodes import KUBELET_FILE, POOL_KEY
from dracfg.lower.runbook import column, driver_facts, kubelet_facts, selector_of
from dracfg.model.kinds import Rollout
from dracfg.model.rollout import START, RolloutSpec
from dracfg.packaged import text_of
from dracfg.rollout.gates import written

if TYPE_CHECKING:
    from jinja2 import Template

RECORD = (
    "kubectl get resourceclaims,pods,events,resourceslices,deviceclasses,nodes "
    "--all-namespaces --output=json > record.json"
)
"""Takes the record that a halt or a rollback wants."""


def rollout_runbook(catalog: Catalog, units: Sequence[Unit], rollout: Rollout) -> str:
    """Markdown of one rollout where its document says that it stands.

    `units` are those that the catalog lowers to. The same catalog gives the same text; a tier that
    does not exist gives a page without pools.
    """
    spec, here = rollout.spec, standing(rollout.spec)
    place = position(spec)
    documents = {name: pool.document for name, pool in catalog.pools.items()}
    tier = catalog.tiers.get(spec.tier)
    pools = _pools(catalog, units, spec, tier) if tier is not None else []
    ahead = step(spec, "advance")
    return _template().render(
        commands=commands,
        name=rollout.name,
        description=rollout.metadata.description,
        spec=spec,
        here=here,
        stages=(START, *(stage.name for stage in spec.stages)),
        stage=spec.stages[place] if place >= 0 else None,
        joining=next(iter(spec.stages[place + 1 :]), None) if here.phase == "fenced" else None,
        pools=pools,
        arrived=[pool for pool in pools if pool["name"] in arrived_pools(catalog, spec)],
        fenced=[pool for pool in pools if pool["name"] in fenced_pools(spec, documents)],
        tenants=_tenants(catalog, spec, tier) if tier is not None else [],
        clusters=sorted({pool["cluster"] for pool in pools}),
        drivers=[tier.driver.name] if tier is not None else [],
        order=order_of(spec),
        gates=list(_gates(catalog, spec)),
        ahead=_told(catalog, spec, ahead),
        back=list(_way_back(catalog, spec)),
        record=RECORD,
    )


@cache
def _template() -> Template:
    """A word that the template is not given is a fault."""
    from jinja2 import Environment, StrictUndefined  # few runs render the page

    environment = Environment(
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        optimized=False,  # a page is rendered a few times: to look for constants takes longer
    )
    environment.filters.update(prose=prose, code=code, shell=shell)
    return environment.from_string(text_of("dracfg.rollout", "data/runbook.md.j2"))


def arrived_pools(catalog: Catalog, spec: RolloutSpec) -> frozenset[str]:
    """The pools that are switched where a rollout stands: come with its stage, or given back by the next.

    While it is halted, or its next pools are fenced, none is; a rebalance moves claims and no pool.
    """
    pools = {name: pool.document for name, pool in catalog.pools.items()}
    place = position(spec)
    if spec.subject == "rebalance":
        return frozenset()
    here = pools_at(spec, place, pools)
    if spec.direction == "rollback":
        after = min(place + 1, len(spec.stages) - 1)
        return pools_at(spec, after, pools) - here
    if spec.direction == "halted" or spec.phase == "fenced":
        return frozenset()
    return here - pools_at(spec, place - 1, pools)


def _gates(catalog: Catalog, spec: RolloutSpec) -> Iterator[dict[str, Any]]:
    """Every gate of this way with its limits, what it measures, and what has to come before it."""
    for gate in asked_gates(rollout_gates(catalog, spec), spec.direction):
        measure = gate.measure
        yield {
            "name": gate.name if measure is None else measure.title,
            "measure": measure.id if measure is not None else None,
            "says": measure.says if measure is not None else None,
            "query": gate.promql,
            "max": written(gate.max),
            "halt": written(gate.halt) if gate.halt is not None else None,
            "over": gate.over,
            "waits": waits_for(catalog, spec, gate),
        }


def _pools(
    catalog: Catalog, units: Sequence[Unit], spec: RolloutSpec, tier: Tier
) -> list[dict[str, Any]]:
    """The tier's pools by name, each with what its nodes are given and how its driver is switched."""
    files = {unit.path: {artifact.file for artifact in unit.artifacts} for unit in units}
    found = []
    for pool in pools_of(catalog, spec):
        cluster = catalog.clusters.get(pool.cluster)
        if cluster is None:
            continue
        folder = f"{cluster.name}/nodes/{pool.name}"
        has_kubelet_file = KUBELET_FILE in files.get(folder, ())
        found.append(
            {
                "name": pool.name,
                "cluster": cluster.name,
                "nodes": pool.document.spec.nodes,
                "folder": f"out/{folder}",
                "state": pool.state,
                "has": _has(spec, tier, pool),
                "driver": driver_facts(cluster, pool, tier.driver),
                "held": _held(pool, tier),
                "switch": list(_switch(pool, tier)),
                "kubelet": kubelet_facts(cluster) if has_kubelet_file else None,
                "mark": {"key": POOL_KEY, "value": pool.state, "effect": "NoSchedule"},
                "stage": _first_stage(catalog, spec, pool),
                "selector": selector_of(pool),
            }
        )
    return found


def _held(pool: Pool, tier: Tier) -> str:
    """Columns of pods that tell which devices each has, by claims and by names of the device plugin."""
    path = ".spec.containers[*].resources.limits"
    columns = [column(name, path) for name in plugin_resources(pool, tier.driver)]
    pods = ["NAMESPACE:.metadata.namespace", "POD:.metadata.name"]
    return ",".join([*pods, "CLAIMS:.spec.resourceClaims[*].name", *columns])


def _has(spec: RolloutSpec, tier: Tier, pool: Pool) -> str:
    """What the rollout's subject is on a pool now, in a word or two."""
    if spec.subject == "ownership":
        return "claims" if pool.owner(tier.driver) == "dra" else "device plugin"
    if spec.subject in ("sharing", "rebalance"):
        names = {one.name for part in pool.devices if part.tier is tier for one in part.policies}
        return ", ".join(sorted(names))
    come = has_come(pool.moves, spec.subject, {tier.name})
    what = spec.gate if spec.subject == "featureGate" else "device metadata"
    return f"{what} on" if come else f"{what} off"


def _switch(pool: Pool, tier: Tier) -> Iterator[str]:
    """Values of the driver's chart that let it hand out devices on a pool, or keep it from that."""
    if not tier.driver.has_dra_driver:
        return
    for steps, value in placement(pool, tier.driver):
        path = ".".join(steps)
        if path not in NODE_SELECTORS:
            yield f"{path}: {json.dumps(value)}"
        elif NOWHERE.items() <= value.items():
            yield f"{path} selects no node"


def _first_stage(catalog: Catalog, spec: RolloutSpec, pool: Pool) -> str | None:
    documents = {name: one.document for name, one in catalog.pools.items()}
    return next(
        (s.name for i, s in enumerate(spec.stages) if pool.name in pools_at(spec, i, documents)),
        None,
    )


def _tenants(catalog: Catalog, spec: RolloutSpec, tier: Tier) -> list[dict[str, Any]]:
    """Who is entitled to the tier on a cluster of the rollout: the paths of new work, and the limits."""
    found = []
    for tenant in catalog.tenants.values():
        for cluster in clusters_of(catalog, spec):
            grants = [grant for grant in tenant.grants_on(cluster.name) if grant.tier is tier]
            if not grants:
                continue
            found.append(
                {
                    "name": tenant.name,
                    "cluster": cluster.name,
                    "stage": next(
                        (s.name for s in spec.stages if has_tenant(s, tenant.name)), None
                    ),
                    "state": tenant.document.spec.state,
                    "profiles": [profile.name for profile in tenant.document.spec.profiles],
                    "plugin": _limit(grants, cluster, tier, "devicePlugin"),
                    "claims": _limit(grants, cluster, tier, "dra"),
                    "left": sum(
                        numbers.limit
                        for grant in grants
                        if not grant.uses_claims
                        for numbers in grant.on("dra").values()
                    ),
                }
            )
    return found


def _limit(grants: Iterable[Grant], cluster: Cluster, tier: Tier, owner: Any) -> int | None:
    """How many devices or shares a tenant may have by one path; None where new work has no such path."""
    taking = [pool for pool in cluster.pools_of(tier) if not pool.is_closed]
    if not any(pool.owner(tier.driver) == owner for pool in taking):
        return None
    held = [grant for grant in grants if owner in grant.owners]
    if not held:
        return None
    return sum(numbers.limit for grant in held for numbers in grant.on(owner).values())


def _told(catalog: Catalog, spec: RolloutSpec, taken: Step | Refused) -> dict[str, Any]:
    """What the next step leads to and does, or why there is none."""
    if isinstance(taken, Refused):
        return {"to": None, "why": taken.why, "instead": taken.instead}
    return {"to": str(taken.after), "asks": taken.asks, **_effect(catalog, spec, taken.after)}


def _effect(catalog: Catalog, spec: RolloutSpec, after: Standing) -> dict[str, Any]:
    """`{fences, frees, switches}`: names of pools that a step to a standing fences, opens and switches."""
    pools = {name: pool.document for name, pool in catalog.pools.items()}
    then = at(spec, after)
    here, there = pools_at(spec, position(spec), pools), pools_at(then, position(then), pools)
    return {
        "fences": sorted(fenced_pools(then, pools) - fenced_pools(spec, pools)),
        "frees": sorted(fenced_pools(spec, pools) - fenced_pools(then, pools) - (here ^ there)),
        "switches": sorted(here ^ there) if spec.subject != "rebalance" else [],
    }


def _way_back(catalog: Catalog, spec: RolloutSpec) -> Iterator[dict[str, Any]]:
    """Every standing from here to the start, backwards, with what its step does."""
    taken = step(spec, "advance" if spec.direction == "rollback" else "rollback")
    while isinstance(taken, Step):
        yield {"to": str(taken.after), **_effect(catalog, spec, taken.after)}
        spec = at(spec, taken.after)
        taken = step(spec, "advance")
