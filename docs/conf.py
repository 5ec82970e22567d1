"""How Sphinx makes the site: `make docs` writes it to .cache/site, without the network.

The root of the sources is the repository, so that a link that leads somewhere in a clone leads there on
the site, and the page of a rule is the file that `dracfg explain` shows. What stands where in the sidebar
is nav.yaml beside this module.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import yaml

import dracfg

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).parent
RULE_PAGES = "dracfg/diagnostics/pages/"
NAV: dict[str, list[str]] = yaml.safe_load((HERE / "nav.yaml").read_text(encoding="utf-8"))

project = "dracfg"
version = release = dracfg.__version__
html_title = f"dracfg {dracfg.__version__}"

extensions = ["myst_parser"]
myst_enable_extensions = ["attrs_block"]
myst_heading_anchors = 4
root_doc = "docs/index"
include_patterns = [
    "docs/**.md",
    f"{RULE_PAGES}*.md",
    "dracfg/link/presets/README.md",
    "tests/*/README.md",
    "*.md",
]
exclude_patterns = ["README.md", ".*", "catalog", "out", "schemas", "tenants"]
suppress_warnings = ["misc.highlighting_failure"]
"""A fragment of YAML in a page need not be a document of its own."""

html_theme = "furo"
html_static_path = ["_site"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_additional_pages = {"index": "start.html"}
templates_path = ["_site"]


def chapters(docname: str, known: set[str]) -> list[str]:
    """The pages below a page, in the order of the sidebar; `*` stands for what is listed nowhere there."""
    placed = {page for pages in NAV.values() for page in pages} | set(NAV)
    found: list[str] = []
    for entry in NAV.get(docname, []):
        rest = [one for one in sorted(known - placed) if PurePosixPath(one).match(entry)]
        found += rest if "*" in entry else [entry]
    return found


def add_chapters(app: Sphinx, docname: str, content: list[str]) -> None:
    """Gives a page its part of the sidebar; the page of a rule has none and leads to the others."""
    if docname.startswith(RULE_PAGES):
        content[0] = (
            f"---\norphan: true\n---\n{content[0]}\n[All rules](/docs/reference/codes.md)\n"
        )
    elif pages := chapters(docname, set(app.env.found_docs)):
        listed = "\n".join(f"/{page}" for page in pages)
        content[0] += f"\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n"


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", add_chapters)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
