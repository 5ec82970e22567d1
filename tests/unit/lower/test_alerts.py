"""Alerts on metadata files: which are made, what they say, and whether Prometheus takes them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from dracfg.lower.alerts import Subject, alert_group
from dracfg.lower.artifact import Unit
from dracfg.packaged import read_data
from dracfg.pipeline import judge

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "golden" / "metadata"


@pytest.fixture(scope="module")
def units() -> dict[str, Unit]:
    return {unit.path: unit for unit in judge(GOLDEN, level="intent").units}


def file_of(units: dict[str, Unit], cluster: str) -> dict[str, Any]:
    (found,) = (
        one.object for one in units[f"{cluster}/metadata"].artifacts if one.file == "alerts.yaml"
    )
    return found


def rules_of(units: dict[str, Unit], cluster: str) -> list[dict[str, Any]]:
    return [rule for group in file_of(units, cluster)["groups"] for rule in group["rules"]]


def test_declared_metrics_alone_have_alerts(units: dict[str, Unit]) -> None:
    rules = rules_of(units, "alpha")
    for alert, metric in (
        ("DeviceMetadataGenerationFails", "nic_metadata_errors_total"),
        ("DeviceMetadataGenerationSlow", "nic_metadata_seconds_bucket"),
        ("DeviceMetadataRefused", "node_metadata_refused_total"),
    ):
        (rule,) = (one for one in rules if one["alert"] == alert)
        assert rule["labels"]["driver"] == "nic.example.com"
        assert rule["labels"]["release"] == "2.0.0"
        assert metric in rule["expr"]


def test_each_alert_says_whose_it_is_and_what_to_do(units: dict[str, Unit]) -> None:
    page = (ROOT / "docs" / "device-metadata.md").read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.+)$", page, re.MULTILINE)
    anchors = {re.sub(r"[^a-z0-9 -]", "", text.lower()).replace(" ", "-") for text in headings}
    for rule in rules_of(units, "alpha"):
        assert rule["labels"]["cluster"] == "alpha"
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert rule["annotations"]["summary"]
        assert rule["annotations"]["description"]
        path, _, anchor = rule["annotations"]["documentation"].partition("#")
        assert path == "docs/device-metadata.md"
        assert anchor in anchors
        assert not re.search(r"<[A-Za-z]+>", str(rule))


def test_a_probe_is_given_the_time_of_its_tier(units: dict[str, Unit]) -> None:
    (rule,) = (
        one for one in rules_of(units, "alpha") if one["alert"] == "DeviceMetadataProbeFails"
    )
    assert rule["for"] == "120s"
    assert rule["labels"]["tier"] == "flex-170"


def test_readers_are_looked_for_where_profiles_ask(units: dict[str, Unit]) -> None:
    found = {
        one["labels"]["tier"]: one["expr"]
        for one in rules_of(units, "alpha")
        if one["alert"] == "DeviceMetadataReadersRestart"
    }
    assert found.keys() == {"flex-170", "nic-100g"}
    assert all('namespace=~"vision' in expr for expr in found.values())


def test_an_object_where_the_operator_is(units: dict[str, Unit]) -> None:
    def objects(cluster: str) -> list[dict[str, Any]]:
        return [
            one.object
            for one in units[f"{cluster}/platform"].artifacts
            if one.object["kind"] == "PrometheusRule"
        ]

    assert objects("alpha") == []
    (made,) = objects("beta")
    assert made["apiVersion"] == "monitoring.coreos.com/v1"
    assert made["metadata"]["namespace"] == "dracfg-system"
    assert made["spec"] == file_of(units, "beta")


def test_a_word_without_a_value_makes_no_alert() -> None:
    here = {"cluster": "east", "driver": "a.example.com"}
    bare = alert_group("metadata", [Subject("driver", here, here)])
    assert bare["rules"] == []
    named = alert_group("metadata", [Subject("driver", here, here | {"generationFailures": "x"})])
    assert [rule["alert"] for rule in named["rules"]] == ["DeviceMetadataGenerationFails"]


def test_names_of_alerts_are_told_once() -> None:
    for group in read_data("dracfg.lower", "data/alerts.yaml")["groups"].values():
        names = [alert["alert"] for alert in group["alerts"]]
        assert len(names) == len(set(names))


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
@pytest.mark.parametrize("cluster", ["alpha", "beta"])
def test_prometheus_takes_the_file(units: dict[str, Unit], cluster: str, tmp_path: Path) -> None:
    path = tmp_path / "alerts.yaml"
    path.write_text(yaml.safe_dump(file_of(units, cluster)), encoding="utf-8")
    done = subprocess.run(
        ["promtool", "check", "rules", str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
