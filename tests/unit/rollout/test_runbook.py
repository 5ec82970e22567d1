"""The page of a rollout: what golden walks don't show. Those of every stage are in tests/golden/rollout."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from dracfg.cli.main import invoke
from dracfg.lower.runbook import kept_off
from dracfg.pipeline import judge
from dracfg.rollout.runbook import RECORD, rollout_runbook

BASE = Path(__file__).parents[2] / "cases" / "_base" / "rollout.yaml"
NAME = "sim-to-claims"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, text in yaml.safe_load(BASE.read_text())["files"].items():
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return tmp_path


def edit(root: Path, *pairs: tuple[str, str], file: str = "catalog/rollout.yaml") -> None:
    text = (root / file).read_text()
    for before, after in pairs:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    (root / file).write_text(text)


def page(root: Path) -> str:
    judged = judge(root)
    return rollout_runbook(judged.catalog, judged.units, judged.catalog.rollouts[NAME])


def section(text: str, title: str) -> str:
    return text.partition(f"## {title}\n")[2].partition("\n## ")[0]


def test_sections_in_their_order(root: Path) -> None:
    titles = [line[3:] for line in page(root).splitlines() if line.startswith("## ")]
    assert titles == [
        "What holds here",
        "Steps",
        "Checks",
        "The next step",
        "When to stop",
        "What may not be done",
        "The way back",
    ]


def test_it_is_written_beside_every_command(root: Path) -> None:
    file = root / "page.md"

    def heading(*command: str) -> str:
        invoke(["rollout", *command, NAME, "-C", str(root), "--runbook", str(file)])
        return file.read_text().partition("\n")[0]

    assert heading("status") == f"# Rollout `{NAME}`: canary"
    assert heading("halt", "--without-record") == f"# Rollout `{NAME}`: canary, halted"
    assert heading("rollback", "--without-record") == f"# Rollout `{NAME}`: canary, rollback"


def test_a_gate_that_blocks_leaves_the_page_of_where_it_stays(root: Path) -> None:
    evidence, file = root / "evidence.yaml", root / "page.md"
    evidence.write_text('{at: "2026-11-29T22:00:00Z", gates: {pods pending: 45s}}')
    given = ["--evidence", str(evidence), "--runbook", str(file)]
    assert invoke(["rollout", "advance", NAME, "-C", str(root), *given]) == 1
    assert file.read_text().startswith(f"# Rollout `{NAME}`: canary\n")


def test_a_place_that_can_not_be_written(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = root / "nowhere" / "page.md"
    assert invoke(["rollout", "status", NAME, "-C", str(root), "--runbook", str(file)]) == 3
    assert "No such file" in capsys.readouterr().err


def test_gates_with_both_limits(root: Path) -> None:
    checks = section(page(root), "Checks")
    assert "- **pods pending**: at most 30s, halt beyond 5m. `sum(pending)`" in checks


def test_gates_that_it_picks_by_itself(root: Path) -> None:
    file = root / "catalog/rollout.yaml"
    file.write_text(file.read_text().partition("  gates:")[0])
    checks = section(page(root), "Checks")
    assert "(`podsOnFencedNodes`)" in checks
    assert "Not yet: no pool is fenced." in checks


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("stage: start", ("2. canary",)),
        ("stage: canary", ("### 2. Switch `one` of `lab`, whole",)),
        ("stage: canary\n  phase: fenced", ("### 2. Fence `two` of `lab`",)),
        ("stage: canary\n  direction: halted", ("Touch no node",)),
        (
            "stage: canary\n  direction: rollback",
            ("### 2. Give back `two` of `lab`, whole", "### 3. Fence `one` of `lab`"),
        ),
        ("stage: everyone\n  phase: fenced", ()),
    ],
)
def test_what_is_done_on_nodes(root: Path, where: str, words: tuple[str, ...]) -> None:
    edit(root, ("stage: canary", where))
    steps = section(page(root), "Steps")
    known = [line for line in steps.splitlines() if line.startswith("### ")]
    assert known[0] == "### 1. Put it in force"
    assert len(known) == 1 + sum(word.startswith("### ") for word in words)
    assert all(word in steps for word in words if not word.startswith("2."))


def test_the_way_back_from_the_end(root: Path) -> None:
    edit(root, ("stage: canary", "stage: everyone"))
    back = section(page(root), "The way back")
    assert RECORD in back
    assert [line for line in back.splitlines() if line[:1].isdigit()] == [
        "1. everyone, rollback; fences `three`",
        "2. shared, rollback; gives back `three` once empty; fences `two`",
        "3. canary, rollback; gives back `two` once empty; fences `one`",
        "4. start, rollback; gives back `one` once empty",
    ]


def test_a_feature_gate(root: Path) -> None:
    edit(root, ("tier: sim\n", "tier: sim\n  subject: featureGate\n  gate: DRADeviceTaints\n"))
    text = page(root)
    assert "- Moves: tier `sim`, kubelets get gate `DRADeviceTaints`" in text
    assert "| `one` | `lab` | 2 | DRADeviceTaints on | open | canary |" in text
    assert "| `two` | `lab` | 2 | DRADeviceTaints off | open | shared |" in text
    assert "systemctl restart kubelet" in section(text, "Steps")
    assert "helm" not in section(text, "Steps")


def test_device_metadata(root: Path) -> None:
    edit(root, ("tier: sim\n", "tier: sim\n  subject: deviceMetadata\n"))
    steps = section(page(root), "Steps")
    assert "helm upgrade --install" in steps
    assert "keep the device plugin away" not in steps


def test_a_rebalance_switches_no_pool(root: Path) -> None:
    moves = "tier: sim\n  subject: rebalance\n  sharing: slices\n  version: 0dd0dd00\n"
    edit(root, ("tier: sim\n", moves))
    text = page(root)
    titles = [line for line in section(text, "Steps").splitlines() if line.startswith("### ")]
    assert titles[1:] == ["### 2. Make claims anew, one workload at a time"]
    assert "| `bob` | `lab` |" in text
    assert "taint" not in text
    assert "switches" not in section(text, "The next step")


def test_a_tier_that_does_not_exist(root: Path) -> None:
    edit(root, ("tier: sim\n", "tier: simm\n"))
    assert "### 2." not in page(root)


def test_text_of_the_catalog_is_no_markup(root: Path) -> None:
    edit(root, ("restores: from the checkpoint", "restores: from `a` | <b> the checkpoint"))
    assert r"goes on so: from \`a\` \| \<b\> the checkpoint" in page(root)


def test_nobody_may_delete_what_is_bound(root: Path) -> None:
    text = page(root)
    assert "Delete a claim that is bound" in section(text, "What may not be done")
    commands = [line for line in text.splitlines() if line.startswith(("kubectl ", "  kubectl "))]
    assert commands
    assert not [line for line in commands if " delete " in line or "--force" in line]


# The affinity of a device plugin beside several pools


def terms(root: Path, *selectors: str) -> list[list[tuple[str, list[str]]]]:
    """For pools one, two and three, all of them on claims, as far as selectors are given."""
    names = ("one", "two", "three")[: len(selectors)]
    for name, selector in zip(names, selectors, strict=True):
        before = f"nodeSelector: {{node.example.com/pool: {name}}}"
        edit(root, (before, f"nodeSelector: {{{selector}}}"), file="catalog/pools.yaml")
    pools = root / "catalog/pools.yaml"
    text = pools.read_text().split("---\n")
    for i in range(len(selectors)):
        text[i] = text[i].replace("gpu.example.com: devicePlugin", "gpu.example.com: dra")
    pools.write_text("---\n".join(text))
    (root / "catalog/rollout.yaml").unlink()
    catalog = judge(root).catalog
    found, left_out = kept_off(
        catalog.clusters["lab"], catalog.pools["one"], catalog.drivers["gpu.example.com"]
    )
    assert left_out == []
    return found


def test_one_label_for_all(root: Path) -> None:
    assert terms(root, "pool: a", "pool: b") == [[("pool", ["a", "b"])]]


def test_a_pool_by_two_labels(root: Path) -> None:
    assert terms(root, "pool: a, zone: x") == [[("pool", ["a"])], [("zone", ["x"])]]


def test_pools_that_have_a_label_in_common(root: Path) -> None:
    """Out of the zone altogether, or of neither pool in it."""
    assert terms(root, "pool: a, zone: x", "pool: b, zone: x") == [
        [("pool", ["a", "b"])],
        [("zone", ["x"])],
    ]


def test_pools_that_share_nothing(root: Path) -> None:
    found = terms(root, "pool: a, zone: x", "pool: b, zone: y")
    assert found == [
        [("pool", ["a"]), ("zone", ["y"])],
        [("pool", ["a", "b"])],
        [("pool", ["b"]), ("zone", ["x"])],
        [("zone", ["x", "y"])],
    ]
