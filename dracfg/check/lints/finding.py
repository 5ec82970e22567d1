"""What a lint says of one expression: a code, a place in its text and how to mend it.

Places count code points of the expression; where that stands in a file is for the caller.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from dracfg.check.lints.text import Edit
from dracfg.dataclass import dataclass

MEND = "write "
"""How a help begins that consists of the whole mended expression."""


@dataclass(frozen=True, slots=True)
class LintFinding:
    """A finding on `length` characters at `offset`; `fix` would replace just these.

    `help` is the whole mended expression after the word "write" where that is known, else advice.
    `label` stands under the caret; `subject` is a label of nodes that the finding is about.
    """

    code: str
    offset: int
    length: int
    message: str
    help: str | None = None
    fix: str | None = None
    label: str = ""
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Lint:
    """A finding before its expression is mended: with its own part of the mend."""

    finding: LintFinding
    edits: tuple[Edit, ...] = ()


def with_mend(lints: Iterable[Lint], mended: str | None) -> Iterator[LintFinding]:
    """The findings; those with a part in the mend get the mended expression as help."""
    for lint in lints:
        if lint.edits and mended is not None:
            yield replace(lint.finding, help=f"{MEND}{mended}")
        else:
            yield lint.finding
