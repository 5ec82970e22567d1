"""Other words for the same: no comparison of what follows or runs beneath tells of a change."""

from pathlib import Path

import pytest

from dracfg.diff.capacity import capacity_rows
from dracfg.diff.plan import COMPARISONS, TRANSITIONS
from tests.cases.test_cases import CASES as FOLDER
from tests.cases.test_cases import read
from tests.unit.diff.pairs import POOLS, TIERS, VISION, Case

_FILES = read(FOLDER / "_base" / "platform.yaml")["files"]
_MOVED = "tenants/teams/vision.yml"
_DOCUMENTS = _FILES[TIERS].split("---\n")
_ENTITLED = _FILES[VISION][
    _FILES[VISION].index("    - {name: gpu, tier") : _FILES[VISION].index("  profiles:")
]
_LINES = _ENTITLED.splitlines(keepends=True)

CASES = (
    Case("a file is renamed", head={_MOVED: _FILES[VISION]}, removed=(VISION,)),
    Case(
        "a file is split",
        head={"catalog/tiers/first.yaml": _DOCUMENTS[0], TIERS: "---\n".join(_DOCUMENTS[1:])},
    ),
    Case("documents in another order", head={TIERS: "---\n".join(reversed(_DOCUMENTS))}),
    Case("entitlements in another order", ((VISION, _ENTITLED, "".join(reversed(_LINES))),)),
    Case("an equal amount", ((TIERS, "{memory: {min: 40Gi}}", "{memory: {min: 40960Mi}}"),)),
    Case(
        "the name of a capacity in full",
        ((TIERS, "{memory: {min", "{gpu.nvidia.com/memory: {min"),),
    ),
    Case(
        "what is meant anyway",
        ((POOLS, "  spare: {nodes: 1}", "  spare: {nodes: 1}\n  state: open"),),
    ),
    Case("a comment", ((POOLS, "nodes: 12", "nodes: 12  # since spring"),)),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_nothing_is_told(case: Case, tmp_path: Path) -> None:
    pair = case.pair(tmp_path)
    assert not any(pair.blocked(f"prod-east/{unit}") for unit in ("platform", "tenants/vision"))
    told = [change for comparison in COMPARISONS for change in comparison(pair)]
    assert [(one.kind.name, one.object, one.before, one.after) for one in told] == []
    assert [finding for transition in TRANSITIONS for finding in transition(pair)] == []
    assert capacity_rows(pair) == ()
