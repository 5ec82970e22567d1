"""Markdown pages for people: Jinja2 templates of packages, and how text stands in them.

Everything from the catalog is escaped where it meets Markdown and quoted where it meets a shell.
Knows no page.
"""

from __future__ import annotations

import json
import re
import shlex
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Template

OWN = "dracfg.lower"
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


@cache
def page(name: str, package: str = OWN) -> Template:
    """The template `data/<name>` of a package; a word that it is not given is a fault.

    What it imports are templates of this package.
    """
    from jinja2 import Environment, FunctionLoader, StrictUndefined  # few runs render a page

    environment = Environment(
        loader=FunctionLoader(lambda imported: _text(OWN, imported)),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        optimized=False,  # a page is rendered a few times: to look for constants takes longer
    )
    environment.filters.update(prose=prose, code=code, shell=shell, json=json.dumps)
    return environment.from_string(_text(package, name))


def _text(package: str, name: str) -> str:
    return (resources.files(package) / "data" / name).read_text("utf-8")
