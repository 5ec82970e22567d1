"""Any style of YAML: what comes out says what was meant, in the style of the file, and leads back."""

from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dracfg.migrate import migration
from dracfg.migrate.migration import migrate_file, reverse_file
from dracfg.migrate.tenancy import Tenancy

HEAD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"


def migrated(text: str, tenancy: Tenancy) -> str:
    done = migrate_file("w.yaml", text.encode(), tenancy)
    assert done.outcome == "rewritten", done.findings
    assert reverse_file("w.yaml", done.after).after == text.encode()
    return done.after.decode()


STYLES = {
    "block": (
        ("spec:\n  containers:\n  - name: a\n    resources:\n      limits:\n"
        "        cpu: 1 # of many\n        nvidia.com/gpu: 2\n"),
        ("spec:\n  resourceClaims: # dracfg: added\n  - name: gpu # dracfg: added\n"
        "    resourceClaimTemplateName: gpu-x2 # dracfg: added\n"
        "  containers:\n  - name: a\n    resources:\n      claims: # dracfg: added\n"
        "      - name: gpu # dracfg: added\n      limits:\n"
        "        cpu: 1 # of many\n        # dracfg: was nvidia.com/gpu: 2\n"),
    ),
    "lists that stand in": (
        ("spec:\n    containers:\n      - name: a\n        resources:\n"
        "            # two of them\n            limits:\n                # on one root\n"
        "                nvidia.com/gpu: 2"),
        ("spec:\n    resourceClaims: # dracfg: added\n      - name: gpu # dracfg: added\n"
        "        resourceClaimTemplateName: gpu-x2 # dracfg: added\n"
        "    containers:\n      - name: a\n        resources:\n"
        "            claims: # dracfg: added\n              - name: gpu # dracfg: added\n"
        "            # two of them\n            # dracfg: was limits:\n"
        "                # on one root\n                # dracfg: was nvidia.com/gpu: 2"),
    ),
    "flow": (
        "spec: {containers: [{name: a, resources: {limits: {nvidia.com/gpu: 2}}}]}\n",
        ("spec: {resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu-x2}], containers: "
        "[{name: a, resources: {claims: [{name: gpu}]}}]} # dracfg: added\n"
        "# dracfg: was spec: {containers: [{name: a, resources: {limits: {nvidia.com/gpu: 2}}}]}\n"),
    ),
    "flow in block": (
        ("spec:\n  containers:\n  - name: a\n    resources: {limits: {cpu: 1, nvidia.com/gpu: 2}, "
        "requests: {nvidia.com/gpu: 2, cpu: 1}}  # ours\n"),
        ("spec:\n  resourceClaims: # dracfg: added\n  - name: gpu # dracfg: added\n"
        "    resourceClaimTemplateName: gpu-x2 # dracfg: added\n  containers:\n  - name: a\n"
        "    resources: {claims: [{name: gpu}], limits: {cpu: 1}, requests: {cpu: 1}}  # ours "
        "# dracfg: added\n    # dracfg: was resources: {limits: {cpu: 1, nvidia.com/gpu: 2}, "
        "requests: {nvidia.com/gpu: 2, cpu: 1}}  # ours\n"),
    ),
    "claims that are there": (
        ("spec:\n  resourceClaims:\n  - name: gpu\n    resourceClaimName: net\n  containers:\n"
        "  - name: a\n    resources:\n      claims: [{name: gpu}]\n      limits:\n"
        "        nvidia.com/gpu: 2\n"),
        ("spec:\n  resourceClaims:\n  - name: gpu-2 # dracfg: added\n"
        "    resourceClaimTemplateName: gpu-x2 # dracfg: added\n"
        "  - name: gpu\n    resourceClaimName: net\n  containers:\n"
        "  - name: a\n    resources:\n      claims: [{name: gpu-2}, {name: gpu}] # dracfg: added\n"
        "      # dracfg: was claims: [{name: gpu}]\n      # dracfg: was limits:\n"
        "        # dracfg: was nvidia.com/gpu: 2\n"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("style", STYLES)
def test_the_style_of_the_file(style: str, tenancy: Tenancy) -> None:
    before, after = STYLES[style]
    assert migrated(HEAD + before, tenancy) == HEAD + after


@pytest.mark.parametrize(
    "resources",
    [
        "resources: &r\n      limits: &l\n        nvidia.com/gpu: 2\n      requests: *l\n",
        "resources:\n      limits: &l\n        nvidia.com/gpu: 2\n        cpu: 1\n      requests: *l\n",
        "resources: {limits: &l {nvidia.com/gpu: 2}, requests: *l}\n",
        "resources:\n      limits: &l {cpu: 1, nvidia.com/gpu: 2}\n      requests:\n        <<: *l\n",
        'resources:\n      "limits":\n        "nvidia.com/gpu":\n          "2"\n',
        "resources:\n      limits: {nvidia.com/gpu: 2,\n         cpu: 1,\n      }\n",
        "resources:\n      limits: {cpu: 1,\n         nvidia.com/gpu: 2\n      }\n",
        "resources: {limits: {nvidia.com/gpu: '2', cpu: 1}, claims: []}\n",
    ],
)
def test_ways_to_say_one_thing(resources: str, tenancy: Tenancy) -> None:
    text = f"{HEAD}spec:\n  containers:\n  - name: a\n    {resources}"
    after = yaml.safe_load(migrated(text, tenancy))
    said = after["spec"]["containers"][0]["resources"]
    assert said["claims"] == [{"name": "gpu"}]
    for section in ("limits", "requests"):
        assert "nvidia.com/gpu" not in (said.get(section) or {})
        assert section not in said or said[section] == {"cpu": 1}


@pytest.mark.parametrize(
    "text",
    [
        (
            "spec:\n  containers:\n"
            "  - {name: a, resources: &r {limits: {nvidia.com/gpu: 1}}}\n"
            "  - {name: b, resources: *r}\n"
        ),
        'spec: {containers: [{name: "a\n  b", resources: {limits: {nvidia.com/gpu: 1}}}]}\n',
    ],
)
def test_what_no_edit_can_say_gets_a_patch(text: str, tenancy: Tenancy) -> None:
    data = (HEAD + text).encode()
    done = migrate_file("w.yaml", data, tenancy)
    assert (done.outcome, done.after) == ("patch", data)
    assert [finding.code for finding in done.findings if finding.code == "ROL059"]
    assert "resourceClaimTemplateName" in done.patch


def test_an_anchor_that_says_something_else_as_well(tenancy: Tenancy) -> None:
    text = (
        f"{HEAD}spec:\n  defaults: &l {{cpu: 1, nvidia.com/gpu: 1}}\n"
        "  containers:\n  - {name: a, resources: {limits: *l}}\n"
    )
    assert migrate_file("w.yaml", text.encode(), tenancy).outcome == "patch"


def test_an_edit_without_a_way_back_is_none(
    tenancy: Tenancy, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = HEAD + STYLES["block"][0]
    monkeypatch.setattr(migration, "reverse", lambda raw: raw)
    assert migrate_file("w.yaml", text.encode(), tenancy).outcome == "patch"


def test_what_came_later_is_migrated_by_a_second_run(tenancy: Tenancy) -> None:
    text = HEAD + STYLES["block"][0]
    later = migrated(text, tenancy) + "---\n" + text
    done = migrate_file("w.yaml", later.encode(), tenancy)
    assert done.outcome == "rewritten"
    assert reverse_file("w.yaml", done.after).after.decode() == f"{text}---\n{text}"


def test_an_anchor_for_two_pods(tenancy: Tenancy) -> None:
    text = (
        "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: t}\nspec:\n"
        "  pytorchReplicaSpecs:\n    Master:\n      template: &t\n        spec:\n"
        "          containers:\n          - name: a\n            resources:\n"
        "              limits: {nvidia.com/gpu: 1}\n    Worker:\n      template: *t\n"
    )
    after = yaml.safe_load(migrated(text, tenancy))
    specs = after["spec"]["pytorchReplicaSpecs"]
    assert specs["Master"] == specs["Worker"]
    assert specs["Worker"]["template"]["spec"]["resourceClaims"][0]["name"] == "gpu"


_COMMENT = st.sampled_from(["", "  # why", "   #"])
_COUNT = st.sampled_from(["1", "'2'", '"4"', "8"])


@st.composite
def manifests(draw: st.DrawFn) -> str:
    """A Deployment with containers in drawn indentation, order, style, line ends and comments."""
    step = " " * draw(st.integers(1, 4))
    dash = " " * draw(st.integers(0, 3))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    lines = ["apiVersion: apps/v1", "kind: Deployment", "metadata: {name: d}", "spec:",
             f"{step}template:", f"{step * 2}spec:"]  # fmt: skip
    base = step * 3
    if draw(st.booleans()):
        lines += [f"{base}# about the pods", f"{base}restartPolicy: Always"]
    lines.append(f"{base}containers:{draw(_COMMENT)}")
    for number in range(draw(st.integers(1, 3))):
        lines += [f"{base}{dash}- name: c{number}{draw(_COMMENT)}"]
        lines += _resources(draw, f"{base}{dash}  ", step)
        if draw(st.booleans()):
            lines += ["", f"{base}{dash}  args: [x, 'y # z']"]
    raw = end.join(lines)
    return raw + (end if draw(st.booleans()) else "")


def _resources(draw: st.DrawFn, base: str, step: str) -> list[str]:
    count, cpu = draw(_COUNT), draw(st.booleans())
    sections = draw(st.sampled_from([("limits",), ("limits", "requests"), ("requests", "limits")]))
    style = draw(st.sampled_from(["block", "flow", "mixed"]))
    others = ["cpu: 1"] if cpu else []
    entries = draw(st.permutations([f"nvidia.com/gpu: {count}", *others]))
    inner = "{" + ", ".join(entries) + "}"
    if style == "flow":
        said = ", ".join(f"{section}: {inner}" for section in sections)
        return [f"{base}resources: {{{said}}}{draw(_COMMENT)}"]
    lines = [f"{base}resources:{draw(_COMMENT)}"]
    for section in sections:
        if style == "mixed":
            lines.append(f"{base}{step}{section}: {inner}{draw(_COMMENT)}")
            continue
        lines.append(f"{base}{step}{section}:{draw(_COMMENT)}")
        lines += [f"{base}{step * 2}{entry}{draw(_COMMENT)}" for entry in entries]
    return lines


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=manifests())
def test_any_style_comes_back(text: str, tenancy: Tenancy) -> None:
    before = yaml.safe_load(text)
    after = migrated(text, tenancy)
    read = yaml.safe_load(after)
    assert migrate_file("w.yaml", after.encode(), tenancy).outcome == "unchanged"
    for old, new in zip(_containers(before), _containers(read), strict=True):
        wanted = int(old["resources"]["limits"]["nvidia.com/gpu"])
        (claim,) = new["resources"]["claims"]
        assert _templates(read)[claim["name"]] == f"gpu-x{wanted}"
        for section in ("limits", "requests"):
            kept = {k: v for k, v in old["resources"].get(section, {}).items() if k == "cpu"}
            assert (new["resources"].get(section) or {}) == kept
    kept_lines = [line for line in text.splitlines() if "nvidia.com" not in line and "#" in line]
    for line in kept_lines:
        assert line.strip().rpartition("#")[2] in after


def _containers(data: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = data["spec"]["template"]["spec"]["containers"]
    return found


def _templates(data: Any) -> dict[str, str]:
    listed = data["spec"]["template"]["spec"]["resourceClaims"]
    names = {entry["name"]: entry["resourceClaimTemplateName"] for entry in listed}
    assert len(names) == len(listed)
    return names
