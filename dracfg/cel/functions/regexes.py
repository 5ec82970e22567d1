"""`find` and `findAll` (kubernetes/apiserver: pkg/cel/library/regex.go).

Go's regexp is RE2; Python's `re` agrees on the common part. What only one of them has is Unmodelled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from dracfg.cel.outcomes import Unmodelled

__all__ = ["GLOBALS", "MEMBERS", "compile_pattern"]

# Syntax that RE2 has and `re` lacks or reads otherwise, and the other way round.
GO_ONLY = re.compile(r"\\[pPQECzx0-7]|\[\[?:|\(\?[ims]*[U-]|(?<!^)\(\?[ims]+\)")
PYTHON_ONLY = re.compile(r"\(\?(?:[=!(#>]|<[=!]|P=)|\\[89Z]|[*+?}]\+|\(\?[imsx-]*[aLux]")


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """The pattern for Python; ValueError where Go refuses it too."""
    if GO_ONLY.search(pattern):
        raise Unmodelled(f"the regular expression {pattern!r} uses syntax that only RE2 has")
    if PYTHON_ONLY.search(pattern):
        raise ValueError(f"Illegal regex: {pattern!r} uses syntax that RE2 has not")
    try:
        return re.compile(pattern, re.ASCII)
    except re.error as error:
        raise ValueError(f"Illegal regex: {error}") from error


def find(text: str, pattern: str) -> str:
    """The first match, "" without one."""
    match = _safe(text, pattern).search(text)
    return match[0] if match else ""


def find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    """All matches, at most `limit` unless it is negative."""
    found = []
    end = -1
    for match in _safe(text, pattern).finditer(text):
        # Go drops an empty match that touches the match before it.
        if match.start() == match.end() == end:
            continue
        found.append(match[0])
        end = match.end()
    return found if limit < 0 else found[:limit]


def _safe(text: str, pattern: str) -> re.Pattern[str]:
    if "$" in pattern and text.endswith("\n"):
        raise Unmodelled("`$` before a last line feed is read differently by RE2")
    return compile_pattern(pattern)


GLOBALS: Mapping[str, Callable[..., Any]] = {}
MEMBERS: Mapping[str, Callable[..., Any]] = {"find": find, "findAll": find_all}
