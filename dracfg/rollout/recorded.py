"""Answers from a file in place of a server: `{at, source, gates: {<name>: value or values}}` in YAML or JSON.

A value is a number, or a length of time such as `12s`; null says that there was no data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dracfg.rollout.gates import Answer
from dracfg.rollout.prometheus import Answers
from dracfg.source.times import parse_length, parse_time


class NotEvidence(Exception):
    """What a file lacks to be evidence."""


def answers_of(data: Any, raw: bytes, path: str) -> Answers:
    """The answers that a document holds. Raises NotEvidence."""
    if not isinstance(data, dict) or not isinstance(data.get("gates"), dict):
        raise NotEvidence(f"{path} has no map `gates` with a value for each gate")
    at = data.get("at")
    if not isinstance(at, str) or parse_time(at) is None:
        raise NotEvidence(f"{path} doesn't say when it was taken: write `at: 2026-11-29T22:00:00Z`")
    source = data.get("source", path)
    if not isinstance(source, str):
        raise NotEvidence(f"`source` of {path} is not text")
    found: dict[str, Answer] = {name: _answer(value) for name, value in _named(data["gates"], path)}
    return Answers(found, raw, at, source)


def _named(gates: Mapping[Any, Any], path: str) -> list[tuple[str, Any]]:
    if not all(isinstance(name, str) for name in gates):
        raise NotEvidence(f"a gate in {path} has a name that is not text")
    return list(gates.items())


def _answer(value: Any) -> Answer:
    if value is None:
        return Answer()
    values = value if isinstance(value, list) else [value]
    try:
        return Answer(tuple(map(_number, values)))
    except ValueError:
        return Answer(trouble=f"{value!r} is neither a number nor a length of time")


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(value)
    if isinstance(value, str) and value[-1:] in ("s", "m", "h", "d"):
        length = parse_length(value).total_seconds()
        if not length and not value.startswith("0"):
            raise ValueError(value)
        return length
    return float(value)
