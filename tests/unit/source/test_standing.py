"""The standing tree: parts of a unit are one, and what can't be taken over is a finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from dracfg.source.standing import Standing, merge_standing, read_standing

TEMPLATE = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\n"
RETIRED = "east/tenants/vision/retired/claim-templates.yaml"


def thing(name: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


def named(standing: Standing, unit: str, file: str) -> list[str]:
    return [found["metadata"]["name"] for found in standing.objects(unit, file)]


def test_parts_of_a_unit_are_read_in_their_order() -> None:
    paths = [f"east/tenants/vision{part}/claims.yaml" for part in ("", ".2", ".9", ".10")]
    standing = Standing({path: (thing(path),) for path in reversed(paths)})
    assert named(standing, "east/tenants/vision", "claims.yaml") == paths


def test_a_part_without_the_file_hides_no_later_one() -> None:
    standing = Standing({"east/tenants/vision.3/claims.yaml": (thing("late"),)})
    assert named(standing, "east/tenants/vision", "claims.yaml") == ["late"]
    assert named(standing, "east/tenants/visio", "claims.yaml") == []


def test_folders_are_told_from_units_of_the_same_name() -> None:
    standing = Standing(
        {
            "east/tenants/retired/claims.yaml": (thing("active"),),
            "east/tenants/retired/retired/claims.yaml": (thing("old"),),
            "tenants/platform.2/retired/device-classes.yaml": (thing("class"),),
        }
    )
    assert named(standing, "east/tenants/retired", "claims.yaml") == ["active"]
    assert named(standing, "east/tenants/retired", "retired/claims.yaml") == ["old"]
    assert named(standing, "tenants/platform", "retired/device-classes.yaml") == ["class"]


def write(out: Path, text: str) -> None:
    (out / RETIRED).parent.mkdir(parents=True)
    (out / RETIRED).write_text(text, encoding="utf-8")


def test_a_sound_file_is_taken_as_it_is(tmp_path: Path) -> None:
    ask = "exactly: {deviceClassName: a100, count: 1}"
    write(
        tmp_path,
        f"{TEMPLATE}metadata: {{name: x1}}\nspec: {{spec: {{devices: {{requests: [{{{ask}}}]}}}}}}\n",
    )
    standing, faults = read_standing(tmp_path)
    assert faults == ()
    assert named(standing, "east/tenants/vision", "retired/claim-templates.yaml") == ["x1"]


@pytest.mark.parametrize(
    "text",
    [
        "- a\n",
        "<<<<<<< HEAD\na: 1\n",
        "a: &a [*a]\n",
        "a: 2026-99-99\n",
        "kind: ResourceClaimTemplate\nmetadata: {name: x1}\n",
        f"{TEMPLATE}metadata: {{name: x1, namespace: 5}}\nspec: {{}}\n",
        f"{TEMPLATE}metadata: {{name: x1, labels: [a]}}\nspec: {{}}\n",
        f"{TEMPLATE}metadata: {{name: x1, annotations: none}}\nspec: {{}}\n",
        f"{TEMPLATE}metadata: {{name: x1, labels: {{dracfg.dev/profile: [a]}}}}\nspec: {{}}\n",
        f"{TEMPLATE}metadata: {{name: x1}}\nspec: 7\n",
        f"{TEMPLATE}metadata: {{name: x1}}\nspec: {{since: 2026-11-29}}\n",
        f"{TEMPLATE}metadata: {{name: x1}}\nspec: {{devices: {{requests: [7]}}}}\n",
        f"{TEMPLATE}metadata: {{name: x1}}\nspec: {{devices: {{requests: [{{exactly: {{}}}}]}}}}\n",
        f"{TEMPLATE}metadata: {{name: x1}}\nspec: {{devices: {{requests: [{{firstAvailable: 7}}]}}}}\n",
    ],
)
def test_what_can_not_be_taken_over_is_a_finding(tmp_path: Path, text: str) -> None:
    write(tmp_path, text)
    standing, faults = read_standing(tmp_path)
    assert [fault.code for fault in faults] == ["SRC016"]
    assert f"{tmp_path.name}/{RETIRED}" in (faults[0].help or "")
    assert standing.files == {}


def claim(name: str, mark: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "mark": mark}


def marks(standing: Standing) -> dict[str, list[str]]:
    return {
        path: [f"{found['metadata']['name']}={found['mark']}" for found in found_here]
        for path, found_here in standing.files.items()
    }


def test_what_stood_before_is_what_clusters_hold() -> None:
    active, retired = "east/tenants/a/claims.yaml", "east/tenants/a/retired/claims.yaml"
    before = Standing(
        {
            active: (claim("kept", "old"), claim("retires", "old"), claim("vanishes", "old")),
            "west/tenants/a/claims.yaml": (claim("kept", "west"),),
        }
    )
    now = Standing(
        {
            active: (claim("kept", "edited"), claim("new", "now")),
            retired: (claim("retires", "now"),),
        }
    )
    assert marks(merge_standing(before, now)) == {
        active: ["kept=old", "new=now", "vanishes=old"],
        retired: ["retires=old"],
        "west/tenants/a/claims.yaml": ["kept=west"],
    }


def test_nothing_before_or_nothing_now() -> None:
    one = Standing({"east/tenants/a/claims.yaml": (claim("a", "1"),)})
    assert merge_standing(Standing(), one) == one
    assert merge_standing(one, Standing()) == one
