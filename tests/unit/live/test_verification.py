"""The tree of the example's cluster against a server that accepts, refuses, warns or differs."""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dracfg.diagnostics import Diagnostic
from dracfg.live.tree import Manifest, read_tree
from dracfg.live.verification import Verification, verify
from dracfg.pipeline import Judgement
from tests.unit.live.conftest import FakeServer, Reply, connected, status

if TYPE_CHECKING:
    from dracfg.live.connection import Connection

QUOTA = "/api/v1/namespaces/serving-prod/resourcequotas/dracfg-devices"
NAMESPACE = "/api/v1/namespaces/serving-prod"
TEMPLATE = "/apis/resource.k8s.io/v1/namespaces/serving-prod/resourceclaimtemplates/inference"
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
CLAIMS = f"{POLICIES}/dracfg-claims"


@pytest.fixture
def west(server: FakeServer, judged: Judgement) -> FakeServer:
    """A server on which all of the cluster's tree stands, but what Flux itself serves."""
    server.minor = judged.catalog.clusters["prod-west"].document.spec.kubernetes
    for manifest in manifests(judged):
        if not manifest.unit.startswith("gitops/"):
            server.live[path_of(server, manifest)] = copy.deepcopy(manifest.object)
    return server


def manifests(judged: Judgement, cluster: str = "prod-west") -> tuple[Manifest, ...]:
    found, faults = read_tree(judged.root, judged.catalog.clusters[cluster])
    assert faults == ()
    return found


def path_of(server: FakeServer, manifest: Manifest) -> str:
    key = manifest.key
    kinds = server.served[key.api_version]
    plural = next(name for name, kind in kinds.items() if kind == key.kind and "/" not in name)
    root = "/apis" if "/" in key.api_version else "/api"
    space = f"namespaces/{key.namespace}/" if key.namespace else ""
    return f"{root}/{key.api_version}/{space}{plural.lstrip('-')}/{key.name}"


def verified(judged: Judgement, connection: Connection, **options: Any) -> Verification:
    cluster = judged.catalog.clusters["prod-west"]
    root = options.pop("root", judged.root)
    return verify(root, judged.catalog, cluster, judged.units, connection, **options)


def only(done: Verification, code: str) -> Diagnostic:
    (found,) = [finding for finding in done.findings if finding.code == code]
    return found


def line(judged: Judgement, finding: Diagnostic) -> str:
    assert finding.span is not None
    text: str = judged.lines(finding.span.path)[finding.span.line - 1]
    return text


def test_everything_is_sent_in_the_emitted_order(
    judged: Judgement, west: FakeServer, connection: Connection
) -> None:
    done = verified(judged, connection)
    sent = [request for request in west.requests if request.method == "PATCH"]
    listed = [one for one in manifests(judged) if not one.unit.startswith("gitops/")]
    assert [request.path for request in sent] == [path_of(west, one) for one in listed]
    assert [request.body for request in sent] == [one.object for one in listed]
    order = [request.body["kind"] for request in sent]
    assert order.index("Namespace") < order.index("ResourceQuota") < order.index("DeviceClass")
    assert order[-1] == "PrometheusRule"
    for request in sent:
        assert request.headers["Content-Type"] == "application/apply-patch+yaml"
        assert request.query == {
            "dryRun": "All",
            "fieldManager": "dracfg",
            "fieldValidation": "Strict",
            "force": "false",
        }
    assert {request.method for request in west.requests} == {"GET", "PATCH"}
    assert done.version == f"v{west.minor}.2"
    assert done.accepted == len(sent) < done.objects


def test_kinds_that_are_not_served_are_unknown(
    judged: Judgement, west: FakeServer, connection: Connection
) -> None:
    done = verified(judged, connection)
    found = only(done, "LIV015")
    assert [finding.code for finding in done.findings] == ["LIV015"]
    assert "Kustomization of kustomize.toolkit.fluxcd.io/v1" in found.message
    count = sum(one.unit.startswith("gitops/") for one in manifests(judged))
    assert f"{count} objects are not checked" in found.message
    assert done.verdict == "unknown"
    west.served["kustomize.toolkit.fluxcd.io/v1"] = {"-kustomizations": "Kustomization"}
    assert verified(judged, connection).verdict == "proven"


def test_a_unit_alone(judged: Judgement, west: FakeServer, connection: Connection) -> None:
    done = verified(judged, connection, holds=lambda unit: unit == "prod-west/tenants/serving")
    assert done.verdict == "proven"
    assert done.objects == done.accepted == len(west.asked("PATCH")) > 3


def test_a_field_that_can_not_change(
    judged: Judgement, west: FakeServer, connection: Connection
) -> None:
    field = {
        "field": "spec.spec.devices.requests[0].firstAvailable[1].count",
        "message": "field is immutable",
    }
    west.say("PATCH", TEMPLATE, status(422, "no", "Invalid", causes=[field]))
    done = verified(judged, connection)
    found = only(done, "LIV011")
    assert "ResourceClaimTemplate inference in serving-prod" in found.message
    assert "spec.spec.devices.requests[0].firstAvailable[1].count" in found.message
    assert found.span is not None
    assert found.span.path == "tenants/serving.yaml"
    # The second alternative of the request, not the profile as a whole.
    assert "slice" in line(judged, found)
    assert "inference" not in line(judged, found)
    assert found.related[0].span.path == "out/prod-west/tenants/serving/claim-templates.yaml"
    assert done.verdict == "refuted"


def test_a_field_leads_to_its_own_place(
    judged: Judgement, west: FakeServer, connection: Connection
) -> None:
    cause = {"field": "metadata.annotations[dracfg.dev/state]", "message": "bad"}
    west.say("PATCH", NAMESPACE, status(422, "no", "Invalid", causes=[cause]))
    found = only(verified(judged, connection), "LIV010")
    emitted = (judged.root / found.related[0].span.path).read_text(encoding="utf-8").split("\n")
    assert "active" in emitted[found.related[0].span.line - 1]
    assert found.span is not None
    assert found.span.path == "tenants/serving.yaml"


def test_admission_leads_back_to_the_source(
    judged: Judgement, west: FakeServer, connection: Connection
) -> None:
    message = (
        'resourceclaimtemplates "inference" is forbidden: ValidatingAdmissionPolicy '
        "'dracfg-claims' with binding 'dracfg-claims' denied request: TEN003: not entitled"
    )
    west.say("PATCH", TEMPLATE, status(403, message, "Forbidden"))
    found = only(verified(judged, connection), "LIV012")
    assert found.message == (
        "dracfg-claims refuses ResourceClaimTemplate inference in serving-prod: "
        "TEN003: not entitled"
    )
    assert "inference" in line(judged, found)
    assert found.help == "mend what the message names, in the catalog or in the policy"


def test_who_asks_matters_to_the_guards(
    judged: Judgement, west: FakeServer, connection: Connection
) -> None:
    said = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: TEN037: no"
    west.say("PATCH", QUOTA, status(403, said, "Forbidden"))
    found = only(verified(judged, connection), "LIV012")
    applier = "system:serviceaccount:flux-system:kustomize-controller"
    assert found.help == f"ask as {applier}, which may"


@pytest.mark.parametrize("path", [NAMESPACE, CLAIMS])
def test_a_refusal_under_guards_that_change_is_unknown(
    judged: Judgement, west: FakeServer, connection: Connection, path: str
) -> None:
    message = "ValidatingAdmissionPolicy 'dracfg-claims' with binding 'b' denied request: TEN003"
    west.say("PATCH", TEMPLATE, status(403, message, "Forbidden"))
    west.live[path]["metadata"]["annotations"]["dracfg.dev/origin"] = "elsewhere"
    done = verified(judged, connection)
    found = only(done, "LIV017")
    assert found.severity == "unknown"
    assert found.related[0].label == "what the refusal rests on"
    assert done.verdict == "unknown"


def test_a_quota_that_changes_decides_nothing(
    judged: Judgement, west: FakeServer, connection: Connection
) -> None:
    said = status(
        403, 'resourceclaims "c" is forbidden: exceeded quota: dracfg-devices', "Forbidden"
    )
    west.say("PATCH", TEMPLATE, said)
    assert only(verified(judged, connection), "LIV012")
    west.live[QUOTA]["spec"]["hard"]["count/resourceclaims.resource.k8s.io"] = "1"
    assert only(verified(judged, connection), "LIV017")


def test_a_quota_has_no_part_in_what_a_policy_refuses(
    judged: Judgement, west: FakeServer, connection: Connection
) -> None:
    message = "ValidatingAdmissionPolicy 'dracfg-claims' with binding 'b' denied request: TEN003"
    west.say("PATCH", TEMPLATE, status(403, message, "Forbidden"))
    west.live[QUOTA]["spec"]["hard"]["count/resourceclaims.resource.k8s.io"] = "1"
    assert only(verified(judged, connection), "LIV012")


def conflict(manager: str, *fields: str) -> Reply:
    causes = [
        {
            "reason": "FieldManagerConflict",
            "message": f'conflict with "{manager}" using v1',
            "field": field,
        }
        for field in fields
    ]
    return status(409, "Apply failed with 1 conflict", "Conflict", causes=causes)


def test_a_conflict(judged: Judgement, west: FakeServer, connection: Connection) -> None:
    field = ".spec.hard.l4.deviceclass.resource.k8s.io/devices"
    west.say("PATCH", QUOTA, conflict("kubectl-edit", field), Reply(200, {}))
    done = verified(judged, connection)
    found = only(done, "LIV013")
    assert found.message.startswith("kubectl-edit manages fields of ResourceQuota dracfg-devices")
    assert "spec.hard[l4.deviceclass.resource.k8s.io/devices]" in found.message
    assert found.span is not None
    assert found.span.path == "tenants/serving.yaml"
    assert [r.query["force"] for r in west.requests if r.path == QUOTA] == ["false", "true"]


def test_the_engine_is_no_stranger(
    judged: Judgement, west: FakeServer, connection: Connection
) -> None:
    said = conflict("kustomize-controller", ".spec.hard")
    west.say("PATCH", QUOTA, said, Reply(200, {}))
    assert not [f for f in verified(judged, connection).findings if f.code == "LIV013"]
    west.say("PATCH", QUOTA, said, status(422, "no", causes=[{"field": "spec", "message": "bad"}]))
    assert only(verified(judged, connection), "LIV010")


def test_warnings_are_collected(
    judged: Judgement, west: FakeServer, connection: Connection
) -> None:
    west.say(
        "PATCH", QUOTA, Reply(200, {}, (("Warning", '299 - "one"'), ("Warning", '299 - "two"')))
    )
    found = [f.message for f in verified(judged, connection).findings if f.code == "LIV014"]
    assert found == ["the API server warns: one", "the API server warns: two"]


def test_a_namespace_that_is_not_there_yet(
    judged: Judgement, west: FakeServer, connection: Connection
) -> None:
    inside = [one for one in manifests(judged) if one.key.namespace == "serving-prod"]
    gone = status(
        404,
        'namespaces "serving-prod" not found',
        "NotFound",
        kind="namespaces",
        name="serving-prod",
    )
    for manifest in inside:
        west.say("PATCH", path_of(west, manifest), gone)
    done = verified(judged, connection)
    found = only(done, "LIV016")
    assert found.severity == "unknown"
    assert f"{len(inside)} objects are not checked in full" in found.message
    assert "serving-prod" in line(judged, found)
    assert found.label == "the first sync makes it"
    assert done.verdict == "unknown"


def test_lacking_rights_are_told_once_a_resource(
    judged: Judgement, west: FakeServer, connection: Connection
) -> None:
    quotas = [one for one in manifests(judged) if one.key.kind == "ResourceQuota"]
    for one in quotas:
        message = (
            f'User "ann" cannot patch resource "resourcequotas" in API group "" '
            f'in the namespace "{one.key.namespace}"'
        )
        west.say("PATCH", path_of(west, one), status(403, message, "Forbidden"))
    done = verified(judged, connection)
    found = only(done, "LIV009")
    assert found.message == (
        f"ann may not patch resourcequotas on prod-west ({len(quotas)} objects)"
    )
    assert done.verdict == "unknown"


def test_a_server_that_goes_away(
    judged: Judgement, west: FakeServer, connection: Connection
) -> None:
    west.say("PATCH", QUOTA, status(401, "Unauthorized"))
    west.say("PATCH", NAMESPACE, Reply(200, {}, (("Warning", '299 - "old"'),)))
    done = verified(judged, connection, drift=True)
    assert [finding.code for finding in done.findings] == ["LIV014", "LIV005"]
    assert 0 < done.accepted < done.objects
    assert done.compared is None
    assert done.verdict == "unknown"


def test_another_minor(judged: Judgement, west: FakeServer, connection: Connection) -> None:
    west.minor = "1.30"
    done = verified(judged, connection)
    assert only(done, "LIV007")
    assert done.verdict == "refuted"


def test_no_drift(judged: Judgement, west: FakeServer, connection: Connection) -> None:
    for path in {path.rpartition("/")[0] for path in west.live}:
        west.say("GET", _everywhere(path), Reply(200, {"items": []}))
    done = verified(judged, connection, drift=True)
    assert (done.compared, done.drifted) == (len(west.live), 0)
    assert [finding.code for finding in done.findings] == ["LIV015"]


def _everywhere(path: str) -> str:
    """The path of a list over all namespaces."""
    head, found, rest = path.partition("/namespaces/")
    return f"{head}/{rest.partition('/')[2]}" if found and "/" in rest else path


def test_drift_after_a_manual_edit(
    judged: Judgement, west: FakeServer, connection: Connection
) -> None:
    key = "l4.deviceclass.resource.k8s.io/devices"
    quota = west.live[QUOTA]
    before = quota["spec"]["hard"][key]
    quota["spec"]["hard"][key] = "99"
    quota["metadata"]["managedFields"] = [
        {
            "manager": "kubectl-edit",
            "operation": "Update",
            "fieldsV1": {"f:spec": {"f:hard": {f"f:{key}": {}}}},
        }
    ]
    rights = "classes.dracfg.dev/a100"
    west.live[NAMESPACE]["metadata"]["annotations"][rights] = "count=8"
    del west.live[TEMPLATE]
    done = verified(
        judged, connection, drift=True, holds=lambda unit: not unit.startswith("gitops")
    )
    changed = {f.message.split(" on ")[0]: f for f in done.findings if f.code == "LIV020"}
    assert done.drifted == 3
    found = changed["ResourceQuota dracfg-devices in serving-prod"]
    assert found.message.endswith(f"differs from out/: spec.hard[{key}]")
    assert (found.found, found.expected) == ("99 by kubectl-edit (Update)", before)
    assert found.span is not None
    assert found.span.path == "tenants/serving.yaml"
    assert changed["Namespace serving-prod"].expected == "nothing"
    assert "inference" in only(done, "LIV021").message
    assert done.verdict == "refuted"


def test_leftovers(judged: Judgement, west: FakeServer, connection: Connection) -> None:
    classes = "/apis/resource.k8s.io/v1/deviceclasses"
    old = {"metadata": {"name": "old", "labels": {"app.kubernetes.io/managed-by": "dracfg"}}}
    west.say("GET", classes, Reply(200, {"items": [old, west.live[f"{classes}/l4"]]}))
    west.say("GET", "/api/v1/resourcequotas", Reply(200, {"items": [west.live[QUOTA]]}))
    # Operators apply this one from gitops/snippets.
    handed_out = {"metadata": {"name": "dracfg-applier"}}
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    west.say("GET", roles, Reply(200, {"items": [handed_out]}))
    done = verified(judged, connection, drift=True)
    found = only(done, "LIV022")
    assert found.message == "DeviceClass old is on prod-west and no longer in out/"
    listed = next(request for request in west.requests if request.path == classes)
    assert listed.query["labelSelector"] == "app.kubernetes.io/managed-by=dracfg"


def test_an_older_tree_is_verified_as_it_is(
    judged: Judgement, west: FakeServer, connection: Connection, tmp_path: Path
) -> None:
    shutil.copytree(judged.root / "out", tmp_path / "out")
    file = tmp_path / "out/prod-west/guard/quotas.yaml"
    text = file.read_text(encoding="utf-8")
    head, _, rest = text.partition("namespace: serving-prod\n")
    key = "count/resourceclaims.resource.k8s.io: "
    before, _, after = rest.partition(key)
    file.write_text(
        f'{head}namespace: serving-prod\n{before}{key}"77"{after[after.index(chr(10)) :]}',
        encoding="utf-8",
    )
    west.say("PATCH", QUOTA, status(422, "no", causes=[{"field": "spec.hard", "message": "bad"}]))
    found = only(verified(judged, connection, root=tmp_path), "LIV010")
    sent = next(request for request in west.requests if request.path == QUOTA)
    assert sent.body["spec"]["hard"]["count/resourceclaims.resource.k8s.io"] == "77"
    assert found.span is not None
    assert found.span.path == "tenants/serving.yaml"
    assert "serving-prod" in line(judged, found)


def test_what_the_sources_no_longer_have_stands_in_out(
    judged: Judgement, west: FakeServer, connection: Connection, tmp_path: Path
) -> None:
    shutil.copytree(judged.root / "out", tmp_path / "out")
    file = tmp_path / "out/prod-west/guard/quotas.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("Tenant/serving/", "Tenant/gone/"), encoding="utf-8")
    west.say("PATCH", QUOTA, status(422, "no", causes=[{"field": "spec.hard", "message": "bad"}]))
    found = only(verified(judged, connection, root=tmp_path), "LIV010")
    assert found.span is not None
    assert found.span.path == "out/prod-west/guard/quotas.yaml"
    assert found.related == ()


@pytest.mark.usefixtures("west")
def test_manifests_that_are_none(judged: Judgement, connection: Connection, tmp_path: Path) -> None:
    shutil.copytree(judged.root / "out", tmp_path / "out")
    file = tmp_path / "out/prod-west/guard/quotas.yaml"
    file.write_text("kind: ResourceQuota\nmetadata: {namespace: x}\n---\n- 1\n---\na: b: c\n")
    done = verified(judged, connection, root=tmp_path)
    assert {"LIV018", "SRC005", "SRC017"} <= {finding.code for finding in done.findings}
    assert done.verdict == "refuted"


def test_argo_cd_beside_the_cluster_is_left_out(judged: Judgement) -> None:
    assert not [m for m in manifests(judged, "prod-east") if m.unit.startswith("gitops/")]


def test_findings_are_json(judged: Judgement, west: FakeServer, written: Path) -> None:
    west.say("PATCH", QUOTA, status(500, "\x1b[31mboom\ud7ff"))
    done = verified(judged, connected(west, written))
    found = only(done, "LIV019")
    assert json.dumps(found.message)
    assert done.verdict == "unknown"
