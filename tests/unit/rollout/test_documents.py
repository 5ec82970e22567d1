"""Reports of dracfg's own commands as evidence: what they answer, and what they leave open."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from dracfg.cli.main import invoke
from dracfg.link.catalog import Catalog
from dracfg.link.gates import gates_of
from dracfg.link.measures import measures
from dracfg.pipeline import judge
from dracfg.rollout.gates import Judged, judge_gates
from dracfg.rollout.measuring import measure
from dracfg.rollout.recorded import EvidenceFile, read_evidence

BASE = Path(__file__).parents[2] / "cases" / "_base" / "rollout.yaml"
NAME = "sim-to-claims"
AT = "2026-11-29T22:00:00Z"
TOLD = [name for name, one in measures().items() if one.documents is not None]
POLICY = """\
apiVersion: dracfg.dev/v1alpha1
kind: SharingPolicy
metadata: {name: slices}
spec:
  mode: consumable
  capacity: {memory: {min: 10Gi, max: 40Gi, step: 10Gi}}
  tenancy: sameTenant
  sizes: [10Gi, 40Gi]
"""


def repository(root: Path, *, shares: bool = False, trials: str = "[]") -> Path:
    files: dict[str, str] = yaml.safe_load(BASE.read_text())["files"]
    gates = "".join(f"    - {{measure: {name}}}\n" for name in TOLD)
    files["catalog/rollout.yaml"] = files["catalog/rollout.yaml"].split("  gates:")[0] + (
        f"  gates:\n{gates}"
    )
    if shares:
        files["catalog/policy.yaml"] = POLICY
        files["catalog/pools.yaml"] = files["catalog/pools.yaml"].replace(
            "{tier: sim, perNode: 4}", "{tier: sim, perNode: 4, sharing: [slices]}"
        )
        files["catalog/platform.yaml"] = files["catalog/platform.yaml"].replace(
            "resetsAtUnprepare: true}",
            f'resetsAtUnprepare: true, version: "0.2.0", trials: {trials}}}',
        )
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    return judge(repository(tmp_path_factory.mktemp("whole")), level="intent").catalog


def device(node: str, name: str, **more: Any) -> dict[str, Any]:
    """An entry of the ledger."""
    return {"tier": "sim", "node": node, "device": name, "state": "idle", "holders": []} | more


DEVICES = [device(node, f"gpu-{i}") for node in ("n1", "n2") for i in range(4)]


def audit(**more: Any) -> dict[str, Any]:
    totals = [{"name": "sim", "capacity": {"memory": {"free": "640Gi", "fragmented": "0"}}}]
    return {
        "kind": "AuditReport",
        "cluster": "lab",
        "at": AT,
        "findings": [],
        "ledger": DEVICES,
        "totals": totals,
        "causes": [],
        "trials": [],
    } | more


def found(code: str, *objects: str) -> dict[str, Any]:
    return {"code": code, "message": f"what {code} says", "objects": list(objects)}


def told_by_tests(*passed: bool, verdict: str = "proven") -> dict[str, Any]:
    results = [{"name": f"test-{i}", "passed": one} for i, one in enumerate(passed)]
    return {"kind": "TestReport", "verdict": verdict, "results": results}


def held(*pods: str) -> dict[str, Any]:
    return device("n1", "gpu-0", holders=[{"tenant": "ann", "pods": list(pods)}])


def judged(catalog: Catalog, name: str, *documents: Mapping[str, Any]) -> Judged:
    rollout = catalog.rollouts[NAME]
    (gate,) = [gate for gate in gates_of(rollout.spec) if gate.name == name]
    recorded = read_evidence(EvidenceFile(f"{i}.json", b"", d) for i, d in enumerate(documents))
    answers = measure(catalog, rollout, [gate], {}, recorded)
    return judge_gates([gate], answers.by_gate)[0]


FRAGMENTED = [
    {
        "name": "sim",
        "capacity": {
            "memory": {"free": "100Gi", "fragmented": "75Gi"},
            "cores": {"free": "0", "fragmented": "0"},
        },
    }
]
WAITS = [
    {"object": "Pod/ann/a", "cause": "quota"},
    {"object": "Pod/ann/b", "cause": "capacity"},
    {"object": "Pod/stranger/c", "cause": "quota"},
]
CASES: list[tuple[str, list[dict[str, Any]], str, str]] = [
    ("tenantBoundary", [audit(), told_by_tests(True, True)], "passed", "0 within 0"),
    (
        "tenantBoundary",
        [audit(), told_by_tests(True, False, verdict="refuted")],
        "failed",
        "1 above 0 by 1 (test test-1)",
    ),
    (
        "tenantBoundary",
        [audit(findings=[found("LIV044"), found("LIV063"), found("LIV038")]), told_by_tests(True)],
        "failed",
        "2 above 0 by 2 (LIV044: what LIV044 says; LIV063: what LIV063 says)",
    ),
    (
        "tenantBoundary",
        [audit()],
        "missing",
        "no data: no report of `dracfg test --format json` is named",
    ),
    (
        "tenantBoundary",
        [told_by_tests(True)],
        "missing",
        "no data: no report of `dracfg audit --format json` on lab is named",
    ),
    (
        "tenantBoundary",
        [audit(cluster="east"), told_by_tests(True)],
        "missing",
        "no data: no report of `dracfg audit --format json` on lab is named",
    ),
    (
        "tenantBoundary",
        [audit(), told_by_tests()],
        "missing",
        "no data: the report of tests holds no result",
    ),
    (
        "tenantBoundary",
        [audit(), told_by_tests(True, verdict="unknown")],
        "missing",
        "no data: the tests are unknown",
    ),
    (
        "tenantBoundary",
        [audit(findings=[found("LIV058")]), told_by_tests(True)],
        "missing",
        "no data: LIV058 on lab: what LIV058 says",
    ),
    ("isolation", [audit()], "passed", "0 within 0"),
    ("missingDevices", [audit()], "passed", "0 within 0"),
    (
        "missingDevices",
        [audit(ledger=DEVICES[:5])],
        "failed",
        "3 above 0 by 3 (5 of 8 published on lab)",
    ),
    (
        "missingDevices",
        [audit(ledger=[device("n1", f"part-{i}") for i in range(28)])],
        "failed",
        "4 above 0 by 4 (4 of 8 published on lab)",
    ),
    (
        "missingDevices",
        [audit(ledger=[*DEVICES[:7], device("n2", "gone", state="unpublished")])],
        "failed",
        "1 above 0 by 1 (7 of 8 published on lab)",
    ),
    (
        "missingDevices",
        [audit(findings=[found("LIV058")])],
        "missing",
        "no data: LIV058 on lab: what LIV058 says",
    ),
    ("fragmentation", [audit()], "passed", "0 within 0.25"),
    (
        "fragmentation",
        [audit(totals=FRAGMENTED)],
        "failed",
        "0.75 above 0.25 by 0.5 (of memory on lab)",
    ),
    (
        "fragmentation",
        [audit(totals=[])],
        "missing",
        "no data: the audit of lab knows no device of sim",
    ),
    ("rejectedByQuota", [audit(ledger=[held("c", "d", "e")])], "passed", "0 within 0.05"),
    (
        "rejectedByQuota",
        [audit(ledger=[held("c", "d", "e")], causes=WAITS)],
        "failed",
        "0.25 above 0.05 by 0.2 (Pod/ann/a)",
    ),
    (
        "rejectedByQuota",
        [audit()],
        "missing",
        "no data: no pod on lab waits for devices of sim or holds one",
    ),
    ("unhealthyDevices", [audit()], "passed", "0 within 0"),
    (
        "unhealthyDevices",
        [
            audit(
                findings=[
                    found("LIV052", "Device/gpu.example.com/n1/gpu-0"),
                    found("LIV052", "Device/nic.example.com/n1/nic-0"),
                ]
            )
        ],
        "failed",
        "1 above 0 by 1 (LIV052: what LIV052 says)",
    ),
    (
        "unhealthyDevices",
        [audit(findings=[found("LIV065")])],
        "missing",
        "no data: LIV065 on lab: what LIV065 says",
    ),
]


@pytest.mark.parametrize(("name", "documents", "verdict", "says"), CASES)
def test_a_report(
    catalog: Catalog, name: str, documents: list[dict[str, Any]], verdict: str, says: str
) -> None:
    one = judged(catalog, name, *documents)
    assert (one.verdict, one.says) == (verdict, says)


def test_before_a_pool_has_moved_nothing_need_be_recorded(tmp_path: Path) -> None:
    file = repository(tmp_path) / "catalog" / "rollout.yaml"
    file.write_text(file.read_text().replace("stage: canary", "stage: start"))
    catalog = judge(tmp_path, level="intent").catalog
    one = judged(catalog, "tenantBoundary", audit(findings=[found("LIV058")]), told_by_tests(True))
    assert one.says == "0 within 0"


def test_every_measure_that_documents_answer_holds_fails_and_lacks() -> None:
    for name in TOLD:
        verdicts = {verdict for case, _, verdict, _ in CASES if case == name}
        assert verdicts == {"passed", "failed", "missing"} or name == "isolation"


JUNK: list[Any] = [None, 1, "x", [], {}, [[]], {"tier": "sim"}, {"code": "LIV044"}]


@pytest.mark.parametrize("junk", JUNK, ids=str)
@pytest.mark.parametrize("key", ["findings", "ledger", "totals", "causes", "trials", "results"])
def test_what_dracfg_does_not_write_decides_nothing(
    catalog: Catalog, key: str, junk: object
) -> None:
    """A report that was changed by hand is refused or without data, and never ends in a traceback."""
    documents = [audit(), told_by_tests(True)]
    documents[key == "results"] |= {key: [junk]}
    for name in TOLD:
        one = judged(catalog, name, *documents)
        assert one.verdict in ("passed", "missing")
    uses = {"findings": "tenantBoundary", "ledger": "missingDevices", "results": "tenantBoundary"}
    if key in uses:
        assert judged(catalog, uses[key], *documents).verdict == "missing"


CITED = "{capacity: memory, version: %s, date: 2026-11-29, digest: 'sha256:%s', enforced: %s}"
DIGEST = "0" * 64
RECORD = {"capacity": "memory", "version": "0.2.0", "enforced": True}


@pytest.mark.parametrize(
    ("cited", "named", "verdict", "says"),
    [
        ([], [], "failed",
         "1 above 0 by 1 (memory of slices: no record of gpu.example.com 0.2.0)"),
        ([("0.2.0", "true")], [], "passed", "0 within 0"),
        ([("0.1.0", "true")], [], "failed",
         "1 above 0 by 1 (memory of slices: no record of gpu.example.com 0.2.0)"),
        ([("0.2.0", "false")], [], "failed", "1 above 0 by 1 (memory of slices: shown not to be held)"),
        ([("0.2.0", "true")], [RECORD | {"enforced": False}], "failed",
         "1 above 0 by 1 (memory of slices: shown not to be held)"),
        ([], [RECORD], "passed", "0 within 0"),
        ([], [RECORD | {"version": "0.3.0"}], "failed",
         "1 above 0 by 1 (memory of slices: no record of gpu.example.com 0.2.0)"),
    ],
)  # fmt: skip
def test_records_of_trials(
    tmp_path: Path,
    cited: list[tuple[str, str]],
    named: list[dict[str, Any]],
    verdict: str,
    says: str,
) -> None:
    trials = ", ".join(CITED % (f'"{version}"', DIGEST, held) for version, held in cited)
    catalog = judge(repository(tmp_path, shares=True, trials=f"[{trials}]"), level="intent").catalog
    by_audit = {
        "driver": "gpu.example.com",
        "capacities": [{"record": one} for one in named] or [{"record": None}],
    }
    for document in (
        audit(trials=[by_audit]),
        {"at": AT, "driver": "gpu.example.com", "trials": named},
    ):
        one = judged(catalog, "isolation", document)
        assert (one.verdict, one.says) == (verdict, says)


def test_without_a_report_nothing_is_told(tmp_path: Path) -> None:
    root = repository(tmp_path)
    assert invoke(["rollout", "status", NAME, "-C", str(root)]) == 0


def test_the_commands_own_reports_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What `dracfg audit` and `dracfg test` write in JSON lets a step be taken; the moment is kept."""
    root = repository(tmp_path)
    dump = {"apiVersion": "v1", "kind": "List", "items": list(_recorded())}
    (root / "dump.json").write_text(json.dumps(dump))
    policy = root / "tests" / "policy"
    policy.mkdir(parents=True)
    (policy / "one.yaml").write_text(TEST)
    capsys.readouterr()
    invoke(
        ["audit", str(root / "dump.json"), "-C", str(root), "--cluster", "lab", "--format", "json"]
    )
    (root / "audit.json").write_text(capsys.readouterr().out)
    assert json.loads((root / "audit.json").read_text())["at"] == AT
    invoke(["test", "-C", str(root), "--format", "json"])
    (root / "test.json").write_text(capsys.readouterr().out)
    named = ["--evidence", str(root / "audit.json"), "--evidence", str(root / "test.json")]
    code = invoke(["rollout", "advance", NAME, "-C", str(root), *named])
    told = capsys.readouterr().err
    assert code == 0, told
    (kept,) = yaml.safe_load((root / "catalog/rollout.yaml").read_text())["spec"]["evidence"]
    assert kept["at"] == AT
    assert {one["gate"] for one in kept["readings"]} == set(TOLD)


TEST = """\
apiVersion: dracfg.dev/v1alpha1
kind: PolicyTest
metadata: {name: nobody-takes-what-is-not-theirs}
spec:
  cluster: lab
  user: stranger
  namespace: ann
  operation: CREATE
  object:
    apiVersion: v1
    kind: Pod
    metadata: {name: peek}
    spec: {containers: [{name: main, image: registry.example.com/peek:1}]}
  expect: deny
"""


def _recorded() -> list[dict[str, Any]]:
    """Two nodes with four devices each, one of which a running pod holds."""
    stamp = {"creationTimestamp": AT}
    items: list[dict[str, Any]] = []
    for node in ("n1", "n2"):
        items.append(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": node, "labels": {"node.example.com/pool": "one"}, **stamp},
                "status": {"conditions": [{"type": "Ready", "status": "True"}]},
            }
        )
        devices = [
            {
                "name": f"gpu-{i}",
                "attributes": {"model": {"string": "LATEST-GPU-MODEL"}},
                "capacity": {"memory": {"value": "80Gi"}},
            }
            for i in range(4)
        ]
        items.append(
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceSlice",
                "metadata": {"name": f"{node}-gpu", **stamp},
                "spec": {
                    "driver": "gpu.example.com",
                    "nodeName": node,
                    "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
                    "devices": devices,
                },
            }
        )
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "pod-a", "controller": True}
    result = {"request": "gpu", "driver": "gpu.example.com", "pool": "n1", "device": "gpu-0"}
    items += [
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {
                "name": "a-gpu", "namespace": "ann", "uid": "claim-a", "ownerReferences": [owner],
                "finalizers": ["resource.kubernetes.io/delete-protection"], **stamp,
            },
            "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {
                "deviceClassName": "sim", "allocationMode": "ExactCount", "count": 1}}]}},
            "status": {
                "allocation": {"devices": {"results": [result]}},
                "reservedFor": [{"resource": "pods", "name": "a", "uid": "pod-a"}],
            },
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "a", "namespace": "ann", "uid": "pod-a", **stamp},
            "spec": {
                "nodeName": "n1",
                "containers": [{"name": "main", "resources": {"claims": [{"name": "gpu"}]}}],
                "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one"}],
            },
            "status": {
                "phase": "Running",
                "conditions": [{"type": "Ready", "status": "True"}],
                "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "a-gpu"}],
            },
        },
    ]  # fmt: skip
    return items
