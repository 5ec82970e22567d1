"""How text stands in Markdown pages for people.

Everything from the catalog is escaped where it meets Markdown and quoted where it meets a shell.
Knows no page. Pages that every compile writes are made by functions (docs/decisions/0010).
"""

from __future__ import annotations

import re
import shlex

_MARKUP = re.compile(r"([\\`*_\[\]<>|~&#])")
_BACKTICKS = re.compile("`+")


def prose(text: object) -> str:
    """Text as it stands in a sentence or a table: one line, nothing of it taken for markup."""
    return _MARKUP.sub(r"\\\1", one_line(text))


def code(text: object) -> str:
    """Text as a code span, whatever backticks it holds."""
    plain = one_line(text)
    longest = max((len(run) for run in _BACKTICKS.findall(plain)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{plain}{pad}{fence}"


def shell(text: object) -> str:
    """Text as one word of a shell command."""
    return shlex.quote(one_line(text))


def one_line(text: object) -> str:
    """Text without line breaks and without characters that a reader can't see."""
    visible = "".join(letter if letter.isprintable() else " " for letter in str(text))
    return " ".join(visible.split())
