"""Every alert fires on the series that it is meant for and on none that come near, on every minor.

Prometheus' own `promtool` evaluates the rules that dracfg writes; series stand in tests/data/alerts.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml

from dracfg.kube.features import feature_matrix
from dracfg.kube.metrics import metrics
from dracfg.lower.artifact import Unit
from dracfg.packaged import read_data
from dracfg.pipeline import judge

DATA = Path(__file__).parents[1] / "data" / "alerts"
MINORS = feature_matrix().minors
NEVER_BEFORE = {"DeviceBindingFails": "1.36", "statusConvergenceP99": "1.36"}
"""What needs a metric that older minors lack -> the first minor that has it."""

needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool of Prometheus is not installed"
)


@cache
def units(minor: str) -> Mapping[str, Unit]:
    """What the catalog of tests/data/alerts comes to on a minor."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        for path, name in (("catalog/all.yaml", "catalog"), ("tenants/vision.yaml", "tenant")):
            (root / path).parent.mkdir()
            text = (DATA / f"{name}.yaml").read_text(encoding="utf-8")
            (root / path).write_text(text.replace("MINOR", minor), encoding="utf-8")
        judged = judge(root, level="intent")
        assert not judged.has_errors, judged.findings
        return {unit.path: unit for unit in judged.units}


def rules(minor: str) -> dict[str, Any]:
    """All rule files of the cluster as one."""
    files = [one.object for one in units(minor)["alpha/monitoring"].artifacts]
    return {"groups": [group for file in files for group in file["groups"]]}


def cases() -> Iterator[tuple[str, dict[str, Any]]]:
    """(alert, case); an alert on objectives has several."""
    read = yaml.safe_load((DATA / "cases.yaml").read_text(encoding="utf-8"))
    for alert, said in read.items():
        yield from ((alert, case) for case in (said if isinstance(said, list) else [said]))


def exists(alert: str, case: Mapping[str, Any], minor: str) -> bool:
    """Whether the minor has what the alert is made of."""
    key = case["of"]["objective"] if "of" in case else alert
    since = NEVER_BEFORE.get(key)
    return since is None or MINORS.index(minor) >= MINORS.index(since)


def written(minor: str, folder: Path) -> list[str]:
    """A file of tests for each alert, beside the rules that it needs: all rules would be ten times slower."""
    names = {
        purpose: metric.name for metric in metrics(minor).values() for purpose in metric.purposes
    }
    groups = rules(minor)["groups"]
    files = []
    for alert in dict.fromkeys(alert for alert, _ in cases()):
        tests = [
            made
            for name, case in cases()
            if name == alert and exists(alert, case, minor)
            for made in promtool_tests(alert, case, names)
        ]
        if not tests:
            continue
        needed = [
            {**group, "rules": kept}
            for group in groups
            if (kept := [rule for rule in group["rules"] if rule.get("alert", alert) == alert])
        ]
        if "of" not in next(case for name, case in cases() if name == alert):
            needed = [group for group in needed if group["name"] != "dracfg-objectives"]
        document = {
            "rule_files": [f"{alert}.rules.yaml"],
            "evaluation_interval": "1m",
            "tests": tests,
        }
        (folder / f"{alert}.rules.yaml").write_text(yaml.safe_dump({"groups": needed}))
        (folder / f"{alert}.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
        files.append(str(folder / f"{alert}.yaml"))
    return files


def promtool_tests(
    alert: str, case: Mapping[str, Any], names: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """A case as `promtool test rules` takes it: once where it fires, once where it does not."""
    wanted = {"alertname": alert, "alertstate": "firing", **case.get("of", {})}
    if "tenant" in case:
        wanted["tenant"] = case["tenant"]
    selected = ", ".join(f'{label}="{value}"' for label, value in wanted.items())
    for word in ("fires", "silent"):
        yield {
            "name": f"{alert} {case.get('of', '')} {word}",
            "interval": "1m",
            "input_series": [
                {
                    "series": re.sub(
                        r"<(\w+)>", lambda found: names.get(found[1], found[0]), series
                    ),
                    "values": values,
                }
                for series, values in case[word].items()
            ],
            "promql_expr_test": [
                {
                    "expr": f"count(ALERTS{{{selected}}})",
                    "eval_time": case["at"],
                    "exp_samples": [{"labels": "{}", "value": 1}] if word == "fires" else [],
                }
            ],
        }


def promtool(*arguments: str) -> str:
    done = subprocess.run(
        ["promtool", *arguments], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@needs_promtool
@pytest.mark.parametrize("minor", MINORS)
def test_prometheus_takes_the_rules(minor: str, tmp_path: Path) -> None:
    path = tmp_path / "alerts.yaml"
    path.write_text(yaml.safe_dump(rules(minor)), encoding="utf-8")
    promtool("check", "rules", "--lint-fatal", str(path))


@needs_promtool
@pytest.mark.parametrize("minor", MINORS)
def test_alerts_fire_on_what_they_are_for_and_nothing_else(minor: str, tmp_path: Path) -> None:
    promtool("test", "rules", *written(minor, tmp_path))


@pytest.mark.parametrize("minor", MINORS)
def test_every_alert_has_a_case_and_every_case_an_alert(minor: str) -> None:
    made = {
        (rule["alert"], rule["labels"].get("objective"), rule["labels"].get("tier", ""))
        for group in rules(minor)["groups"]
        for rule in group["rules"]
        if "alert" in rule
    }
    told = {(alert, case.get("of", {}).get("objective")) for alert, case in cases()}
    assert {alert for alert, _, _ in made} <= {alert for alert, _ in told}
    objectives = {(key, tier) for alert, key, tier in made if alert == "ObjectiveBurnsFast"}
    assert objectives == {
        (case["of"]["objective"], case["of"]["tier"])
        for alert, case in cases()
        if alert == "ObjectiveBurnsFast" and exists(alert, case, minor)
    }
    for alert, case in cases():
        assert exists(alert, case, minor) == any(
            alert == name and case.get("of", {}).get("objective") in (None, key)
            for name, key, _ in made
        )


def test_every_alert_of_the_data_is_tried() -> None:
    groups = read_data("dracfg.lower", "data/alerts.yaml")["groups"]
    burns = read_data("dracfg.lower", "data/objectives.yaml")["burns"]
    known = {alert["alert"] for group in groups.values() for alert in group["alerts"]}
    assert {alert for alert, _ in cases()} == known | {burn["alert"] for burn in burns}
