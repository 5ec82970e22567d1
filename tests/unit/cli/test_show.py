"""`dracfg show`: both forms tell the same, exit codes, wrong references."""

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

from dracfg.cli.main import invoke
from dracfg.cli.showtext import text_of

ROOT = Path(__file__).parents[3]
GATES = json.loads((ROOT / "tests" / "golden" / "gates" / "prod-west-1.36.json").read_text())


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    source = ROOT / "tests" / "golden" / "slices"
    for folder in ("catalog", "tenants"):
        shutil.copytree(source / folder, tmp_path / folder)
    return tmp_path


def show(capsys: pytest.CaptureFixture[str], root: Path, *arguments: str) -> str:
    assert invoke(["show", *arguments, "-C", str(root)]) == 0
    return capsys.readouterr().out


def a_cluster(root: Path) -> str:
    documents = (
        document
        for file in sorted((root / "catalog").rglob("*.yaml"))
        for document in yaml.safe_load_all(file.read_text(encoding="utf-8"))
    )
    return str(next(d["metadata"]["name"] for d in documents if d.get("kind") == "Cluster"))


def test_linked_forms_are_equal(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ref = f"cluster/{a_cluster(repository)}"
    text = yaml.safe_load(show(capsys, repository, ref))
    document = json.loads(show(capsys, repository, ref, "--format", "json"))
    assert text == {key: value for key, value in document.items() if key != "schemaVersion"}


def test_object_with_its_file(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    invoke(["compile", "-q", "-C", str(repository)])
    capsys.readouterr()
    ref = f"{a_cluster(repository)}/Namespace/dracfg-system"
    head, body = show(capsys, repository, ref).split("\n", 1)
    written = (repository / head.removeprefix("# ")).read_text(encoding="utf-8")
    assert body in written


def test_why(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ref = f"{a_cluster(repository)}/Namespace/dracfg-system"
    lines = show(capsys, repository, ref, "--why", "metadata/name").splitlines()
    assert lines
    for line in lines:
        assert re.fullmatch(r"catalog/\S+:\d+:\d+  Cluster/\S+  /\S*( \(default\))?", line)
    document = json.loads(
        show(capsys, repository, ref, "--why", "/metadata/name", "--format", "json")
    )
    assert (document["kind"], document["value"]) == ("Provenance", "dracfg-system")
    assert len(document["origins"]) == len(lines)


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["cluster/nowhere"], "there is no cluster/nowhere"),
        (["polcy/whole"], "did you mean policy/whole?"),
        (["policy/whole", "gates"], "there is no aspect gates of policy/whole"),
        (["policy/whole", "--why", "spec"], "--why reads emitted objects"),
    ],
)
def test_wrong_use(
    repository: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], part: str
) -> None:
    assert invoke(["show", *arguments, "-C", str(repository)]) == 3
    assert part in capsys.readouterr().err


def test_object_has_no_aspect(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ref = f"{a_cluster(repository)}/Namespace/dracfg-system"
    assert invoke(["show", ref, "gates", "-C", str(repository)]) == 3
    assert "no aspect gates" in capsys.readouterr().err


def test_faults_elsewhere_are_named(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "tenants" / "broken.yaml").write_text("kind: [\n", encoding="utf-8")
    assert invoke(["show", "policy/whole", "-C", str(repository)]) == 0
    shown = capsys.readouterr()
    assert "name: whole" in shown.out
    assert "run dracfg check" in shown.err


def test_gate_table_says_what_the_document_says() -> None:
    text = text_of(GATES, 100)
    words = " ".join(text.split())
    for gate in GATES["gates"]:
        assert gate["name"] in words
        for reason in gate["reasons"]:
            assert reason["reason"] in words
            assert f"{reason.get('object', '')} {reason.get('pointer', '')}".strip() in words


def test_gate_table_is_aligned() -> None:
    lines = text_of(GATES, 100).splitlines()
    assert lines[0] == "prod-west: Kubernetes 1.36, generic"
    head, first, second = lines[2:5]
    column = head.index("WRITTEN FOR")
    assert first[column:] == "not written: locked in this minor"
    assert second[: column + 2] == " " * column + "- "
    assert [head.index(word) for word in ("STAGE", "DEFAULT", "WANTED")] == [
        first.index("ga"),
        first.index("on"),
        first.index("on", first.index("on") + 1),
    ]


def test_runtime_config_and_alpha_in_text() -> None:
    document = {
        "kind": "GateTable",
        "cluster": "east",
        "minor": "1.35",
        "distribution": "kubeadm",
        "gates": [
            {
                "name": "DRADeviceTaintRules",
                "stage": "alpha",
                "default": False,
                "locked": False,
                "wanted": True,
                "allowAlpha": allowed,
                "components": ["kube-apiserver"],
                "reasons": [],
            }
            for allowed in (None, "reviewed")
        ],
        "runtimeConfig": [
            {
                "groupVersion": "resource.k8s.io/v1alpha3",
                "components": [],
                "notWritten": "managed",
                "reasons": [
                    {
                        "source": "object",
                        "reason": "objects are written in it",
                        "object": "east/DeviceTaintRule/x",
                        "pointer": "/apiVersion",
                        "uses": 1201,
                    }
                ],
            }
        ],
    }
    text = text_of(document, 100)
    assert "- alpha, and not allowed\n" in text
    assert "- alpha, allowed: reviewed\n" in text
    assert text.endswith(
        "\n--runtime-config=resource.k8s.io/v1alpha3=true\n"
        "  not written: the provider runs the control plane\n"
        "  - objects are written in it: east/DeviceTaintRule/x /apiVersion and 1,200 more\n"
    )


def test_no_gates() -> None:
    empty = {
        "kind": "GateTable",
        "cluster": "east",
        "minor": "1.36",
        "distribution": "kubeadm",
        "gates": [],
        "runtimeConfig": [],
    }
    assert text_of(empty, 80).endswith("no gate is needed, and none is written\n")


@pytest.mark.parametrize(
    ("arguments", "bright"),
    [
        (["policy/whole"], "kind:"),
        (["{cluster}", "gates"], "STAGE"),
        (["{cluster}/Namespace/dracfg-system"], "apiVersion:"),
        (["{cluster}/Namespace/dracfg-system", "--why", "metadata/name"], "catalog/"),
    ],
    ids=["linked", "gates", "object", "why"],
)
def test_colour_changes_no_word(
    repository: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], bright: str
) -> None:
    wanted = [one.format(cluster=a_cluster(repository)) for one in arguments]
    plain = show(capsys, repository, *wanted, "--color", "never")
    shown = show(capsys, repository, *wanted, "--color", "always")
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", shown) == plain
    assert any(bright in words for words in re.findall(r"\x1b\[1m(.*?)\x1b\[0m", shown))
    document = show(capsys, repository, *wanted, "--color", "always", "--format", "json")
    assert "\x1b" not in document


def test_lines_of_a_block_are_no_keys() -> None:
    text = text_of({"kind": "Driver", "note": "a\nb: c\n", "name": "x"}, 80, colour=True)
    assert re.findall(r"\x1b\[1m(.*?)\x1b\[0m", text) == ["kind:", "note:", "name:"]
