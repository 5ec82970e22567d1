"""What of a checked expression fails on devices, and the whole expression mended."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from dracfg.cel.devices import OWN_DOMAIN
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
from dracfg.check.lints.text import Edit, edited, token_at
from dracfg.check.lints.values import lint_values
from dracfg.lower.selectors import guarded


def lint_tree(
    tree: Expression,
    text: str,
    facts: DriverFacts | None,
    is_first: bool,
    modelled: Modelled,
    labels: AbstractSet[str],
) -> Iterable[LintFinding]:
    """The findings on its look-ups, in no order; see `lint.lint` for what is given."""
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
