"""What a compile came to, as plain data that JSON can carry and commands can show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, Literal, cast

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Related, Severity, Span, Waived

Verdict = Literal["proven", "refuted", "unknown"]


@dataclass(frozen=True, slots=True)
class MovedUnit:
    """A unit that a compile changes or would change, with the names of its files."""

    path: str
    status: str
    created: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The findings of a run, and of a compile what became of the tree.

    `unproven` counts guarantees whose proofs were left open; `recorded` says whether any cluster has
    recorded devices, `compared` whether the tree was looked at, `written` whether it is as wanted
    now. `clusters`, `tenants` and `objects` count what was in scope, `units` all units of it,
    `moved` those that differed.
    """

    findings: tuple[Diagnostic, ...]
    verdict: Verdict
    has_errors: bool
    unproven: int
    recorded: bool
    compared: bool = False
    written: bool = False
    stale: bool = False
    lock_fault: str | None = None
    clusters: int = 0
    tenants: int = 0
    objects: int = 0
    units: int = 0
    moved: tuple[MovedUnit, ...] = ()


def to_data(outcome: Outcome) -> dict[str, Any]:
    """The outcome as JSON's data."""
    return asdict(outcome)


def from_data(data: Mapping[str, Any]) -> Outcome:
    """The outcome of `to_data`. Raises KeyError, TypeError or ValueError for anything else."""
    values = {**data, "findings": findings_from(data["findings"])}
    values["moved"] = tuple(MovedUnit(**_with_tuples(unit)) for unit in data["moved"])
    return Outcome(**values)


def findings_to(findings: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    """Findings as JSON's data."""
    return [asdict(finding) for finding in findings]


def findings_from(data: Iterable[Mapping[str, Any]]) -> tuple[Diagnostic, ...]:
    """The findings of `findings_to`. Raises KeyError, TypeError or ValueError for anything else."""
    return tuple(map(_finding, data))


def _with_tuples(unit: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in unit.items()}


def _finding(data: Mapping[str, Any]) -> Diagnostic:
    waived = data["waived"]
    return Diagnostic(
        **{
            **data,
            "severity": cast("Severity", data["severity"]),
            "span": _span(data["span"]),
            "related": tuple(Related(Span(**one["span"]), one["label"]) for one in data["related"]),
            "waived": None
            if waived is None
            else Waived(**{**waived, "span": Span(**waived["span"])}),
        }
    )


def _span(data: Mapping[str, Any] | None) -> Span | None:
    return None if data is None else Span(**data)
