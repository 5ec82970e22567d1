"""A diff as a fragment of HTML: no style, no script, everything from the repository escaped."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from dracfg.diff.render.capacity import HEADINGS, capacity_cells
from dracfg.diff.render.folding import SYMBOLS, Document, rows
from dracfg.diff.render.words import EFFECTS, headline, revisions, summary


def render_html(document: Document) -> str:
    """One `<section>`; classes name impacts and severities, so that a page can style them."""
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
    )


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
