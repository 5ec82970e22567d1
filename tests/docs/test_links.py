"""Links between pages lead somewhere, and every page of docs/ has its place in the sidebar."""

import re
from pathlib import Path

import pytest
import yaml

from tests.docs.blocks import ROOT

LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(`{3,}).*?^\1$", re.MULTILINE | re.DOTALL)
PAGES = [
    page
    for page in (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")))
    if "out" not in page.relative_to(ROOT).parts
]


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and the site make them."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return {
        re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        if target.startswith(("http:", "https:")):
            continue
        path, _, anchor = target.partition("#")
        there = page.parent / path if path else page
        assert there.exists(), target
        if anchor:
            assert anchor in anchors(there), target


def test_every_page_has_its_place() -> None:
    """In docs/nav.yaml by its name, or by its folder where an entry ends in `*`."""
    nav = yaml.safe_load((ROOT / "docs" / "nav.yaml").read_text(encoding="utf-8"))
    listed = [page for pages in nav.values() for page in pages]
    assert len(listed) == len(set(listed))
    named = {page for page in (*listed, *nav) if "*" not in page}
    assert all((ROOT / f"{page}.md").is_file() for page in named)
    patterns = [page for page in listed if "*" in page]
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT).with_suffix("")
        assert str(name) in named or any(name.match(pattern) for pattern in patterns), name
