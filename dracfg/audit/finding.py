"""A finding of the live level: what is wrong, and whose turn it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from dracfg.audit.view import View
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose

Handling = Literal["retryable", "notRetryable", "needsPerson"]
"""retryable: it mends itself or by trying again. notRetryable: something must be changed in git
first. needsPerson: somebody must look at the node or decide."""


@dataclass(frozen=True, slots=True)
class LiveFinding:
    """A finding; its `help` is the safe next step. `objects` are those it is about."""

    diagnostic: Diagnostic
    handling: Handling
    objects: tuple[str, ...] = ()


LiveRule = Callable[[View], Iterator[LiveFinding]]


def live(
    code: str,
    handling: Handling,
    span: Span | None,
    message: str,
    *,
    step: str,
    objects: Iterable[str] = (),
    label: str = "",
    related: Iterable[Related] = (),
    found: str | None = None,
    expected: str | None = None,
) -> LiveFinding:
    """A finding with its next step. Places in objects that were not read from text are left out."""
    diagnostic = diagnose(
        code, span, message, label=label, related=related, found=found, expected=expected, help=step
    )
    return LiveFinding(diagnostic, handling, tuple(dict.fromkeys(objects)))


def related(place: Span | None, label: str) -> list[Related]:
    """A second place, where there is one."""
    return [Related(place, label)] if place is not None else []
