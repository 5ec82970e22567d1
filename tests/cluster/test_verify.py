"""`dracfg verify` against the real thing: what it says is what the API server would do."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dracfg.cli.main import invoke
from tests.cluster.certificates import new_authority
from tests.cluster.client import Object
from tests.cluster.controlplane import ControlPlane, built_minors, start
from tests.cluster.emitted import ROOT, Emitted, emitted_trees
from tests.cluster.processes import free_ports, wait_for

TREES = [tree for tree in emitted_trees() if tree.repository == ROOT]
WITHOUT_RIGHTS, EDITOR = "ann", "ben"


@dataclass(frozen=True)
class Standing:
    """A cluster of the example on its control plane, applied by its engine's identity."""

    plane: ControlPlane
    tree: Emitted
    applier: Path

    def edit(self, obj: Object, change: Object) -> None:
        """What `kubectl edit` does, in the name of its manager."""
        path = self.plane.admin.path_of(obj)
        merge, manager = "application/merge-patch+json", {"fieldManager": "kubectl-edit"}
        self.plane.admin.call("PATCH", path, change, manager, merge)

    def restore(self, obj: Object) -> None:
        self.plane.admin.apply(obj, manager=engine(self.tree), force=True)

    def first(self, kind: str) -> Object:
        return next(obj for obj in self.tree.objects() if obj["kind"] == kind)


def engine(tree: Emitted) -> str:
    flux = tree.repository / "out" / "gitops" / "flux" / tree.cluster
    return "kustomize-controller" if flux.is_dir() else "argocd-controller"


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(
            tree,
            id=str(tree),
            marks=()
            if tree.minor in built_minors()
            else pytest.mark.skip(f"{tree.minor} not built"),
        )
        for tree in TREES
    ],
)
def standing(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Standing]:
    folder = tmp_path_factory.mktemp("verify")
    for name in ("catalog", "tenants", "out"):
        shutil.copytree(ROOT / name, folder / "repository" / name)
    assert invoke(["compile", "-q", "-C", str(folder / "repository")]) == 0
    tree = Emitted(folder / "repository", request.param.cluster, request.param.minor)
    expired = new_authority(folder / "expired").serving("expired", days=0)
    sni = f"--tls-sni-cert-key={expired.certificate},{expired.key}:localhost"
    flags = {name: tuple(given) for name, given in tree.flags().items()}
    flags["kube-apiserver"] = (*flags.get("kube-apiserver", ()), sni)
    plane = start(tree.minor, folder / "plane", flags, tree.audit_policy())
    try:
        yield Standing(plane, tree, _applied(plane, tree))
    finally:
        plane.stop()


def _applied(plane: ControlPlane, tree: Emitted) -> Path:
    """Applies the tree as the engine does; a kubeconfig of the identity that did."""
    found = tree.applier()
    assert found is not None
    user, _ = found
    applier = tree.entered(plane.admin)
    namespace = user.split(":")[2]
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
    for obj in tree.objects():
        applier.apply(obj, manager=engine(tree))
    return certified(plane, user, groups)


def certified(plane: ControlPlane, user: str, groups: tuple[str, ...] = (), days: int = 2) -> Path:
    pair = plane.authority.client(user, groups, days)
    files = {"client-certificate": str(pair.certificate), "client-key": str(pair.key)}
    return plane.kubeconfig_of(user, files)


Verify = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def verify(standing: Standing, capsys: pytest.CaptureFixture[str]) -> Verify:
    """Runs the command as the applier; the exit code and the report."""

    def run(*options: str, kubeconfig: Path | None = None, root: Path | None = None) -> Any:
        arguments = ["verify", "-q", "--format", "json", "--cluster", standing.tree.cluster]
        arguments += ["--kubeconfig", str(kubeconfig or standing.applier)]
        arguments += ["-C", str(root or standing.tree.repository), *options]
        capsys.readouterr()
        code = invoke(arguments)
        return code, json.loads(capsys.readouterr().out)

    return run


def codes(report: dict[str, Any]) -> set[str]:
    """Without the kinds that only custom resource definitions serve."""
    return {finding["code"] for finding in report["findings"]} - {"LIV015"}


def only(report: dict[str, Any], code: str) -> dict[str, Any]:
    (found,) = [finding for finding in report["findings"] if finding["code"] == code]
    return found


def source_line(standing: Standing, finding: dict[str, Any]) -> str:
    text = (standing.tree.repository / finding["file"]).read_text(encoding="utf-8")
    return text.split("\n")[finding["line"] - 1]


def test_green_after_the_sync(standing: Standing, verify: Verify) -> None:
    before = contents(standing)
    code, report = verify("--drift")
    assert (code, codes(report)) == (0, set())
    served = len(standing.tree.objects())
    assert report["accepted"] == served
    assert report["drift"] == {"compared": served, "drifted": 0}
    assert report["server"]["version"].startswith(f"v{standing.tree.minor}.")
    assert contents(standing) == before


def contents(standing: Standing) -> list[Object]:
    """What stands on the cluster, with its managers, less what controllers report of it."""
    found = [standing.plane.admin.find(obj) for obj in standing.tree.objects()]
    kept = []
    for obj in found:
        assert obj is not None
        metadata = {**obj["metadata"], "resourceVersion": None}
        metadata["managedFields"] = [
            entry for entry in metadata["managedFields"] if "subresource" not in entry
        ]
        kept.append({**obj, "metadata": metadata, "status": None})
    return kept


def test_a_manual_edit_is_drift_and_a_conflict(standing: Standing, verify: Verify) -> None:
    quota = standing.first("ResourceQuota")
    key = "count/resourceclaims.resource.k8s.io"
    standing.edit(quota, {"spec": {"hard": {key: "777"}}})
    try:
        code, report = verify("--drift")
    finally:
        standing.restore(quota)
    assert code == 1
    assert codes(report) == {"LIV013", "LIV020"}
    drift, conflict = only(report, "LIV020"), only(report, "LIV013")
    assert drift["found"] == "777 by kubectl-edit (Update)"
    assert drift["expected"] == quota["spec"]["hard"][key]
    assert f"spec.hard[{key}]" in drift["message"]
    assert conflict["message"].startswith("kubectl-edit manages fields")
    assert drift["file"].startswith("tenants/")
    assert verify("--drift")[0] == 0


def test_rights_added_by_hand_are_drift(standing: Standing, verify: Verify) -> None:
    quota = standing.first("ResourceQuota")
    namespace = next(
        obj
        for obj in standing.tree.objects()
        if obj["kind"] == "Namespace" and obj["metadata"]["name"] == quota["metadata"]["namespace"]
    )
    right = "classes.dracfg.dev/foreign"
    standing.edit(namespace, {"metadata": {"annotations": {right: "count=99"}}})
    try:
        _, report = verify("--drift")
    finally:
        standing.edit(namespace, {"metadata": {"annotations": {right: None}}})
    assert only(report, "LIV020")["expected"] == "nothing"


def test_what_is_gone_and_what_is_left_over(standing: Standing, verify: Verify) -> None:
    binding = standing.first("RoleBinding")
    standing.plane.admin.delete(binding)
    stray = {**standing.first("DeviceClass"), "metadata": {"name": "left-over"}}
    stray["metadata"]["labels"] = {"app.kubernetes.io/managed-by": "dracfg"}
    standing.plane.admin.create(stray)
    try:
        _, report = verify("--drift")
    finally:
        standing.plane.admin.delete(stray)
        standing.restore(binding)
    assert codes(report) == {"LIV021", "LIV022"}
    assert binding["metadata"]["name"] in only(report, "LIV021")["message"]
    assert "left-over" in only(report, "LIV022")["message"]


@pytest.fixture
def edited(standing: Standing, tmp_path: Path) -> Callable[[Callable[[str], str], str], Path]:
    """The repository with the files of out/ that a pattern names changed by hand."""

    def change(how: Callable[[str], str], pattern: str) -> Path:
        shutil.copytree(standing.tree.repository, tmp_path / "edited")
        files = sorted((tmp_path / "edited" / "out" / standing.tree.cluster).glob(pattern))
        for file in files:
            file.write_text(how(file.read_text(encoding="utf-8")), encoding="utf-8")
        assert files
        return tmp_path / "edited"

    return change


def test_a_template_that_would_change_in_place(verify: Verify, edited: Callable[..., Path]) -> None:
    root = edited(
        lambda text: text.replace("          count: 1\n", "          count: 7\n"),
        "tenants/*/claim-templates.yaml",
    )
    _, report = verify(root=root)
    found = [finding for finding in report["findings"] if finding["code"] == "LIV011"]
    assert found
    assert all("ResourceClaimTemplate" in finding["message"] for finding in found)
    assert all(finding["file"].startswith("tenants/") for finding in found)


def test_admission_leads_back_to_the_source(
    standing: Standing, verify: Verify, edited: Callable[..., Path]
) -> None:
    """A class of another tenant, under a new name so that nothing is immutable."""
    template = next(
        obj
        for obj in standing.tree.objects()
        if obj["kind"] == "ResourceClaimTemplate"
        and "/spec/profiles/" in obj["metadata"]["annotations"]["dracfg.dev/origin"]
    )
    name = template["metadata"]["name"]

    def change(text: str) -> str:
        head, mark, rest = text.partition(f"  name: {name}\n")
        assert mark
        before, word, after = rest.partition("deviceClassName: ")
        _, end, left = after.partition("\n")
        return f"{head}  name: {name}-new\n{before}{word}no-such-class{end}{left}"

    tenant = template["metadata"]["labels"]["dracfg.dev/tenant"]
    _, report = verify(root=edited(change, f"tenants/{tenant}/claim-templates.yaml"))
    found = only(report, "LIV012")
    assert "TEN003" in found["message"]
    assert found["file"] == f"tenants/{tenant}.yaml"
    assert template["metadata"]["labels"]["dracfg.dev/profile"] in source_line(standing, found)
    assert found["related"][0]["file"].startswith("out/")


def test_a_refusal_under_rights_that_the_sync_changes(
    standing: Standing, verify: Verify, edited: Callable[..., Path]
) -> None:
    template = standing.first("ResourceClaimTemplate")
    name, metadata = template["metadata"]["name"], template["metadata"]

    def change(text: str) -> str:
        head, _, rest = text.partition(f"  name: {name}\n")
        before, word, after = rest.partition("deviceClassName: ")
        return f"{head}  name: {name}-new\n{before}{word}next-{after}"

    tenant = metadata["labels"]["dracfg.dev/tenant"]
    root = edited(change, f"tenants/{tenant}/claim-templates.yaml")
    spaces = root / "out" / standing.tree.cluster / "guard" / "namespaces.yaml"
    text = spaces.read_text(encoding="utf-8")
    spaces.write_text(text.replace("    dracfg.dev/claims: ", "    dracfg.dev/claims: next,"))
    _, report = verify(root=root)
    found = only(report, "LIV017")
    assert "TEN003" in found["message"]
    assert f"Namespace {metadata['namespace']}" in found["label"]
    assert "LIV012" not in codes(report)


def test_fields_that_no_api_has(verify: Verify, edited: Callable[..., Path]) -> None:
    root = edited(
        lambda text: text.replace("  hard:\n", "  hrad: {}\n  hard:\n"), "guard/quotas.yaml"
    )
    _, report = verify(root=root)
    found = [finding for finding in report["findings"] if finding["code"] == "LIV010"]
    assert found
    assert all("hrad" in finding["message"] for finding in found)
    assert "LIV023" in codes(report)


def test_namespaces_that_are_not_there_yet(
    standing: Standing, verify: Verify, edited: Callable[..., Path]
) -> None:
    space = standing.first("ResourceQuota")["metadata"]["namespace"]

    def change(text: str) -> str:
        return text.replace(f": {space}\n", f": {space}-next\n")

    _, report = verify(root=edited(change, "guard/*.yaml"))
    found = only(report, "LIV016")
    assert found["severity"] == "unknown"
    assert f"namespace {space}-next is not on {standing.tree.cluster} yet" in found["message"]


def test_somebody_else_is_refused_by_the_guards(standing: Standing, verify: Verify) -> None:
    """Who may do everything by RBAC is still not the applier."""
    binding: Object = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": EDITOR},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "cluster-admin",
        },
        "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": EDITOR}],
    }
    standing.plane.admin.apply(binding)
    key = "count/resourceclaims.resource.k8s.io"
    quota = standing.first("ResourceQuota")
    standing.edit(quota, {"spec": {"hard": {key: "777"}}})
    try:
        _, report = verify(kubeconfig=certified(standing.plane, EDITOR))
    finally:
        standing.restore(quota)
        standing.plane.admin.delete(binding)
    refused = [finding for finding in report["findings"] if finding["code"] == "LIV012"]
    guarded = [finding for finding in refused if "TEN037" in finding["message"]]
    assert guarded
    assert all("ask as system:serviceaccount:" in finding["help"] for finding in guarded)


def test_a_user_without_rights(standing: Standing, verify: Verify) -> None:
    kubeconfig = certified(standing.plane, WITHOUT_RIGHTS)
    code, report = verify("--drift", kubeconfig=kubeconfig)
    assert code == 1
    assert codes(report) == {"LIV009"}
    assert (report["verdict"], report["accepted"]) == ("unknown", 0)
    said = {
        finding["message"].partition(" on ")[0]: finding["help"] for finding in report["findings"]
    }
    assert "gitops/snippets/applier-" in said["ann may not patch deviceclasses.resource.k8s.io"]
    assert "dracfg-pr-bot" in said["ann may not get deviceclasses.resource.k8s.io"]


def test_an_expired_client_certificate(standing: Standing, verify: Verify) -> None:
    kubeconfig = certified(standing.plane, "late", days=0)

    def is_refused() -> dict[str, Any] | None:
        _, report = verify(kubeconfig=kubeconfig)
        return report if codes(report) == {"LIV005"} else None

    report = wait_for(is_refused, "the certificate to expire")
    assert report is not None
    assert report["verdict"] == "unknown"


def with_cluster(standing: Standing, folder: Path, **fields: str) -> Path:
    content = json.loads(standing.applier.read_text(encoding="utf-8"))
    content["clusters"][0]["cluster"] |= fields
    file = folder / "kubeconfig"
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


def test_an_expired_server_certificate(standing: Standing, verify: Verify, tmp_path: Path) -> None:
    authority = standing.plane.folder.parent / "expired" / "ca.crt"
    fields = {"tls-server-name": "localhost", "certificate-authority": str(authority)}
    code, report = verify(kubeconfig=with_cluster(standing, tmp_path, **fields))
    assert (code, codes(report)) == (1, {"LIV003"})
    assert "certificate has expired" in only(report, "LIV003")["message"]


def test_another_authority(standing: Standing, verify: Verify, tmp_path: Path) -> None:
    other = new_authority(tmp_path / "other").pair.certificate
    fields = {"certificate-authority": str(other)}
    _, report = verify(kubeconfig=with_cluster(standing, tmp_path, **fields))
    assert codes(report) == {"LIV004"}


def test_an_unreachable_server(standing: Standing, verify: Verify, tmp_path: Path) -> None:
    fields = {"server": f"https://127.0.0.1:{free_ports(1)[0]}"}
    code, report = verify(kubeconfig=with_cluster(standing, tmp_path, **fields))
    assert (code, report["verdict"]) == (1, "unknown")
    assert "Connection refused" in only(report, "LIV001")["message"]


def test_another_minor(standing: Standing, capsys: pytest.CaptureFixture[str]) -> None:
    """The kubeconfig of one cluster, the name of another."""
    other = next(tree for tree in TREES if tree.minor != standing.tree.minor)
    arguments = ["verify", "-q", "--format", "json", "--cluster", other.cluster]
    arguments += ["--kubeconfig", str(standing.plane.kubeconfig())]
    assert invoke([*arguments, "-C", str(standing.tree.repository)]) == 1
    found = only(json.loads(capsys.readouterr().out), "LIV007")
    assert found["expected"] == other.minor
    assert found["found"].startswith(f"v{standing.tree.minor}.")
    assert f'kubernetes: "{other.minor}"' in source_line(standing, found)
