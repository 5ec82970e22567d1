"""Every sequence of steps of a rollout, with work that comes and goes: nobody is left behind.

In no reachable state do two owners hold one device, is the template, class or namespace of a bound claim
taken away, or is a tenant without any path to new work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml
from hypothesis import assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from dracfg.check.rolloutplans import loses_both_paths
from dracfg.link.catalog import Catalog
from dracfg.link.index import index
from dracfg.link.linker import link
from dracfg.link.steps import Step, step
from dracfg.lower.units import lower
from dracfg.model.parse import parse
from dracfg.source.composer import compose
from dracfg.source.standing import STATE_FILES, Standing

HEAD = "apiVersion: dracfg.dev/v1alpha1\n"
DRIVER = "gpu.example.com"
DEVICES = 3
Where = tuple[str, str, str]
"""Stage, phase and direction."""
Name = tuple[str, str, str]
"""Kind, namespace and name."""
Tree = tuple[tuple[str, str], ...]
"""The files that the next compile depends on, as text."""


@dataclass(frozen=True)
class Plan:
    """How many pools and tenants there are, and at which stage each of them moves."""

    pools: tuple[int, ...]
    tenants: tuple[int, ...]

    @property
    def stages(self) -> int:
        return max((*self.pools, *self.tenants)) + 1


@dataclass(frozen=True)
class Held:
    """A device in use: by whom, over which path, and the objects that a claim of it rests on."""

    tenant: str
    owner: str
    objects: frozenset[Name] = frozenset()


def text(plan: Plan, where: Mapping[str, str]) -> tuple[str, str]:
    """catalog/ and tenants/ of a plan whose rollout stands somewhere."""

    def document(kind: str, name: str, spec: dict[str, Any]) -> str:
        return HEAD + yaml.safe_dump({"kind": kind, "metadata": {"name": name}, "spec": spec})

    stages = [
        {
            "name": f"s{i}",
            "pools": [f"p{n}" for n, at in enumerate(plan.pools) if at <= i],
            "tenants": [f"t{n}" for n, at in enumerate(plan.tenants) if at <= i],
            "workloads": "retryable",
            "split": {f"t{n}": {"plugin": 2, "dra": 2} for n in range(len(plan.tenants))},
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
                "legacyResource": "example.com/gpu",
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
                "namespaces": [{"name": f"t{n}", "clusters": ["lab"]}],
                "entitlements": [{"name": "gpu", "tier": "sim", "guaranteed": 1, "limit": 4}],
                "profiles": [
                    {"name": "one", "requests": [{"name": "gpu", "entitlement": "gpu", "count": 1}]}
                ],
            },
        )
        for n in range(len(plan.tenants))
    ]
    return "---\n".join(platform), "---\n".join(tenants)


@cache
def linked(plan: Plan, here: Where) -> Catalog:
    platform, tenants = text(plan, dict(zip(("stage", "phase", "direction"), here, strict=True)))
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
def lowered(plan: Plan, here: Where, tree: Tree) -> tuple[frozenset[Name], Tree]:
    """The names of what is emitted where synced, and what stands then for the next compile."""
    standing = Standing({path: tuple(yaml.safe_load(text)) for path, text in tree})
    files: dict[str, list[dict[str, Any]]] = {}
    emitted: set[Name] = set()
    for unit in lower(linked(plan, here), standing):
        for artifact in unit.artifacts:
            files.setdefault(f"{unit.path}/{artifact.file}", []).append(artifact.object)
            metadata = artifact.object.get("metadata", {})
            if unit.synced:
                name = (metadata.get("namespace", ""), metadata.get("name", ""))
                emitted.add((artifact.object["kind"], *name))
    kept = {name.rsplit("/", 1)[-1] for name in STATE_FILES}
    return frozenset(emitted), tuple(
        (path, yaml.safe_dump(objects))
        for path, objects in sorted(files.items())
        if path.rsplit("/", 1)[-1] in kept or "/retired/" in path
    )


class Rollouts(RuleBasedStateMachine):
    @initialize(
        pools=st.lists(st.integers(0, 2), min_size=2, max_size=3).map(sorted),
        tenants=st.lists(st.integers(0, 2), min_size=1, max_size=2).map(sorted),
    )
    def begin(self, pools: list[int], tenants: list[int]) -> None:
        self.plan = Plan(tuple(pools), tuple(tenants))
        self.held: dict[tuple[str, int], Held] = {}
        self.tree: Tree = ()
        self.stand(("start", "open", "forward"))
        assume(not list(loses_both_paths(self.catalog)))

    def stand(self, here: Where) -> None:
        """Moves the rollout, compiles, and remembers what stands then."""
        self.catalog = linked(self.plan, here)
        self.emitted, self.tree = lowered(self.plan, here, self.tree)

    @property
    def rollout(self) -> Any:
        return self.catalog.rollouts["move"].spec

    def ways(self, tenant: str) -> Iterator[tuple[str, str]]:
        """(pool, owner) that would take new work of a tenant."""
        for grant in self.catalog.tenants[tenant].grants:
            for pool in grant.cluster.pools_of(grant.tier):
                owner = pool.owner(grant.tier.driver)
                if owner in grant.owners and not pool.is_closed:
                    yield pool.name, owner

    @rule(data=st.data())
    def work(self, data: st.DataObject) -> None:
        tenant = data.draw(st.sampled_from(sorted(self.catalog.tenants)))
        ways = [
            (pool, owner, device)
            for pool, owner in self.ways(tenant)
            for device in range(DEVICES)
            if (pool, device) not in self.held
        ]
        if not ways:
            return
        pool, owner, device = data.draw(st.sampled_from(ways))
        rests = frozenset[Name]()
        if owner == "dra":
            rests = frozenset(
                {
                    ("Namespace", "", tenant),
                    ("DeviceClass", "", "sim"),
                    ("ResourceClaimTemplate", tenant, "one"),
                }
            )
        self.held[pool, device] = Held(tenant, owner, rests)

    @rule(data=st.data())
    def end(self, data: st.DataObject) -> None:
        if self.held:
            del self.held[data.draw(st.sampled_from(sorted(self.held)))]

    @rule(command=st.sampled_from(["advance", "advance", "advance", "halt", "rollback"]))
    def move(self, command: Any) -> None:
        taken = step(self.rollout, command)
        if not isinstance(taken, Step):
            return
        here = (taken.after.stage, taken.after.phase, taken.after.direction)
        after = linked(self.plan, here)
        turned = {
            name
            for name, pool in self.catalog.pools.items()
            if pool.owner(self.catalog.drivers[DRIVER])
            != after.pools[name].owner(after.drivers[DRIVER])
        }
        assert taken.flips or not turned
        # A pool changes hands only when it is fenced, and only when the gate has seen it empty.
        assert all(self.catalog.pools[name].is_closed for name in turned)
        if any(pool in turned for pool, _ in self.held):
            return
        self.stand(here)

    @invariant()
    def no_device_has_two_owners(self) -> None:
        for (pool, _), held in self.held.items():
            assert self.catalog.pools[pool].owner(self.catalog.drivers[DRIVER]) == held.owner

    @invariant()
    def nothing_is_taken_from_a_bound_claim(self) -> None:
        for held in self.held.values():
            assert held.objects <= self.emitted

    @invariant()
    def nobody_is_without_a_path(self) -> None:
        for tenant in self.catalog.tenants:
            assert any(self.ways(tenant)), tenant


Rollouts.TestCase.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
TestRollouts = Rollouts.TestCase
