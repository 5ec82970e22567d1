"""Which codes a run shows: some, or all but some, by whole codes or by what codes begin with."""

from __future__ import annotations

from collections.abc import Iterable

from dracfg.dataclass import dataclass
from dracfg.diagnostics.diagnostic import Diagnostic
from dracfg.diagnostics.registry import families, rules
from dracfg.diagnostics.suggestion import did_you_mean


@dataclass(frozen=True, slots=True)
class Selection:
    """Beginnings of codes (`CAP`, `CAP004`) to show and to leave out; without any, all are shown.

    Where both say something of a code, the longer beginning holds, and `ignore` of two alike.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def holds(self, code: str) -> bool:
        shown = max((len(p) for p in self.select if code.startswith(p)), default=-1)
        hidden = max((len(p) for p in self.ignore if code.startswith(p)), default=-1)
        return (shown if self.select else 0) > hidden

    def of(self, findings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """The findings that are shown."""
        return tuple(finding for finding in findings if self.holds(finding.code))


class UnknownCode(ValueError):
    """A beginning that no code has; `near` is a code or family that may be meant."""

    def __init__(self, name: str, near: str | None) -> None:
        super().__init__(f"no code is or begins with {name}")
        self.name = name
        self.near = near


def beginnings(values: Iterable[str]) -> tuple[str, ...]:
    """Codes and beginnings out of comma-separated lists. Raises UnknownCode."""
    names = tuple(name for value in values for part in value.split(",") if (name := part.strip()))
    for name in names:
        if not any(code.startswith(name) for code in rules()):
            raise UnknownCode(name, did_you_mean(name.upper(), (*rules(), *families())))
    return names
