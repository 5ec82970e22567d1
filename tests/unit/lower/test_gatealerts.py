"""Alerts on the gates of rollouts: which are made where one stands, and whether Prometheus takes them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from dracfg.link.catalog import Catalog
from dracfg.link.measures import measures, protection
from dracfg.lower.gatealerts import gate_alerts
from dracfg.pipeline import judge

ROOT = Path(__file__).parents[3]
BASE = ROOT / "tests" / "cases" / "_base" / "rollout.yaml"
QUERIED = [name for name, one in measures().items() if one.query is not None]
PLACES = [
    ("start", "open", "forward"),
    ("start", "fenced", "forward"),
    ("canary", "open", "forward"),
    ("canary", "fenced", "forward"),
    ("everyone", "open", "forward"),
    ("shared", "open", "halted"),
    ("shared", "open", "rollback"),
]


def catalog_at(
    root: Path, gates: str, stage: str = "canary", phase: str = "open", direction: str = "forward"
) -> Catalog:
    """The rollout of the base at a place; the names that only a platform can give are there."""
    files: dict[str, str] = yaml.safe_load(BASE.read_text())["files"]
    files["catalog/platform.yaml"] = (
        files["catalog/platform.yaml"]
        .replace(
            "gitops: {engine: plain}\n",
            "gitops: {engine: plain}\n  addons: {claimMetrics: true}\n"
            "  metrics: {trainingRestarts: a, checkpointRestores: b}\n",
        )
        .replace(
            "resetsAtUnprepare: true}",
            "resetsAtUnprepare: true, serviceAccount: {namespace: gpu, name: plugin}, "
            "deviceMetrics: {utilisation: c, unhealthy: d}}",
        )
    )
    rollout = files["catalog/rollout.yaml"].split("  gates:")[0]
    rollout = rollout.replace(
        "stage: canary\n", f"stage: {stage}\n  phase: {phase}\n  direction: {direction}\n"
    )
    files["catalog/rollout.yaml"] = rollout + (f"  gates:\n{gates}" if gates else "")
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return judge(root, level="intent").catalog


def listed(names: list[str]) -> str:
    return "".join(f"    - {{measure: {name}}}\n" for name in names)


def rules_of(catalog: Catalog) -> list[dict[str, Any]]:
    group = gate_alerts(catalog, catalog.clusters["lab"])
    assert group["name"] == "dracfg-rollout"
    rules: list[dict[str, Any]] = group["rules"]
    return rules


def test_every_measure_with_a_query_and_an_outer_limit_has_an_alert(tmp_path: Path) -> None:
    rules = rules_of(catalog_at(tmp_path, listed(QUERIED)))
    halting = [name for name in QUERIED if measures()[name].halt is not None]
    assert [rule["labels"]["gate"] for rule in rules] == halting
    for rule in rules:
        assert rule["alert"] == "RolloutGateHalts"
        assert rule["labels"]["rollout"] == "sim-to-claims"
        assert rule["labels"]["stage"] == "canary"
        assert rule["labels"]["severity"] == "critical"
        assert "<" not in rule["annotations"]["summary"]
        assert "dracfg rollout halt sim-to-claims" in rule["annotations"]["description"]


@pytest.mark.parametrize(
    ("gate", "expr"),
    [
        ("{name: slow, promql: sum(slow), max: 1m, halt: 1h30m}", "(sum(slow)) > 5400"),
        ("{name: errors, promql: sum(errors) > 3, max: 0.01, halt: 0.05}",
         "(sum(errors) > 3) > 0.05"),
        ("{measure: unhealthyDevices, halt: 7}", "(sum(d)) > 7"),
    ],
)  # fmt: skip
def test_limits_are_in_the_unit_of_the_query(tmp_path: Path, gate: str, expr: str) -> None:
    (rule,) = rules_of(catalog_at(tmp_path, f"    - {gate}\n"))
    assert rule["expr"] == expr


@pytest.mark.parametrize(
    "gate",
    [
        "{name: slow, promql: sum(slow), max: 1m}",
        "{measure: podsOnFencedNodes}",
        "{measure: isolation}",
    ],
)
def test_what_never_halts_or_has_no_query_has_no_alert(tmp_path: Path, gate: str) -> None:
    assert rules_of(catalog_at(tmp_path, f"    - {gate}\n")) == []


def test_there_is_one_for_what_has_something_to_measure(tmp_path: Path) -> None:
    """Nothing has moved at the start, nothing is left to compare with at the end; what is halted is."""
    names = ["driverErrors", "waitingGrowth"]
    gates = {
        place: [
            rule["labels"]["gate"] for rule in rules_of(catalog_at(tmp_path, listed(names), *place))
        ]
        for place in PLACES
    }
    assert gates == {
        ("start", "open", "forward"): [],
        ("start", "fenced", "forward"): [],
        ("canary", "open", "forward"): names,
        ("canary", "fenced", "forward"): names,
        ("everyone", "open", "forward"): ["driverErrors"],
        ("shared", "open", "halted"): [],
        ("shared", "open", "rollback"): [],
    }


def test_gates_that_are_picked_have_alerts(tmp_path: Path) -> None:
    told = {rule["labels"]["gate"] for rule in rules_of(catalog_at(tmp_path, ""))}
    assert told < set(protection("continuity").gates)
    assert {"driverErrors", "claimToAllocatedP99", "pendingClaims"} <= told


def test_the_page_has_a_section_on_it(tmp_path: Path) -> None:
    (rule,) = rules_of(catalog_at(tmp_path, listed(["driverErrors"])))
    path, _, anchor = rule["annotations"]["runbook_url"].partition("#")
    headings = [
        line.strip("# ") for line in (ROOT / path).read_text().splitlines() if line[:1] == "#"
    ]
    assert anchor in [heading.lower() for heading in headings]


@pytest.mark.skipif(
    shutil.which("promtool") is None,
    reason="promtool is not installed: apt-get install prometheus",
)
def test_prometheus_takes_the_file(tmp_path: Path) -> None:
    names = [
        *listed(QUERIED).splitlines(keepends=True),
        "    - {name: mine, promql: sum(a) or sum(b), max: 1, halt: 2}\n",
    ]
    catalog = catalog_at(tmp_path / "catalog", "".join(names))
    path = tmp_path / "alerts.yaml"
    group = gate_alerts(catalog, catalog.clusters["lab"])
    path.write_text(yaml.safe_dump({"groups": [group]}), encoding="utf-8")
    done = subprocess.run(
        ["promtool", "check", "rules", str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(group['rules'])} rules found" in done.stdout
