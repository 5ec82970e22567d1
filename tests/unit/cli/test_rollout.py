"""`dracfg rollout`: steps are taken one at a time, with evidence, and refused in words."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from dracfg.cli.main import invoke

BASE = Path(__file__).parents[2] / "cases" / "_base" / "rollout.yaml"
GATE = "pods pending"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, text in yaml.safe_load(BASE.read_text())["files"].items():
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return tmp_path


def evidence(root: Path, value: object) -> str:
    file = root / "evidence.yaml"
    file.write_text(json.dumps({"at": "2026-11-29T22:00:00Z", "gates": {GATE: value}}))
    return str(file)


def rollout(root: Path, *arguments: str) -> int:
    what, *more = arguments
    return invoke(["rollout", what, "sim-to-claims", "--root", str(root), *more])


def spec(root: Path) -> dict[str, object]:
    found: dict[str, object] = yaml.safe_load((root / "catalog/rollout.yaml").read_text())["spec"]
    return found


def record(root: Path, *kinds: str) -> str:
    file = root / "record.json"
    stamp = {"creationTimestamp": "2026-11-29T21:00:00Z"}
    items = [
        {"apiVersion": "v1", "kind": kind, "metadata": {"name": "a", "namespace": "b", **stamp}}
        for kind in kinds or ("ResourceClaim", "Pod", "ResourceSlice")
    ]
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return str(file)


def test_forth_and_back(root: Path) -> None:
    first = spec(root)
    assert rollout(root, "advance", "--evidence", evidence(root, "10s")) == 0
    assert (spec(root)["stage"], spec(root)["phase"]) == ("canary", "fenced")
    assert rollout(root, "advance", "--evidence", evidence(root, "30s")) == 0
    assert (spec(root)["stage"], spec(root)["phase"]) == ("shared", "open")
    kept = spec(root)["evidence"]
    assert isinstance(kept, list)
    assert [one["verdict"] for one in kept] == ["passed", "passed"]
    assert rollout(root, "rollback", "--record", record(root)) == 0
    assert spec(root)["direction"] == "rollback"
    assert spec(root)["tier"] == first["tier"]


def test_a_gate_that_does_not_hold_blocks_and_writes_nothing(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (root / "catalog/rollout.yaml").read_bytes()
    assert rollout(root, "advance", "--evidence", evidence(root, "45s")) == 1
    assert "45s above 30s by 15s" in capsys.readouterr().err
    assert rollout(root, "advance", "--evidence", evidence(root, None)) == 1
    assert "no data" in capsys.readouterr().err
    assert (root / "catalog/rollout.yaml").read_bytes() == before


def test_status_says_when_to_halt(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rollout(root, "status") == 0
    assert "start -> [canary] -> shared -> everyone" in capsys.readouterr().out
    assert rollout(root, "status", "--evidence", evidence(root, "4m")) == 0
    assert rollout(root, "status", "--evidence", evidence(root, "6m")) == 1
    assert "dracfg rollout halt sim-to-claims" in capsys.readouterr().err


def test_status_in_colour(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["status", "--evidence", evidence(root, "45s")]
    assert rollout(root, *arguments) == 0
    plain = capsys.readouterr().out
    assert rollout(root, *arguments, "--color", "always") == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", shown) == plain
    assert "start -> \x1b[1m[canary]\x1b[0m -> shared" in shown
    assert f"  \x1b[31mblocks\x1b[0m  {GATE}: " in shown
    assert rollout(root, "status", "--evidence", evidence(root, "1s"), "--color", "always") == 0
    assert f"  \x1b[32mholds\x1b[0m  {GATE}: " in capsys.readouterr().out


def test_status_as_a_document(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rollout(root, "status", "--format", "json", "--evidence", evidence(root, "45s")) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["verdict"] == "refuted"
    owners = {pool["name"]: pool["owner"] for pool in document["pools"]}
    assert owners == {"one": "dra", "two": "devicePlugin", "three": "devicePlugin"}
    assert [step["to"] for step in document["steps"]] == [
        "canary, next pools fenced",
        "canary, halted",
        "canary, rollback",
    ]


def test_nothing_measured_is_wrong_use(root: Path) -> None:
    assert rollout(root, "advance") == 3


def test_without_gates_those_of_what_it_protects_are_asked(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = root / "catalog/rollout.yaml"
    file.write_text(file.read_text().split("  gates:")[0])
    assert rollout(root, "advance", "--evidence", evidence(root, "1s")) == 1
    told = capsys.readouterr().err
    assert "blocks  tenantBoundary: no data: no report of `dracfg test --format json`" in told
    assert "blocks  driverErrors: no data: no server is named" in told
    assert "later   podsOnFencedNodes: no pool is fenced" in told


def test_gates_that_all_wait_pass_nothing(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = root / "catalog/rollout.yaml"
    gates = "  gates:\n    - {measure: podsOnFencedNodes}\n"
    file.write_text(file.read_text().split("  gates:")[0] + gates)
    assert rollout(root, "advance", "--evidence", evidence(root, "1s")) == 3
    told = capsys.readouterr().err
    assert "no gate of sim-to-claims is asked on the way forward" in told
    assert "podsOnFencedNodes: no pool is fenced" in told


def test_what_was_measured_before_the_last_step_is_refused(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rollout(root, "advance", "--evidence", evidence(root, "1s")) == 0
    older = root / "older.json"
    older.write_text(json.dumps({"at": "2026-11-29T21:59:59Z", "gates": {GATE: 1}}))
    assert rollout(root, "advance", "--evidence", str(older)) == 3
    assert "before the last step at 2026-11-29T22:00:00Z" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("named", "said"),
    [
        (["east=http://127.0.0.1:9"], "there is no Cluster east"),
        (["http://127.0.0.1:9", "lab=http://127.0.0.1:9"], "one server for all clusters"),
        (["lab=http://127.0.0.1:9", "lab=http://127.0.0.1:8"], "two servers for lab"),
        (["lab=127.0.0.1:9"], "127.0.0.1:9 is not the address of a server"),
    ],
)
def test_servers_are_named_by_cluster(
    root: Path, capsys: pytest.CaptureFixture[str], named: list[str], said: str
) -> None:
    options = [word for one in named for word in ("--prometheus", one)]
    assert rollout(root, "status", *options) == 3
    assert said in capsys.readouterr().err


def test_a_server_of_a_cluster_is_asked(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rollout(root, "status", "--prometheus", "lab=http://127.0.0.1:9", "--timeout", "1") == 0
    assert "no data: http://127.0.0.1:9 can't be asked" in capsys.readouterr().out


def test_turning_wants_a_record(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rollout(root, "halt") == 3
    assert "kubectl get resourceclaims,pods" in capsys.readouterr().err
    assert rollout(root, "halt", "--record", record(root, "Pod")) == 3
    assert "no ResourceClaim" in capsys.readouterr().err
    assert rollout(root, "halt", "--without-record") == 0
    assert spec(root)["direction"] == "halted"
    assert rollout(root, "halt", "--without-record") == 3
    assert "halted already" in capsys.readouterr().err


def test_a_record_is_written_down_by_its_digest(root: Path) -> None:
    assert rollout(root, "halt", "--record", record(root)) == 0
    (one,) = spec(root)["evidence"]  # type: ignore[misc]
    assert one["digest"].startswith("sha256:")
    assert one["at"] == "2026-11-29T21:00:00Z"
    assert one["source"] == "record.json"


def test_errors_in_the_rollout_come_first(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = root / "catalog/rollout.yaml"
    file.write_text(
        file.read_text().replace(
            "  restores: from the checkpoint that each trainer writes every 10 minutes\n", ""
        )
    )
    assert rollout(root, "advance", "--evidence", evidence(root, "1s")) == 3
    assert "has errors" in capsys.readouterr().err


def test_an_unknown_name(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["rollout", "status", "sim-to-claim", "--root", str(root)]) == 3
    assert "did you mean sim-to-claims" in capsys.readouterr().err


@pytest.mark.parametrize("address", ["file:///etc/passwd", "localhost:9090"])
def test_only_servers_are_asked(root: Path, address: str) -> None:
    assert rollout(root, "status", "--prometheus", address) == 3
