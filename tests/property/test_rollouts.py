"""Every sequence of steps of a rollout, with work and tenants that come and go: nobody is left behind.

In no reachable state do two owners hold one device, is the template, class, namespace or shared claim of
a bound claim taken away, is an active tenant without any path to new work, or has one that is leaving
a path to any. What quotas let through by both paths, with the bound claims that they don't count, comes
to no more than a tenant's limit.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
import yaml
from hypothesis import assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from dracfg.check.rolloutplans import loses_both_paths
from dracfg.check.rollouts import will_not_be_split
from dracfg.link.catalog import Catalog
from dracfg.link.index import index
from dracfg.link.linker import link
from dracfg.link.moves import leaves_claims
from dracfg.link.steps import Step, step
from dracfg.lower.units import lower
from dracfg.model.parse import parse
from dracfg.source.composer import compose
from dracfg.source.standing import STATE_FILES, Standing

HEAD = "apiVersion: dracfg.dev/v1alpha1\n"
DRIVER = "gpu.example.com"
LEGACY = "example.com/gpu"
DEVICES = 3
LIMIT = 4
STATES = ("active", "frozen", "draining", "removed", "gone")
"""A tenant leaves in this order, and may come back from anywhere but from the end."""
Where = tuple[str, str, str, bool]
"""Stage, phase and direction, and whether it has turned back since its start, as its evidence tells."""
START: Where = ("start", "open", "forward", False)
Name = tuple[str, str, str]
"""Kind, namespace and name."""
States = tuple[str, ...]
"""Of the tenants, in their order."""
Tree = tuple[tuple[str, str], ...]
"""The files that the next compile depends on, as text."""


@dataclass(frozen=True)
class Plan:
    """How many pools and tenants there are, and at which stage each of them moves.

    `claims` is what of its limit each tenant has by claims while both paths are open.
    """

    pools: tuple[int, ...]
    tenants: tuple[int, ...]
    claims: tuple[int, ...]

    @property
    def stages(self) -> int:
        return max((*self.pools, *self.tenants)) + 1


@dataclass(frozen=True)
class Held:
    """A device in use: by whom, over which path, and the objects that a claim of it rests on."""

    tenant: str
    owner: str
    objects: frozenset[Name] = frozenset()


@dataclass(frozen=True, eq=False)
class Emitted:
    """What decides on new work: names of synced objects, rights and quotas by namespace, fenced pools."""

    names: frozenset[Name]
    rights: Mapping[str, Mapping[str, str]]
    quotas: Mapping[str, Mapping[str, str]]
    fenced: frozenset[str]

    def numbers(self, tenant: str) -> tuple[int, int]:
        """What quota has for a tenant's namespace by plugin and by claims."""
        hard = self.quotas[tenant]
        plugin = hard.get(f"requests.{LEGACY}", "0")
        return int(plugin), int(hard["sim.deviceclass.resource.k8s.io/devices"])

    def lets_in(self, tenant: str, owner: str) -> bool:
        """Whether admission and quota let a tenant's namespace ask by this path."""
        rights, hard = self.rights.get(tenant, {}), self.quotas.get(tenant, {})
        if rights.get("dracfg.dev/state") != "active":
            return False
        if owner == "devicePlugin":
            names = rights.get("dracfg.dev/legacy-resources", "").split(",")
            return LEGACY in names and int(hard[f"requests.{LEGACY}"]) > 0
        fields = rights.get("classes.dracfg.dev/sim", "").split(";")
        return "state=open" in fields and int(hard["sim.deviceclass.resource.k8s.io/devices"]) > 0


def after(taken: Step, here: Where) -> Where:
    """Where a step leads, with what it leaves in the evidence."""
    before, to = taken.before, taken.after
    turned = before.stage != "start" and (before.direction == "rollback" or here[3])
    return to.stage, to.phase, to.direction, turned


def told(here: Where) -> dict[str, Any]:
    """What a Rollout says of where it stands."""
    evidence = {
        "stage": "s0",
        "direction": "rollback",
        "verdict": "passed",
        "at": "2026-11-29T22:00:00Z",
        "source": "record.json",
        "digest": f"sha256:{0:064}",
    }
    stage, phase, direction, turned = here
    return {
        "stage": stage,
        "phase": phase,
        "direction": direction,
        "evidence": [evidence] if turned else [],
    }


def text(plan: Plan, where: Mapping[str, Any], states: States) -> tuple[str, str]:
    """catalog/ and tenants/ of a plan whose rollout stands somewhere; who is gone is named nowhere."""
    here = [n for n, state in enumerate(states) if state != "gone"]

    def document(kind: str, name: str, spec: dict[str, Any]) -> str:
        return HEAD + yaml.safe_dump({"kind": kind, "metadata": {"name": name}, "spec": spec})

    stages = [
        {
            "name": f"s{i}",
            "pools": [f"p{n}" for n, at in enumerate(plan.pools) if at <= i],
            "tenants": [f"t{n}" for n in here if plan.tenants[n] <= i],
            "workloads": "retryable",
            "split": {
                f"t{n}": {"plugin": LIMIT - plan.claims[n], "dra": plan.claims[n]} for n in here
            },
        }
        for i in range(plan.stages)
    ]
    gitops = {
        "engine": "argocd",
        "repoURL": "https://git.example.com/r.git",
        "destination": {"name": "lab"},
        "applier": {"serviceAccount": {"namespace": "argocd", "name": "argocd"}},
    }
    platform = [
        document(
            "Cluster", "lab", {"kubernetes": "1.36", "distribution": "kubeadm", "gitops": gitops}
        ),
        document("Driver", DRIVER, {"preset": DRIVER}),
        document(
            "HardwareTier",
            "sim",
            {
                "driver": DRIVER,
                "legacyResource": LEGACY,
                "device": {"capacity": {"memory": "80Gi"}},
            },
        ),
        *(
            document(
                "NodePool",
                f"p{n}",
                {
                    "cluster": "lab",
                    "nodes": 1,
                    "nodeSelector": {"pool": f"p{n}"},
                    "devices": [{"tier": "sim", "perNode": DEVICES}],
                    "owner": {DRIVER: "devicePlugin"},
                },
            )
            for n in range(len(plan.pools))
        ),
        document("Rollout", "move", {"tier": "sim", "stages": stages, **where}),
    ]
    tenants = [
        document(
            "Tenant",
            f"t{n}",
            {
                "state": states[n],
                "namespaces": [{"name": f"t{n}", "clusters": ["lab"]}],
                "entitlements": [{"name": "gpu", "tier": "sim", "guaranteed": 1, "limit": LIMIT}],
                "profiles": [
                    {"name": "one", "requests": [{"name": "gpu", "entitlement": "gpu", "count": 1}]}
                ],
                "sharedClaims": [
                    {"name": "all", "profile": "one", "namespace": f"t{n}", "pods": 2}
                ],
            },
        )
        for n in here
    ]
    return "---\n".join(platform), "---\n".join(tenants)


@cache
def linked(plan: Plan, here: Where, states: States) -> Catalog:
    platform, tenants = text(plan, told(here), states)
    documents = [
        *compose("catalog/all.yaml", platform)[0],
        *compose("tenants/all.yaml", tenants)[0],
    ]
    parsed = parse(documents)
    assert not parsed.faults
    named, twice = index(parsed.documents)
    assert not twice
    found = link(named, parsed.poisoned)
    assert not found.faults
    return found.catalog


@cache
def lowered(plan: Plan, here: Where, states: States, tree: Tree) -> tuple[Emitted, Tree]:
    """What is emitted, and what stands then for the next compile."""
    standing = Standing({path: tuple(yaml.safe_load(text)) for path, text in tree})
    files: dict[str, list[dict[str, Any]]] = {}
    units = lower(linked(plan, here, states), standing)
    for unit in units:
        for artifact in unit.artifacts:
            files.setdefault(f"{unit.path}/{artifact.file}", []).append(artifact.object)
    synced = [one.object for unit in units if unit.synced for one in unit.artifacts]
    kept = {name.rsplit("/", 1)[-1] for name in STATE_FILES}
    return Emitted(
        frozenset(map(name_of, synced)),
        {
            name_of(one)[2]: one["metadata"]["annotations"]
            for one in synced
            if one["kind"] == "Namespace"
        },
        {name_of(one)[1]: one["spec"]["hard"] for one in synced if one["kind"] == "ResourceQuota"},
        frozenset(path.split("/")[2] for path in files if path.endswith("/taints.yaml")),
    ), tuple(
        (path, json.dumps(objects))
        for path, objects in sorted(files.items())
        if path.rsplit("/", 1)[-1] in kept or "/retired/" in path
    )


def name_of(thing: Mapping[str, Any]) -> Name:
    metadata = thing["metadata"]
    return thing["kind"], metadata.get("namespace", ""), metadata["name"]


class Rollouts(RuleBasedStateMachine):
    @initialize(
        pools=st.lists(st.integers(0, 2), min_size=2, max_size=3).map(sorted),
        tenants=st.lists(
            st.tuples(st.integers(0, 2), st.integers(0, LIMIT)), min_size=1, max_size=2
        ).map(sorted),
    )
    def begin(self, pools: list[int], tenants: list[tuple[int, int]]) -> None:
        stages, claims = zip(*tenants, strict=True)
        self.plan = Plan(tuple(pools), stages, claims)
        self.held: dict[tuple[str, int], Held] = {}
        self.tree: Tree = ()
        self.states: States = ("active",) * len(tenants)
        self.stand(START)
        assume(not list(loses_both_paths(self.catalog)))

    def stand(self, here: Where) -> None:
        """Moves the rollout, compiles, and remembers what stands then."""
        self.here = here
        self.catalog = linked(self.plan, here, self.states)
        self.emitted, self.tree = lowered(self.plan, here, self.states, self.tree)

    @property
    def rollout(self) -> Any:
        return self.catalog.rollouts["move"].spec

    def ways(self, tenant: str) -> Iterator[tuple[str, str]]:
        """(pool, owner) that would take new work of a tenant: admission, quota and fences let it in."""
        for pool in self.catalog.pools.values():
            owner = pool.owner(self.catalog.drivers[DRIVER])
            if pool.name not in self.emitted.fenced and self.emitted.lets_in(tenant, owner):
                yield pool.name, owner

    @rule(data=st.data())
    def work(self, data: st.DataObject) -> None:
        tenant = data.draw(st.sampled_from([f"t{n}" for n in range(len(self.states))]))
        ways = [
            (pool, owner, device)
            for pool, owner in self.ways(tenant)
            for device in range(DEVICES)
            if (pool, device) not in self.held
        ]
        if not ways:
            return
        pool, owner, device = data.draw(st.sampled_from(ways))
        rests = {("Namespace", "", tenant)}
        if owner == "dra":
            made = ("ResourceClaimTemplate", "one"), ("ResourceClaim", "all")
            kind, name = data.draw(st.sampled_from(made))
            rests |= {("DeviceClass", "", "sim"), (kind, tenant, name)}
        self.held[pool, device] = Held(tenant, owner, frozenset(rests))

    @rule(data=st.data())
    def end(self, data: st.DataObject) -> None:
        if self.held:
            del self.held[data.draw(st.sampled_from(sorted(self.held)))]

    @rule(command=st.sampled_from(["advance", "advance", "advance", "halt", "rollback"]))
    def move(self, command: Any) -> None:
        taken = step(self.rollout, command)
        if not isinstance(taken, Step):
            return
        here = after(taken, self.here)
        then = linked(self.plan, here, self.states)
        turned = {
            name
            for name, pool in self.catalog.pools.items()
            if pool.owner(self.catalog.drivers[DRIVER])
            != then.pools[name].owner(then.drivers[DRIVER])
        }
        assert taken.flips or not turned
        # A pool changes hands only when it is fenced, and only when the gate has seen it empty.
        assert all(self.catalog.pools[name].is_closed for name in turned)
        if any(pool in turned for pool, _ in self.held):
            return
        self.stand(here)

    @rule(data=st.data(), leaves=st.booleans())
    def turn(self, data: st.DataObject, leaves: bool) -> None:
        """A tenant goes on its way out by a step, or is let in again; its document goes when it is empty."""
        who = data.draw(st.integers(0, len(self.states) - 1))
        place = STATES.index(self.states[who])
        now = STATES[min(place + 1, len(STATES) - 1)] if leaves else STATES[0]
        holds = any(held.tenant == f"t{who}" for held in self.held.values())
        if self.states[who] == "gone" or (now == "gone" and holds):
            return
        self.states = (*self.states[:who], now, *self.states[who + 1 :])
        self.stand(self.here)

    @invariant()
    def who_leaves_gets_nothing_new(self) -> None:
        for n, state in enumerate(self.states):
            assert state == "active" or not list(self.ways(f"t{n}"))

    @invariant()
    def no_device_has_two_owners(self) -> None:
        for (pool, _), held in self.held.items():
            assert self.catalog.pools[pool].owner(self.catalog.drivers[DRIVER]) == held.owner

    @invariant()
    def nothing_is_taken_from_a_bound_claim(self) -> None:
        for held in self.held.values():
            assert held.objects <= self.emitted.names

    @invariant()
    def nobody_has_more_than_its_limit(self) -> None:
        """A claim within the tenant's part by claims is counted for as long as it is bound.

        Where nothing is left to the plugin, one path alone is open at a time, within the limit.
        """
        turned = leaves_claims(self.catalog.rollouts["move"].spec)
        for n, state in enumerate(self.states):
            if state in ("removed", "gone"):
                continue
            plugin, claims = self.emitted.numbers(f"t{n}")
            bound = sum(h.tenant == f"t{n}" and h.owner == "dra" for h in self.held.values())
            part = self.plan.claims[n] if plugin else LIMIT
            if turned and self.plan.claims[n] == LIMIT:
                assert sorted((plugin, claims)) == [0, LIMIT]
                continue
            assert plugin + max(claims, min(bound, part)) <= LIMIT
            assert plugin + claims > 0

    @invariant()
    def nobody_is_without_a_path(self) -> None:
        for n, state in enumerate(self.states):
            assert state != "active" or any(self.ways(f"t{n}"))


Rollouts.TestCase.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
TestRollouts = Rollouts.TestCase


def stood(plan: Plan) -> Iterator[tuple[Where, frozenset[str], Emitted]]:
    """Every standing by every way to it, with the tenants that may hold claims then."""
    states: States = ("active",) * len(plan.tenants)
    seen: set[tuple[Where, frozenset[str]]] = set()
    pending: list[tuple[Where, frozenset[str]]] = [(START, frozenset())]
    while pending:
        here, held = pending.pop()
        catalog, emitted = linked(plan, here, states), lowered(plan, here, states, ())[0]
        owners = {name: pool.owner(catalog.drivers[DRIVER]) for name, pool in catalog.pools.items()}
        by_claims = {name for name, owner in owners.items() if owner == "dra"}
        let_in = {t for t in emitted.rights if emitted.lets_in(t, "dra")}
        held = (
            (held | (let_in if by_claims - emitted.fenced else set()))
            if by_claims
            else held & set()
        )
        if (here, held) in seen:
            continue
        seen.add((here, held))
        yield here, held, emitted
        for command in ("advance", "halt", "rollback"):
            taken = step(catalog.rollouts["move"].spec, command)
            if isinstance(taken, Step):
                pending.append((after(taken, here), held))


@pytest.mark.parametrize(
    "plan",
    [
        Plan((0, 1, 2), (0, 1), (2, 2)),
        Plan((0, 0, 2), (0, 2), (1, 3)),
        Plan((0, 1, 1, 2), (0, 1, 2), (3, 2, 1)),
    ],
)
def test_no_way_leads_above_a_limit(plan: Plan) -> None:
    """Every way, also those on which somebody turns back twice."""
    start = linked(plan, START, ("active",) * len(plan.tenants))
    assert not [*loses_both_paths(start), *will_not_be_split(start)]
    held_by_plugin = 0
    for here, held, emitted in stood(plan):
        for n in range(len(plan.tenants)):
            plugin, claims = emitted.numbers(f"t{n}")
            held_by_plugin += bool(plugin and not claims)
            bound = plan.claims[n] if f"t{n}" in held and plugin else 0
            assert plugin + max(claims, bound) <= LIMIT, (here, n)
    assert held_by_plugin
