"""Answers of Prometheus, and what is none: prometheus/prometheus docs/querying/api.md."""

from typing import Any

import pytest

from dracfg.source.prometheus import Form, NotAnAnswer, form_of, results_of


def answer(form: str, *results: Any) -> dict[str, Any]:
    return {"status": "success", "data": {"resultType": form, "result": list(results)}}


@pytest.mark.parametrize(
    ("form", "key", "value"),
    [("vector", "value", [1, "0.5"]), ("matrix", "values", [[1, "0.5"], [2, "1"]])],
)
def test_results_with_their_labels(form: Form, key: str, value: Any) -> None:
    document = answer(form, {"metric": {"a": "b", "n": 1}, key: value})
    (one,) = results_of(document, form)
    assert (one.number, one.labels, one.value) == (0, {"a": "b", "n": "1"}, value)


def test_an_answer_without_results() -> None:
    assert list(results_of({"data": {"resultType": "vector"}}, "vector")) == []


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (answer("matrix"), "is no answer of an instant query: data.resultType is not vector"),
        ([], "is no answer of an instant query"),
        ({"data": {"resultType": "vector", "result": 5}}, "has no list data.result"),
        ({"data": []}, "is no answer of an instant query"),
        (answer("vector", {"metric": {}}), r"data.result\[0\] has no metric and value"),
        (answer("vector", {"metric": [], "value": 1}), r"data.result\[0\] has no metric and value"),
        (answer("vector", "up"), r"data.result\[0\] has no metric and value"),
    ],
)
def test_what_is_no_answer(document: Any, said: str) -> None:
    with pytest.raises(NotAnAnswer, match=said):
        list(results_of(document, "vector"))


@pytest.mark.parametrize("document", [None, {}, {"data": None}, {"data": {"resultType": 1}}])
def test_no_form(document: Any) -> None:
    assert form_of(document) is None
