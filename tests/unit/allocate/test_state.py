"""What claims hold comes and goes part by part, and the sums stay true whatever is released when."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dracfg.allocate import Inventory, load_inventory, state
from dracfg.allocate.claims import Claim, ClaimAllocation, ClaimSpec, DeviceResult
from dracfg.allocate.state import UNUSED, AllocationState, Part
from dracfg.allocate.structured.allocated import AllocatedState, DeviceId
from dracfg.kube.quantity import Quantity
from dracfg.source.records import parse_record

DRIVER, POOL = "gpu.example.org", "node-a"
WHOLE, SHARED = ("d0", "d1"), ("s0", "s1", "s2")
MEMORY = 80


def inventory() -> Inventory:
    devices: list[dict[str, Any]] = [{"name": name} for name in WHOLE]
    devices += [
        {
            "name": name,
            "allowMultipleAllocations": True,
            "capacity": {"memory": {"value": str(MEMORY)}},
        }
        for name in SHARED
    ]
    made = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "s"},
        "spec": {
            "driver": DRIVER,
            "nodeName": "node-a",
            "pool": {"name": POOL, "generation": 1, "resourceSliceCount": 1},
            "devices": devices,
        },
    }
    record, _ = parse_record("dump.json", json.dumps(made))
    return load_inventory([record], "1.36")[0]


INVENTORY = inventory()


def claim(name: str, uid: str = "u") -> Claim:
    return Claim("team", name, ClaimSpec(), uid)


def whole(device: str, *, admin: bool = False) -> DeviceResult:
    return DeviceResult("gpu", DRIVER, POOL, device, admin_access=admin)


def share(device: str, share_id: str, memory: int, *, admin: bool = False) -> DeviceResult:
    return DeviceResult(
        "slice",
        DRIVER,
        POOL,
        device,
        admin_access=admin,
        share_id=share_id,
        consumed_capacity={"memory": Quantity.of(memory)},
    )


def holding(*results: DeviceResult) -> ClaimAllocation:
    return ClaimAllocation(results)


def seen(state: AllocationState) -> Any:
    """Everything that can be asked of a state about its devices."""
    view = state.allocated()
    uses = {device: state.use(device) for device in state.devices}
    return view, uses, state.allocated(consumable=False)


EMPTY = AllocationState(INVENTORY)


@st.composite
def allocations(draw: st.DrawFn) -> list[tuple[Claim, ClaimAllocation]]:
    """Claims as a scheduler could have served them: no device over its capacity or had twice."""
    free = dict.fromkeys(SHARED, MEMORY)
    alone = list(WHOLE)
    made = []
    for number in range(draw(st.integers(1, 5))):
        results = []
        for part in range(draw(st.integers(0, 3))):
            admin = draw(st.booleans())
            if draw(st.booleans()) and alone:
                device = draw(st.sampled_from(WHOLE)) if admin else alone.pop()
                results.append(whole(device, admin=admin))
            else:
                device = draw(st.sampled_from(SHARED))
                amount = draw(st.integers(0, free[device]))
                free[device] -= amount
                results.append(share(device, f"{number}-{part}", amount, admin=admin))
        made.append((claim(f"c{number}"), holding(*results)))
    return made


def build(made: Iterable[tuple[Claim, ClaimAllocation]]) -> AllocationState:
    return AllocationState.of(
        [replace(one, allocation=allocation) for one, allocation in made], INVENTORY
    )


def all_parts(state: AllocationState, made: Iterable[tuple[Claim, ClaimAllocation]]) -> list[Part]:
    return [part for one, _ in made for part in state.parts(one)]


def check_sums(state: AllocationState, made: Iterable[tuple[Claim, ClaimAllocation]]) -> None:
    left = [
        result
        for one, _ in made
        if (allocation := state.allocation(one)) is not None
        for result in allocation.results
    ]
    view = state.allocated()
    for device in INVENTORY.devices:
        key = (device.driver, device.pool, device.name)
        here = [result for result in left if result.device_id == key]
        counted = [result for result in here if not result.admin_access]
        shares = [result for result in counted if result.share_id is not None]
        assert (key in view.devices) is any(result.share_id is None for result in counted)
        assert {share for one, share in view.shared if one == key} == {r.share_id for r in shares}
        total = sum(r.consumed_capacity["memory"].value() for r in shares)
        assert (key in view.consumed) is bool(shares)
        assert view.consumed.get(key, {}).get("memory", Quantity(0)).value() == total
        if device.name in SHARED:
            taken = sum(
                r.consumed_capacity["memory"].value() for r in here if r.share_id is not None
            )
            assert state.remaining(device) == {"memory": Quantity.of(MEMORY - taken)}
            assert state.remaining(device)["memory"] >= Quantity(0)


@given(allocations(), st.data())
def test_sums_are_those_of_the_parts(
    made: list[tuple[Claim, ClaimAllocation]], data: st.DataObject
) -> None:
    state = build(made)
    check_sums(state, made)
    parts = all_parts(state, made)
    for part in data.draw(st.lists(st.sampled_from(parts), max_size=6)) if parts else ():
        state = state.release(part).state
        check_sums(state, made)


@given(allocations(), st.data())
def test_releasing_twice_is_releasing_once(
    made: list[tuple[Claim, ClaimAllocation]], data: st.DataObject
) -> None:
    state = build(made)
    for part in data.draw(st.permutations(all_parts(state, made))):
        once = state.release(part)
        again = once.state.release(part)
        assert once.freed
        assert (again.freed, again.refused) == ((), None)
        assert seen(again.state) == seen(once.state)
        state = once.state
    assert seen(state) == seen(EMPTY)


@given(allocations(), st.data())
def test_the_order_of_releases_does_not_matter(
    made: list[tuple[Claim, ClaimAllocation]], data: st.DataObject
) -> None:
    state = build(made)
    parts = all_parts(state, made)
    chosen = data.draw(st.lists(st.sampled_from(parts), unique=True)) if parts else []
    results = []
    for order in (chosen, data.draw(st.permutations(chosen))):
        after = state
        for part in order:
            after = after.release(part).state
        results.append(seen(after))
    one, other = results
    assert one == other


@given(allocations(), st.data())
def test_what_is_stale_is_refused(
    made: list[tuple[Claim, ClaimAllocation]], data: st.DataObject
) -> None:
    state = build(made)
    for (one, allocation), part in zip(made, map(state.parts, (c for c, _ in made)), strict=True):
        for old in part:
            if data.draw(st.booleans()):
                # Given back and handed out again, word for word.
                newer = state.without(one).with_allocation(one, allocation)
                refused = newer.release(old)
                assert refused.refused == "another version"
            else:
                newer = state.with_allocation(replace(one, uid="other"), allocation)
                refused = newer.release(old)
                assert refused.refused == "another uid"
            assert refused.state is newer
            assert refused.freed == ()


@given(allocations(), st.data())
def test_recorded_claims_are_held_as_if_they_came_one_by_one(
    made: list[tuple[Claim, ClaimAllocation]], data: st.DataObject
) -> None:
    again = [
        (replace(one, uid=data.draw(st.sampled_from(("u", "other")))), allocation)
        for one, allocation in data.draw(st.permutations(made))
    ]
    one_by_one = EMPTY
    for one, allocation in (*made, *again):
        one_by_one = one_by_one.with_allocation(one, allocation)
    at_once = build((*made, *again))
    assert seen(at_once) == seen(one_by_one)
    for one, _ in again:
        assert at_once.version(one) == one_by_one.version(one)
        assert at_once.parts(one) == one_by_one.parts(one)


def test_recorded_claims_are_summed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were it done for each claim, a large record would take time by the square of its claims."""
    summed: list[int] = []

    def counted(old: AllocatedState, touched: Mapping[DeviceId, Any]) -> AllocatedState:
        summed.append(len(touched))
        return view(old, touched)

    view = state._view
    monkeypatch.setattr(state, "_view", counted)
    many = [(claim(f"c{n}"), holding(share("s0", str(n), 1))) for n in range(40)]
    many += [(claim("alone"), holding(whole("d0")))]
    assert len(build(many).allocated().shared) == 40
    assert summed == [2]


def test_recorded_claims() -> None:
    state = AllocationState.of(
        [
            claim("pending"),
            replace(claim("a"), allocation=holding(whole("d0"), share("s0", "x", 30))),
            replace(claim("b"), allocation=holding(share("s0", "y", 20))),
        ],
        INVENTORY,
    )
    view = state.allocated()
    assert view.devices == {(DRIVER, POOL, "d0")}
    assert view.shared == {((DRIVER, POOL, "s0"), "x"), ((DRIVER, POOL, "s0"), "y")}
    assert view.consumed == {(DRIVER, POOL, "s0"): {"memory": Quantity.of(50)}}
    assert [part.share_id for part in state.parts(claim("a"))] == [None, "x"]
    assert state.parts(claim("pending")) == ()
    assert state.use((DRIVER, POOL, "s1")) == UNUSED


def test_without_consumable_capacity_a_share_takes_the_device() -> None:
    state = EMPTY.with_allocation(claim("a"), holding(share("s0", "x", 30)))
    view = state.allocated(consumable=False)
    assert view.devices == {(DRIVER, POOL, "s0")}
    assert (view.shared, view.consumed) == (frozenset(), {})


def test_admin_access_holds_nothing_and_consumes_what_is_shared() -> None:
    state = EMPTY.with_allocation(
        claim("watch"), holding(whole("d0", admin=True), share("s0", "x", 30, admin=True))
    )
    assert state.allocated() == EMPTY.allocated()
    assert state.use((DRIVER, POOL, "d0")).exclusive == 0
    device = INVENTORY.device(DRIVER, POOL, "s0")
    assert device is not None
    assert state.remaining(device) == {"memory": Quantity.of(MEMORY - 30)}


def test_a_record_beyond_capacity_leaves_nothing() -> None:
    state = EMPTY.with_allocation(
        claim("a"), holding(share("s0", "x", 60), share("s0", "y", 60))
    ).with_allocation(claim("b"), holding(whole("s1")))
    left = {
        name: state.remaining(device)["memory"]
        for name in SHARED
        if (device := INVENTORY.device(DRIVER, POOL, name)) is not None
    }
    assert left == {"s0": Quantity(0), "s1": Quantity(0), "s2": Quantity.of(MEMORY)}


def test_two_claims_on_one_device_come_back_one_by_one() -> None:
    both = EMPTY.with_allocation(claim("a"), holding(whole("d0"))).with_allocation(
        claim("b"), holding(whole("d0"))
    )
    assert both.use((DRIVER, POOL, "d0")).exclusive == 2
    one = both.without(claim("a"))
    assert one.allocated().devices == {(DRIVER, POOL, "d0")}
    assert one.without(claim("b")).allocated().devices == frozenset()


def test_a_new_claim_of_the_name_takes_the_place_of_the_old_one() -> None:
    old = EMPTY.with_allocation(claim("a"), holding(whole("d0")))
    new = old.with_allocation(claim("a", "v"), holding(whole("d1")))
    assert new.allocated().devices == {(DRIVER, POOL, "d1")}
    assert (new.version(claim("a")), new.allocation(claim("a"))) == (None, None)


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        ({"name": "other"}, "no such claim"),
        ({"uid": "v"}, "another uid"),
        ({"version": "2-00000000"}, "another version"),
        ({"share_id": "z"}, "no such share"),
        ({}, None),
    ],
)
def test_why_a_release_is_refused(change: dict[str, str], refused: str | None) -> None:
    state = EMPTY.with_allocation(claim("a"), holding(share("s0", "x", 30)))
    (part,) = state.parts(claim("a"))
    found = state.release(replace(part, **change))
    assert found.refused == refused
    assert (found.state is state) is (refused is not None)


def test_versions_of_two_records_differ() -> None:
    def version(allocation: ClaimAllocation) -> str | None:
        return EMPTY.with_allocation(claim("a"), allocation).version(claim("a"))

    made = holding(share("s0", "x", 30))
    others = [
        holding(share("s0", "x", 20)),
        holding(share("s1", "x", 30)),
        holding(share("s0", "y", 30)),
        replace(made, timestamp="2026-01-02T03:04:05Z"),
    ]
    assert version(made) == version(holding(share("s0", "x", 30)))
    assert version(made) not in {version(other) for other in others}
