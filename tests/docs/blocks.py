"""The blocks of a page, and what the comments before them say of how they are tried.

    <!-- file: tenants/vision.yaml -->    the next block is that file, which the reader writes
    <!-- patch -->                        the next block is a diff that the reader makes
    <!-- start: docs/examples/mig -->     from here on the reader stands in a copy of that folder
    <!-- exit: 1 -->                      the commands of the next block end with that code
    <!-- not run: a cluster -->           the next block needs what a test does not have

A `console` block holds commands after `$ `, and below a command what it prints; `...` stands for lines
that are left out, and `…` for the part of a line that differs from run to run. A block of `sh` holds
commands that need something else, and says what.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SHELLS = ("sh", "bash", "shell", "console")
_TOKEN = re.compile(
    r"^<!-- (?P<word>file|patch|start|exit|not run)(?:: (?P<value>[^>]*?))? -->$"
    r"|^(?P<fence>`{3,}) ?(?P<language>[\w-]*)[^\n]*\n(?P<text>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block, or a `start` without one; `notes` are the comments right before it."""

    language: str
    text: str
    notes: dict[str, str]


@dataclass(frozen=True, slots=True)
class Command:
    """A command line, and the lines that the page shows below it."""

    line: str
    shown: tuple[str, ...]


def pages() -> list[Path]:
    """Every page that people read: those of docs/ but the generated and the examples, and of the root."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if "reference" not in page.relative_to(ROOT).parts[1:]]


def blocks(page: Path) -> Iterator[Block]:
    """Blocks in their order. A comment that no block follows counts for the next one."""
    notes: dict[str, str] = {}
    for found in _TOKEN.finditer(page.read_text(encoding="utf-8")):
        if found["word"] == "start":
            yield Block("", "", {"start": found["value"]})
        elif found["word"]:
            notes[found["word"]] = found["value"] or ""
        else:
            yield Block(found["language"], found["text"], notes)
            notes = {}


def commands(block: Block) -> Iterator[Command]:
    """The commands of a `console` block."""
    line = ""
    shown: list[str] = []
    for text in block.text.splitlines():
        if text.startswith("$ "):
            if line:
                yield Command(line, tuple(shown))
            line, shown = text[2:], []
        elif line.endswith("\\"):
            line = line[:-1] + text.strip()
        else:
            shown.append(text)
    if line:
        yield Command(line, tuple(shown))


def is_shown(shown: tuple[str, ...], printed: str) -> bool:
    """Whether a command printed what a page shows; `...` are any lines, `…` is any part of a line."""
    if not shown:
        return True
    parts: list[list[str]] = [[]]
    for line in shown:
        if line == "...":
            parts.append([])
        else:
            parts[-1].append(re.escape(line.rstrip()).replace("…", "[^\n]*") + r"\n")
    told = "".join(f"{line.rstrip()}\n" for line in printed.strip("\n").splitlines())
    return re.fullmatch(r"(?:.*\n)*?".join(map("".join, parts)), told) is not None
