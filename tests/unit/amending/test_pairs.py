"""Two states come to the same, whatever the last run knew of the tenants that they share."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from dracfg.amending import pairs
from dracfg.amending.pairs import judge_pair
from dracfg.diff.document import diff_document
from dracfg.diff.pair import Pair
from dracfg.diff.plan import compare
from dracfg.diff.states import choose_states, judge_states
from dracfg.link.recalled import RecalledTenant
from dracfg.source.git import ObjectReader
from tests.unit.amending.changes import (
    described,
    edit,
    first_part,
    meetings,
    tenants,
)
from tests.unit.amending.runs import TODAY, run
from tests.unit.amending.test_amending import one_tenant, spare
from tests.unit.diff.history import History, git

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture(scope="module")
def committed(compiled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = Path(shutil.copytree(compiled, tmp_path_factory.mktemp("git") / "fleet"))
    git(root, "init", "-q", "-b", "main")
    History(root).commit()
    shutil.rmtree(root / ".cache")
    assert run(root, today=None).written
    return root


@pytest.fixture
def history(committed: Path, tmp_path: Path) -> History:
    return History(Path(shutil.copytree(committed, tmp_path / "fleet")))


@pytest.fixture
def wholes(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """One entry for each time that nothing was known of tenants."""
    found: list[None] = []

    def noted(*args: Any, **more: Any) -> Pair:
        found.append(None)
        return judge_states(*args, **more)

    monkeypatch.setattr(pairs, "judge_states", noted)
    return found


def told(history: History, *names: str, known: bool) -> tuple[Pair, dict[str, Any]]:
    with ObjectReader(history.root) as objects:
        sides = choose_states(history.root, objects, *names)
        pair = (
            judge_pair(history.root, *sides, today=TODAY)
            if known
            else judge_states(*sides, today=TODAY)
        )
        return pair, diff_document(compare(pair), full=True)


def holds(history: History, *names: str) -> Pair:
    """Holds what comes of the last run's knowledge against what comes without any."""
    pair, found = told(history, *names, known=True)
    other, expected = told(history, *names, known=False)
    assert found == expected
    for side, plain in ((pair.base, other.base), (pair.head, other.head)):
        assert side.judgement.findings == plain.judgement.findings
        assert side.judgement.verdict == plain.judgement.verdict
        assert list(side.judgement.catalog.tenants) == list(plain.judgement.catalog.tenants)
    return pair


def linked(pair: Pair) -> set[str]:
    """The tenants of which more than outlines was asked for."""
    return {
        name
        for side in (pair.base, pair.head)
        for name, tenant in side.judgement.catalog.tenants.items()
        if not isinstance(tenant, RecalledTenant) or "grants" in vars(tenant)
    }


def regrouped(document: dict[str, Any]) -> None:
    document["spec"]["access"]["use"].append({"group": "others"})


def quiet(rng: random.Random, root: Path) -> Iterator[Callable[[], None]]:
    """Changes of one tenant that say nothing of what others share, and are no fault mostly."""

    def frozen(document: dict[str, Any]) -> None:
        document["spec"]["state"] = "frozen"

    def more_profiles(document: dict[str, Any]) -> None:
        first = document["spec"]["profiles"][0]
        document["spec"]["profiles"].append({**first, "name": f"more-{rng.randint(0, 99)}"})

    def less(document: dict[str, Any]) -> None:
        numbers = document["spec"]["entitlements"][0]["guaranteed"]
        if isinstance(numbers, dict) and next(iter(numbers.values())) > 1:
            spare(document)

    changes = [described, regrouped, regrouped, frozen, less, more_profiles]
    while True:
        yield partial(edit, rng.choice(tenants(root)), rng.choice(changes))


def others(rng: random.Random, root: Path) -> Iterator[Callable[[], None]]:
    """Changes of more than what stands in a tenant's file, and of files that hold another."""

    def gone() -> None:
        rng.choice(tenants(root)).unlink()

    def new() -> None:
        path = rng.choice(tenants(root))
        again = path.with_name(f"new-{path.name}")
        shutil.copy(path, again)
        edit(again, lambda one: one["metadata"].update(name=f"new-{one['metadata']['name']}"))

    def moved() -> None:
        path = rng.choice(tenants(root))
        path.rename(path.with_name(f"moved-{path.name}"))

    def exchanged() -> None:
        """Each of two files holds what the other did."""
        one, other = rng.sample(tenants(root), 2)
        first, second = one.read_text(), other.read_text()
        one.write_text(second)
        other.write_text(first)

    def together() -> None:
        one, other = rng.sample(tenants(root), 2)
        one.write_text(f"{one.read_text()}---\n{other.read_text()}")
        other.unlink()

    def link() -> None:
        path = rng.choice(tenants(root))
        real = path.rename(path.with_name(f"real-{path.stem}"))
        path.symlink_to(real.name)

    def broken() -> None:
        rng.choice(tenants(root)).write_text("kind: Tenant\n")

    def carriage_returns() -> None:
        path = rng.choice(tenants(root))
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    def platform() -> None:
        path = rng.choice(sorted((root / "catalog").rglob("*.yaml")))
        path.write_text(f"# a word\n{path.read_text()}")

    def edited_output() -> None:
        path = rng.choice(sorted((root / "out").rglob("*.yaml")))
        path.write_text(f"# by hand\n{path.read_text()}")

    while True:
        yield rng.choice(
            [gone, new, new, moved, exchanged, together]
            if rng.random() < 0.6
            else [link, broken, carriage_returns, platform, edited_output]
        )


@pytest.mark.parametrize("seed", range(20))
def test_the_document_is_that_of_a_run_without_a_cache(seed: int, history: History) -> None:
    rng = random.Random(seed)
    root = history.root
    many = [quiet(rng, root)] * rng.choice([2, 20, 20]) + [meetings(rng, root), others(rng, root)]

    def some() -> None:
        for _ in range(rng.randint(1, 3)):
            with suppress(yaml.YAMLError, KeyError):  # of a file that an edit before has broken
                next(rng.choice(many))()
        if rng.random() < 0.3:
            run(root, today=None)

    some()
    holds(history, "HEAD")
    if rng.random() < 0.5:
        history.commit()
    some()
    holds(history, "HEAD")
    history.commit()
    holds(history, *rng.choice([("HEAD~1",), ("HEAD", "HEAD~1")]))


def test_only_those_that_differ_and_partners_are_read(history: History, wholes: list[None]) -> None:
    edit(tenants(history.root)[0], described)
    pair = holds(history, "HEAD")
    assert not wholes
    named = {one.name for one in pair.head.judgement.documents if one.kind == "Tenant"}
    assert 1 <= len(named) <= 4
    assert linked(pair) <= named


@pytest.mark.parametrize("when", ["before", "between", "after", "elsewhere"])
def test_it_is_known_where_the_last_run_was_in_any_state(
    when: str, history: History, wholes: list[None]
) -> None:
    """A run of neither state still knows what all three have in common."""
    first, second, third = tenants(history.root)[:3]
    edit(first, described)
    if when == "between":
        edit(third, described)
        run(history.root, today=None)
    edit(second, regrouped)
    if when == "after":
        run(history.root, today=None)
    if when == "elsewhere":
        run(history.root, today=None)
        git(
            history.root,
            "checkout",
            "-q",
            "HEAD",
            "--",
            second.relative_to(history.root).as_posix(),
        )
        edit(third, described)
    pair = holds(history, "HEAD")
    assert not wholes
    assert len(linked(pair)) < len(tenants(history.root))


def test_what_was_found_of_a_tenant_is_told_of_the_state_that_it_holds_for(
    history: History, wholes: list[None]
) -> None:
    """The last run was of the later state, where nothing asks for a part of what a tenant has."""
    path = one_tenant(history.root)
    edit(path, spare)
    run(history.root, today=None)
    pair = holds(history, "HEAD")
    assert not wholes
    first, second = (set(side.judgement.by_tenant) for side in (pair.base, pair.head))
    assert second - first
    edit(path, described)
    holds(history, "HEAD")
    assert not wholes


def test_two_revisions_are_known_as_well(history: History, wholes: list[None]) -> None:
    edit(tenants(history.root)[0], described)
    history.commit()
    edit(tenants(history.root)[1], regrouped)
    history.commit()
    edit(tenants(history.root)[2], described)
    holds(history, "HEAD~2", "HEAD")
    holds(history, "HEAD", "HEAD~1")
    assert not wholes


def test_with_an_error_both_are_judged_whole(history: History, wholes: list[None]) -> None:
    path = tenants(history.root)[0]
    edit(path, lambda one: one["spec"]["entitlements"][0].update(tier="nowhere"))
    pair = holds(history, "HEAD")
    assert len(wholes) == 1
    assert pair.head.judgement.has_errors


@pytest.mark.parametrize("name", ["documents", "*.tenants", "*.json"])
def test_what_is_not_kept_is_read(name: str, history: History, wholes: list[None]) -> None:
    """The last run was of neither state: what a file held then stands in none of them."""
    edit(tenants(history.root)[0], regrouped)
    history.commit()
    edit(tenants(history.root)[0], described)
    for path in (history.root / ".cache" / "dracfg").glob(name):
        path.unlink()
    holds(history, "HEAD")
    assert len(wholes) == 1


def test_a_finding_that_depends_on_those_that_stay_is_told(history: History) -> None:
    """More is promised than there is: whoever holds the rest is not read."""
    edit(tenants(history.root)[0], lambda one: first_part(one)[0].update({first_part(one)[1]: 999}))
    _, found = told(history, "HEAD", known=True)
    assert found == told(history, "HEAD", known=False)[1]
    assert any(finding["code"].startswith("CAP") for finding in found["findings"])
