"""A diff as a fragment of HTML: no script, everything from the repository escaped.

Where it has pictures, their style stands in it once; all else is the page's to style.
"""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from dracfg.diff.render.capacity import HEADINGS, capacity_cells
from dracfg.diff.render.folding import SYMBOLS, Document, rows
from dracfg.diff.render.pictures import Drawn
from dracfg.diff.render.words import EFFECTS, headline, revisions, summary
from dracfg.packaged import packaged_text
from dracfg.picture import style


def render_html(document: Document, drawn: Drawn | None = None) -> str:
    """One `<section>`; classes name impacts and severities, so that a page can style them.

    `drawn` are the pictures of what moved; they come last, each beside what was before.
    """
    return _template().render(
        headline=headline(document),
        revisions=revisions(document),
        summary=summary(document),
        told=[*({"side": None, **one} for one in document["forbidden"]), *document["findings"]],
        rows=rows(document),
        symbols=SYMBOLS,
        effects=EFFECTS,
        headings=HEADINGS,
        capacity=tuple(capacity_cells(document)),
        drawn=drawn or Drawn(),
        style=_style,
        svg=Markup,
    )


def _style() -> Markup:
    """Of the package alone, so that nothing in it is escaped."""
    return Markup(style() + (packaged_text("dracfg.diff.render", "pairs.css") or ""))


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("dracfg.diff.render"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("diff.html.j2")
