"""Joint proofs agree with brute force on small random sites, and never prove what has a counter-example."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, permutations, product
from pathlib import Path

import pytest
import yaml

from dracfg.allocate.claims import ClaimAllocation
from dracfg.allocate.inventory import Inventory, load_inventory
from dracfg.allocate.narrowing import Ground
from dracfg.allocate.selection import Selection
from dracfg.allocate.structured import Features
from dracfg.link.index import index
from dracfg.link.linker import link
from dracfg.model.parse import parse
from dracfg.plan.jointdemand import JointDemand, joint_demands
from dracfg.plan.jointplacement import devices_of, holds
from dracfg.plan.jointproofs import JointProver
from dracfg.plan.jointsite import grounds
from dracfg.plan.proofs.verdict import Proven, Refuted, Unknown
from dracfg.source import read_repository
from dracfg.source.records import parse_record

SITES = 150
SEED = 20261130
BASE = Path(__file__).parents[1] / "cases" / "_base" / "recorded.yaml"
ROOT = "resource.kubernetes.io/pcieRoot"

Node = tuple[tuple[str, ...], tuple[str, ...]]
"""The roots of the GPUs of a node, and those of its cards."""
Free = tuple[frozenset[int], frozenset[int]]


@dataclass(frozen=True)
class Question:
    """So many claims, each for so many GPUs and cards of one node; `align` says what agrees."""

    nodes: tuple[Node, ...]
    spare: int
    gpus: int
    cards: int
    align: str
    claims: int


def questions() -> Iterator[Question]:
    chance = random.Random(SEED)
    for _ in range(SITES):
        nodes = tuple(
            (
                tuple(chance.choice("abc") for _ in range(chance.randint(0, 3))),
                tuple(chance.choice("abc") for _ in range(chance.randint(0, 3))),
            )
            for _ in range(chance.randint(1, 3))
        )
        align = chance.choice(["none", "pairs", "gpu"])
        gpus = chance.randint(1, 2)
        cards = gpus if align == "pairs" else chance.randint(1, 2)
        spare = chance.choice([0, 0, 1]) if len(nodes) > 1 else 0
        yield Question(nodes, spare, gpus, cards, align, chance.randint(1, 3))


def ways(question: Question, node: Node, free: Free) -> Iterator[Free]:
    """What remains of a node after one claim, for every way to place it."""
    for gpus in combinations(sorted(free[0]), question.gpus):
        for cards in combinations(sorted(free[1]), question.cards):
            if agree(question.align, [node[0][i] for i in gpus], [node[1][i] for i in cards]):
                yield free[0] - set(gpus), free[1] - set(cards)


def agree(align: str, gpus: Sequence[str], cards: Sequence[str]) -> bool:
    if align == "pairs":
        return any(list(order) == list(gpus) for order in permutations(cards))
    return align != "gpu" or len(set(gpus)) == 1


def most(question: Question, node: Node) -> int:
    """The most claims on one empty node."""

    @cache
    def further(free: Free) -> int:
        return max((1 + further(left) for left in ways(question, node, free)), default=0)

    return further((frozenset(range(len(node[0]))), frozenset(range(len(node[1])))))


def fit(question: Question) -> bool:
    """Whether all claims fit whichever nodes are missing."""
    held = sorted(most(question, node) for node in question.nodes)
    return sum(held[: len(held) - question.spare]) >= question.claims


def some_fit(question: Question) -> bool:
    """Whether all claims fit if the emptiest nodes are missing."""
    held = sorted(most(question, node) for node in question.nodes)
    return sum(held[question.spare :]) >= question.claims


def inventory(nodes: Sequence[Node]) -> Inventory:
    gpu: dict[str, object] = {
        "type": {"string": "gpu"},
        "model": {"string": "B-80"},
        "firmware": {"version": "1.2.0"},
    }
    kinds: tuple[tuple[str, dict[str, object], dict[str, object]], ...] = (
        ("gpu", gpu, {"memory": {"value": "80Gi"}}),
        ("nic", {"speed": {"int": 400}}, {}),
    )
    items = [
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": f"node-{number}-{name}"},
            "spec": {
                "driver": f"{name}.example.org",
                "nodeName": f"node-{number}",
                "pool": {"name": f"node-{number}", "generation": 1, "resourceSliceCount": 1},
                "devices": [
                    {
                        "name": f"{name}-{i}",
                        "attributes": {**attributes, ROOT: {"string": root}},
                        "capacity": capacity,
                    }
                    for i, root in enumerate(node[at])
                ],
            },
        }
        for (number, node), (at, (name, attributes, capacity)) in product(
            enumerate(nodes), enumerate(kinds)
        )
    ]
    record, _ = parse_record("east.json", json.dumps({"kind": "List", "items": items}))
    found, _ = load_inventory([record])
    return found


@dataclass
class Repositories:
    """The demand of each kind of claim, read once; its number is the question's."""

    root: Path
    known: dict[tuple[str, int, int, int], JointDemand]

    def demand(self, question: Question) -> JointDemand:
        key = question.align, question.gpus, question.cards, question.spare
        if key not in self.known:
            self.known[key] = read(self.root / "-".join(map(str, key)), question)
        return self.known[key]

    def prover(self, question: Question) -> tuple[JointDemand, JointProver]:
        demand = self.demand(question)
        found = grounds(demand.cluster, inventory(question.nodes))
        return demand, JointProver(
            found, Features.of(demand.cluster.minor, frozenset()), [demand.plan]
        )


@pytest.fixture(scope="module")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> Repositories:
    return Repositories(tmp_path_factory.mktemp("joint"), {})


def read(root: Path, question: Question) -> JointDemand:
    files = yaml.safe_load(BASE.read_text(encoding="utf-8"))["files"]
    requests = [
        {"name": "gpu", "entitlement": "gpu", "count": question.gpus},
        {"name": "nic", "entitlement": "nic", "count": question.cards},
    ]
    profile: dict[str, object] = {"name": "joint", "requests": requests}
    if question.align != "none":
        aligned = ["gpu", "nic"] if question.align == "pairs" else ["gpu"]
        profile["align"] = [{"requests": aligned, "by": ROOT}]
    entitlements = [
        {"name": name, "tier": tier, "guaranteed": 2}
        for name, tier in (("gpu", "big"), ("nic", "card"))
    ]
    tenant = {
        "apiVersion": "dracfg.dev/v1alpha1",
        "kind": "Tenant",
        "metadata": {"name": "vision"},
        "spec": {
            "access": {"use": [{"group": "vision"}], "view": [{"group": "support"}]},
            "namespaces": [{"name": "vision", "clusters": ["east"]}],
            "entitlements": entitlements,
            "profiles": [profile],
        },
    }
    spare = f"nodes: 3\n  spare: {{nodes: {question.spare}}}"
    files["catalog/platform.yaml"] = files["catalog/platform.yaml"].replace("nodes: 1", spare)
    files["tenants/vision.yaml"] = yaml.safe_dump(tenant)
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    parsed = parse(read_repository(root).documents)
    named, _ = index(parsed.documents)
    (demand,) = joint_demands(link(named, parsed.poisoned).catalog)
    return demand


def test_fits_agrees_with_brute_force(repositories: Repositories) -> None:
    open_ = decided = 0
    for question in questions():
        demand, prover = repositories.prover(question)
        verdict = prover.fits(demand.plan, question.claims)
        match verdict:
            case Proven(placement):
                assert fit(question), question
                assert placement.claims >= question.claims
            case Refuted(reason):
                assert not some_fit(question), question
                assert reason.most < question.claims == reason.needed
            case Unknown():
                # With spare nodes it may hang on which of them are missing.
                open_ += not question.spare or fit(question) or not some_fit(question)
        decided += not isinstance(verdict, Unknown)
    assert decided > SITES // 2
    assert open_ <= SITES // 20


def test_what_is_never_refused_has_a_place_whatever_others_hold(
    repositories: Repositories,
) -> None:
    proven = 0
    for question in questions():
        if question.spare:
            continue
        demand, prover = repositories.prover(question)
        for others in range(1, 4):
            if isinstance(prover.non_blocking(demand.plan, others), Proven):
                proven += 1
                assert always_free(question, others), (question, others)
    assert proven > 10


def always_free(question: Question, others: int) -> bool:
    """Whether one claim fits beside any so many devices in others' hands."""
    devices = [
        (number, kind, i)
        for number, node in enumerate(question.nodes)
        for kind in (0, 1)
        for i in range(len(node[kind]))
    ]
    return all(
        any(
            any(ways(question, node, free(node, number, held)))
            for number, node in enumerate(question.nodes)
        )
        for held in combinations(devices, min(others, len(devices)))
    )


def free(node: Node, number: int, held: Sequence[tuple[int, int, int]]) -> Free:
    gpus, cards = (
        frozenset(i for i in range(len(node[kind])) if (number, kind, i) not in held)
        for kind in (0, 1)
    )
    return gpus, cards


def test_a_placement_is_checked_from_the_beginning(repositories: Repositories) -> None:
    """A device twice, too few of a request, or roots that differ are no placement."""
    question = Question(((("a", "b"), ("a", "b")),), 0, 1, 1, "pairs", 2)
    demand, prover = repositories.prover(question)
    verdict = prover.fits(demand.plan, 2)
    assert isinstance(verdict, Proven)
    (filling,) = verdict.certificate.fillings
    first, second = filling.claims
    there = inventory(question.nodes)
    ground = Ground("east", demand.cluster.minor, there, Selection(demand.cluster.minor))
    found = devices_of(demand.plan, ground, filling.node)

    def stands(*claims: ClaimAllocation) -> bool:
        return holds(demand.plan, found, there, claims)

    assert stands(first, second)
    assert not stands(first, first)
    assert not stands(replace(first, results=first.results[:1]))
    crossed = (first.results[0], second.results[1])
    assert not stands(replace(first, results=crossed))
