"""Every form that a diff can have, by its name; all are made from the JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dracfg.cli.output import HOST_FORMS, Findings, host_text
from dracfg.dataclass import dataclass
from dracfg.diff.document import document_text
from dracfg.diff.plan import DiffPlan

FORMS = ("text", "markdown", "html", "json", *HOST_FORMS)


@dataclass(frozen=True, slots=True)
class Look:
    """The room that a rendering has, and where a comment leads.

    `most_bytes` is None where there is no limit but the host's. `marker` names the comment, `files`
    is the address that paths of the head are put behind, `report` that of the whole report.
    """

    colour: bool = False
    width: int = 80
    most_bytes: int | None = None
    dialect: str = "github"
    marker: str = "default"
    files: str | None = None
    report: str | None = None


def form_text(
    form: str, plan: DiffPlan, document: Mapping[str, Any], look: Look, root: Path
) -> str:
    """The diff in one of FORMS."""
    match form:
        case "json":
            return document_text(document)
        case "text":
            from dracfg.diff.render.text import render_text

            return render_text(document, colour=look.colour, width=look.width, most=look.most_bytes)
        case "markdown":
            return _markdown(document, look)
        case "html":
            from dracfg.diff.render.html import render_html
            from dracfg.diff.render.pictures import draw_changes

            return render_html(document, draw_changes(plan))
        case _:
            from dracfg.diff.render.hosts import as_findings

            listed = as_findings(plan)
            return host_text(Findings(listed, lambda _path: (), dict, root), form)


def _markdown(document: Mapping[str, Any], look: Look) -> str:
    from dracfg.diff.render.markdown import MOST, Link, render_markdown

    return render_markdown(
        document,
        most=MOST if look.most_bytes is None else look.most_bytes,
        dialect="plain" if look.dialect == "plain" else "github",
        marker=look.marker,
        link=Link(look.files, look.report),
    )
