"""Alerts: which are made, what they say, whom they tell, and where their pages are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from dracfg.audit.failures import failures
from dracfg.kube.grpc import codes_by_class
from dracfg.lower.alerts import Subject, alert_group
from dracfg.lower.artifact import Unit
from dracfg.packaged import read_data
from dracfg.pipeline import judge

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "golden" / "metadata"
GROUPS: dict[str, Any] = read_data("dracfg.lower", "data/alerts.yaml")["groups"]
BURNS: list[dict[str, Any]] = read_data("dracfg.lower", "data/objectives.yaml")["burns"]
ALERTS = [alert for group in GROUPS.values() for alert in group["alerts"]]


@pytest.fixture(scope="module")
def units() -> dict[str, Unit]:
    return {unit.path: unit for unit in judge(GOLDEN, level="intent").units}


def file_of(units: dict[str, Unit], cluster: str) -> dict[str, Any]:
    """What all rule files of a cluster say together, tenants' first."""
    files = [one.object for one in units[f"{cluster}/monitoring"].artifacts]
    return {"groups": [group for file in (*files[1:], files[0]) for group in file["groups"]]}


def rules_of(units: dict[str, Unit], cluster: str) -> list[dict[str, Any]]:
    groups = file_of(units, cluster)["groups"]
    return [rule for group in groups for rule in group["rules"] if "alert" in rule]


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
    made = {rule["alert"] for rule in rules}
    assert made.isdisjoint({"DevicesUnhealthy", "DevicesMissing", "ClaimsLeak", "TrainingRestarts"})


def test_each_alert_says_whose_it_is_and_what_to_do(units: dict[str, Unit]) -> None:
    for rule in rules_of(units, "alpha"):
        assert rule["labels"]["cluster"] == "alpha"
        assert rule["labels"]["severity"] in ("critical", "warning", "info")
        assert rule["labels"]["audience"] in ("platform", "tenant")
        assert rule["annotations"]["summary"]
        assert rule["annotations"]["description"]
        assert rule["annotations"]["runbook_url"] == f"docs/alerts.md#{rule['alert'].lower()}"
        assert not re.search(r"<(?!any>)[A-Za-z]+>", str(rule))


def test_a_page_has_a_section_for_each_alert_and_no_other() -> None:
    page = (ROOT / "docs" / "alerts.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^### (\w+)\n\n(.*?)(?=\n##|\Z)", page, re.MULTILINE | re.DOTALL))
    told = {alert["alert"]: alert for alert in ALERTS} | {
        burn["alert"]: {**burn, "audience": "platform"} for burn in BURNS
    }
    assert sections.keys() == told.keys()
    for name, text in sections.items():
        start = f"`{told[name]['severity']}`, for the {told[name]['audience']}. "
        assert text.startswith(start), name
        assert text.count("- **Look at** ") == 1, name
        assert text.count("- **Do** ") == 1, name


def test_what_a_tenant_can_mend_says_which_tenant() -> None:
    for alert in ALERTS:
        by = re.search(r"(?:sum|max) by \(([^)]*)\)", alert["expr"])
        labels = by[1].split(", ") if by else []
        assert ("tenant" in labels) == (alert["audience"] == "tenant"), alert["alert"]


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
    assert all(
        f'dracfg:tier_namespace:info{{tier="{tier}"}}' in expr for tier, expr in found.items()
    )
    (group,) = (
        one for one in file_of(units, "alpha")["groups"] if one["name"] == "dracfg-tenant-vision"
    )
    assert [rule["labels"] for rule in group["rules"]] == [
        {"namespace": "vision-train", "tenant": "vision", "tier": "flex-170"},
        {"namespace": "vision-train", "tenant": "vision", "tier": "nic-100g"},
    ]


def test_objects_where_the_operator_is(units: dict[str, Unit]) -> None:
    def objects(path: str) -> list[dict[str, Any]]:
        return [
            one.object for one in units[path].artifacts if one.object["kind"] == "PrometheusRule"
        ]

    assert objects("alpha/platform") == objects("alpha/tenants/vision") == []
    (made,) = objects("beta/platform")
    assert made["apiVersion"] == "monitoring.coreos.com/v1"
    assert made["metadata"]["namespace"] == "dracfg-system"
    (of_tenant,) = objects("beta/tenants/vision")
    assert of_tenant["metadata"]["namespace"] == "vision-train"
    both = [*of_tenant["spec"]["groups"], *made["spec"]["groups"]]
    assert both == file_of(units, "beta")["groups"]


def test_names_of_metrics_are_those_of_the_minor(units: dict[str, Unit]) -> None:
    def expr(cluster: str) -> str:
        (found,) = (
            one["expr"] for one in rules_of(units, cluster) if one["alert"] == "ClaimCreationFails"
        )
        return str(found)

    assert "resourceclaim_controller_creates_total" in expr("alpha")
    assert "dynamic_resource_allocation_resourceclaim_creates_total" in expr("beta")


def test_a_word_without_a_value_makes_no_alert() -> None:
    here = {"cluster": "east", "driver": "a.example.com"}
    bare = alert_group("metadata", [Subject("driver", here, here)])
    assert bare["rules"] == []
    named = alert_group("metadata", [Subject("driver", here, here | {"generationFailures": "x"})])
    assert [rule["alert"] for rule in named["rules"]] == ["DeviceMetadataGenerationFails"]


def test_a_cluster_says_where_its_pages_are() -> None:
    here = {"cluster": "east", "driver": "a.example.com", "generationFailures": "x"}
    made = alert_group("metadata", [Subject("driver", {}, here)], "https://docs.example.com/a")
    (rule,) = made["rules"]
    wanted = "https://docs.example.com/a#devicemetadatagenerationfails"
    assert rule["annotations"]["runbook_url"] == wanted


def test_names_of_alerts_are_told_once() -> None:
    names = [alert["alert"] for alert in ALERTS] + [burn["alert"] for burn in BURNS]
    assert len(names) == len(set(names))


def test_codes_have_the_class_that_events_with_them_have() -> None:
    told = {
        failure.id.removeprefix("grpc-").replace("-", "").lower(): failure.kind
        for failure in failures()
        if failure.id.startswith("grpc-")
    }
    classed = {
        code.lower().replace("canceled", "cancelled"): kind
        for kind, codes in codes_by_class().items()
        for code in codes
    }
    assert classed == told
