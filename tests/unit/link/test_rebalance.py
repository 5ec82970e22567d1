"""Which claims a rebalance may end where it stands, and that it moves no pool."""

from __future__ import annotations

from pathlib import Path

import pytest

from dracfg.link.catalog import Catalog
from dracfg.link.rebalance import fits_numbers, is_old, may_move, policy_of, reached, stage_of
from dracfg.link.steps import Step, reachable, step
from dracfg.model.rollout import RolloutSpec
from dracfg.pipeline import judge
from tests.unit.rollout.rebalanced import write_repository

NAME = "slices-to-8gi"


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    return judge(write_repository(tmp_path_factory.mktemp("repository"))).catalog


def standing(catalog: Catalog, **changes: str) -> RolloutSpec:
    return catalog.rollouts[NAME].spec.model_copy(update=changes)


@pytest.mark.parametrize(
    ("pool", "tenant", "stage"),
    [("one", "ann", 0), ("one", "bob", 1), ("two", "ann", 1), ("three", "ann", None)],
)
def test_the_first_stage_that_reaches_a_claim(
    catalog: Catalog, pool: str, tenant: str, stage: int | None
) -> None:
    pools = {name: one.document for name, one in catalog.pools.items()}
    assert stage_of(standing(catalog), pool, tenant, pools) == stage


@pytest.mark.parametrize(
    ("stage", "direction", "may"),
    [
        ("start", "forward", [False, False]),
        ("canary", "forward", [True, False]),
        ("everyone", "forward", [True, True]),
        ("everyone", "halted", [False, False]),
        ("everyone", "rollback", [False, True]),
        ("canary", "rollback", [True, True]),
        ("start", "rollback", [True, True]),
    ],
)
def test_what_may_be_ended(catalog: Catalog, stage: str, direction: str, may: list[bool]) -> None:
    spec = standing(catalog, stage=stage, direction=direction)
    assert [may_move(spec, number) for number in (0, 1)] == may


def test_which_claims_are_old(catalog: Catalog) -> None:
    there, back = standing(catalog), standing(catalog, direction="rollback")
    assert [is_old(there, version) for version in ("ab44fd19", "0dd0dd00")] == [False, True]
    assert [is_old(back, version) for version in ("ab44fd19", "0dd0dd00")] == [True, False]
    policy = catalog.policies["slices"]
    assert fits_numbers(there, policy)
    assert not fits_numbers(back, policy)


def test_it_goes_from_stage_to_stage_without_a_fence(catalog: Catalog) -> None:
    spec = standing(catalog, stage="start")
    taken = step(spec, "advance")
    assert isinstance(taken, Step)
    assert (str(taken.after), taken.flips, taken.asks) == ("canary", False, "forward")
    assert {here.phase for here in reachable(spec)} == {"open"}


def test_pools_stay_as_they_are(tmp_path: Path, catalog: Catalog) -> None:
    changes = {"stage: canary": "stage: canary\n  direction: rollback"}
    back = judge(write_repository(tmp_path, changes)).catalog
    for one in (catalog, back):
        assert [(pool.state, pool.moves) for pool in one.pools.values()] == [("open", ())] * 2


def test_the_clusters_that_it_reaches(catalog: Catalog) -> None:
    rollout, tier = catalog.rollouts[NAME], catalog.tiers["cut"]
    policy = policy_of(catalog, rollout)
    assert policy is not None
    assert [one.name for one in reached(catalog, rollout, tier, policy)] == ["lab"]
    assert reached(catalog, rollout, tier, catalog.policies["whole"]) == []
