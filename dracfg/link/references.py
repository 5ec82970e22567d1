"""Follows names to documents, and says where a name leads nowhere.

A document that could not be understood is known to be poisoned: what refers to it is left out
without a second finding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TypeVar

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, diagnose, did_you_mean
from dracfg.model.base import Spec, at

_T = TypeVar("_T")


@dataclass(slots=True)
class References:
    """Collects faults while names are followed."""

    poisoned: set[tuple[str, str]]
    faults: list[Diagnostic] = field(default_factory=list)

    def follow(
        self, kind: str, name: str, known: Mapping[str, _T], holder: Spec, *steps: str | int
    ) -> _T | None:
        """The thing of that name, or None after saying so at the place in `holder`."""
        found = known.get(name)
        if found is not None or (kind, name) in self.poisoned:
            return found
        near = did_you_mean(name, known)
        if near:
            help_ = f"did you mean {near}?"
        elif not known:
            help_ = f"no {kind} is described yet"
        elif len(known) <= 7:
            help_ = f"known: {', '.join(known)}"
        else:
            help_ = None
        self.faults.append(
            diagnose(
                "REF001",
                at(holder, *steps),
                f"no {kind} is named {name!r}",
                found=name,
                help=help_,
                fix=near,
            )
        )
        return None

    def poison(self, kind: str, name: str) -> None:
        self.poisoned.add((kind, name))
