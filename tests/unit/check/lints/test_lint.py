"""Lints of single expressions: the public function, the guard logic, meanings, words of refusal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dracfg.cel import Program
from dracfg.cel.devices import DeviceFacts
from dracfg.check.lints import DriverFacts, LintFinding, compile_selector, lint
from dracfg.check.lints.context import Modelled
from dracfg.check.lints.guards import takes_other_drivers, unguarded
from dracfg.check.lints.lookups import look_ups
from dracfg.check.lints.meaning import meaning
from dracfg.kube.quantity import Quantity
from dracfg.link.presets import load_preset

GATES = frozenset({"DRAConsumableCapacity"})
X, Y = 'device.attributes["d.io"].x', 'device.attributes["d.io"].y'


def program(text: str) -> Program:
    compiled = compile_selector(text, "1.36", GATES)
    assert isinstance(compiled, Program), compiled
    return compiled


def findings(
    text: str,
    driver: str = "gpu.nvidia.com",
    *,
    is_first: bool = False,
    minor: str = "1.36",
    modelled: Modelled | None = None,
) -> tuple[LintFinding, ...]:
    return lint(
        text,
        driver=load_preset(driver),
        minor=minor,
        gates=GATES,
        is_first=is_first,
        modelled=modelled or {},
    )


def test_the_three_faults_of_one_line() -> None:
    text = 'device.attributes["gpu-driver.example.com"].memory >= "16Gi"'
    found = findings(text, "gpu.example.com", is_first=True)
    assert [one.code for one in found] == ["SEL009", "SEL011", "SEL012", "SEL010", "SEL003"]
    memory = 'device.capacity["gpu.example.com"].memory'
    mended = f'has({memory}) && {memory}.compareTo(quantity("16Gi")) >= 0'
    assert {one.help for one in found} == {f'write device.driver == "gpu.example.com" && {mended}'}


NVIDIA = 'device.attributes["gpu.nvidia.com"]'
BRAND, CUDA = f"{NVIDIA}.brand", f'{NVIDIA}["cudaDriverVersion"]'
VERSION = f"{NVIDIA}.driverVersion"


@pytest.mark.parametrize(
    ("text", "codes", "mended"),
    [
        (
            f"has({VERSION}) && {VERSION} >= semver('550.127.8')",
            {"SEL006"},
            f"has({VERSION}) && {VERSION}.compareTo(semver('550.127.8')) >= 0",
        ),
        (
            f"has({VERSION}) && {VERSION} == '550.127.08'",
            {"SEL003"},
            f'has({VERSION}) && {VERSION}.compareTo(semver("550.127.8")) == 0',
        ),
        (
            f'device.driver == "gpu.nvidia.com" && {BRAND} == "Tesla"',
            {"SEL010"},
            f'device.driver == "gpu.nvidia.com" && has({BRAND}) && {BRAND} == "Tesla"',
        ),
        (
            f'{BRAND} == "A" ||\n{BRAND} == "B"',
            {"SEL010"},
            f'has({BRAND}) && ({BRAND} == "A" || {BRAND} == "B")',
        ),
        (
            f'{NVIDIA}[?"cudaDriverVersion"].hasValue() && {CUDA}.major() > semver("12.04").major()',
            {"SEL001"},
            f'{NVIDIA}[?"cudaDriverVersion"].hasValue() && {CUDA}.major() > semver("12.4.0").major()',
        ),
        (f"has({NVIDIA}.productNmae)", {"SEL002"}, f"has({NVIDIA}.productName)"),
        (f'"gpu.nvidia.com/type" in {NVIDIA}', {"SEL002"}, f'"type" in {NVIDIA}'),
    ],
)
def test_mended_expressions(text: str, codes: set[str], mended: str) -> None:
    found = findings(text)
    assert {one.code for one in found} == codes
    assert {one.help for one in found} == {f"write {mended}"}
    assert not findings(mended)


@pytest.mark.parametrize(
    ("version", "codes"),
    [("25.3.2", []), ("25.8.0", ["SEL005"]), ("0.4.1", ["SEL005"]), (None, ["SEL002"])],
)
def test_an_attribute_that_was_dropped(version: str | None, codes: list[str]) -> None:
    facts = DriverFacts.of_preset(load_preset("gpu.nvidia.com"), version)
    text = 'has(device.attributes["gpu.nvidia.com"].index)'
    found = lint(text, driver=facts, minor="1.36", gates=GATES, is_first=False)
    assert [one.code for one in found] == codes
    assert all("no more since 25.8.0" in one.message for one in found)


@pytest.mark.parametrize(
    ("text", "is_first", "found"),
    [
        ('device.driver == "gpu.nvidia.com"', True, []),
        ('"gpu.nvidia.com" == device.driver', True, []),
        ('device.driver in ["gpu.nvidia.com", "gpu.amd.com"]', True, []),
        ('device.driver.endsWith(".nvidia.com")', True, []),
        ("!device.allowMultipleAllocations", True, ["SEL009"]),
        ("!device.allowMultipleAllocations", False, []),
        ('!device.allowMultipleAllocations && device.driver == "gpu.nvidia.com"', True, []),
        ('device.allowMultipleAllocations || device.driver == "gpu.nvidia.com"', True, ["SEL009"]),
        ('device.driver != "gpu.amd.com"', True, ["SEL009"]),
        ('device.driver == "gpu.amd.com"', True, ["SEL017"]),
        ('device.driver == "gpu.nvidia.com" ? true : false', True, []),
    ],
)
def test_the_test_of_the_driver(text: str, is_first: bool, found: list[str]) -> None:
    assert [one.code for one in findings(text, is_first=is_first)] == found


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        (f"{X} == 1", ["x"]),
        (f"has({X}) && {X} == 1", []),
        (f"{X} == 1 && has({X})", []),
        (f"!has({X}) || {X} == 1", []),
        (f"has({X}) || {X} == 1", ["x"]),
        (f"has({X}) ? {X} == 1 : {Y} == 1", ["y"]),
        (f"has({X}) && ({X} == 1 || {Y} == 1)", ["y"]),
        (f"has({Y}) && {X} == 1", ["x"]),
        (f'"x" in device.attributes["d.io"] && {X} == 1', []),
        (f'"d.io" in device.attributes && {X} == 1', ["x"]),
        ('device.attributes["d.io"].?x.orValue(0) == 1', []),
        ('device.attributes["d.io"].?x.value() == 1', ["x"]),
        (f'device.attributes["d.io"].?x.hasValue() && {X} == 1', []),
        ('device.attributes["d.io"].?x.optMap(v, v == 1).orValue(false)', []),
        (f"[1, 2].exists(i, {X} == i)", ["x"]),
        (f"has({X}) && [1, 2].exists(i, {X} == i)", []),
        (f"[1, 2].exists(i, has({X}) && {X} == i)", []),
        ('cel.bind(a, device.attributes["d.io"], has(a.x) && a.x == 1)', []),
        ('cel.bind(a, device.attributes["d.io"], a.x == 1)', ["x"]),
        (f"cel.bind(is, has({X}), is && {X} == 1)", []),
        ('device.attributes[device.driver].x == 1 && has(device.attributes["d.io"].x)', []),
        (f"(has({X}) && false) || ({X} == 1 && false)", []),
        ('device.capacity["d.io"].x.isInteger()', ["x"]),
        (f'has({X}) && device.capacity["d.io"].x.isInteger()', ["x"]),
    ],
)
def test_guards(text: str, bare: list[str]) -> None:
    tree = program(text).tree
    assert tree is not None
    found = unguarded(tree, look_ups(tree, text, "d.io"), "d.io")
    assert [one.look_up.read.id for one in found] == bare


TERMS = st.sampled_from(
    [f"has({X})", f"{X} == 1", f"has({Y})", f"{Y} == 1", 'device.driver == "d.io"']
)
EXPRESSIONS = st.recursive(
    TERMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["&&", "||"]), inner).map(lambda p: f"({' '.join(p)})"),
        inner.map(lambda text: f"!({text})"),
        st.tuples(inner, inner, inner).map(lambda p: f"({p[0]} ? {p[1]} : {p[2]})"),
    ),
    max_leaves=6,
)


@given(EXPRESSIONS)
def test_what_raises_on_some_device_is_unguarded(text: str) -> None:
    """No look-up that the engine fails on is taken for guarded."""
    compiled = program(text)
    tree = compiled.tree
    assert tree is not None
    names = {one.look_up.read.id for one in unguarded(tree, look_ups(tree, text, "d.io"), "d.io")}
    for missing, other in (("x", "y"), ("y", "x")):
        for value in (1, 2):
            outcome = compiled.matches(DeviceFacts("d.io", {"d.io": {other: value}}, {}))
            assert isinstance(outcome, bool) or missing in names


@given(EXPRESSIONS)
def test_what_takes_another_driver_is_found(text: str) -> None:
    compiled = program(text)
    tree = compiled.tree
    assert tree is not None
    for x, y in ((1, 1), (1, 2), (2, 1), (2, 2)):
        device = DeviceFacts("other.io", {"d.io": {"x": x, "y": y}}, {})
        assert compiled.matches(device) is False or takes_other_drivers(tree)


@pytest.mark.parametrize(
    ("text", "modelled", "fix"),
    [
        ("{} && {}.isGreaterThan(quantity('40Gi'))", "40Gi", 1),
        ("{} && {}.isGreaterThan(quantity('40960Mi'))", "40Gi", 1),
        ("{} && {}.isGreaterThan(quantity('39Gi'))", "40Gi", 0),
        ("{} && {}.isLessThan(quantity('40Gi'))", "40Gi", 1),
        ("{} && {}.compareTo(quantity('40Gi')) >= 0", "40Gi", 0),
    ],
)
def test_bounds_at_the_modelled_device(text: str, modelled: str, fix: int) -> None:
    memory = 'device.capacity["gpu.nvidia.com"].memory'
    written = text.format(f"has({memory})", memory)
    found = findings(written, modelled={"gpu.nvidia.com/memory": Quantity.parse(modelled)})
    assert [one.code for one in found] == ["SEL013"] * fix
    assert all("compareTo" in (one.help or "") for one in found)


@pytest.mark.parametrize(
    ("left", "right", "alike"),
    [
        (f"has({X}) && {X} == 1", f"1 == {X}  &&  ('x' in device.attributes['d.io'])", True),
        (f"{X} == 1", "device.attributes[device.driver]['x'] == 1", True),
        (f"({X} == 1 && {Y} == 1) && has({X})", f"has({X}) && ({Y} == 1 && {X} == 1)", True),
        (f"{X} == 1 || {Y} == 1", f"{Y} == 1 || {X} == 1", True),
        (f"{X} == 1 || {Y} == 1", f"{Y} == 1 && {X} == 1", False),
        (f"{X} == 1", f"{X} == 1.0", False),
        (f"{X} == 1", f"{X} == '1'", False),
        (f"{X} < {Y}", f"{Y} < {X}", False),
        ("device.driver == 'd.io'", 'device.driver == "d.io"', True),
        ("device.driver == 'd.io'", 'device.driver == "e.io"', False),
    ],
)
def test_meanings(left: str, right: str, alike: bool) -> None:
    trees = [program(text).tree for text in (left, right)]
    assert trees[0] is not None and trees[1] is not None
    assert (meaning(trees[0], "d.io") == meaning(trees[1], "d.io")) == alike


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ('device.drver == "x"', "drver", "device has no field drver"),
        ('devise.driver == "x"', "devise", "nothing is called devise"),
        ('device.driver.lowerAsci() == "x"', "lowerAsci", "nothing is called lowerAsci"),
        ('device.driver == "x" &&', "&", "it ends too early"),
        ('device.driver = "x"', "=", "= does not go on from what stands before"),
        ("device.driver", "device", "it comes to text, not to true or false"),
        ("device.driver && true", "&&", "&& joins conditions, not text and true or false"),
        ('[1, "a"].size() == 2', '"a"', "text stands in a list that begins with a number"),
        ('device.capacity["a"].b == 1', "==", "a quantity and a number can't be compared with =="),
        (
            'device.driver.substring("a") == ""',
            "substring",
            "substring does not take text and text",
        ),
    ],
)
def test_refusals(text: str, place: str, words: str) -> None:
    (found,) = findings(text)
    assert found.code == "SEL006"
    assert text[found.offset : found.offset + found.length] == place
    assert found.label == words
    assert found.help


@pytest.mark.parametrize(("minor", "codes"), [("1.34", ["SEL006"]), ("1.35", []), ("1.37", [])])
def test_a_library_serves_new_expressions_one_minor_later(minor: str, codes: list[str]) -> None:
    found = findings("[1, 1].distinct().size() == 1", minor=minor)
    assert [one.code for one in found] == codes


def test_a_variable_that_a_gate_brings() -> None:
    text = 'device.driver == "gpu.nvidia.com" && device.allowMultipleAllocations'
    off = lint(text, driver=None, minor="1.34", gates=frozenset(), is_first=True)
    assert [one.code for one in off] == ["SEL006"]
    assert "DRAConsumableCapacity" in off[0].message
    assert not lint(text, driver=None, minor="1.34", gates=GATES, is_first=True)


def test_size_and_cost() -> None:
    padding = "x" * 10_240
    (found,) = findings(f'device.driver == "{padding}"')
    assert found.code == "SEL007"
    loops = "device.attributes.all(a, device.attributes[a].all(b, device.attributes[a].all(c, {})))"
    assert not findings(loops.format("true"))
    (found,) = findings(loops.format("device.attributes[a].all(d, b + c != d)"))
    assert found.code == "SEL007"
    assert "the limit is 1,000,000" in found.message


def test_without_a_driver_names_are_not_judged() -> None:
    text = 'has(device.attributes["a.io"].b) && device.attributes["a.io"].b == 1'
    assert not lint(text, driver=None, minor="1.36", gates=GATES, is_first=False)
