"""What is exchanged in files that tenants share, and when nothing is."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from dracfg.amending.patches import Emission, NoPatch, Patch, Tree, patch
from dracfg.building import render
from dracfg.emit.lock import Lock, digest
from dracfg.lower.artifact import Artifact, Origin, Unit

ORIGIN = Origin("tenants/a.yaml", "Tenant", "a")
FILE = "quotas.yaml"


def quota(name: str, tenant: str | None, hard: int) -> dict[str, Any]:
    labels = {} if tenant is None else {"dracfg.dev/tenant": tenant}
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": name, "namespace": f"of-{tenant}", "labels": labels},
        "spec": {"hard": {"pods": str(hard)}},
    }


def unit(path: str, *things: dict[str, Any], file: str = FILE) -> Unit:
    return Unit(path, tuple(Artifact(thing, file, ORIGIN) for thing in things))


def emission(*units: Unit) -> Emission:
    return Emission.of(units, render(units))


def tree(units: Iterable[Unit]) -> Tree:
    rendered = render(units, remembered=True)
    content = {f"{u.path}/{name}": data for u in rendered.files for name, data in u.files.items()}
    lock = Lock({u.path: {n: digest(d) for n, d in u.files.items()} for u in rendered.files})
    known = {
        digest(content[path]).removeprefix("sha256:"): state
        for path, state in rendered.states.items()
    }
    return Tree(lock, rendered.sizes, known, content.__getitem__)


STANDING = (
    unit("east/guard", quota("a", "a", 1), quota("b", "b", 1)),
    unit("east/guard.2", quota("c", "c", 1), quota("d", "d", 1)),
)


def patched(old: Iterable[Unit], new: Iterable[Unit], *only: str) -> Patch:
    return patch(emission(*old), emission(*new), tree(STANDING), only)


def test_an_object_is_exchanged_in_the_part_that_has_it() -> None:
    made = patched(
        [unit("east/guard", quota("c", "c", 1))], [unit("east/guard", quota("c", "c", 7))], "c"
    )
    whole = render([unit("east/guard.2", quota("c", "c", 7), quota("d", "d", 1))]).files[0]
    assert made.units == {"east/guard.2": whole}
    assert made.sizes == {"east/guard.2": 2}


def test_two_tenants_in_one_file() -> None:
    made = patched(
        [unit("east/guard", quota("a", "a", 1), quota("b", "b", 1))],
        [unit("east/guard", quota("a", "a", 2), quota("b", "b", 3))],
        "a",
        "b",
    )
    whole = render([unit("east/guard", quota("a", "a", 2), quota("b", "b", 3))]).files[0]
    assert made.units == {"east/guard": whole}


@pytest.mark.parametrize(
    ("old", "new", "only", "why"),
    [
        (("a", "a", 5), ("a", "a", 6), ["a"], "does not stand as it was"),
        (("a", "a", 1), ("a", "a", 6), ["b"], "no tenant's"),
        (("a", None, 1), ("a", None, 6), ["a"], "no tenant's"),
        (("a", "a", 1), ("z", "a", 1), ["a"], "came or went"),
    ],
)
def test_nothing_is_exchanged(old: Any, new: Any, only: list[str], why: str) -> None:
    with pytest.raises(NoPatch, match=why):
        patched([unit("east/guard", quota(*old))], [unit("east/guard", quota(*new))], *only)


def test_objects_that_come_are_not_put_in() -> None:
    with pytest.raises(NoPatch, match="came or went"):
        patched(
            [unit("east/guard", quota("a", "a", 1))],
            [unit("east/guard", quota("a", "a", 1), quota("n", "a", 1))],
            "a",
        )


def test_what_is_the_same_is_left_alone() -> None:
    units = [unit("east/guard", quota("a", None, 9))]
    assert patched(units, units, "a").units == {}


def test_a_tenants_unit_comes_changes_and_goes() -> None:
    mine = unit("east/tenants/a", quota("t", "a", 1))
    other = unit("east/tenants/a", quota("t", "a", 2))
    standing = tree([*STANDING, mine])
    changed = patch(emission(mine), emission(other), standing, ["a"])
    assert changed.units == {"east/tenants/a": render([other]).files[0]}
    gone = patch(emission(mine), emission(), standing, ["a"])
    assert gone.units["east/tenants/a"].files == {}
    come = patch(emission(), emission(mine), tree(STANDING), ["a"])
    assert come.units == {"east/tenants/a": render([mine]).files[0]}
    with pytest.raises(NoPatch, match="does not stand as it was"):
        patch(emission(other), emission(mine), standing, ["a"])


def test_state_goes_along() -> None:
    def namespace(state: str) -> dict[str, Any]:
        metadata = {"name": "ns", "annotations": {"dracfg.dev/tenant": "a", "state": state}}
        return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}

    old = unit("east/guard", namespace("active"), file="namespaces.yaml")
    new = unit("east/guard", namespace("frozen"), file="namespaces.yaml")
    made = patch(emission(old), emission(new), tree([old]), ["a"])
    assert json.loads(made.states["east/guard/namespaces.yaml"]) == [namespace("frozen")]
