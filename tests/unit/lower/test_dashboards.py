"""Dashboards: Grafana's own schema takes them, Prometheus their queries, and every metric is known."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from dracfg.kube.features import feature_matrix
from dracfg.kube.metrics import metrics
from dracfg.lower.dashboards import LABEL, dashboard_objects, dashboard_texts, dashboards
from dracfg.lower.monitoring import cluster_groups
from dracfg.packaged import read_data
from dracfg.pipeline import judge

DATA = Path(__file__).parents[2] / "data" / "alerts"
MINORS = feature_matrix().minors
WORDS = {
    "abs", "and", "avg", "avg_over_time", "bool", "by", "count", "group_left", "histogram_quantile",
    "ignoring", "increase", "max", "on", "or", "quantile", "rate", "sum", "time", "unless", "vector",
}  # fmt: skip
DECLARED = {
    "train_restarts_total", "train_restores_total", "train_restore_failures_total", "gpu_allocated",
    "gpu_unavailable", "gpu_fragmented", "gpu_unhealthy", "gpu_utilisation",
    "gpu_metadata_errors_total", "gpu_metadata_seconds", "gpu_metadata_refused_total",
}  # fmt: skip


@pytest.fixture(scope="module", params=MINORS)
def catalog(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    root = tmp_path_factory.mktemp("catalog")
    for path, name in (("catalog/all.yaml", "catalog"), ("tenants/vision.yaml", "tenant")):
        (root / path).parent.mkdir()
        text = (DATA / f"{name}.yaml").read_text(encoding="utf-8")
        (root / path).write_text(text.replace("MINOR", request.param), encoding="utf-8")
    return judge(root, level="intent").catalog


@pytest.fixture(scope="module")
def cluster(catalog: Any) -> Any:
    return catalog.clusters["alpha"]


def queries(cluster: Any) -> list[str]:
    return [
        target["expr"]
        for made in dashboards(cluster).values()
        for panel in made["panels"]
        for target in panel.get("targets", ())
    ]


def names_in(expr: str) -> set[str]:
    """Names of metrics in PromQL: words that are no label, string, length of time or function."""
    bare = re.sub(r'"[^"]*"', "", expr)
    bare = re.sub(r"\{[^}]*\}|\[[^\]]*\]", " ", bare)
    bare = re.sub(r"\b(by|on|ignoring|group_left) \([^)]*\)", " ", bare)
    return set(re.findall(r"\b[a-zA-Z_][a-zA-Z0-9_:]*", bare)) - WORDS


def known(cluster: Any) -> set[str]:
    found = set(DECLARED)
    found |= metrics(cluster.minor).keys()
    found |= {fact["record"] for fact in objectives().values()}
    return found | {"dracfg:tier_namespace:info", "dracfg:objective:missed"}


def objectives() -> dict[str, Any]:
    facts: dict[str, Any] = read_data("dracfg.lower", "data/objectives.yaml")["objectives"]
    return facts


def test_grafana_takes_them(cluster: Any) -> None:
    schema = pytest.importorskip("grafana_foundation_sdk.models.dashboard")
    encoder = pytest.importorskip("grafana_foundation_sdk.cog.encoder").JSONEncoder
    pytest.importorskip("grafana_foundation_sdk.cog.plugins").register_default_plugins()
    for text in dashboard_texts(cluster).values():
        written = json.loads(text)
        read = json.loads(json.dumps(schema.Dashboard.from_json(written), cls=encoder))
        assert _lost(written, read) == []


def _lost(written: Any, read: Any, path: str = "") -> list[str]:
    """What Grafana's schema does not know of, by its place."""
    if isinstance(written, dict) and isinstance(read, dict):
        return [
            lost
            for key, value in written.items()
            for lost in (
                _lost(value, read[key], f"{path}/{key}") if key in read else [f"{path}/{key}"]
            )
        ]
    if isinstance(written, list) and isinstance(read, list) and len(written) == len(read):
        pairs = enumerate(zip(written, read, strict=True))
        return [lost for i, (a, b) in pairs for lost in _lost(a, b, f"{path}/{i}")]
    return [] if written == read else [path]


def test_panels_lie_beside_and_below_each_other(cluster: Any) -> None:
    for made in dashboards(cluster).values():
        ids = [panel["id"] for panel in made["panels"]]
        assert ids == list(range(1, len(ids) + 1))
        taken: set[tuple[int, int]] = set()
        for panel in made["panels"]:
            at = panel["gridPos"]
            assert at["x"] >= 0 and at["x"] + at["w"] <= 24
            cells = {
                (x, y)
                for x in range(at["x"], at["x"] + at["w"])
                for y in range(at["y"], at["y"] + at["h"])
            }
            assert not cells & taken
            taken |= cells


def test_every_metric_is_one_of_the_minor(catalog: Any, cluster: Any) -> None:
    exprs = queries(cluster)
    exprs += [rule["expr"] for group in cluster_groups(catalog, cluster) for rule in group["rules"]]
    for expr in exprs:
        for name in names_in(expr):
            base = re.sub(r"_(bucket|count)$", "", name)
            assert name in known(cluster) or base in known(cluster), expr


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_prometheus_takes_every_query(cluster: Any, tmp_path: Path) -> None:
    rules = [{"record": f"q:{i}", "expr": expr} for i, expr in enumerate(queries(cluster))]
    path = tmp_path / "queries.yaml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "all", "rules": rules}]}))
    done = subprocess.run(
        ["promtool", "check", "rules", str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_sidecar_finds_the_same(cluster: Any) -> None:
    texts = dashboard_texts(cluster)
    made = [one.object for one in dashboard_objects(cluster)]
    assert [thing["data"] for thing in made] == [{name: text} for name, text in texts.items()]
    assert all(thing["metadata"]["labels"][LABEL] == "1" for thing in made)
    assert not any("${" in text for text in texts.values()), "Flux would fill it in"


def test_objectives_stand_beside_their_figures(cluster: Any) -> None:
    (made,) = dashboards(cluster).values()
    assert made["panels"][0]["title"] == "Objectives"
    panel = next(
        one for one in made["panels"] if one["title"].startswith("big: p99 from creation to a")
    )
    assert [target["legendFormat"] for target in panel["targets"]] == ["now", "objective 30s"]
