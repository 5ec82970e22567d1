"""The memo by projection: reads are found in full, and the memo changes no answer."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dracfg.cel import DeviceFacts, EvaluationError, Program, Read, Undecided, device_environment
from dracfg.cel.devices import OWN_DOMAIN
from dracfg.cel.engines import checking_engine, interpreting_engine

GATES = frozenset({"DRAConsumableCapacity", "DRAListTypeAttributes"})
DOMAINS = ("a.example", "b.example")
NAMES = ("x", "y", "z")
EXPRESSIONS = (
    'device.driver == "a.example"',
    'device.attributes["a.example"].x == 1',
    'has(device.attributes["a.example"].x) && device.attributes["a.example"].x == true',
    'device.attributes["a.example"].?x.orValue("") == device.attributes["b.example"].?y.orValue("")',
    'cel.bind(d, device.attributes["b.example"], has(d.y) && d.y == "1")',
    'cel.bind(x, device.attributes["a.example"].?x, x.hasValue() && x.value() == 0)',
    'device.attributes[device.driver].x == device.attributes["a.example"].x',
    '"x" in device.attributes["a.example"] || "b.example" in device.attributes',
    'device.attributes.exists(d, "y" in device.attributes[d])',
    'device.attributes["a.example"].exists(name, name == "z")',
    'device.capacity["a.example"].x.isGreaterThan(quantity("1"))',
    'device.capacity[device.driver].size() == device.attributes["a.example"].size()',
    "device.allowMultipleAllocations",
    "size(device.attributes) == 1",
    'device.attributes["a.example"]["x"] == 1 || device.attributes["b.example"]["x"] == 1',
    'device.attributes == {} || device.attributes["c.example"].size() == 0',
    '(device.driver == "a.example" ? device.attributes["a.example"] : {"x": 1}).size() == 1',
    'device.attributes["a.example"].x.includes(device.attributes["b.example"].y)',
)
PROGRAMS = {
    expression: device_environment("1.37", GATES).compile(expression) for expression in EXPRESSIONS
}

OTHERS = {
    expression: device_environment("1.37", GATES, interpreting_engine()).compile(expression)
    for expression in EXPRESSIONS
}

VALUES: st.SearchStrategy[Any] = st.one_of(
    st.booleans(),
    st.integers(0, 1),
    st.sampled_from(("0", "1", "")),
    st.lists(st.integers(0, 1), max_size=2),
)
DEVICES = st.builds(
    DeviceFacts,
    driver=st.sampled_from(DOMAINS),
    attributes=st.dictionaries(
        st.sampled_from(DOMAINS),
        st.dictionaries(st.sampled_from(NAMES), VALUES, min_size=1),
        max_size=2,
    ),
    capacity=st.just({}),
    allow_multiple_allocations=st.booleans(),
)


@pytest.mark.parametrize("expression", EXPRESSIONS)
@given(device=DEVICES)
def test_engines_agree(expression: str, device: DeviceFacts) -> None:
    program, other = PROGRAMS[expression], OTHERS[expression]
    if isinstance(program, Program) and isinstance(other, Program):
        first, second = program.matches(device), other.matches(device)
        if not isinstance(second, Undecided):
            assert second == first or {type(first), type(second)} == {EvaluationError}


def reads_of(expression: str, engine: Any = None) -> set[tuple[str, str, str]]:
    program = device_environment("1.37", GATES, engine).compile(expression)
    assert isinstance(program, Program) and program.reads is not None
    return {(read.field, read.domain, read.id) for read in program.reads}


@pytest.mark.parametrize("expression", EXPRESSIONS)
@given(devices=st.lists(DEVICES, min_size=2, max_size=12))
def test_memo_changes_nothing(expression: str, devices: list[DeviceFacts]) -> None:
    program = PROGRAMS[expression]
    assert isinstance(program, Program)
    assert [program.matches(device) for device in devices] == [
        program.matches_afresh(device) for device in devices
    ]


@pytest.mark.parametrize(
    "engine", [checking_engine(), interpreting_engine()], ids=lambda engine: engine.name
)
@pytest.mark.parametrize(
    ("expression", "reads"),
    [
        ("true", set()),
        ('device.driver == "d"', {("driver", "", "")}),
        ('device.attributes["d"].x == 1', {("attributes", "d", "x")}),
        ('device.attributes["d"]["x"] == 1', {("attributes", "d", "x")}),
        ('has(device.attributes["d"].x)', {("attributes", "d", "x")}),
        ('device.attributes["d"].x.y == 1', {("attributes", "d", "x")}),
        ('device.attributes["d"].size() == 1', {("attributes", "d", "")}),
        ("device.attributes.size() == 1", {("attributes", "", "")}),
        (
            "device.attributes[device.driver].x == 1",
            {("driver", "", ""), ("attributes", OWN_DOMAIN, "x")},
        ),
        (
            'device.attributes[device.driver + "x"].size() == 0',
            {("driver", "", ""), ("attributes", "", "")},
        ),
        ('device.capacity["d"].m.isInteger()', {("capacity", "d", "m")}),
        ('device.attributes["d"].exists(n, n == "x")', {("attributes", "d", "")}),
        ("device.allowMultipleAllocations", {("allowMultipleAllocations", "", "")}),
    ],
)
def test_reads(engine: Any, expression: str, reads: set[tuple[str, str, str]]) -> None:
    assert reads_of(expression, engine) == reads


@pytest.mark.parametrize(
    ("expression", "reads"),
    [
        (
            'cel.bind(d, device.attributes["d"], d.x == 1 && d.y == 2)',
            {("attributes", "d", "x"), ("attributes", "d", "y")},
        ),
        ('cel.bind(v, device.attributes["d"].x, v == 1)', {("attributes", "d", "x")}),
        ('cel.bind(d, device.attributes["d"], [1].all(d, d == 1))', set()),
        ('"x" in device.attributes["d"]', {("attributes", "d", "x")}),
        ('device.attributes[?"d"].?x.hasValue()', {("attributes", "d", "x")}),
        ('device.attributes["d"].exists(k, v, v == 1)', {("attributes", "d", "")}),
    ],
)
def test_reads_of_the_checking_engine(expression: str, reads: set[tuple[str, str, str]]) -> None:
    assert reads_of(expression) == reads


def test_devices_of_one_model_are_evaluated_once() -> None:
    program = device_environment("1.36", frozenset()).compile(
        'device.attributes["d.example"].model == "m"'
    )
    assert isinstance(program, Program)
    counted: list[DeviceFacts] = []

    inner = program.compiled

    class Counting:
        reads = inner.reads
        tree = inner.tree
        variables = inner.variables
        type = inner.type
        cost = inner.cost

        def evaluate(self, inputs: Any) -> Any:
            return inner.evaluate(inputs)

        def evaluate_device(self, device: DeviceFacts) -> Any:
            counted.append(device)
            return inner.evaluate_device(device)

    memoised = Program(program.expression, Counting())
    devices = [
        DeviceFacts("d.example", {"d.example": {"model": model, "uuid": f"{model}-{index}"}}, {})
        for index in range(50)
        for model in ("m", "n")
    ]
    assert sum(memoised.matches(device) is True for device in devices) == 50
    assert len(counted) == 2


def test_keys_tell_types_apart() -> None:
    reads = (Read("attributes", "d", "x"),)
    keys = {
        DeviceFacts("d", {"d": {"x": value}}, {}).project(reads)
        for value in (1, True, "1", [1], [True])
    }
    assert len(keys) == 5
