"""Proofs of capacity agree with brute force on small random pools, and their certificates hold."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dracfg.plan.proofs import blocking, lowerbounds, settled
from dracfg.plan.proofs.blocking import (
    Arrangement,
    NoPlace,
    Weights,
    is_blocked,
    non_blocking,
    weights_hold,
)
from dracfg.plan.proofs.fits import fits
from dracfg.plan.proofs.lowerbounds import Overweight, is_overweight
from dracfg.plan.proofs.packing import is_packing
from dracfg.plan.proofs.settled import SettledTest, settled_test
from dracfg.plan.proofs.shapes import Claims, Group, Kind, Others, Pool, ShareBound
from dracfg.plan.proofs.verdict import Budget, Proven, Refuted, Unknown

POOLS = 2_500
SEED = 20261129

Content = tuple[int, ...]


def carries(group: Group, kinds: Sequence[Kind], content: Content) -> bool:
    """The device bound, written a second time."""
    held = [kind for kind, count in zip(kinds, content, strict=True) for _ in range(count)]
    if any(group.admits is not None and kind.name not in group.admits for kind in held):
        return False
    if any(kind.whole for kind in held):
        return len(held) == 1
    if group.shares is not None and len(held) > group.shares.most:
        return False
    return all(sum(kind.size[i] for kind in held) <= most for i, most in enumerate(group.capacity))


def with_one_more(kinds: tuple[Kind, ...], content: Content, kind: Kind) -> Content:
    return tuple(n + (other == kind) for n, other in zip(content, kinds, strict=True))


def packs(pool: Pool, demand: Sequence[Claims]) -> bool:
    """Tries every claim on every node and every set of devices."""
    kinds = tuple(dict.fromkeys(claims.kind for claims in demand))
    todo = tuple(claims for claims in demand for _ in range(claims.count))
    groups = pool.groups

    @cache
    def fitted(g: int, content: Content) -> bool:
        return carries(groups[g], kinds, content)

    @cache
    def place(i: int, nodes: tuple[tuple[int, tuple[Content, ...]], ...]) -> bool:
        if i == len(todo):
            return True
        claims = todo[i]
        for n, (g, devices) in enumerate(nodes):
            for chosen in combinations(range(len(devices)), claims.devices):
                after = list(devices)
                for d in chosen:
                    after[d] = with_one_more(kinds, devices[d], claims.kind)
                if all(fitted(g, after[d]) for d in chosen):
                    node = (g, tuple(sorted(after)))
                    if place(i + 1, tuple(sorted((*nodes[:n], node, *nodes[n + 1 :])))):
                        return True
        return False

    empty = (0,) * len(kinds)
    return place(
        0,
        tuple(
            (g, (empty,) * group.per_node)
            for g, group in enumerate(groups)
            for _ in range(group.nodes)
        ),
    )


def contents(left: Content) -> Iterator[Content]:
    if not left:
        yield ()
        return
    for rest in contents(left[1:]):
        for number in range(left[0] + 1):
            yield (number, *rest)


def can_block(pool: Pool, request: Claims, others: Others) -> bool:
    """Tries every content on every device, and then the request on every node."""
    kinds = (*others.kinds, *([] if request.kind in others.kinds else [request.kind]))
    nothing = (0,) * (len(kinds) - len(others.kinds))

    @cache
    def loads(group: Group, left: Content) -> tuple[Content, ...]:
        return tuple(c for c in contents(left) if carries(group, kinds, (*c, *nothing)))

    def is_open(group: Group, content: Content) -> bool:
        return carries(group, kinds, with_one_more(kinds, (*content, *nothing), request.kind))

    @cache
    def block(node: int, device: int, still_open: int, left: Content) -> bool:
        """Fills from a device on; `still_open` devices of its node so far have room."""
        if node == len(nodes):
            return True
        group = nodes[node]
        if device == group.per_node:
            return still_open < request.devices and block(node + 1, 0, 0, left)
        for content in loads(group, left):
            rest = tuple(a - b for a, b in zip(left, content, strict=True))
            if block(node, device + 1, still_open + is_open(group, content), rest):
                return True
        return False

    nodes = [group for group in pool.groups for _ in range(group.nodes)]
    return block(0, 0, 0, others.counts)


def some_pool(rng: random.Random, most_devices: int) -> tuple[Pool, tuple[Kind, ...]]:
    """A few devices in one or two groups, kinds in one or two keys, at times with whole ones."""
    keys = rng.choice([1, 1, 1, 2])
    step = rng.choice([1, 1, 2, 5])
    kinds = [
        Kind(f"k{i}", tuple(step * rng.randint(0 if keys > 1 else 1, 5) for _ in range(keys)))
        for i in range(rng.randint(1, 3))
    ]
    if rng.random() < 0.2:
        kinds.append(Kind("whole", whole=True))
    groups = []
    devices = 0
    for g in range(rng.choice([1, 1, 2])):
        per_node = rng.randint(1, 3)
        nodes = rng.randint(1, 3)
        if devices + per_node * nodes > most_devices:
            nodes = per_node = 1
        devices += per_node * nodes
        admits = None
        if rng.random() < 0.15:
            admits = frozenset(k.name for k in kinds if rng.random() < 0.8)
        most = rng.randint(1, 5)
        bound = ShareBound(most, "counted") if rng.random() < 0.4 else None
        capacity = tuple(step * rng.randint(4, 13) + rng.choice([0, 0, 1]) for _ in range(keys))
        groups.append(Group(f"g{g}", nodes, per_node, capacity, bound, admits))
    return Pool(tuple(groups), tuple(f"key{i}" for i in range(keys))), tuple(kinds)


def some_demand(rng: random.Random, pool: Pool, kinds: Sequence[Kind]) -> tuple[Claims, ...]:
    """Claims about as many as there is room for, so that both answers come up."""
    most = rng.randint(1, 9)
    widest = max(group.per_node for group in pool.groups)
    demand = []
    for kind in kinds:
        devices = min(widest, rng.choice([1, 1, 1, 2, 3]))
        count = rng.randint(0, max(1, most // devices))
        demand.append(Claims(kind, count, devices))
    if rng.random() < 0.3:
        demand.append(Claims(rng.choice(kinds), rng.randint(1, 2), rng.randint(1, widest)))
    return tuple(demand)


def some_request(rng: random.Random, pool: Pool, kinds: Sequence[Kind]) -> Claims:
    widest = max(group.per_node for group in pool.groups)
    return Claims(rng.choice(kinds), 1, rng.randint(1, widest + (rng.random() < 0.05)))


def some_others(rng: random.Random, kinds: Sequence[Kind]) -> Others:
    most = rng.choice([1, 2, 3, 6])
    return Others(tuple(kinds), tuple(rng.randint(0, most) for _ in kinds))


def test_fits_agrees_with_brute_force() -> None:
    rng = random.Random(SEED)
    words = {"proven": 0, "refuted": 0, "unknown": 0}
    reasons = set()
    for _ in range(POOLS):
        pool, kinds = some_pool(rng, 7)
        demand = some_demand(rng, pool, kinds)
        verdict = fits(pool, demand)
        words[verdict.word] += 1
        if isinstance(verdict, Unknown):
            continue
        assert packs(pool, demand) == isinstance(verdict, Proven), (pool, demand, verdict)
        if isinstance(verdict, Proven):
            assert is_packing(pool, demand, verdict.certificate), (pool, demand, verdict)
        else:
            reasons.add(type(verdict.reason))
            if isinstance(verdict.reason, Overweight):
                assert is_overweight(pool, demand, verdict.reason, Budget(10**6))
    assert words["unknown"] < POOLS * 0.05
    assert min(words["proven"], words["refuted"]) > POOLS * 0.2
    assert len(reasons) >= 4, "the pools are too tame to try every bound"


def test_non_blocking_agrees_with_brute_force() -> None:
    rng = random.Random(SEED + 1)
    words = {"proven": 0, "refuted": 0, "unknown": 0}
    certificates = set()
    for _ in range(POOLS):
        pool, kinds = some_pool(rng, 6)
        others = some_others(rng, kinds)
        request = some_request(rng, pool, kinds)
        verdict = non_blocking(pool, request, others)
        words[verdict.word] += 1
        if isinstance(verdict, Unknown):
            continue
        assert can_block(pool, request, others) == isinstance(verdict, Refuted), (
            pool,
            request,
            others,
            verdict,
        )
        if isinstance(verdict, Proven):
            certificates.add(type(verdict.certificate))
            if isinstance(verdict.certificate, Weights):
                assert weights_hold(pool, request, others, verdict.certificate, Budget(10**6))
        elif isinstance(verdict.reason, Arrangement):
            assert is_blocked(pool, request, others, verdict.reason), (pool, request, others)
    assert words["unknown"] < POOLS * 0.05
    assert min(words["proven"], words["refuted"]) > POOLS * 0.2
    assert {SettledTest, Weights} <= certificates


def test_weights_of_the_room_are_sound() -> None:
    """The certificate for devices with too many contents to list."""
    rng = random.Random(SEED + 2)
    proven = 0
    for _ in range(400):
        pool, kinds = some_pool(rng, 4)
        others = some_others(rng, kinds)
        request = some_request(rng, pool, kinds)
        needed = blocking.devices_to_fill(pool, request)
        if not needed:
            continue
        weights = blocking.room_weights(needed, request.kind, others)
        total = sum(w * n for w, n in zip(weights, others.counts, strict=True))
        if total < sum(needed.values()):
            proven += 1
            assert not can_block(pool, request, others), (pool, request, others)
    assert proven > 50


def test_whole_devices_stand_for_shares_of_another_tier() -> None:
    """What holds beside so many whole devices holds beside as many shares of whatever size."""
    rng = random.Random(SEED + 3)
    proven = 0
    for _ in range(800):
        pool, kinds = some_pool(rng, 5)
        others, request = some_others(rng, kinds), some_request(rng, pool, kinds)
        strange = Kind("strange", tuple(rng.randint(0, 6) for _ in pool.keys))
        number = rng.randint(1, 3)
        alone = Kind("alone", whole=True)
        admitted = Pool(
            tuple(
                group
                if group.admits is None
                else replace(group, admits=group.admits | {"strange", "alone"})
                for group in pool.groups
            ),
            pool.keys,
        )
        among = [
            Others((*others.kinds, kind), (*others.counts, number)) for kind in (alone, strange)
        ]
        if isinstance(non_blocking(admitted, request, among[0]), Proven):
            proven += 1
            assert not can_block(admitted, request, among[1]), (pool, request, others, strange)
    assert proven > 100


def equal_devices(count: int, capacity: int, shares: int | None = None) -> Pool:
    bound = ShareBound(shares, "counted") if shares else None
    return Pool((Group("g", count, 1, (capacity,), bound),), ("memory",))


def test_the_textbook_counter_example_is_refuted() -> None:
    """Two devices of 26, a request of 16, others 16 and 16: both are past 26 - 16."""
    others = Others.of((Kind("16", (16,)), 2))
    pool = equal_devices(2, 26, shares=3)
    verdict = non_blocking(pool, Claims(Kind("16", (16,)), 1), others)
    assert isinstance(verdict, Refuted)
    assert verdict.reason == Arrangement(others.kinds, (("g", (1,), 2),))


def test_the_settled_test_takes_the_smallest_total_that_leaves_too_little() -> None:
    """One device of 40 with 20 asked for: sizes of 8 fill it past 20 at 24, not at 21."""
    sizes = Others.of((Kind("8", (8,)), 2))
    needed = {equal_devices(1, 40).groups[0]: 1}
    found = settled_test(needed, Kind("20", (20,)), sizes)
    assert found == SettledTest(1, 24, None, 8, 16, 2)
    assert settled_test(needed, Kind("20", (20,)), Others.of((Kind("8", (8,)), 3))) is None


def test_a_claim_of_several_devices_is_held_against_what_a_node_has_to_spare() -> None:
    """Three nodes of eight, a claim of four: 3 · (8 - 4 + 1) devices elsewhere block it."""
    pool = Pool((Group("g", 3, 8),))
    whole = Kind("gpu", whole=True)
    assert non_blocking(pool, Claims(whole, 1, 4), Others.of((whole, 14))).word == "proven"
    assert non_blocking(pool, Claims(whole, 1, 4), Others.of((whole, 15))).word == "refuted"
    assert non_blocking(pool, Claims(whole, 1, 9), Others.of()) == Refuted(NoPlace(9))


def test_totals_hide_what_counters_show() -> None:
    """Of seven slices of an A100 two parts of four can't be cut, though 3 + 4 and 7 x 1 can."""
    pool = equal_devices(1, 7)
    one, three, four = (Kind(f"{n}g", (n,)) for n in (1, 3, 4))
    assert fits(pool, [Claims(one, 7)]).word == "proven"
    assert fits(pool, [Claims(four, 1), Claims(three, 1)]).word == "proven"
    assert fits(pool, [Claims(four, 2)]).word == "refuted"


@settings(max_examples=150, deadline=None)
@given(
    st.integers(1, 4),
    st.integers(4, 40),
    st.lists(st.tuples(st.integers(1, 20), st.integers(0, 4)), min_size=1, max_size=3),
    st.integers(1, 20),
)
def test_more_of_others_never_helps(
    devices: int, capacity: int, held: list[tuple[int, int]], size: int
) -> None:
    pool = equal_devices(devices, capacity)
    request = Claims(Kind("asked", (size,)), 1)
    fewer = Others.of(*((Kind(f"k{i}", (s,)), n) for i, (s, n) in enumerate(held)))
    more = Others(fewer.kinds, tuple(n + 1 for n in fewer.counts))
    if non_blocking(pool, request, more).word == "proven":
        assert non_blocking(pool, request, fewer).word == "proven"


def test_a_bound_that_promises_too_much_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the room of a device taken for its whole capacity, brute force objects."""

    def too_small(sizes: Sequence[int], bound: int) -> int | None:
        return bound + 2 * max(sizes, default=0) + 1 if sizes else None

    monkeypatch.setattr(settled, "_smallest_above", too_small)
    with pytest.raises(AssertionError):
        test_non_blocking_agrees_with_brute_force()


def what_lies_there(rng: random.Random, pool: Pool, kinds: Sequence[Kind]) -> list[Claims]:
    """A demand that fits because it was laid down, device by device, until little was left."""
    held = dict.fromkeys(kinds, 0)
    for group in pool.groups:
        for _ in range(group.devices):
            content = [0] * len(kinds)
            for _ in range(rng.randint(2, 12)):
                i = rng.randrange(len(kinds))
                more = tuple(n + (i == j) for j, n in enumerate(content))
                if carries(group, kinds, more):
                    content[i] += 1
            for kind, count in zip(kinds, content, strict=True):
                held[kind] += count
    return [Claims(kind, count) for kind, count in held.items()]


def test_no_bound_rules_out_what_lies_there() -> None:
    rng = random.Random(SEED + 3)
    for _ in range(300):
        pool, kinds = some_pool(rng, 24)
        demand = what_lies_there(rng, pool, kinds)
        assert lowerbounds.plain_bound(pool, demand) is None, (pool, demand)
        assert lowerbounds.weight_bound(pool, demand, 20_000) is None, (pool, demand)
        assert fits(pool, demand, 2_000).word != "refuted", (pool, demand)


def test_a_bound_that_refuses_too_much_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one unit too few in the volumes, what lies there is ruled out."""
    honest = lowerbounds._sums

    def short(*given: object) -> Iterator[tuple[str, int, int]]:
        for key, needed, available in honest(*given):  # type: ignore[arg-type]
            yield key, needed, available - 1

    monkeypatch.setattr(lowerbounds, "_sums", short)
    with pytest.raises(AssertionError):
        test_no_bound_rules_out_what_lies_there()
