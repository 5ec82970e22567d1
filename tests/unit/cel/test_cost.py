"""The static cost agrees with upstream's expectations, and never falls below them."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from dracfg.cel import Cost, device_environment
from dracfg.cel.engines import checking_engine, interpreting_engine
from dracfg.cel.outcomes import UNBOUNDED, Undecided

COSTS = yaml.safe_load(Path(__file__).with_name("costs.yaml").read_text("utf-8"))
GATES = frozenset({"DRAConsumableCapacity", "DRAListTypeAttributes"})
ENVIRONMENT = device_environment("1.37", GATES, checking_engine())
DOMAIN = 'device.attributes["dra.example.com"]'


def cost(expression: str) -> Cost:
    result = ENVIRONMENT.cost(expression)
    assert isinstance(result, Cost), result
    return result


@pytest.mark.parametrize("case", COSTS, ids=lambda case: case["expression"][:70])
def test_upstream(case: dict[str, Any]) -> None:
    assert cost(case["expression"]).max == case["max"]


@pytest.mark.parametrize(
    ("expression", "limits"),
    [
        ("true", (0, 0)),
        (f"has({DOMAIN}.a)", (3, 3)),
        (f'{DOMAIN}.a == "x" || {DOMAIN}.b == "x"', (5, 10)),
        (f'{DOMAIN}.a == "x" ? true : {DOMAIN}.b == "x"', (5, 10)),
        ("[1, 2, 3].all(x, x > 0)", (20, 26)),
        ("[1, 2].map(x, x * 2).size() == 2", (51, 51)),
        ('device.capacity["d"].m == quantity("8")', (6, 6)),
        ("[3, 1, 2].sort() == [1, 2, 3]", (50, 50)),
        ("[3, 1, 2].distinct().size() == 3", (41, 41)),
        ("sets.contains([1, 2], [1])", (23, 23)),
    ],
)
def test_own(expression: str, limits: tuple[int, int]) -> None:
    found = cost(expression)
    assert (found.min, found.max) == limits


def test_nested_loops_multiply() -> None:
    one = cost("device.attributes.all(d, d != '')").max
    two = cost("device.attributes.all(d, device.attributes.all(e, d != e))").max
    three = cost(
        "device.attributes.all(d, device.attributes.all(e, device.attributes.all(f, d != f)))"
    ).max
    assert one * 20 < two < one * 100
    assert two * 20 < three < two * 100


@pytest.mark.parametrize(
    "expression",
    [
        "device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, a.matches(b + c))))",
        "[1].map(x, string(x)).map(s, s.matches(s)).size() == 1 && lists.range(1000000).sort().size() == 1",
    ],
)
def test_limit(expression: str) -> None:
    assert ENVIRONMENT.is_too_costly(cost(expression))


def test_under_the_limit() -> None:
    assert not ENVIRONMENT.is_too_costly(Cost(0, 1_000_000))
    assert ENVIRONMENT.is_too_costly(Cost(0, 1_000_001))
    assert not ENVIRONMENT.is_too_costly(
        cost("device.attributes.all(a, device.attributes.all(b, a != b))")
    )


def test_arithmetic_stays_within_64_bits() -> None:
    assert Cost(1, UNBOUNDED) + Cost(1, 1) == Cost(2, UNBOUNDED)
    assert Cost(0, 2**40) * Cost(2, 2**40) == Cost(0, UNBOUNDED)
    assert Cost(1, 21).scaled(0.1) == Cost(1, 3)
    assert Cost(3, 4) | Cost(1, 2) == Cost(1, 4)


def test_the_interpreting_engine_does_not_estimate() -> None:
    environment = device_environment("1.37", GATES, interpreting_engine())
    assert isinstance(environment.cost("true"), Undecided)
