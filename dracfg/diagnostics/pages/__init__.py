"""The page of each rule, `<CODE>.md` beside this module. Knows nothing of how a page is shown."""

from __future__ import annotations

from pathlib import Path

from dracfg.packaged import packaged_path, packaged_text

HEADINGS = ("What it means", "Why it matters", "How to mend it", "An example")
"""The headings of a page, in order."""


def page(code: str) -> str | None:
    """The page of a rule as Markdown, `# CODE: title` first; None where none is written."""
    return packaged_text(__name__, f"{code}.md")


def page_path(code: str) -> Path | None:
    """The file of a rule's page, for what opens files; None where it is not on disk."""
    return packaged_path(__name__, f"{code}.md")


def faults(text: str, code: str, title: str) -> tuple[str, ...]:
    """What is wrong with the form of a page: its title, its headings, its length, its example."""
    lines = text.split("\n")
    found = []
    if lines[0] != f"# {code}: {title}":
        found.append(f"the first line is not '# {code}: {title}'")
    headings = tuple(line[3:] for line in lines if line.startswith("## "))
    if headings != HEADINGS:
        found.append(f"the headings are {headings}, not {HEADINGS}")
    fences = [line for line in lines if line.startswith("```")]
    if len(fences) != 4:
        found.append(
            "the example is not two fenced blocks: what trips the rule, and the mended form"
        )
    if max(map(len, lines)) > 110:
        found.append("a line is longer than 110 characters")
    if not 12 <= len([line for line in lines if line.strip()]) <= 45:
        found.append("a page has 12 to 45 lines that are not empty")
    return tuple(found)
