"""MOD020 to MOD022: comments that waive a finding, as they are written.

    # dracfg: allow CAP004, SHR008 until 2027-01-31 because the quota moves with the next rack
    # dracfg: allow-file CODES [in PATH] until DATE because REASON

At the end of a line `allow` holds for that line; on a line of its own for what the next line begins:
an entry or item with everything inside it. `allow-file` holds for the whole file, or for the file
that it names, and may then stand in `catalog/` only. What it waives is not looked at here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from dracfg.check.rule import listed
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Span, diagnose, did_you_mean
from dracfg.diagnostics.registry import rules
from dracfg.source import Sources
from dracfg.source.comments import Comment, Extent, below, comments, line_of
from dracfg.source.files import SourceFile

MARK = "dracfg:"
CATALOG = "catalog/"

_WAIVER = re.compile(r"(?:^|.*#)\s*dracfg:\s*(allow(?:-file)?\b.*)")
_PARTS = re.compile(
    r"allow(?P<file>-file)?\s+(?P<codes>[^\s,]+(?:\s*,\s*[^\s,]+)*)(?:\s+in\s+(?P<path>\S+))?"
    r"(?:\s+until\s+(?P<until>\S+))?(?:\s+because\s+(?P<reason>\S.*))?"
)
_FORM = "write `# dracfg: allow CODE until YYYY-MM-DD because REASON`"


@dataclass(frozen=True, slots=True)
class Waiver:
    """One code of one comment. `extent` is the part of the file it holds for, None for all of it."""

    code: str
    until: date
    reason: str
    span: Span
    path: str
    extent: Extent | None

    def holds(self, finding: Diagnostic) -> bool:
        """Whether the finding is of this code and starts where this waiver holds."""
        span = finding.span
        if span is None or finding.code != self.code or span.path != self.path:
            return False
        return self.extent is None or self.extent.holds(span)


def read_waivers(sources: Sources) -> tuple[tuple[Waiver, ...], tuple[Diagnostic, ...]]:
    """Every waiver in the sources, one a code, and what is wrong with those that can't be heeded.

    A file that is not YAML throughout has none, as its comments can't be told from its text.
    """
    torn = {f.span.path for f in sources.faults if f.span is not None and f.is_error}
    found: list[Waiver] = []
    faults: list[Diagnostic] = []
    for file in sources.files.values():
        if file.path in torn:
            continue
        for comment in comments(file, MARK):
            match = _WAIVER.fullmatch(comment.text)
            if match is None:
                continue
            for one in _read(file, comment, match[1].strip()):
                if isinstance(one, Waiver):
                    found.append(one)
                else:
                    faults.append(one)
    return tuple(found), tuple(faults)


def _read(file: SourceFile, comment: Comment, text: str) -> Iterator[Waiver | Diagnostic]:
    parts = _PARTS.fullmatch(text)
    missing = _missing(parts)
    if parts is None or missing:
        yield diagnose("MOD020", comment.span, f"a waiver without {listed(missing)}", help=_FORM)
        return
    try:
        until = date.fromisoformat(parts["until"])
    except ValueError:
        message = f"a waiver until {parts['until']}, which is no day"
        yield diagnose("MOD020", comment.span, message, found=parts["until"], help=_FORM)
        return
    if parts["path"] and not parts["file"]:
        yield diagnose(
            "MOD020",
            comment.span,
            "a waiver for another file that is not for all of it",
            help="write `allow-file`",
        )
        return
    path = parts["path"] or file.path
    extent = None if parts["file"] else line_of(comment)
    if extent is not None and comment.alone:
        extent = below(file, comment)
    for name in re.split(r"\s*,\s*", parts["codes"]):
        fault = _refusal(name, file.path, path, comment)
        yield fault or Waiver(name, until, parts["reason"].strip(), comment.span, path, extent)


def _missing(parts: re.Match[str] | None) -> list[str]:
    if parts is None:
        return ["the form `allow CODES until DATE because REASON`"]
    named = {"until": "a day that it ends on", "reason": "a reason"}
    return [words for key, words in named.items() if not parts[key]]


def _refusal(code: str, here: str, path: str, comment: Comment) -> Diagnostic | None:
    """Why a code can't be waived from here, if so."""
    rule = rules().get(code)
    if rule is None:
        near = did_you_mean(code.upper(), rules())
        mend = f"did you mean {near}?" if near else "a waiver names whole codes, as CAP004"
        return diagnose("MOD021", comment.span, f"there is no code {code}", found=code, help=mend)
    if rule.waivable == "never":
        message = f"{code} can't be waived: {rule.title}"
        return diagnose("MOD022", comment.span, message, found=code, help="mend what it is about")
    from_tenant = not here.startswith(CATALOG)
    if from_tenant and (rule.waivable == "catalog" or path != here):
        message = f"{code} can't be waived from {here}, only from {CATALOG}"
        if rule.waivable != "catalog":
            message = f"{here} can't waive what is found in {path}"
        mend = f"have the platform write `# dracfg: allow-file {code} in {path} …` in {CATALOG}"
        return diagnose("MOD022", comment.span, message, found=code, help=mend)
    return None
