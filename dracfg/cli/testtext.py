"""A TestReport as text: a table of results, failures with what was said, and what is not covered."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

from dracfg.cli.output import plural

_GREEN, _RED, _RESET = "\x1b[32m", "\x1b[31m", "\x1b[0m"
_MARKS = {True: "ok", False: "FAIL"}


def report_text(report: Mapping[str, Any], width: int, *, colour: bool) -> str:
    """The whole text, with a line end; made from the document alone."""
    lines = _table(report["results"], colour)
    lines += _failures(report["results"], width)
    lines += _coverage(report.get("coverage"))
    return "".join(f"{line}\n" for line in lines)


def _table(results: Iterable[Mapping[str, Any]], colour: bool) -> list[str]:
    rows = [
        (
            _MARKS[one["passed"]],
            one["name"],
            one["cluster"],
            one["expected"],
            one["actual"],
            one["rule"] or "",
        )
        for one in results
    ]
    if not rows:
        return ["no tests; they are read from tests/policy/"]
    head = ("", "test", "cluster", "expected", "actual", "rule")
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    lines = []
    for row in (head, *rows):
        cells = [cell.ljust(size) for cell, size in zip(row, widths, strict=True)]
        if colour and row is not head:
            paint = _GREEN if row[0] == _MARKS[True] else _RED
            cells[0] = f"{paint}{cells[0]}{_RESET}"
        lines.append("  ".join(cells).rstrip())
    return lines


def _failures(results: Iterable[Mapping[str, Any]], width: int) -> list[str]:
    lines = []
    for one in results:
        if one["passed"]:
            continue
        place = f"{one['file']}:{one['line']}: " if one["file"] else ""
        said = one["message"] or "nothing was said"
        lines += ["", f"{place}{one['name']}: expected {one['expected']}, was {one['actual']}"]
        lines += textwrap.wrap(
            said, width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
        )
    return lines


def _coverage(covered: Iterable[Mapping[str, Any]] | None) -> list[str]:
    if covered is None:
        return []
    listed = list(covered)
    missing = [one for one in listed if not (one["denials"] and one["allowances"])]
    lines = ["", f"{len(listed) - len(missing)} of {plural(len(listed), 'validation')} covered"]
    for one in missing:
        lacks = [word for word in ("denials", "allowances") if not one[word]]
        words = " and ".join(f"no {word.removesuffix('s')}" for word in lacks)
        code = one["rule"] or "without a code"
        lines.append(f"  {one['policy']}, validation {one['validation']} ({code}): {words} tested")
    return lines
