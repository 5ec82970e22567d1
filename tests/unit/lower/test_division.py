"""Units too large for an engine: parts of bounded size, in which everything keeps its place."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dracfg.lower.artifact import Artifact, Origin
from dracfg.lower.division import MAX_OBJECTS, divided, is_part, part_path, settled, shares
from dracfg.source.standing import Standing

NOTHING = Standing()
ORIGIN = Origin("all.yaml", "Cluster", "west")


def group(name: str, size: int) -> list[Artifact]:
    thing = {"kind": "Quota", "metadata": {"namespace": name, "name": "devices"}}
    return [Artifact(thing, "quotas.yaml", ORIGIN)] * size


def groups(sizes: dict[str, int]) -> dict[str, list[Artifact]]:
    return {name: group(name, size) for name, size in sizes.items()}


def places(parts: tuple[tuple[Artifact, ...], ...]) -> dict[str, int]:
    return {one.object["metadata"]["namespace"]: i for i, part in enumerate(parts) for one in part}


many = st.dictionaries(st.text("abc-0123456789", min_size=1, max_size=9), st.integers(1, 400))


def test_what_fits_is_one_unit_in_its_order() -> None:
    fixed, held = group("fixed", 2), groups({"b": 3, "a": MAX_OBJECTS - 5})
    (unit,) = divided("west/guard", fixed, held, NOTHING)
    assert unit.path == "west/guard"
    assert list(unit.artifacts) == [*fixed, *held["b"], *held["a"]]


def test_one_more_makes_two_and_tears_nothing_apart() -> None:
    fixed, held = group("fixed", 2), groups({"b": 3, "d": 3, "a": MAX_OBJECTS - 7})
    units = divided("west/guard", fixed, held, NOTHING)
    assert [unit.path for unit in units] == ["west/guard", "west/guard.2"]
    assert units[0].artifacts[:2] == tuple(fixed)
    assert len(places(tuple(unit.artifacts for unit in units))) == 4


def test_a_group_that_is_too_large_by_itself_stands_alone() -> None:
    parts = shares(groups({"large": MAX_OBJECTS + 1, "a": 1, "b": 1, "c": 1}))
    assert [len(part) for part in parts if len(part) > MAX_OBJECTS] == [MAX_OBJECTS + 1]


def test_nothing_is_no_unit() -> None:
    assert divided("west/tenants/a", (), {}, NOTHING) == ()
    assert divided("west/tenants/a", (), {"a": ()}, NOTHING) == ()


@settings(deadline=None)
@given(many)
def test_every_object_is_there_once_and_no_part_is_too_large(sizes: dict[str, int]) -> None:
    parts = shares(groups(sizes))
    assert sum(map(len, parts)) == sum(sizes.values())
    assert all(len(part) <= MAX_OBJECTS for part in parts)
    place = places(parts)
    for i, part in enumerate(parts):
        here = [name for name in sizes if place[name] == i]
        names = [one.object["metadata"]["namespace"] for one in part]
        assert list(dict.fromkeys(names)) == here


@settings(deadline=None)
@given(many, st.text("xyz", min_size=1, max_size=3))
def test_a_newcomer_moves_nobody_while_there_is_room(sizes: dict[str, int], name: str) -> None:
    before = shares(groups(sizes))
    after = shares(groups({name: 1, **sizes}))
    if len(before) == len(after):
        assert places(after).items() >= places(before).items()
    else:
        assert len(after) == 2 * len(before)
        moved = places(after)
        assert all(moved[one] % len(before) == place for one, place in places(before).items())


@pytest.mark.parametrize(
    ("stand", "parts"), [([], 1), ([""], 1), (["", ".2"], 2), (["", ".4"], 4), ([".5"], 8)]
)
def test_there_are_as_many_parts_as_stand(stand: list[str], parts: int) -> None:
    texts = {f"west/guard{part}/kustomization.yaml": "" for part in stand}
    held = groups({f"team-{i}": 1 for i in range(64)})
    assert len(divided("west/guard", (), held, Standing(texts=texts))) == parts


def test_a_folder_that_dracfg_can_not_have_made_asks_for_no_more_parts_than_it_makes() -> None:
    texts = {"west/guard.99999999999/kustomization.yaml": ""}
    held = groups({f"team-{i}": 1 for i in range(8)})
    units = divided("west/guard", (), held, Standing(texts=texts))
    assert sum(len(unit.artifacts) for unit in units) == 8
    assert len(shares(held, least=99999999999)) == 1024


def test_groups_that_would_need_very_many_parts_share_some() -> None:
    parts = shares(groups({f"team-{i}": MAX_OBJECTS for i in range(400)}))
    assert len(parts) == 1024
    assert sum(map(len, parts)) == 400 * MAX_OBJECTS


def test_places_are_the_same_everywhere() -> None:
    """A tree that was compiled elsewhere must not move anybody."""
    parts = shares(groups({f"team-{i}": 300 for i in range(6)}))
    assert places(parts) == {
        "team-0": 2,
        "team-1": 0,
        "team-2": 2,
        "team-3": 0,
        "team-4": 3,
        "team-5": 0,
    }


@pytest.mark.parametrize(
    ("path", "unit", "yes"),
    [
        ("gitops/argocd/west", "gitops/argocd/west", True),
        ("gitops/argocd/west.2", "gitops/argocd/west", True),
        ("gitops/argocd/west.12", "gitops/argocd/west", True),
        ("gitops/argocd/west.2.2", "gitops/argocd/west", False),
        ("gitops/argocd/west.a", "gitops/argocd/west", False),
        ("gitops/argocd/west-2", "gitops/argocd/west", False),
    ],
)
def test_parts_are_known_by_their_path(path: str, unit: str, *, yes: bool) -> None:
    assert is_part(path, unit) == yes


def test_parts_are_numbered_from_two() -> None:
    assert [part_path("a", i) for i in range(3)] == ["a", "a.2", "a.3"]


@settings(deadline=None)
@given(many, many, st.integers(0, MAX_OBJECTS))
def test_who_has_settled_stays_whoever_comes_or_goes(
    before: dict[str, int], now: dict[str, int], first: int
) -> None:
    stood = settled_places(settled(groups(before), {}, first))
    stands = settled_places(settled(groups(now), stood, first))
    assert stands.keys() == now.keys()
    assert all(stands[name] == stood[name] for name in now.keys() & stood.keys())


@settings(deadline=None)
@given(many, st.integers(0, MAX_OBJECTS))
def test_whoever_settles_finds_room(sizes: dict[str, int], first: int) -> None:
    held = settled(groups(sizes), {}, first)
    assert sum(map(len, held.values())) == sum(sizes.values())
    assert all(
        len(part) <= (first if number == 1 else MAX_OBJECTS) for number, part in held.items()
    )


def test_what_leaves_makes_room_in_the_first_part_that_has_it() -> None:
    held = settled(groups({"a": 900, "b": 900, "c": 100, "d": 1}), {"a": 1, "b": 2, "c": 4}, 900)
    assert settled_places(held) == {"a": 1, "b": 2, "c": 4, "d": 3}
    held = settled(groups({"b": 900, "c": 100, "d": 1}), {"b": 2, "c": 4}, 900)
    assert settled_places(held) == {"b": 2, "c": 4, "d": 1}


def test_a_part_that_is_too_large_already_keeps_what_it_has() -> None:
    held = settled(groups({"a": 600, "b": 600, "c": 1}), {"a": 1, "b": 1}, 900)
    assert settled_places(held) == {"a": 1, "b": 1, "c": 2}


def settled_places(parts: dict[int, tuple[Artifact, ...]]) -> dict[str, int]:
    return {
        one.object["metadata"]["namespace"]: number
        for number, part in parts.items()
        for one in part
    }
