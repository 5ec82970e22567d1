"""Collects what is wrong with one recorded object. Knows no kind of object."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, diagnose
from dracfg.source.records import RecordedObject, Steps


@dataclass(slots=True, eq=False)
class Faults:
    """Findings about one object, each placed by its path in it."""

    object: RecordedObject
    found: list[Diagnostic] = field(default_factory=list)

    def add(self, code: str, steps: Steps, message: str, *, key: bool = False, **more: Any) -> None:
        """One more finding; `more` holds what `diagnose` takes beside code, place and message."""
        self.found.append(diagnose(code, self.object.span(*steps, key=key), message, **more))
