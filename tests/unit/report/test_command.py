"""`dracfg report`: forms, tables, dumps and exit codes."""

import json
import re
from pathlib import Path

import pytest

from dracfg.cli.main import invoke
from tests.unit.report.repositories import CLAIMS, ROOT, edited

DUMP = f"prod-east={ROOT / CLAIMS}"


def run(*arguments: str, root: Path = ROOT) -> int:
    return invoke(["report", "-C", str(root), *arguments])


def test_it_writes_a_page_and_says_the_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "public" / "report.html"
    assert run("--html", str(target)) == 0
    said = capsys.readouterr()
    assert said.out.startswith("Every guarantee is proven\n")
    assert f"wrote {target}" in said.err
    text = target.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert 'id="devices"' not in text


def test_dumps_bring_the_ledger(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "report.html"
    assert run(DUMP, "--html", str(target), "--format", "json") == 1  # the dump has errors
    document = json.loads(capsys.readouterr().out)
    assert {ledger["cluster"] for ledger in document["ledger"]} == {"prod-east"}
    assert document["verdict"] == "refuted"
    assert '<section id="devices"' in target.read_text(encoding="utf-8")


def test_slices_that_no_dump_has_are_those_of_the_inventory(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(DUMP, "--format", "json")
    document = json.loads(capsys.readouterr().out)
    states = {one["state"] for ledger in document["ledger"] for one in ledger["devices"]}
    assert "unpublished" not in states


def test_csv_writes_one_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--format", "csv", "--table", "tenants") == 0
    first, *rows = capsys.readouterr().out.splitlines()
    assert first.startswith("tenant,state,cluster,tier")
    assert len(rows) > 7


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--format", "csv", "--table", "teams"), "there is no table teams; there are capacity"),
        ((str(ROOT / CLAIMS),), "is of: prod-east | prod-west, as CLUSTER="),
        ((f"prod-eats={ROOT / CLAIMS}",), "there is no Cluster prod-eats; did you mean prod-east?"),
        (("--cluster", "prod-eats"), "there is no Cluster prod-eats"),
    ],
    ids=["table", "whose", "unknown", "glob"],
)
def test_wrong_use_is_told(
    arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == 3
    assert said in capsys.readouterr().err


def test_one_run_feeds_several_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = {form: tmp_path / f"report.{form}" for form in ("html", "json", "csv")}
    assert run("-q", *(f"-o{form}={path}" for form, path in wanted.items())) == 0
    said = capsys.readouterr()
    assert said.out.startswith("Every guarantee") and said.err == ""
    assert json.loads(wanted["json"].read_text(encoding="utf-8"))["kind"] == "Report"
    assert wanted["html"].read_text(encoding="utf-8").startswith("<!doctype html>")
    assert wanted["csv"].read_text(encoding="utf-8").startswith("cluster,tier")


def test_one_cluster_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--cluster", "*-west", "--format", "csv", "--table", "capacity") == 0
    rows = capsys.readouterr().out.splitlines()[1:]
    assert rows and all(row.startswith("prod-west,") for row in rows)


def test_errors_are_shown_and_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edited(tmp_path, "tenants/search.yaml", "tier: l4, guaranteed: 2", "tier: l4, guaranteed: 20")
    assert run("--html", str(tmp_path / "r.html"), root=tmp_path) == 1
    said = capsys.readouterr()
    assert "refuted: search, 20 rank" in said.out
    assert "run dracfg check" in said.err
    assert "CAP040" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_colour_changes_no_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edited(tmp_path, "tenants/search.yaml", "tier: l4, guaranteed: 2", "tier: l4, guaranteed: 20")
    file = tmp_path / "report.txt"
    arguments = ("-q", "--color", "always", "-o", f"text={file}", "-o", "text=-")
    assert run(*arguments, root=tmp_path) == 1
    shown = capsys.readouterr().out
    assert re.sub(r"\x1b\[[0-9;]*m", "", shown) == 2 * file.read_text(encoding="utf-8")
    assert re.match(r"\x1b\[31m.* is refuted\x1b\[0m\n", shown)
    assert "\n\x1b[31mrefuted\x1b[0m: search, 20 rank" in shown
    run("--color", "always", "--format", "csv")
    assert "\x1b" not in capsys.readouterr().out


def test_waived_findings_are_told_on_demand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edited(tmp_path, "tenants/search.yaml", "kind: Tenant", "kind: Tenant")
    waiver = "# dracfg: allow-file SRC015 until 2027-01-31 because it is being written\n"
    (tmp_path / "tenants" / "void.yaml").write_text(waiver, encoding="utf-8")
    arguments = ("-q", "--today", "2027-01-31")
    assert run(*arguments, root=tmp_path) == 0
    assert capsys.readouterr().err == ""
    assert run(*arguments, "-v", root=tmp_path) == 0
    assert capsys.readouterr().err == (
        "waived SRC015 at tenants/void.yaml:1:1 until 2027-01-31: it is being written\n"
    )
