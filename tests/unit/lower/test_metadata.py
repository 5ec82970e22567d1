"""What is written to `<cluster>/metadata`, and what is not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from dracfg.lower.artifact import Unit
from dracfg.lower.metadataschema import retired_schemas
from dracfg.metadata.reader import violations
from dracfg.pipeline import compile_repository, judge

GOLDEN = Path(__file__).parents[2] / "golden" / "metadata"


@pytest.fixture(scope="module")
def units() -> dict[str, Unit]:
    return {unit.path: unit for unit in judge(GOLDEN, level="intent").units}


def test_it_is_not_synced(units: dict[str, Unit]) -> None:
    assert not units["alpha/metadata"].synced
    assert not units["beta/metadata"].synced


def test_a_schema_for_each_tier_and_version(units: dict[str, Unit]) -> None:
    schemas = {name for name in units["alpha/metadata"].texts if name.endswith(".json")}
    assert schemas == {
        "flex-170.v1alpha1.schema.json",
        "nic-100g.v1alpha1.schema.json",
        "nic-100g.v1beta1.schema.json",
    }


def test_a_cluster_that_exposes_nothing_has_none() -> None:
    slices = GOLDEN.parent / "slices"
    paths = {unit.path for unit in judge(slices, level="intent").units}
    assert not [path for path in paths if path.endswith("/metadata")]


def test_schemas_are_draft_07_and_of_known_words(units: dict[str, Unit]) -> None:
    for unit in ("alpha/metadata", "beta/metadata"):
        for name, text in units[unit].texts.items():
            if name.endswith(".json"):
                schema: dict[str, Any] = json.loads(text)
                Draft7Validator.check_schema(schema)
                list(violations(schema, {"requests": [{"devices": [{"attributes": {}}]}]}))


def test_the_schema_says_whose_it_is_and_what_to_fall_back_to(units: dict[str, Unit]) -> None:
    schema = json.loads(units["beta/metadata"].texts["nic-100g.v1beta1.schema.json"])
    assert schema["x-dracfg"] == {
        "tier": "nic-100g",
        "driver": "nic.example.com",
        "version": "v1beta1",
        "maxBytes": 16384,
        "fallback": {
            "to": "environment",
            "variables": {"mtu": "NIC_MTU", "network": "NIC_NETWORK"},
        },
    }


def test_the_page_names_every_path(units: dict[str, Unit]) -> None:
    text = units["alpha/metadata"].texts["tenants/vision.md"]
    root = "/var/run/kubernetes.io/dra-device-attributes"
    for path in (
        f"{root}/resourceclaimtemplates/POD-CLAIM/nic/nic.example.com-metadata.json",
        f"{root}/resourceclaimtemplates/POD-CLAIM/device/gpu.intel.com-metadata.json",
        f"{root}/resourceclaims/uplink/nic/nic.example.com-metadata.json",
    ):
        assert f"`{path}`" in text
    assert "automountServiceAccountToken: false" in text
    assert "can't keep a\n  driver from writing more" in text


def test_values_and_page_say_the_same(units: dict[str, Unit]) -> None:
    unit = units["alpha/metadata"]
    (values,) = (one.object for one in unit.artifacts if one.file == "tenants/vision.yaml")
    text = unit.texts["tenants/vision.md"]
    for profile in values["profiles"].values():
        for asks in profile["requests"].values():
            for ask in asks.values():
                assert ask["file"] in text
                assert all(schema in unit.texts for schema in ask["schemas"])


def test_only_what_the_cluster_has_is_handed_out(units: dict[str, Unit]) -> None:
    assert "flex-170" not in units["beta/metadata"].texts["tenants/vision.md"]
    assert "flex-170" not in units["beta/metadata"].texts["CONTRACT.md"]


def test_the_contract_names_releases_pools_and_readers(units: dict[str, Unit]) -> None:
    text = units["alpha/metadata"].texts["CONTRACT.md"]
    assert "| `nic.example.com` | 2.0.0 | v1beta1, v1alpha1 | mixed-alpha |" in text
    assert "| `vision` | `train` | nic | network | v1beta1, v1alpha1 | 30s |" in text


OLD, NEW, NINTH, TENTH = (
    f'{{\n  "title": "{word}"\n}}\n' for word in ("old", "new", "ninth", "tenth")
)
FILE = "nic-100g.v1beta1.schema.json"
RETIRED = "retired/nic-100g.v1beta1.{}.schema.json"


@pytest.mark.parametrize(
    ("standing", "emitted", "retain", "kept"),
    [
        ({FILE: NEW}, {FILE: NEW}, 3, {}),
        ({}, {FILE: NEW}, 3, {}),
        ({FILE: OLD}, {FILE: NEW}, 3, {RETIRED.format(1): OLD}),
        ({FILE: OLD}, {}, 3, {RETIRED.format(1): OLD}),
        ({FILE: OLD}, {FILE: NEW}, 0, {}),
        (
            {FILE: NEW, RETIRED.format(1): OLD},
            {FILE: NEW},
            3,
            {RETIRED.format(1): OLD},
        ),
        (
            {FILE: OLD, RETIRED.format(9): NINTH, RETIRED.format(10): TENTH},
            {FILE: NEW},
            2,
            {RETIRED.format(10): TENTH, RETIRED.format(11): OLD},
        ),
        ({FILE: NEW, RETIRED.format(1): OLD}, {FILE: OLD}, 3, {RETIRED.format(2): NEW}),
    ],
    ids=[
        "nothing changed", "a first one", "another", "it left", "none is kept", "once more", "too many",
        "it came back",
    ],
)  # fmt: skip
def test_schemas_of_before_stay(
    standing: dict[str, str], emitted: dict[str, str], retain: int, kept: dict[str, str]
) -> None:
    assert retired_schemas(standing, emitted, retain) == kept


def test_a_narrowed_allow_list_keeps_the_old_schema_until_newer_ones_take_its_place(
    tmp_path: Path,
) -> None:
    shutil.copytree(GOLDEN / "catalog", tmp_path / "catalog")
    shutil.copytree(GOLDEN / "tenants", tmp_path / "tenants")
    compile_repository(tmp_path)
    folder = tmp_path / "out" / "beta" / "metadata"
    before = (folder / FILE).read_text(encoding="utf-8")
    tiers = tmp_path / "catalog" / "tiers.yaml"
    text = tiers.read_text(encoding="utf-8").replace("[network, mtu, rdma]", "[network, mtu]")
    tiers.write_text(text, encoding="utf-8")
    done = compile_repository(tmp_path)
    assert not done.has_errors
    assert (folder / FILE).read_text(encoding="utf-8") != before
    assert json.loads((folder / RETIRED.format(1)).read_text("utf-8")) == json.loads(before)
    assert RETIRED.format(1) in (folder / "CONTRACT.md").read_text(encoding="utf-8")
    assert not done.is_settled
    again = compile_repository(tmp_path, check=True)
    assert again.tree is not None
    assert not again.tree.stale
