"""The list of decisions, from their titles."""

from __future__ import annotations

from pathlib import Path

from docs.generator.markdown import page, table

PATH = "docs/explanation/decisions.md"
INTRODUCTION = """\
Choices that a reviewer would question, one page each: the context, the options, the choice and its
price."""


def pages(root: Path) -> dict[str, str]:
    """Path -> text of the list."""
    rows = [
        (f"[{file.stem[:4]}](../decisions/{file.name})", _title(file))
        for file in sorted((root / "docs" / "decisions").glob("*.md"))
    ]
    return {
        PATH: page("Decisions", "docs/decisions/", INTRODUCTION, table(("number", "what"), rows))
    }


def _title(file: Path) -> str:
    return file.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
