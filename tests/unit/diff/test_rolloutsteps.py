"""Steps of rollouts, and what may not change in the same commit."""

from dataclasses import replace
from pathlib import Path

import pytest

from dracfg.diff.pair import Transition
from dracfg.diff.rolloutsteps import rollout_companions, rollout_steps
from tests.unit.diff.pairs import DRIVERS, POLICIES, SEARCH, VISION, Case, Edit, hold_steps

_FILE = "catalog/rollout.yaml"
_ROLLOUT = """\
apiVersion: dracfg.dev/v1alpha1
kind: Rollout
metadata: {name: slices}
spec:
  tier: l40s-hami
  subject: sharing
  sharing: memory-slices
  stage: start
  phase: open
  direction: forward
  stages:
    - {name: canary, pools: [hami-east], tenants: [search], workloads: retryable}
    - {name: everyone, pools: "*", tenants: "*", workloads: any}
"""
_EVIDENCE = """\
  evidence:
    - stage: canary
      direction: forward
      verdict: passed
      at: 2026-11-01T10:00:00Z
      source: https://prometheus.example.com
      digest: sha256:41b8f5b04d3ec31e2d8a5a1a2a4bbf0f4cf1ff2e4d4b8be7b3a0bb0b9c8a7d61
"""


def _at(stage: str, phase: str = "open", direction: str = "forward") -> str:
    return (
        _ROLLOUT.replace("stage: start", f"stage: {stage}")
        .replace("phase: open", f"phase: {phase}")
        .replace("direction: forward", f"direction: {direction}")
    )


def _anew(stage: str) -> str:
    return _at(stage).replace("subject: sharing", "subject: rebalance\n  version: 0dd0dd00")


def _step(
    name: str,
    was: str | None,
    now: str | None,
    *told: tuple[str, str],
    beside: tuple[Edit, ...] = (),
    says: tuple[str, ...] = (),
) -> Case:
    return Case(
        name,
        beside,
        files={_FILE: was} if was is not None else {},
        head={_FILE: now} if now is not None else {},
        removed=(_FILE,) if now is None else (),
        told=told,
        says=says,
    )


STAGES = (
    _step("a fence at the start", _at("start"), _at("start", "fenced")),
    _step("a fence that is taken back", _at("start", "fenced"), _at("start")),
    _step("from the fence to the stage", _at("start", "fenced"), _at("canary")),
    _step(
        "to the stage without a fence",
        _at("start"),
        _at("canary"),
        ("DIF005", "start (forward) -> canary (forward)"),
        says=("were not fenced", "stages come one by one: start, canary, everyone"),
    ),
    _step("a rebalance, which fences nothing", _anew("start"), _anew("canary")),
    _step("a rebalance that is taken out half way", _anew("canary"), None),
    _step(
        "a rebalance that leaves a stage out",
        _anew("start"),
        _anew("everyone"),
        ("DIF005", "start (forward) -> everyone (forward)"),
    ),
    _step(
        "a rebalance to another version on its way",
        _anew("canary"),
        _anew("canary").replace("0dd0dd00", "0dd0dd01"),
        ("DIF006", "0dd0dd00 -> 0dd0dd01"),
    ),
    _step(
        "to the stage and its next fence",
        _at("start", "fenced"),
        _at("canary", "fenced"),
        ("DIF005", "start (forward, fenced) -> canary (forward, fenced)"),
    ),
    _step(
        "a stage is left out",
        _at("start", "fenced"),
        _at("everyone"),
        ("DIF005", "start (forward, fenced) -> everyone (forward)"),
        says=("leaves stages out",),
    ),
    _step(
        "back without a rollback",
        _at("everyone"),
        _at("canary"),
        ("DIF005", "everyone (forward) -> canary (forward)"),
    ),
    _step("a rollback begins", _at("everyone"), _at("everyone", direction="rollback")),
    _step(
        "a rollback goes back by one",
        _at("everyone", direction="rollback"),
        _at("canary", direction="rollback"),
    ),
    _step(
        "a rollback goes back by two",
        _at("everyone", direction="rollback"),
        _at("start", direction="rollback"),
        ("DIF005", "everyone (rollback) -> start (rollback)"),
        says=("back by one stage",),
    ),
    _step(
        "a halted rollout moves",
        _at("canary", direction="halted"),
        _at("everyone", direction="halted"),
        ("DIF005", "canary (halted) -> everyone (halted)"),
        says=("it is halted",),
    ),
    _step(
        "a rollback that moves at once",
        _at("everyone"),
        _at("canary", direction="rollback"),
        ("DIF007", "forward -> rollback"),
        says=("turn first",),
    ),
    _step("taken up again", _at("canary", direction="halted"), _at("canary")),
    _step("new at the start", None, _at("start")),
    _step(
        "new at a stage",
        None,
        _at("canary"),
        ("DIF005", "canary"),
        says=("begin with `stage: start`",),
    ),
    _step("taken out when it is over", _at("everyone"), None),
    _step("taken out before it began", _at("start"), None),
    _step(
        "taken out on its way",
        _at("canary"),
        None,
        ("DIF006", "canary -> no document"),
        says=("finish at everyone, or roll back to start",),
    ),
    _step(
        "another tier on its way",
        _at("canary"),
        _at("canary").replace("tier: l40s-hami", "tier: a100-40g"),
        ("DIF006", "l40s-hami -> a100-40g"),
    ),
    _step(
        "another tier before it began",
        _at("start"),
        _at("start").replace("tier: l40s-hami", "tier: a100-40g"),
    ),
    _step(
        "a stage that was passed loses its tenant",
        _at("everyone"),
        _at("everyone").replace("tenants: [search]", "tenants: [vision]"),
        ("DIF006", "canary -> canary"),
        says=("a stage that pools have come to",),
    ),
    replace(
        _step(
            "a stage that was passed forgets a removed tenant",
            _at("everyone"),
            _at("everyone").replace("tenants: [search]", "tenants: []"),
        ),
        before=((SEARCH, "spec:\n", "spec:\n  state: removed\n"),),
    ),
    replace(
        _step(
            "a stage that was passed forgets a tenant that drains",
            _at("everyone"),
            _at("everyone").replace("tenants: [search]", "tenants: []"),
            ("DIF006", "canary -> canary"),
        ),
        before=((SEARCH, "spec:\n", "spec:\n  state: draining\n"),),
    ),
    _step(
        "a stage to come gets other tenants",
        _at("canary"),
        _at("canary").replace('tenants: "*"', "tenants: [search, vision]"),
    ),
    _step(
        "evidence is edited",
        _at("canary") + _EVIDENCE,
        _at("canary") + _EVIDENCE.replace("passed", "failed"),
        ("DIF006", "recorded -> rewritten"),
    ),
    _step("evidence is added", _at("canary"), _at("canary") + _EVIDENCE),
)
_SIZES: Edit = (POLICIES, "sizes: [5Gi, 10Gi, 20Gi]", "sizes: [10Gi, 20Gi]")
_RELEASE: Edit = (
    DRIVERS,
    "hami-core-gpu.project-hami.io, version: 0.1.0",
    "hami-core-gpu.project-hami.io, version: 0.2.0",
)
_VALUES: Edit = (
    DRIVERS,
    "spec: {sharesOneAllocation",
    "spec: {values: {a: 1}, sharesOneAllocation",
)
_ELSEWHERE: Edit = (DRIVERS, "version: 0.5.0", "version: 0.4.1")
COMPANIONS = (
    _step(
        "a policy beside a step",
        _at("start", "fenced"),
        _at("canary"),
        ("DIF013", "90ae14fe -> 656a77a2"),
        beside=(_SIZES,),
        says=("change memory-slices first",),
    ),
    _step(
        "a policy beside a fence",
        _at("start"),
        _at("start", "fenced"),
        ("DIF013", "90ae14fe -> 656a77a2"),
        beside=(_SIZES,),
    ),
    _step("a policy while it stands", _at("canary"), _at("canary"), beside=(_SIZES,)),
    _step(
        "a step beside a tenant",
        _at("start", "fenced"),
        _at("canary"),
        beside=((VISION, "vision-eng", "vision-ml"),),
    ),
    _step(
        "another release while halted",
        _at("canary", direction="halted"),
        _at("canary", direction="halted"),
        ("DIF014", "`version` changed"),
        beside=(_RELEASE,),
        says=("is halted",),
    ),
    _step(
        "other values as it turns back",
        _at("canary"),
        _at("canary", direction="rollback"),
        ("DIF014", "`values` changed"),
        beside=(_VALUES,),
        says=("is rolling back",),
    ),
    _step("another release as it goes forward", _at("canary"), _at("canary"), beside=(_RELEASE,)),
    _step(
        "the driver of another tier",
        _at("canary", direction="halted"),
        _at("canary", direction="halted"),
        beside=(_ELSEWHERE,),
    ),
)
ROWS = [
    pytest.param(judge, case, id=str(case))
    for judge, table in ((rollout_steps, STAGES), (rollout_companions, COMPANIONS))
    for case in table
]


@pytest.mark.parametrize(("judge", "case"), ROWS)
def test_rollouts(judge: Transition, case: Case, tmp_path: Path) -> None:
    hold_steps(case, judge(case.pair(tmp_path)))
