"""What `dracfg rollout status --record` says of a rebalance, on the way there and back.

`--update-golden` writes the expectations anew; they are reviewed as output.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from dracfg.cli.main import invoke
from tests.unit.rollout.rebalanced import Lab, write_repository

GOLDEN = Path(__file__).parent / "rebalance"
IN_FORCE = "ab44fd19"
MORE = {"20Gi: 1}}": "20Gi: 1}, limit: {8Gi: 6, 20Gi: 2}}"}
PUT_BACK = {"{min: 8Gi, step: 4Gi": "{min: 8Gi, step: 2Gi"}
BACK = {"stage: canary": "stage: canary\n  direction: rollback"}


def there(lab: Lab) -> None:
    """Work of two tenants, some that can't begin anew, and some that has moved."""
    lab.work("train", "one-1", pods=2)
    lab.work("sweep", "two-1", "large", "20Gi", namespace="bob")
    lab.work("web", "two-1", kind="ReplicaSet")
    lab.work("now", "two-2", size="8Gi", version=IN_FORCE, template="small-v2")


def crowded(lab: Lab) -> None:
    """The last room for a guarantee lies where larger shares would come to."""
    lab.work("train", "one-1", "large", "10Gi")
    lab.work("more", "one-1", "large", "10Gi")
    lab.work("sweep", "two-1", "large", "20Gi", namespace="bob", version=IN_FORCE)
    lab.work("two", "two-1", size="8Gi", pods=2, version=IN_FORCE)
    lab.work("four", "two-2", size="8Gi", pods=4, version=IN_FORCE)


def elsewhere(lab: Lab) -> None:
    """A place of its own is free for what ends, and the scheduler may put it into another one's room."""
    lab.work("train", "one-1", size="10Gi")
    lab.work("rest", "one-1", "large", "20Gi", version=IN_FORCE)
    lab.work("eight", "one-1", size="8Gi", version=IN_FORCE)
    lab.work("sweep", "two-1", "large", "20Gi", namespace="bob", version=IN_FORCE)
    lab.work("four", "two-2", size="8Gi", pods=4, version=IN_FORCE)


def moved(lab: Lab) -> None:
    """What a rebalance has moved, and what it has not."""
    lab.work("train", "one-1", size="8Gi", pods=2, version=IN_FORCE, template="small-v2")
    lab.work("late", "two-1", size="10Gi")


@dataclass(frozen=True)
class Case:
    recorded: Callable[[Lab], None]
    changes: Mapping[str, str] = field(default_factory=dict)


CASES = {
    "there": Case(there),
    "everyone": Case(there, {"stage: canary": "stage: everyone"}),
    "start": Case(there, {"stage: canary": "stage: start"}),
    "halted": Case(there, {"stage: canary": "stage: canary\n  direction: halted"}),
    "crowded": Case(crowded, {"stage: canary": "stage: everyone", **MORE}),
    "elsewhere": Case(elsewhere),
    "back-before-numbers": Case(moved, BACK),
    "back": Case(moved, {**BACK, **PUT_BACK}),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("form", ["text", "json"])
def test_plan(
    name: str,
    form: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    case, lab = CASES[name], Lab()
    root = write_repository(tmp_path, case.changes)
    case.recorded(lab)
    record = str(lab.write(tmp_path / "record.json"))
    asked = ["rollout", "status", "slices-to-8gi", "-C", str(root)]
    assert invoke([*asked, "--record", record, "--format", form]) == 0
    said = capsys.readouterr().out
    if form == "text":
        found = said[said.index("rebalance of slices") :]
    else:
        found = json.dumps(json.loads(said)["rebalance"], indent=1) + "\n"
    expected = GOLDEN / f"{name}.{'txt' if form == 'text' else 'json'}"
    if request.config.getoption("--update-golden"):
        expected.parent.mkdir(exist_ok=True)
        expected.write_text(found, encoding="utf-8")
    assert found == expected.read_text(encoding="utf-8")
