"""Data of the package are read as PyYAML would, faster."""

import sys
import zipfile
from pathlib import Path

import pytest
import yaml

import dracfg
from dracfg.packaged import packaged_path, packaged_text, parse_data, read_data, text_of

PACKAGE = Path(dracfg.__file__).parent
SHIPPED = sorted(PACKAGE.rglob("*.yaml"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_what_is_shipped_reads_as_pyyaml_has_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    whole = list(yaml.load_all(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    if len(whole) == 1:
        assert repr(parse_data(text)) == repr(whole[0])
    else:
        with pytest.raises(ValueError, match="more than one document"):
            parse_data(text)
    assert "<<:" not in text


def test_plain_values_of_every_type() -> None:
    text = 'a: [1, 2.5, true, ~, 2026-11-29, "1", text, !!str 2, ! 3, !!int "4", !!seq []]\n'
    text += "b: &b {c: 0x10}\nd: *b\n1: on\ne: &e\nf: *e\ng: |\n  1\n"
    assert parse_data(text) == yaml.safe_load(text)


def test_a_file_is_found_in_its_package() -> None:
    assert read_data("dracfg.diagnostics", "families.yaml")["SRC"]
    assert packaged_path("dracfg.diagnostics", "families.yaml") is not None
    assert packaged_text("dracfg.diagnostics", "none.yaml") is None


def test_a_file_that_is_asked_for_has_to_be_there() -> None:
    with pytest.raises(OSError, match=r"none\.yaml"):
        text_of("dracfg.diagnostics", "none.yaml")


def test_a_package_may_be_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("archived_package/__init__.py", "")
        archive.writestr("archived_package/data/facts.yaml", "a: 1\n")
    monkeypatch.syspath_prepend(str(tmp_path / "all.zip"))
    assert read_data("archived_package", "data/facts.yaml") == {"a": 1}
    assert packaged_text("archived_package", "data/none.yaml") is None
    assert packaged_path("archived_package", "data/facts.yaml") is None
    del sys.modules["archived_package"]
