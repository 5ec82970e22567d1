"""Every rule has a page, and each page has the one form."""

import re
from importlib import resources

import pytest
import yaml

from dracfg.diagnostics import pages
from dracfg.diagnostics.registry import rules

WRITTEN = sorted(
    file.name.removesuffix(".md")
    for file in resources.files(pages).iterdir()
    if file.name.endswith(".md")
)
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_every_code_has_a_page() -> None:
    missing = [code for code in rules() if pages.page(code) is None]
    assert not missing, f"{len(missing)} codes without a page: {' '.join(missing)}"


def test_every_page_is_of_a_code() -> None:
    assert set(WRITTEN) <= set(rules())


@pytest.mark.parametrize("code", WRITTEN)
def test_the_form_of_a_page(code: str) -> None:
    text = pages.page(code)
    assert text is not None
    assert pages.faults(text, code, rules()[code].title) == ()
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


@pytest.mark.parametrize("code", WRITTEN)
def test_the_examples_of_a_page(code: str) -> None:
    fences = FENCE.findall(pages.page(code) or "")
    assert len(fences) == 2
    for language, body in fences:
        assert language in ("yaml", "cel", "console", "text")
        if language == "yaml":
            list(yaml.safe_load_all(body))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("# CAP004: another title", "the first line"),
        ("# CAP004: t\n\n## Why it matters", "the headings"),
        ("# CAP004: t\n```yaml\na: 1\n```", "two fenced blocks"),
        ("# CAP004: t\n" + "a" * 111, "longer than 110"),
        ("# CAP004: t", "12 to 45 lines"),
    ],
)
def test_faults_of_a_page(text: str, fault: str) -> None:
    assert any(fault in found for found in pages.faults(text, "CAP004", "t"))
