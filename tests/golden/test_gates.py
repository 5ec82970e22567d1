"""The gates of the example's clusters in every minor, as a careful reader of Kubernetes would list them.

A change in an expected table is reviewed against the features of that minor. `--update-golden`
writes them anew.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from dracfg.kube.features import feature_matrix
from dracfg.pipeline import Judgement, judge
from dracfg.show.linked import aspect_document
from dracfg.show.subjects import Named

ROOT = Path(__file__).parents[2]
TABLES = Path(__file__).parent / "gates"
MINORS = feature_matrix().minors
CLUSTERS = ("prod-east", "prod-west")

ALLOWED = {"1.34": ("DRAConsumableCapacity",), "1.35": ("DRAConsumableCapacity",)}
"""Alpha features of Kubernetes that both clusters use, by minor; drivers' own gates stay allowed."""
LOCKED = {"1.37": ("DRAExtendedResource",)}
"""Gates that a Cluster can't set any more."""


def example(folder: Path, minor: str) -> Judgement:
    """The example with both clusters on one minor, changed as its owner would have to."""
    for name in ("catalog", "tenants"):
        shutil.copytree(ROOT / name, folder / name)
    file = folder / "catalog" / "clusters.yaml"
    documents = list(yaml.safe_load_all(file.read_text(encoding="utf-8")))
    for document in documents:
        spec = document["spec"]
        spec["kubernetes"] = minor
        of_drivers = {name: why for name, why in spec.get("allowAlpha", {}).items() if "/" in name}
        own = dict.fromkeys(ALLOWED.get(minor, ()), "reviewed 2026-10")
        spec["allowAlpha"] = of_drivers | own
        gates = spec.get("featureGates", {})
        spec["featureGates"] = {
            name: value for name, value in gates.items() if name not in LOCKED.get(minor, ())
        }
    file.write_text(yaml.safe_dump_all(documents, sort_keys=False), encoding="utf-8")
    return judge(folder)


def tables(judged: Judgement) -> dict[str, dict[str, Any]]:
    return {
        cluster: aspect_document(judged.catalog, judged.units, Named("cluster", cluster), "gates")
        for cluster in CLUSTERS
    }


@pytest.mark.parametrize("minor", MINORS)
def test_tables(minor: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    judged = example(tmp_path, minor)
    assert not [f for f in judged.findings if f.code.startswith("VER") and f.is_error]
    for cluster, found in tables(judged).items():
        file = TABLES / f"{cluster}-{minor}.json"
        if request.config.getoption("--update-golden"):
            file.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
        assert found == json.loads(file.read_text(encoding="utf-8"))


def test_every_table_is_of_a_minor() -> None:
    expected = {f"{cluster}-{minor}.json" for cluster in CLUSTERS for minor in MINORS}
    assert {file.name for file in TABLES.iterdir()} == expected
