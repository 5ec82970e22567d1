"""`dracfg metadata`: exit codes, forms, and that no form shows a value."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dracfg.cli.main import invoke
from dracfg.cli.output import FORMS
from dracfg.metadata.reader import VERSIONS
from tests.unit.metadata.conftest import EMITTED, SECRET, nic
from tests.unit.metadata.fakedriver import Claim, FakeDriver
from tests.unit.metadata.test_faults import WHOLE

GOLDEN = EMITTED.parent
SCHEMAS = sorted((EMITTED / "beta" / "metadata").glob("nic-100g.*.json"))


@pytest.fixture
def container(tmp_path: Path) -> Path:
    """A container with values that may come out nowhere, in every place that has values."""
    driver = FakeDriver(tmp_path / "host", tmp_path / "container")
    device = nic(network={"string": f"a-{SECRET}"}, switchPassword={"string": SECRET})
    device["networkData"]["interfaceName"] = SECRET
    device["attributes"]["mtu"] = {"string": SECRET}
    driver.prepare(Claim("c"), "nic", [device])
    driver.prepare(Claim("c"), "gpu", [nic(rdma=SECRET)])
    driver.mount()
    loose = driver.container / "resourceclaimtemplates/nic/bad"
    loose.mkdir()
    for number, data in enumerate((WHOLE[:-90], WHOLE + b"x", WHOLE.replace(b'"mtu"', b'"model"'))):
        (loose / f"d{number}.example.com-metadata.json").write_bytes(data)
    return driver.container


def schema_options() -> list[str]:
    return [word for path in SCHEMAS for word in ("--schema", str(path))]


@pytest.mark.parametrize("form", FORMS)
def test_no_form_shows_a_value(
    container: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, form: str
) -> None:
    out = tmp_path / "also.json"
    command = ["metadata", "validate", str(container), "--format", form, "-o", f"json={out}"]
    assert invoke([*command, *schema_options()]) == 1
    said = capsys.readouterr()
    assert "MET03" in said.out
    for text in (said.out, said.err, out.read_text(encoding="utf-8")):
        assert SECRET not in text
        assert SECRET[:20] not in text
        assert "02:00:00:00:00:01" not in text


@pytest.mark.parametrize("form", ["text", "json"])
def test_show_shows_no_value(
    container: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    invoke(["metadata", "show", str(container), "--format", form, "-C", str(container)])
    said = capsys.readouterr().out
    assert "switchPassword" in said
    assert "9000" not in said
    assert SECRET not in said


def test_show_in_colour(container: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["metadata", "show", str(container), "-C", str(container), "--color"]
    invoke([*arguments, "never"])
    plain = capsys.readouterr().out
    invoke([*arguments, "always"])
    head, *rows = capsys.readouterr().out.splitlines()
    assert (head[:9], head[-4:]) == ("\x1b[1mCLAIM", "\x1b[0m")
    assert [head.removeprefix("\x1b[1m").removesuffix("\x1b[0m"), *rows] == plain.splitlines()


def test_the_repository_gives_the_schemas(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    driver = FakeDriver(tmp_path / "host", tmp_path / "container")
    driver.prepare(Claim("c"), "nic", [nic()])
    driver.mount()
    where = ["-C", str(GOLDEN), "--cluster", "beta"]
    assert invoke(["metadata", "validate", str(driver.container), *where]) == 0
    said = capsys.readouterr()
    assert "warning[MET044]" in said.out
    assert "1 warning in 1 file" in said.err
    strict = ["--fail-on", "warning"]
    assert invoke(["metadata", "validate", str(driver.container), *where, *strict]) == 1
    assert (
        invoke(["metadata", "validate", str(driver.container), *where, "--ignore", "MET044"]) == 0
    )


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(WHOLE)
    command = ["metadata", "validate", str(path), "--format", "json", "-C", str(tmp_path)]
    assert invoke(command) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["kind"] == "MetadataReport"
    assert document["verdict"] == "proven"
    (file,) = document["files"]
    assert (file["claim"], file["version"], file["generation"]) == ("vision-train/c", "v1beta1", 1)
    assert file["devices"][0]["attributes"]["mtu"] == "int of 4 characters"


@pytest.mark.parametrize("version", VERSIONS)
def test_the_schema_of_a_tier(capsys: pytest.CaptureFixture[str], version: str) -> None:
    where = ["-C", str(GOLDEN), "--cluster", "beta", "--metadata-version", version]
    assert invoke(["metadata", "schema", "nic-100g", *where]) == 0
    printed = json.loads(capsys.readouterr().out)
    (emitted,) = (path for path in SCHEMAS if version in path.name)
    written = json.loads(emitted.read_text(encoding="utf-8"))
    del written["$comment"]
    assert printed == written


def test_the_schema_of_every_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["metadata", "schema"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["properties"]["apiVersion"]["const"].endswith("/v1beta1")


@pytest.mark.parametrize(
    "arguments",
    [
        ["validate"],
        ["validate", "x", "--schema", "/nowhere.json"],
        ["schema", "nic-10g", "-C", str(GOLDEN)],
        ["schema", "nic-100g", "-C", str(GOLDEN), "--cluster", "gamma"],
        ["schema", "nic-100g", "-C", "/nowhere"],
    ],
)
def test_wrong_use(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["metadata", *arguments]) == 3
    assert capsys.readouterr().err


def test_a_schema_of_something_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "schema.json"
    path.write_text("{}", encoding="utf-8")
    assert invoke(["metadata", "validate", str(path), "--schema", str(path)]) == 3
    assert "no schema of a tier" in capsys.readouterr().err
