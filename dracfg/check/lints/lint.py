"""Lint one expression: whether Kubernetes takes it, and what of it fails on devices.

`lint` serves any device selector: of a tier, of a recorded DeviceClass, of a claim. Class selectors
run in their order and before those of the request, and the first that is false ends it
(kubernetes/dynamic-resource-allocation@v0.36.3: structured/internal/*/allocator, `isSelectable`
and `selectorsMatch`); so only the first selector of a class must test the driver.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import cache

from dracfg.cel import (
    CelEnvironment,
    CompileFailure,
    Cost,
    Program,
    Undecided,
    device_environment,
)
from dracfg.cel.devices import OWN_DOMAIN
from dracfg.cel.outcomes import UNBOUNDED
from dracfg.cel.syntax import Call, Expression
from dracfg.check.lints.context import Modelled
from dracfg.check.lints.facts import DriverFacts
from dracfg.check.lints.finding import Lint, LintFinding, with_mend
from dracfg.check.lints.guards import (
    Unguarded,
    conjuncts,
    is_driver_test,
    takes_other_drivers,
    unguarded,
)
from dracfg.check.lints.lookups import LookUp, look_ups
from dracfg.check.lints.names import lint_driver_names, lint_names, meant
from dracfg.check.lints.refusals import refused
from dracfg.check.lints.text import Edit, edited, token_at
from dracfg.check.lints.values import lint_values
from dracfg.link.driver import Driver
from dracfg.link.presets import Preset
from dracfg.lower.selectors import guarded

DECIDING_GATES = ("DRAConsumableCapacity", "DRAListTypeAttributes")
"""The gates that an environment of device selectors depends on."""
NOTHING: Modelled = {}


def lint(
    expression: str,
    *,
    driver: Driver | Preset | DriverFacts | None,
    minor: str,
    gates: Mapping[str, bool] | AbstractSet[str],
    is_first: bool,
    modelled: Modelled = NOTHING,
    labels: AbstractSet[str] = frozenset(),
) -> tuple[LintFinding, ...]:
    """Everything to be said of a device selector, in the order of its text.

    `driver` is whose devices it is meant for; without it names and types are not judged. `gates`
    are those that are on. `is_first` where no other selector runs before it. `modelled` is what
    the device that is meant publishes, `labels` are labels of nodes. Raises ValueError for a minor
    before 1.34.
    """
    outcome = compile_selector(expression, minor, gates)
    if isinstance(outcome, LintFinding):
        return (outcome,)
    found = [*judge_cost(outcome, minor, gates)]
    tree = outcome.tree
    if tree is not None:
        facts = facts_of(driver)
        found += _lint_tree(tree, expression, facts, is_first, modelled, labels)
    return tuple(sorted(dict.fromkeys(found), key=lambda one: (one.offset, one.code, one.message)))


def compile_selector(
    expression: str, minor: str, gates: Mapping[str, bool] | AbstractSet[str]
) -> Program | LintFinding:
    """The program of a new expression, or why there is none: SEL006, SEL007 or SEL008."""
    outcome = environment(minor, gates).compile(expression)
    if isinstance(outcome, CompileFailure):
        return refused(outcome, expression)
    if isinstance(outcome, Undecided):
        return _undecided(expression, outcome.reason)
    return outcome


def judge_cost(
    program: Program, minor: str, gates: Mapping[str, bool] | AbstractSet[str]
) -> tuple[LintFinding, ...]:
    """SEL007 for an expression that kube-apiserver finds too costly, SEL008 where that is not known."""
    cost, known = program.cost, environment(minor, gates)
    if isinstance(cost, Undecided):
        return (_undecided(program.expression, cost.reason),)
    if not known.is_too_costly(cost):
        return ()
    word = token_at(program.expression, 0)
    return (
        LintFinding(
            "SEL007",
            word.start,
            word.length,
            f"Kubernetes refuses this expression: {_priced(cost)}, the limit is {known.cost_limit:,}",
            "compare with == or `in` in place of matches() and of loops over attributes",
            label="too costly",
        ),
    )


def environment(minor: str, gates: Mapping[str, bool] | AbstractSet[str]) -> CelEnvironment:
    """The environment of a minor with these gates; the same one for all that they don't decide."""
    on = (
        name
        for name in DECIDING_GATES
        if (gates.get(name) if isinstance(gates, Mapping) else name in gates)
    )
    return _environment(minor, frozenset(on))


def facts_of(driver: Driver | Preset | DriverFacts | None) -> DriverFacts | None:
    """What is known of a driver, from wherever."""
    if isinstance(driver, Driver):
        return DriverFacts.of_driver(driver)
    return DriverFacts.of_preset(driver) if isinstance(driver, Preset) else driver


@cache
def _environment(minor: str, gates: frozenset[str]) -> CelEnvironment:
    return device_environment(minor, gates)


def _undecided(expression: str, reason: str) -> LintFinding:
    word = token_at(expression, 0)
    return LintFinding(
        "SEL008",
        word.start,
        word.length,
        f"whether Kubernetes takes this expression is not known here: {reason}",
        "try it on a cluster: kubectl apply --dry-run=server",
        label="not judged",
    )


def _priced(cost: Cost) -> str:
    if cost.max >= UNBOUNDED:
        return "nothing bounds its cost"
    return f"it may cost {cost.max:,} units"


def _lint_tree(
    tree: Expression,
    text: str,
    facts: DriverFacts | None,
    is_first: bool,
    modelled: Modelled,
    labels: AbstractSet[str],
) -> Iterable[LintFinding]:
    name = facts.name if facts is not None else None
    found = look_ups(tree, text, name)
    lints = [
        *lint_names(found, facts, labels),
        *lint_driver_names(tree, text, facts),
        *lint_values(tree, text, found, facts, modelled),
    ]
    bare = tuple(unguarded(tree, found, name))
    tests = not is_first or not takes_other_drivers(tree)
    insertions = _insertions(tree, text, bare, None if tests else name, facts)
    if not tests:
        lints.append(_without_driver(text, name, insertions))
    lints += [_without_guard(one, facts, insertions) for one in bare]
    edits = [edit for lint in lints for edit in lint.edits]
    mended = edited(text, edits) if edits else None
    return with_mend(lints, mended)


def _insertions(
    tree: Expression,
    text: str,
    bare: Iterable[Unguarded],
    driver: str | None,
    facts: DriverFacts | None,
) -> tuple[Edit, ...]:
    """The tests that come before the expression, or behind the test of the driver in it."""
    terms = [f'device.driver == "{driver}"'] if driver is not None else []
    terms += dict.fromkeys(_guard(one.look_up, facts) for one in bare if not one.otherwise)
    if not terms:
        return ()
    joined = " && ".join(terms)
    parts = conjuncts(tree)
    if driver is None and len(parts) > 1 and is_driver_test(parts[0]):
        at = _first_join(tree) + len("&&")
        return (Edit(at, at, f" {joined} &&"),)
    if isinstance(tree, Call) and tree.function in ("_||_", "_?_:_"):
        end = len(text.rstrip())
        return (Edit(0, 0, f"{joined} && ("), Edit(end, end, ")"))
    return (Edit(0, 0, f"{joined} && "),)


def _guard(look_up: LookUp, facts: DriverFacts | None) -> str:
    wanted = meant(look_up, facts)
    guard, _ = guarded(wanted.root, wanted.domain, wanted.name)
    return guard.replace(f'"{OWN_DOMAIN}"', "device.driver")


def _first_join(tree: Expression) -> int:
    """Where the first `&&` of the terms stands."""
    at = tree.offset
    while isinstance(tree, Call) and tree.function == "_&&_":
        at, tree = tree.offset, tree.arguments[0]
    return at


def _without_driver(text: str, driver: str | None, insertions: tuple[Edit, ...]) -> Lint:
    word = token_at(text, 0)
    finding = LintFinding(
        "SEL009",
        word.start,
        word.length,
        "nothing tests the driver, so this is put to the devices of every driver in the cluster",
        'begin with device.driver == "…" &&',
        label="no test of device.driver",
    )
    return Lint(finding, insertions if driver is not None else ())


def _without_guard(
    bare: Unguarded, facts: DriverFacts | None, insertions: tuple[Edit, ...]
) -> Lint:
    look_up = bare.look_up
    word = look_up.name
    finding = LintFinding(
        "SEL010",
        word.start if word is not None else look_up.node.offset,
        word.length if word is not None else 1,
        f"{look_up.read.id} is read without a guard: one device that lacks it ends the "
        "scheduling of the pod with an error",
        f"put {_guard(look_up, facts)} before it",
        label="not every device may have it",
    )
    return Lint(finding, insertions if not bare.otherwise else ())
