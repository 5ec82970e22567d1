"""What makes two runs speak of the same finding, though lines have moved in between."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator

from dracfg.diagnostics.diagnostic import Diagnostic


def fingerprinted(findings: Iterable[Diagnostic]) -> Iterator[tuple[Diagnostic, str]]:
    """Each finding with 64 hex digits of its code, file and message, and which of several alike it is.

    Neither line nor column is in it, so that an edit above a finding doesn't make it a new one.
    """
    alike: Counter[tuple[str, str, str]] = Counter()
    for finding in findings:
        said = (finding.code, finding.span.path if finding.span else "", finding.message)
        parts = (*said, str(alike[said]))
        alike[said] += 1
        yield finding, hashlib.sha256("\0".join(parts).encode()).hexdigest()
