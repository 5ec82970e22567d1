"""An expression comes to the same without the libraries that it has no name of."""

from dataclasses import replace

import pytest

pytest.importorskip("cel_expr_python")

from dracfg.cel import admission_environment, device_environment
from dracfg.cel.checked import CheckedProgram, _compile
from dracfg.cel.engines import checking_engine
from dracfg.cel.scope import Scope, _varying
from dracfg.lower.admission.policies import packaged_expressions

SELECTORS = (
    'device.driver == "gpu.example.com"',
    'device.attributes["gpu.example.com"].model in ["a", "b"]',
    'device.capacity["gpu.example.com"].memory.compareTo(quantity("10Gi")) >= 0',
    'device.attributes["gpu.example.com"].models.includes("a")',
    'device.attributes["gpu.example.com"].models.all(model, model.startsWith("a"))',
    "lists.range(3).reverse() == [2, 1, 0]",
    "[3, 1].sort() == [1, 3]",
    "[1, 2].includes(1)",
    'cel.bind(d, device.driver, d == "a" || d == "b")',
    'device.driver.sort() == "no such member"',
    "sort([1])",
    "device.unknown",
    "1 +",
    '"sort" == device.driver',
)
GATES = ("DRAConsumableCapacity", "DRAListTypeAttributes")


def scopes() -> list[Scope]:
    made = []
    for minor in ("1.34", "1.35", "1.36", "1.37"):
        for gates in ((), GATES):
            environment = device_environment(minor, frozenset(gates), checking_engine())
            made += [environment.new, environment.stored]
    return list(dict.fromkeys(made))


@pytest.mark.parametrize("text", SELECTORS)
def test_selectors(text: str) -> None:
    for scope in scopes():
        assert outcome(text, scope) == outcome(text, scope.narrowed(text))


@pytest.mark.parametrize("minor", ["1.34", "1.36", "1.37"])
def test_expressions_of_policies(minor: str) -> None:
    known = admission_environment(minor, has_params=True, engine=checking_engine())
    for text in packaged_expressions():
        for scope in (known.new, known.stored):
            free = replace(scope, results=())
            assert outcome(text, free) == outcome(text, free.narrowed(text))


def test_minors_have_what_they_share_in_common() -> None:
    text = SELECTORS[0]
    assert len({scope.libraries for scope in scopes()}) > 1
    assert len({scope.narrowed(text).libraries for scope in scopes()}) == 1


def test_what_is_named_stays() -> None:
    stored = device_environment("1.36", frozenset(), checking_engine()).stored
    assert stored.narrowed("[1].reverse()").libraries >= {"lists"}
    assert "lists" not in stored.narrowed("[1] == [1]").libraries


def test_names_that_decide_are_words() -> None:
    for name, words in _varying():
        assert words, name
        assert all(word.isidentifier() for word in words), name


def outcome(text: str, scope: Scope) -> object:
    found = _compile(text, scope)
    if isinstance(found, CheckedProgram):
        return found.tree, found.type, found.domains, found.messages, found.cost
    return found
