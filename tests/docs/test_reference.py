"""The generated pages are what `make reference` writes."""

from pathlib import Path

import pytest

from docs.generator import ROOT, pages
from docs.generator.markdown import MADE, table

MADE_NOW = pages()


@pytest.mark.parametrize("path", MADE_NOW)
def test_a_page_is_up_to_date(path: str) -> None:
    file = ROOT / path
    assert file.is_file(), "run `make reference`"
    assert file.read_text(encoding="utf-8") == MADE_NOW[path], "run `make reference`"


def test_no_page_is_left_of_what_is_gone() -> None:
    there = [
        str(file.relative_to(ROOT))
        for file in (ROOT / "docs").rglob("*.md")
        if file.read_text(encoding="utf-8").startswith(MADE)
    ]
    assert set(there) == {path for path in MADE_NOW if path.endswith(".md")}


def test_pictures_are_well_formed() -> None:
    from xml.etree import ElementTree

    for path in sorted((ROOT / "docs").rglob("*.svg")):
        root = ElementTree.fromstring(Path(path).read_text(encoding="utf-8"))
        assert root.find("{http://www.w3.org/2000/svg}title") is not None, path


def test_tables_leave_out_what_is_empty() -> None:
    assert table(("a", "b"), [("1", ""), ("2|", "")]) == "| a |\n| --- |\n| 1 |\n| 2\\| |"
    assert table(("a",), []) == ""
