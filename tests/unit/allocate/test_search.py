"""The search for devices that meet all requests together, against trying everything."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dracfg.allocate.devices import Attribute, CapacityFact, Device, Origin
from dracfg.allocate.nodes import NodeSelection
from dracfg.allocate.search import Choice, Wanted, can_be_met
from dracfg.kube.quantity import Quantity
from dracfg.link.claims import Constraint
from dracfg.source.records import parse_record

RECORD, _ = parse_record("dump.json", '{"kind": "ResourceSlice"}')
ORIGIN = Origin(RECORD.objects[0])
Plain = tuple[str | None, int | None]
"""(value of the attribute, capacity where shareable)."""


def device(number: int, root: str | tuple[str, ...] | None, capacity: int | None) -> Device:
    attributes = {}
    if root is not None:
        kind = "strings" if isinstance(root, tuple) else "string"
        attributes = {"d": {"root": Attribute(kind, root)}}
    return Device(
        driver="d",
        pool="p",
        name=f"d-{number}",
        nodes=NodeSelection(all_nodes=True),
        attributes=attributes,
        capacity={} if capacity is None else {"c": CapacityFact(Quantity(capacity))},
        allow_multiple_allocations=capacity is not None,
        consumes_counters=(),
        taints=(),
        binds_to_node=False,
        binding_conditions=(),
        binding_failure_conditions=(),
        origin=ORIGIN,
    )


def brute_force(
    devices: Sequence[Device], wanted: Sequence[Wanted], constraints: Sequence[Constraint]
) -> bool:
    """Whether some way of giving each request its devices breaks nothing."""

    def ways(left: Sequence[Wanted]) -> Iterator[dict[str, tuple[int, tuple[int, ...]]]]:
        if not left:
            yield {}
            return
        for number, choice in enumerate(left[0].choices):
            for chosen in combinations(sorted(choice.takes), choice.count):
                for rest in ways(left[1:]):
                    yield {left[0].name: (number, chosen), **rest}

    def holds(way: dict[str, tuple[int, tuple[int, ...]]]) -> bool:
        used: dict[int, list[int]] = {}
        for one in wanted:
            number, chosen = way[one.name]
            for index in chosen:
                amounts = one.choices[number].takes[index]
                used.setdefault(index, []).append(0 if amounts is None else amounts["c"])
        for index, amounts in used.items():
            held = devices[index]
            if not held.allow_multiple_allocations and len(amounts) > 1:
                return False
            if held.allow_multiple_allocations and sum(amounts) > held.capacity["c"].value.nano:
                return False
        for constraint in constraints:
            found = [
                devices[index].attribute("root")
                for name in constraint.requests
                for index in way[name][1]
            ]
            if None in found:
                return False
            different = len(set(found))
            if constraint.distinct and different < len(found):
                return False
            if not constraint.distinct and different > 1:
                return False
        return True

    return any(holds(way) for way in ways(wanted))


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[Device], list[Wanted], list[Constraint]]:
    plain = draw(
        st.lists(
            st.tuples(st.sampled_from(["a", "b", "c", None]), st.none() | st.integers(1, 4)),
            min_size=1,
            max_size=5,
        )
    )
    devices = [device(number, root, capacity) for number, (root, capacity) in enumerate(plain)]
    names = [f"r{i}" for i in range(draw(st.integers(1, 3)))]
    wanted = []
    for name in names:
        choices = []
        for _ in range(draw(st.integers(1, 2))):
            able = draw(st.sets(st.integers(0, len(devices) - 1)))
            takes = {}
            for number in able:
                shared = devices[number].allow_multiple_allocations
                takes[number] = {"c": draw(st.integers(0, 4))} if shared else None
            choices.append(Choice(draw(st.integers(1, 2)), takes))
        wanted.append(Wanted(name, tuple(choices)))
    constraints = [
        Constraint(
            tuple(draw(st.lists(st.sampled_from(names), min_size=1, unique=True))), "root", d
        )
        for d in draw(st.lists(st.booleans(), max_size=2))
    ]
    return devices, wanted, constraints


@settings(max_examples=400, deadline=None)
@given(problems())
def test_equals_trying_everything(
    problem: tuple[list[Device], list[Wanted], list[Constraint]],
) -> None:
    assert can_be_met(*problem) is brute_force(*problem)


def pairs(count: int) -> tuple[list[Wanted], list[Constraint]]:
    left = Choice(1, dict.fromkeys(range(8)))
    right = Choice(1, dict.fromkeys(range(8, 16)))
    wanted = [Wanted(f"g{i}", (left,)) for i in range(count)]
    wanted += [Wanted(f"n{i}", (right,)) for i in range(count)]
    return wanted, [Constraint((f"g{i}", f"n{i}"), "root") for i in range(count)]


@pytest.mark.parametrize(("roots", "met"), [("aabbccdd", True), ("aabbccce", False)])
def test_eight_pairs(roots: str, met: bool) -> None:
    devices = [device(i, root, None) for i, root in enumerate("aabbccdd" + roots)]
    assert can_be_met(devices, *pairs(8)) is met


def test_lists_match_in_a_common_element_and_differ_when_disjoint() -> None:
    devices = [device(0, ("a", "b"), None), device(1, "b", None), device(2, ("c", "a"), None)]

    def met(numbers: Sequence[int], distinct: bool) -> bool | None:
        wanted = [Wanted(f"r{n}", (Choice(1, {n: None}),)) for n in numbers]
        names = tuple(one.name for one in wanted)
        return can_be_met(devices, wanted, [Constraint(names, "root", distinct)])

    assert met((0, 1), False) is True
    assert met((0, 1, 2), False) is False
    assert met((0, 1), True) is False
    assert met((1, 2), True) is True


def test_the_budget_ends_in_no_answer() -> None:
    devices = [device(i, str(i), None) for i in range(16)]
    constraints = [Constraint(tuple(f"r{i}" for i in range(8)), "root")]
    able = Choice(1, dict.fromkeys(range(16)))
    wanted = [Wanted(f"r{i}", (able,)) for i in range(8)]
    assert can_be_met(devices, wanted, constraints, budget=4) is None
    assert can_be_met(devices, wanted, constraints) is False
