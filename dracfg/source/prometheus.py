"""Answers of Prometheus as its HTTP API gives them: labels and values of each result.

An instant query (`/api/v1/query`) gives a vector, a range query (`/api/v1/query_range`) a matrix.
Knows no metric. Source: prometheus/prometheus docs/querying/api.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from dracfg.dataclass import dataclass

Form = Literal["vector", "matrix"]
_QUERIES: Mapping[Form, tuple[str, str]] = {
    "vector": ("an instant query", "value"),
    "matrix": ("a range query", "values"),
}


class NotAnAnswer(Exception):
    """What a document lacks to be the answer that was expected."""


@dataclass(frozen=True, slots=True)
class Result:
    """One result: its number, its labels, and `[time, text]`, or a list of those for a matrix."""

    number: int
    labels: Mapping[str, str]
    value: Any


def form_of(document: Any) -> str | None:
    """The `resultType` of an answer; None for what is none."""
    data = document.get("data") if isinstance(document, dict) else None
    found = data.get("resultType") if isinstance(data, dict) else None
    return found if isinstance(found, str) else None


def results_of(document: Any, form: Form) -> Iterator[Result]:
    """The results of an answer. Raises NotAnAnswer for anything else."""
    query, key = _QUERIES[form]
    if form_of(document) != form:
        raise NotAnAnswer(f"is no answer of {query}: data.resultType is not {form}")
    results = document["data"].get("result") or []
    if not isinstance(results, list):
        raise NotAnAnswer("has no list data.result")
    for number, result in enumerate(results):
        try:
            labels = {str(name): str(value) for name, value in result["metric"].items()}
            yield Result(number, labels, result[key])
        except (KeyError, TypeError, AttributeError):
            raise NotAnAnswer(f"data.result[{number}] has no metric and {key}") from None
