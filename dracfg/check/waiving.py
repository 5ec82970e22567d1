"""MOD023 to MOD025: what waivers do to findings, and waivers that have ended or waive nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date

from dracfg.check.waivers import Waiver
from dracfg.diagnostics import Diagnostic, Waived, diagnose
from dracfg.diagnostics.registry import Level, rule

_FOUNDATION = ("SRC", "MOD", "REF")
"""With an error of these, documents are missing, and so are the findings that are waived in them."""
_OF_WAIVERS = "MOD02"


def waive(
    findings: Sequence[Diagnostic],
    waivers: Sequence[Waiver],
    today: date | None,
    levels: Collection[Level],
) -> tuple[Diagnostic, ...]:
    """The findings, those that a waiver holds for marked so, and the findings of waivers themselves.

    A waiver holds through the day that it names. Where `today` is not known it holds, and that is
    said. Whether a waiver is of use is judged only for `levels` that were judged.
    """
    valid = [one for one in waivers if today is None or today <= one.until]
    marked = tuple(_marked(findings, valid))
    whole = not any(
        f.is_error and f.code.startswith(_FOUNDATION) and not f.code.startswith(_OF_WAIVERS)
        for f in findings
    )
    judged = [one for one in valid if whole and rule(one.code).level in levels]
    return (*marked, *_ended(waivers, today), *_unused(judged, findings), *_open(valid, today))


def _marked(findings: Iterable[Diagnostic], valid: Iterable[Waiver]) -> Iterator[Diagnostic]:
    by_file: dict[tuple[str, str], list[Waiver]] = {}
    for one in valid:
        by_file.setdefault((one.code, one.path), []).append(one)
    for finding in findings:
        path = finding.span.path if finding.span else ""
        near = by_file.get((finding.code, path), ())
        waiver = next((one for one in near if one.holds(finding)), None)
        if waiver is None:
            yield finding
        else:
            waived = Waived(waiver.until.isoformat(), waiver.reason, waiver.span)
            yield replace(finding, waived=waived)


def _ended(waivers: Iterable[Waiver], today: date | None) -> Iterator[Diagnostic]:
    for one in waivers:
        if today is not None and one.until < today:
            yield diagnose(
                "MOD023",
                one.span,
                f"the waiver of {one.code} ended on {one.until}",
                found=str(one.until),
                expected=f"{today} or later",
                help="mend what it is about, or have a new day reviewed",
            )


def _unused(judged: Iterable[Waiver], findings: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    by_file: dict[tuple[str, str], list[Diagnostic]] = {}
    for finding in findings:
        if finding.span is not None:
            by_file.setdefault((finding.code, finding.span.path), []).append(finding)
    for one in judged:
        if not any(one.holds(finding) for finding in by_file.get((one.code, one.path), ())):
            where = "in this file" if one.extent is None else "here"
            yield diagnose(
                "MOD024",
                one.span,
                f"the waiver of {one.code} waives nothing: {where} is no such finding",
                help="take it out; what has no effect misleads",
            )


def _open(valid: Iterable[Waiver], today: date | None) -> Iterator[Diagnostic]:
    for one in valid if today is None else ():
        yield diagnose(
            "MOD025",
            one.span,
            f"whether the waiver of {one.code} has ended on {one.until} is not known",
            help="give the day with --today, or work in a git repository",
        )
