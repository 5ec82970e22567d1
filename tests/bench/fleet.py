"""A fleet from a seed: N tenants on M clusters, written as a repository of YAML files.

Run: python -m tests.bench.fleet FOLDER --tenants 1000 --clusters 4. The same arguments give the same
bytes. Tenants have whole GPUs, shares by memory and MIG parts, one to three namespaces and two to
four profiles; some lend, some are frozen. Pools are as large as what is promised needs.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

Document = dict[str, Any]
API_VERSION = "dracfg.dev/v1alpha1"
GPU, SHARED = "gpu.nvidia.com", "hami-core-gpu.project-hami.io"
MINORS = ("1.36", "1.35", "1.37", "1.36")
SLICES, PARTS = ("5Gi", "10Gi", "20Gi"), ("1g.5gb", "2g.10gb", "3g.20gb")
PARTS_PER_GPU = {"1g.5gb": 2, "2g.10gb": 1, "3g.20gb": 1}
TENANTS_PER_FOLDER = 500
RECLAIM = {"onUnknownNode": "hold", "fencing": "nodeLease", "grace": "10m", "timeout": "30m"}
DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


@dataclass(frozen=True, slots=True)
class Fleet:
    """Documents by the path of the file that they stand in."""

    files: dict[str, list[Document]]

    def write(self, root: Path) -> None:
        for path, documents in self.files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(dumped(documents), encoding="utf-8")


def dumped(documents: Sequence[Document]) -> str:
    """The text of a file of these documents."""
    text: str = yaml.dump_all(documents, Dumper=DUMPER, sort_keys=False, width=100)
    return text


@dataclass(slots=True)
class _Promised:
    """Devices and shares that tenants were promised, by cluster."""

    whole: Counter[tuple[str, str]] = field(default_factory=Counter)
    memory: Counter[str] = field(default_factory=Counter)
    parts: Counter[tuple[str, str]] = field(default_factory=Counter)


def fleet(tenants: int, clusters: int, seed: int = 1) -> Fleet:
    """The documents of a fleet; each tenant depends on the seed and its own number alone."""
    names = [f"cluster-{number:02d}" for number in range(1, clusters + 1)]
    promised = _Promised()
    made = [_Tenant(seed, number, tenants, names, promised) for number in range(tenants)]
    for giver, taker in zip(made[::2], made[1::2], strict=False):
        giver.lend(taker)
    files: dict[str, list[Document]] = {
        "catalog/drivers.yaml": list(_drivers()),
        "catalog/tiers.yaml": list(_tiers()),
        "catalog/policies.yaml": list(_policies()),
        "catalog/clusters.yaml": [_cluster(name, i) for i, name in enumerate(names)],
    }
    files |= {f"catalog/pools/{name}.yaml": list(_pools(name, promised)) for name in names}
    for number, tenant in enumerate(made):
        folder = number // TENANTS_PER_FOLDER
        files[f"tenants/{folder:03d}/{tenant.name}.yaml"] = [tenant.document]
    return Fleet(files)


def _document(kind: str, name: str, spec: Document) -> Document:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}


# -- the platform ----------------------------------------------------------------------------------


def _cluster(name: str, number: int) -> Document:
    gitops: Document = {"engine": "argocd" if number % 2 == 0 else "flux", "revision": "main"}
    if gitops["engine"] == "argocd":
        account = {"namespace": "argocd", "name": "argocd-application-controller"}
        gitops |= {
            "repoURL": "https://git.example.com/platform/devices.git",
            "destination": {"name": name},
        }
    else:
        account = {"namespace": "flux-system", "name": "kustomize-controller"}
        gitops["source"] = {"kind": "GitRepository", "name": "devices"}
    gitops |= {
        "applier": {"serviceAccount": account},
        "breakGlass": {"groups": ["system:masters", "platform-oncall"]},
    }
    reason = "holds the slices to their memory, reviewed 2026-10"
    minor = MINORS[number % len(MINORS)]
    return _document(
        "Cluster",
        name,
        {
            "kubernetes": minor,
            "distribution": "generic",
            "gitops": gitops,
            "allowAlpha": {f"{SHARED}/HAMiCoreSupport": reason}
            | ({"DRAConsumableCapacity": "shares, reviewed 2026-10"} if minor == "1.35" else {}),
            # From 1.36 on by default, from 1.37 locked.
            "featureGates": {"DRAExtendedResource": False} if minor == "1.36" else {},
            "addons": {"prometheusOperator": True},
        },
    )


def _drivers() -> Iterator[Document]:
    yield _document("Driver", GPU, {"preset": GPU, "version": "0.5.0"})
    tried = ("sharesOneAllocation", "restoresSharesAfterRestart", "resetsAtUnprepare")
    yield _document(
        "Driver", SHARED, {"preset": SHARED, "version": "0.1.0"} | dict.fromkeys(tried, True)
    )


def _tiers() -> Iterator[Document]:
    yield _tier("a100-40g", GPU, "gpu", "NVIDIA A100-SXM4-40GB", {"memory": "40Gi"},
                counters={"memory": "40Gi", "multiprocessors": 98, "copy-engines": 7})  # fmt: skip
    yield _tier("l4", GPU, "gpu", "NVIDIA L4", {"memory": "23034Mi"})
    yield _tier("l40s", SHARED, "hami-gpu", "NVIDIA L40S", {"memory": "46068Mi", "cores": 100})


def _tier(
    name: str, driver: str, kind: str, product: str, capacity: Document, **device: Document
) -> Document:
    attributes = {"type": kind, "productName": product}
    spec: Document = {
        "driver": driver,
        "match": {"attributes": attributes},
        "device": {"attributes": dict(attributes), "capacity": capacity, **device},
        "reclaim": dict(RECLAIM),
    }
    if driver == GPU:
        spec["legacyResource"] = "nvidia.com/gpu"
    return _document("HardwareTier", name, spec)


def _policies() -> Iterator[Document]:
    yield _document(
        "SharingPolicy",
        "slices",
        {
            "mode": "consumable",
            "capacity": {
                "memory": {"min": "5Gi", "step": "5Gi", "max": "20Gi"},
                "cores": {"min": 0, "step": 1, "max": 100, "default": 0},
            },
            "sizedBy": "memory",
            "sizes": list(SLICES),
            "maxShares": 8,
            "tenancy": {"any": "one trust domain, approved 2026-10"},
            "isolation": "driver",
            "acceptsDeclared": "the limiter is on trial, approved 2026-10",
            "guarantee": "fits",
            "reclaim": dict(RECLAIM),
        },
    )
    consumes = [
        {"memory": "4864Mi", "multiprocessors": 14, "copy-engines": 1},
        {"memory": "9856Mi", "multiprocessors": 28, "copy-engines": 2},
        {"memory": "19968Mi", "multiprocessors": 42, "copy-engines": 3},
    ]
    yield _document(
        "SharingPolicy",
        "mig",
        {
            "mode": "partitioned",
            "tenancy": {"any": "hardware keeps the parts apart, approved 2026-10"},
            "isolation": "hardware",
            "guarantee": "fits",
            "partitions": [
                {
                    "name": name,
                    "match": {"attributes": {"type": "mig", "profile": name}},
                    "consumes": amounts,
                    "perDevice": PARTS_PER_GPU[name],
                }
                for name, amounts in zip(PARTS, consumes, strict=True)
            ],
            "reclaim": dict(RECLAIM),
        },
    )


def _pools(cluster: str, promised: _Promised) -> Iterator[Document]:
    """Each as large as what is promised of it and a tenth more."""
    parts = max(-(-promised.parts[cluster, name] // most) for name, most in PARTS_PER_GPU.items())
    for name, tier, policy, per_node, devices in (
        ("a100", "a100-40g", "whole", 8, promised.whole[cluster, "a100-40g"]),
        ("a100-mig", "a100-40g", "mig", 8, parts),
        ("l4", "l4", "whole", 4, promised.whole[cluster, "l4"]),
        ("l40s", "l40s", "slices", 4, -(-promised.memory[cluster] // 40)),
    ):
        nodes = max(2, -(-devices * 11 // (10 * per_node)) + 2)
        driver = SHARED if tier == "l40s" else GPU
        yield _document(
            "NodePool",
            f"{name}-{cluster}",
            {
                "cluster": cluster,
                "nodes": nodes,
                "nodeSelector": {"node.example.com/pool": f"{name}-{cluster}"},
                "devices": [{"tier": tier, "perNode": per_node}],
                "sharing": [policy],
                "owner": {driver: "dra"},
                "spare": {"nodes": 1},
            },
        )


# -- tenants ---------------------------------------------------------------------------------------


class _Tenant:
    """One tenant while it is drawn."""

    def __init__(
        self, seed: int, number: int, total: int, clusters: Sequence[str], promised: _Promised
    ) -> None:
        dice = random.Random(f"{seed}/{number}")
        width = len(str(max(total - 1, 1)))
        self.name = f"team-{number:0{width}d}"
        # Two of a pair live on the same cluster, so that one can lend to the other.
        home = clusters[number // 2 % len(clusters)]
        more = [name for name in clusters if name != home]
        self.clusters = sorted(
            {home, *dice.sample(more, k=min(len(more), int(dice.random() < 0.2)))}
        )
        self.dice = dice
        state = dice.choices(("active", "frozen", "draining"), (92, 5, 3))[0]
        self.spec: Document = {
            "state": state,
            "access": self._access(),
            "namespaces": self._namespaces(),
            "entitlements": [],
            "profiles": [],
        }
        shapes = dice.sample((self._whole, self._shares, self._parts), k=dice.choice((1, 2, 2)))
        for shape in shapes:
            shape(promised)
        while len(self.spec["profiles"]) < 2:
            self._profile_again()

    @property
    def document(self) -> Document:
        return _document("Tenant", self.name, self.spec)

    def lend(self, taker: _Tenant) -> None:
        """Some pairs: shares of the giver's smallest size go to the other, one a namespace."""
        entitlement = next((e for e in self.spec["entitlements"] if e["name"] == "slice"), None)
        active = self.spec["state"] == taker.spec["state"] == "active"
        count = len(self.spec["namespaces"])
        alike = count == len(taker.spec["namespaces"])
        if entitlement is None or not active or not alike:
            return
        if entitlement["guaranteed"]["5Gi"] == count or self.dice.random() > 0.5:
            return
        offer = {"entitlement": "slice", "size": "5Gi", "count": count}
        self.spec["offers"] = [offer | {"to": taker.name}]
        taker.spec["acceptedOffers"] = [{"from": self.name, **offer}]

    def _access(self) -> Document:
        use: list[Document] = [{"group": f"{self.name}-eng"}]
        if self.dice.random() < 0.4:
            use.append({"serviceAccount": {"namespace": f"{self.name}-prod", "name": "runner"}})
        access: Document = {"use": use}
        if self.dice.random() < 0.5:
            access["view"] = [{"group": f"{self.name}-guests"}]
        return access

    def _namespaces(self) -> list[Document]:
        stages = ("prod", "dev", "batch")[: self.dice.choice((1, 1, 2, 2, 3))]
        return [{"name": f"{self.name}-{stage}", "clusters": self.clusters} for stage in stages]

    def _entitle(self, name: str, tier: str, guaranteed: Any, **more: Any) -> None:
        """Numbers are a multiple of the namespaces, so that each of them gets whole devices."""
        entitlement = {"name": name, "tier": tier, **more, "guaranteed": guaranteed}
        self.spec["entitlements"].append(entitlement)

    def _profile(self, name: str, entitlement: str, **request: Any) -> None:
        requests = [{"name": "gpu", "entitlement": entitlement, **request}]
        self.spec["profiles"].append({"name": name, "requests": requests})

    def _count(self, most: int) -> int:
        return len(self.spec["namespaces"]) * self.dice.randint(1, most)

    def _whole(self, promised: _Promised) -> None:
        tier = self.dice.choice(("a100-40g", "l4"))
        count = self._count(4)
        self._entitle("gpu", tier, count)
        for cluster in self.clusters:
            promised.whole[cluster, tier] += count
        self._profile("train-x1", "gpu")
        each = count // len(self.spec["namespaces"])
        if each > 1:
            self._profile(f"train-x{each}", "gpu", count=each)

    def _shares(self, promised: _Promised) -> None:
        sizes = sorted(self.dice.sample(range(len(SLICES)), k=self.dice.choice((1, 2))))
        amounts = {SLICES[i]: self._count(3) for i in sorted({0, *sizes})}
        self._entitle("slice", "l40s", amounts, sharing="slices")
        for cluster in self.clusters:
            promised.memory[cluster] += sum(
                int(size.removesuffix("Gi")) * count for size, count in amounts.items()
            )
        for size in amounts:
            self._profile(f"notebook-{size.lower()}", "slice", size=size)

    def _parts(self, promised: _Promised) -> None:
        amounts = {name: self._count(2) for name in self.dice.sample(PARTS, k=2)}
        self._entitle("part", "a100-40g", amounts, sharing="mig")
        for cluster in self.clusters:
            for name, count in amounts.items():
                promised.parts[cluster, name] += count
        for name in amounts:
            self._profile(f"part-{name.replace('.', '-')}", "part", size=name)

    def _profile_again(self) -> None:
        """A second profile of the first one's request, as teams have for another image."""
        (request, *_) = self.spec["profiles"][0]["requests"]
        name = f"debug-{len(self.spec['profiles'])}"
        self.spec["profiles"].append({"name": name, "requests": [dict(request)]})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tenants", type=int, default=1000)
    parser.add_argument("--clusters", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    fleet(arguments.tenants, arguments.clusters, arguments.seed).write(arguments.folder)


if __name__ == "__main__":
    main()
