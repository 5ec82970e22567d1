"""A compile on top of the last one leaves, byte for byte, what a whole one leaves."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from dracfg.amending import remembered
from dracfg.cache.outcome import Outcome
from dracfg.cache.store import Store
from dracfg.lower import division, flux
from dracfg.outcomes import outcome_of
from dracfg.pipeline import compile_repository
from tests.unit.amending.changes import Edit, described, edit, fewer, first_part, meetings, tenants
from tests.unit.amending.runs import TODAY, run


@pytest.fixture
def wholes(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """One entry for each time that the whole was compiled."""
    found: list[None] = []

    def noted(*args: Any, **more: Any) -> Any:
        found.append(None)
        return compile_repository(*args, **more)

    monkeypatch.setattr(remembered, "compile_repository", noted)
    return found


def files(root: Path) -> dict[str, bytes]:
    out = root / "out"
    return {
        str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()
    }


def holds_as_a_whole(root: Path, tmp_path: Path) -> Outcome:
    """Compiles both ways from the same state, and holds the trees and findings against each other."""
    other = Path(shutil.copytree(root, tmp_path / "whole"))
    whole = compile_repository(other, today=TODAY)
    amended = run(root)
    assert files(root) == files(other)
    expected = outcome_of(whole)
    assert amended.findings == expected.findings
    assert (amended.clusters, amended.tenants, amended.objects, amended.units) == (
        expected.clusters,
        expected.tenants,
        expected.objects,
        expected.units,
    )
    assert amended.moved == expected.moved
    assert amended.verdict == expected.verdict
    shutil.rmtree(other)
    return amended


def one_tenant(root: Path) -> Path:
    """A tenant in force that lends and borrows nothing and has shares in its one namespace."""
    for path in tenants(root):
        spec = yaml.safe_load(path.read_text())["spec"]
        plain = spec.get("state", "active") == "active" and len(spec["namespaces"]) == 1
        held = spec["entitlements"][0]["guaranteed"]
        if plain and not isinstance(held, int) and next(iter(held.values())) > 2:
            return path
    raise AssertionError("the fleet has no such tenant")


def more_profiles(document: dict[str, Any]) -> None:
    name = document["spec"]["entitlements"][0]["name"]
    request = {"name": "one", "entitlement": name, "size": first_part(document)[1]}
    document["spec"]["profiles"].append({"name": "another", "requests": [request]})


def fewer_profiles(document: dict[str, Any]) -> None:
    more_profiles(document)
    del document["spec"]["profiles"][0]


def other_people(document: dict[str, Any]) -> None:
    document["spec"]["access"]["use"].append({"group": "others"})


def frozen(document: dict[str, Any]) -> None:
    document["spec"]["state"] = "frozen"


def no_profiles(document: dict[str, Any]) -> None:
    document["spec"]["profiles"] = []


def warned_of(document: dict[str, Any]) -> None:
    """One of its entitlements is asked for by nothing then."""
    del document["spec"]["profiles"][1:]


@pytest.mark.parametrize(
    "change",
    [
        fewer,
        described,
        more_profiles,
        fewer_profiles,
        other_people,
        frozen,
        warned_of,
        no_profiles,
    ],
)
def test_one_tenant_is_amended(
    change: Edit, root: Path, tmp_path: Path, wholes: list[None]
) -> None:
    edit(one_tenant(root), change)
    before = files(root)
    outcome = holds_as_a_whole(root, tmp_path)
    assert outcome.written
    assert not wholes
    assert (before == files(root)) is (change is described)


def test_one_is_amended_after_another(root: Path, tmp_path: Path, wholes: list[None]) -> None:
    path = one_tenant(root)
    for change in (fewer, other_people, more_profiles, described, fewer):
        edit(path, change)
        holds_as_a_whole(root, tmp_path)
    assert not wholes
    assert Store(root, "out", (str(TODAY),)).recall() is not None


def spare(document: dict[str, Any]) -> None:
    """Nothing asks for a part of what it has."""
    fewer(document)
    numbers, part = first_part(document)
    first = document["spec"]["entitlements"][0]
    document["spec"]["entitlements"].append({**first, "name": "spare", "guaranteed": {part: 1}})
    assert numbers[part] > 0


def test_what_is_found_moves_with_its_line(root: Path, tmp_path: Path, wholes: list[None]) -> None:
    path = one_tenant(root)
    edit(path, spare)
    found = holds_as_a_whole(root, tmp_path).findings
    edit(path, described)
    again = holds_as_a_whole(root, tmp_path).findings
    assert not wholes
    assert [one.code for one in again] == [one.code for one in found]
    assert [one.span for one in again] != [one.span for one in found]


def more_namespaces(document: dict[str, Any]) -> None:
    first = document["spec"]["namespaces"][0]
    document["spec"]["namespaces"].append({**first, "name": f"{first['name']}-2", "share": 0})


def too_much(document: dict[str, Any]) -> None:
    numbers, part = first_part(document)
    numbers[part] = 1_000_000


@pytest.mark.parametrize("change", [more_namespaces, too_much])
def test_what_can_not_be_amended_is_compiled(
    change: Edit, root: Path, tmp_path: Path, wholes: list[None]
) -> None:
    edit(one_tenant(root), change)
    holds_as_a_whole(root, tmp_path)
    assert len(wholes) == 1


def added(root: Path) -> None:
    path = one_tenant(root)
    text = path.read_text()
    name = yaml.safe_load(text)["metadata"]["name"]
    path.with_name("new.yaml").write_text(text.replace(name, "newcomers"))


def removed(root: Path) -> None:
    one_tenant(root).unlink()


def catalog(root: Path) -> None:
    path = next((root / "catalog").rglob("*.yaml"))
    path.write_text(f"# a word\n{path.read_text()}")


def by_hand(root: Path) -> None:
    edit(one_tenant(root), fewer)
    path = next((root / "out").rglob("claim-templates.yaml"))
    path.write_text(path.read_text() + "# mine\n")


def unread(root: Path) -> None:
    path = one_tenant(root)
    path.write_text(f"{path.read_text()}\n  - : [")


@pytest.mark.parametrize("change", [added, removed, catalog, by_hand, unread])
def test_other_changes_are_compiled(
    change: Callable[[Path], None], root: Path, tmp_path: Path, wholes: list[None]
) -> None:
    change(root)
    holds_as_a_whole(root, tmp_path)
    assert len(wholes) == 1


def test_a_check_works_everything_out(root: Path, wholes: list[None]) -> None:
    edit(one_tenant(root), fewer)
    before = files(root)
    assert run(root, check=True).stale
    assert len(wholes) == 1
    assert files(root) == before


def _changes(rng: random.Random) -> Iterator[Edit]:
    def numbers(document: dict[str, Any]) -> None:
        for one in document["spec"]["entitlements"]:
            if isinstance(one["guaranteed"], int):
                one["guaranteed"] = max(0, one["guaranteed"] - rng.randint(0, 2))
            else:
                for part in one["guaranteed"]:
                    one["guaranteed"][part] = max(0, one["guaranteed"][part] - rng.randint(0, 1))

    def states(document: dict[str, Any]) -> None:
        document["spec"]["state"] = rng.choice(["active", "frozen", "draining"])

    def groups(document: dict[str, Any]) -> None:
        document["spec"]["access"]["use"] = [{"group": f"people-{rng.randint(0, 9)}"}]

    def profiles(document: dict[str, Any]) -> None:
        listed = document["spec"]["profiles"]
        if len(listed) > 1 and rng.random() < 0.5:
            listed.pop(rng.randrange(len(listed)))
        elif listed:
            copy = dict(rng.choice(listed))
            listed.append({**copy, "name": f"{copy['name']}-{rng.randint(0, 99)}"})

    while True:
        yield rng.choice([numbers, states, groups, profiles, described])


@pytest.mark.parametrize("seed", range(4))
def test_any_changes_of_any_tenants(seed: int, root: Path, tmp_path: Path) -> None:
    rng = random.Random(seed)
    changes = _changes(rng)
    for _ in range(6):
        for path in rng.sample(tenants(root), rng.randint(1, 3)):
            edit(path, next(changes))
        holds_as_a_whole(root, tmp_path)


@pytest.mark.parametrize("seed", range(2))
def test_changes_of_tenants_whose_units_lie_in_parts(
    seed: int, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tree whose parts were filled as they are by another order than a whole compile would take."""
    monkeypatch.setattr(division, "MAX_OBJECTS", 3)
    monkeypatch.setattr(flux, "_OF_TENANTS", 2)
    first, *others = tenants(root)
    kept = {path: path.read_bytes() for path in others[:6]}
    shutil.rmtree(root / "out")
    for path in kept:
        path.unlink()
    assert run(root).written
    for path, data in kept.items():
        path.write_bytes(data)
    assert run(root).written
    assert len(list((root / "out" / "gitops" / "flux").glob("cluster-02.*"))) > 2
    rng = random.Random(seed)
    changes = _changes(rng)
    for _ in range(3):
        edit(first, next(changes))
        edit(rng.choice(others), next(changes))
        holds_as_a_whole(root, tmp_path)


@pytest.mark.parametrize("seed", range(8))
def test_changes_that_others_are_held_against(seed: int, root: Path, tmp_path: Path) -> None:
    """Each on top of what the ones before left; what is refused is taken back now and then."""
    rng = random.Random(seed)
    changes = meetings(rng, root)
    for _ in range(6):
        before = {path: path.read_bytes() for path in tenants(root)}
        for _ in range(rng.randint(1, 2)):
            next(changes)()
        if holds_as_a_whole(root, tmp_path).has_errors and rng.random() < 0.8:
            for path, data in before.items():
                path.write_bytes(data)
            holds_as_a_whole(root, tmp_path)
