"""Charts and kustomizations: not edited, and what is printed does what an edit would."""

import json

import pytest
import yaml

from dracfg.migrate.charts import covered
from dracfg.migrate.manifest import TEMPLATED
from tests.unit.migrate.conftest import Migrate

CHART = {"c/Chart.yaml": "name: c\n"}
TEMPLATE = """\
{{- if .Values.enabled }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "c.name" . }}-worker
  {{- with .Values.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  template:
    spec:
      containers:
        - name: {{ .Chart.Name }}
          image: "{{ .Values.image }}:{{ .Values.tag }}"
          resources:
            limits:
              nvidia.com/gpu: 2
{{- end }}
"""
POD = (
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  template:\n    spec:\n"
    "      containers:\n      - name: main\n        resources:\n          limits:\n"
    "            cpu: 1\n            nvidia.com/gpu: 2\n"
)


def test_actions_are_covered_at_their_places() -> None:
    text = "a: {{ x }}b\n{{- if y }}\nc: 1\n  {{- /* two\nlines */ -}}\n"
    shown = covered(text)
    assert [len(line) for line in shown.split("\n")] == [len(line) for line in text.split("\n")]
    assert shown.split("\n")[0] == f"a: {TEMPLATED * 7}b"
    assert shown.split("\n")[1].startswith("#")
    assert yaml.safe_load(shown) == {"a": f"{TEMPLATED * 7}b", "c": 1}


def test_a_template_gets_a_diff(migrate: Migrate) -> None:
    done = migrate(TEMPLATE, "c/templates/d.yaml", **CHART)
    assert (done.outcome, done.after) == ("patch", done.before)
    added = [line[1:] for line in done.patch.split("\n") if line.startswith("+") and line[1] != "+"]
    assert "          resourceClaimTemplateName: gpu-x2 # dracfg: added" in added
    assert "              # dracfg: was nvidia.com/gpu: 2" in added
    assert TEMPLATED not in done.patch
    assert [f.code for f in done.findings if f.severity == "warning"] == ["ROL059"]


def test_a_template_without_devices_is_left_alone(migrate: Migrate) -> None:
    done = migrate(TEMPLATE.replace("nvidia.com/gpu", "cpu"), "c/templates/d.yaml", **CHART)
    assert (done.outcome, done.patch) == ("unchanged", "")


def test_a_number_that_a_template_fills_in(migrate: Migrate) -> None:
    text = TEMPLATE.replace("nvidia.com/gpu: 2", "nvidia.com/gpu: {{ .Values.gpus }}")
    done = migrate(text, "c/templates/d.yaml", **CHART)
    assert (done.outcome, [f.code for f in done.findings]) == ("left", ["ROL040"])


def test_a_template_that_is_no_yaml_once_covered(migrate: Migrate) -> None:
    text = TEMPLATE + "{{- else }}\napiVersion: v1\nkind: Pod\n{{- end }}\n"
    done = migrate(text, "c/templates/d.yaml", **CHART)
    (finding,) = done.findings
    assert (done.outcome, finding.code, done.patch) == ("patch", "ROL059", "")
    assert "helm template" in (finding.help or "")


def test_values_of_a_chart(migrate: Migrate) -> None:
    values = "worker:\n  resources:\n    limits: {cpu: 1, nvidia.com/gpu: 2}\nother: {a: 1}\n"
    done = migrate(values, "c/values.yaml", **CHART)
    assert (done.outcome, done.after) == ("patch", done.before)
    head, _, spec = done.patch.partition("# in the pod spec that they lead to\n")
    assert yaml.safe_load(head) == {
        "worker": {"resources": {"limits": {"nvidia.com/gpu": None}, "claims": [{"name": "gpu"}]}}
    }
    assert yaml.safe_load(spec) == {
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu-x2"}]
    }
    assert (
        migrate("worker: {resources: {limits: {cpu: 1}}}\n", "c/values.yaml", **CHART).patch == ""
    )


def test_values_that_no_profile_holds(migrate: Migrate) -> None:
    done = migrate("resources: {limits: {nvidia.com/gpu: 3}}\n", "c/values.yaml", **CHART)
    assert (done.outcome, [f.code for f in done.findings]) == ("left", ["ROL040"])


@pytest.mark.parametrize("entry", ["resources: [d.yaml]\n", "resources: [base]\n"])
def test_a_kustomization_gets_patches(entry: str, migrate: Migrate) -> None:
    files = {
        "k/d.yaml": POD,
        "k/base/kustomization.yaml": "resources: [e.yaml]\n",
        "k/base/e.yaml": POD,
    }
    done = migrate(entry, "k/kustomization.yaml", **files)
    assert (done.outcome, done.after) == ("patch", done.before)
    (patch,) = yaml.safe_load(done.patch)["patches"]
    assert patch["target"] == {"group": "apps", "version": "v1", "kind": "Deployment", "name": "d"}
    operations = yaml.safe_load(patch["patch"])
    assert operations[0] == {
        "op": "add",
        "path": "/spec/template/spec/resourceClaims",
        "value": [{"name": "gpu", "resourceClaimTemplateName": "gpu-x2"}],
    }
    place = "/spec/template/spec/containers/0/resources"
    assert [(one["op"], one["path"]) for one in operations[1:]] == [
        ("remove", f"{place}/limits/nvidia.com~1gpu"),
        ("add", f"{place}/claims"),
    ]


def test_a_part_of_an_object_gets_a_merge_patch(migrate: Migrate) -> None:
    entry = "patches: [{path: d.yaml}]\n"
    done = migrate(entry, "k/kustomization.yaml", **{"k/d.yaml": POD})
    (patch,) = yaml.safe_load(done.patch)["patches"]
    spec = yaml.safe_load(patch["patch"])["spec"]["template"]["spec"]
    assert spec == {
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu-x2"}],
        "containers": [
            {
                "name": "main",
                "resources": {"limits": {"nvidia.com/gpu": None}, "claims": [{"name": "gpu"}]},
            }
        ],
    }


def test_the_namespace_of_a_kustomization_counts(migrate: Migrate) -> None:
    text = POD.replace("{name: d}", "{name: d, namespace: elsewhere}")
    done = migrate(
        "namespace: team\nresources: [d.yaml]\n", "k/kustomization.yaml", **{"k/d.yaml": text}
    )
    assert "ROL046" not in {finding.code for finding in done.findings}
    done = migrate("resources: [d.yaml]\n", "k/kustomization.yaml", **{"k/d.yaml": text})
    assert "ROL046" in {finding.code for finding in done.findings}


def test_what_is_elsewhere_is_named(migrate: Migrate) -> None:
    entry = "resources: ['https://example.com/base?ref=v1']\n"
    done = migrate(entry, "k/kustomization.yaml")
    (finding,) = done.findings
    assert (done.outcome, finding.code) == ("unchanged", "ROL059")
    assert "https://example.com/base?ref=v1 is not read" in finding.message


def test_kustomizations_that_lead_to_each_other(migrate: Migrate) -> None:
    files = {
        "a/kustomization.yaml": "resources: [../b]\n",
        "b/kustomization.yaml": "resources: [../a]\n",
    }
    assert (
        migrate(files["a/kustomization.yaml"], "a/kustomization.yaml", **files).outcome
        == "unchanged"
    )


def test_placeholders_of_other_tools_stay(migrate: Migrate) -> None:
    text = POD.replace("cpu: 1", "cpu: '{{workflow.parameters.cpu}}'")
    done = migrate(text)
    assert done.outcome == "rewritten"
    assert json.dumps(done.after.decode()).count("workflow.parameters.cpu") == 1


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ("patches: [{patch: '[{op: add, path: /spec/limits/nvidia.com~1gpu, value: 2}]'}]\n", True),
        ("patches: [{path: j.yaml}]\n", True),
        ("patches: [{patch: '[{op: add, path: /spec/limits/cpu, value: 2}]'}]\n", False),
    ],
)
def test_patches_that_are_not_read(entry: str, code: bool, migrate: Migrate) -> None:
    files = {"k/j.yaml": "- {op: add, path: /spec/limits/nvidia.com~1gpu, value: 2}\n"}
    done = migrate(entry, "k/kustomization.yaml", **files)
    assert [finding.code for finding in done.findings] == (["ROL059"] if code else [])


def test_names_that_begin_like_a_tier(migrate: Migrate) -> None:
    done = migrate(POD.replace("nvidia.com/gpu", "h100.example.com/gpu"))
    assert [finding.code for finding in done.findings] == ["ROL044"]


def test_a_template_that_no_diff_mends(migrate: Migrate) -> None:
    text = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: '{{ .Release.Name }}'}\nspec:\n  containers:\n"
        "  - {name: a, resources: &r {limits: {nvidia.com/gpu: 1}}}\n  - {name: b, resources: *r}\n"
    )
    done = migrate(text, "c/templates/p.yaml", **CHART)
    finding = next(finding for finding in done.findings if finding.code == "ROL059")
    assert (done.outcome, done.patch) == ("patch", "")
    assert "anchor" in (finding.help or "")
