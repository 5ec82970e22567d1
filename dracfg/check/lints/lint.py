"""Lint one expression: whether Kubernetes takes it, and what of it fails on devices.

`lint` serves any device selector: of a tier, of a recorded DeviceClass, of a claim. Class selectors
run in their order and before those of the request, and the first that is false ends it
(kubernetes/dynamic-resource-allocation@v0.36.3: structured/internal/*/allocator, `isSelectable`
and `selectorsMatch`); so only the first selector of a class must test the driver.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from functools import cache
from typing import TYPE_CHECKING

from dracfg.cel import (
    CelEnvironment,
    CompileFailure,
    Cost,
    Program,
    Undecided,
    device_environment,
)
from dracfg.cel.outcomes import UNBOUNDED
from dracfg.check.lints.facts import DriverFacts
from dracfg.check.lints.finding import LintFinding
from dracfg.check.lints.text import token_at
from dracfg.link.driver import Driver
from dracfg.link.presets import Preset

if TYPE_CHECKING:
    from dracfg.check.lints.context import Modelled

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
        from dracfg.check.lints.trees import lint_tree  # most repositories have no raw CEL

        facts = facts_of(driver)
        found += lint_tree(tree, expression, facts, is_first, modelled, labels)
    return tuple(sorted(dict.fromkeys(found), key=lambda one: (one.offset, one.code, one.message)))


def compile_selector(
    expression: str, minor: str, gates: Mapping[str, bool] | AbstractSet[str]
) -> Program | LintFinding:
    """The program of a new expression, or why there is none: SEL006, SEL007 or SEL008."""
    outcome = environment(minor, gates).compile(expression)
    if isinstance(outcome, CompileFailure):
        from dracfg.check.lints.refusals import refused

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
