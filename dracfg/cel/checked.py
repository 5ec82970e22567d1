"""The checking engine: Google's C++ CEL through cel-expr-python.

An expression is checked in one environment of the engine (declarations.py), then carried in its
serialised form to another that evaluates, rewritten on the way (checkedexpr.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from functools import cached_property, lru_cache
from typing import Any

from cel_expr_python import cel

from dracfg.cel.checkedexpr import FILLED, read, rewrite
from dracfg.cel.cost import estimate
from dracfg.cel.declarations import UNDECIDED, compiler, evaluator, literal_environment
from dracfg.cel.devices import DeviceFacts, Read
from dracfg.cel.messages import decode, encode, message_from_json
from dracfg.cel.outcomes import CompileFailure, Cost, EvaluationError, Undecided, place
from dracfg.cel.reads import find_reads
from dracfg.cel.scope import Inputs, Scope, Value
from dracfg.cel.signatures import Type, opaque_types
from dracfg.cel.syntax import Expression, Identifier, walk
from dracfg.cel.validation import validate
from dracfg.dataclass import dataclass

__all__ = ["CheckingEngine"]

# What is only looked for where something is wrong is compiled when it is.
ISSUE = r"(?m)ERROR: <input>:(\d+):(\d+): (.*?)(?: \[[A-Z_]+\])?$"
STATUS = r"(?s)[A-Z_]+: (.*)"
MISSING_KEY = r'(?s)Key not found in map : "?(.*?)"?$'
UNDECLARED = r"undeclared reference to '([^']+)'"
PATH_BEFORE = r"\w+(?:\s*\.\s*\w+)*\s*$"
# String literals and comments are matched so that nothing is found inside of them.
PRESENCE_TEST = re.compile(
    r"\"\"\".*?\"\"\"|'''.*?'''|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|//[^\n]*"
    r"|\bhas\(\s*(?P<owner>\w+)\s*\.\s*(?P<field>\w+)\s*\)",
    re.DOTALL,
)


@dataclass(frozen=True)
class CheckedProgram:
    """A checked expression, ready for evaluation."""

    tree: Expression
    type: Type
    domains: frozenset[str]
    messages: Mapping[str, str]
    expression: Any = field(repr=False)

    @cached_property
    def reads(self) -> frozenset[Read]:
        """What of a device it may read."""
        return find_reads(self.tree)

    @cached_property
    def names(self) -> frozenset[str]:
        """The variables that it uses, with those of its own comprehensions."""
        return frozenset(node.name for node in walk(self.tree) if isinstance(node, Identifier))

    @cached_property
    def variables(self) -> frozenset[str]:
        """The names under `variables.` that it uses."""
        return frozenset(
            name.partition(".")[2] for name in self.names if name.startswith("variables.")
        )

    @cached_property
    def cost(self) -> Cost:
        """The static estimate."""
        return estimate(self.tree)

    def evaluate(self, inputs: Inputs) -> Value | EvaluationError | Undecided:
        """See `scope.Compiled`; an object of the API may be given as a mapping."""
        data = {
            name: message_from_json(self.messages[name], value)
            if name in self.messages and isinstance(value, Mapping)
            else encode(value)
            for name, value in inputs.items()
            if name in self.names
        }
        return self._evaluate(data)

    def evaluate_device(self, device: DeviceFacts) -> Value | EvaluationError | Undecided:
        """See `scope.Compiled`."""
        inputs: Inputs = {
            "device.driver": device.driver,
            "device.allowMultipleAllocations": device.allow_multiple_allocations,
        }
        for name, values in (("attributes", device.attributes), ("capacity", device.capacity)):
            encoded = encode(dict(values))
            inputs[f"device.{name}"] = encoded
            inputs[FILLED[f"device.{name}"]] = {**{key: {} for key in self.domains}, **encoded}
        return self._evaluate(inputs)

    def _evaluate(self, data: Inputs) -> Value | EvaluationError | Undecided:
        try:
            return _outcome(self.expression.eval(data=data))
        except (LookupError, RuntimeError, ValueError) as error:
            # What an expression itself comes to is a value; this is the engine that gives up.
            return Undecided(f"the engine can't evaluate it: {error}")


class CheckingEngine:
    """Compiles with full type check."""

    name = "cel-expr-python"

    def compile(self, expression: str, scope: Scope) -> CheckedProgram | CompileFailure | Undecided:
        """Parse, check and prepare an expression."""
        return _compile(expression, scope.narrowed(expression))


@lru_cache(maxsize=1024)
def _compile(expression: str, scope: Scope) -> CheckedProgram | CompileFailure | Undecided:
    """Once for all who ask: what a text comes to hangs on nothing else."""
    try:
        compiled = compiler(scope).compile(_without_presence_tests(expression, scope))
    except (RuntimeError, ValueError) as error:
        return _explain(str(error), expression, scope)
    serialised = compiled.serialize()
    tree = read(serialised)
    finding = validate(tree, expression, scope, refuse_literal)
    if finding is not None:
        return finding
    rewritten, domains = rewrite(serialised)
    runnable = evaluator(scope.libraries).deserialize(rewritten)
    messages = {
        name: type_.name
        for name, type_ in scope.variables
        if "." in type_.name and type_.name not in opaque_types()
    }
    return CheckedProgram(tree, tree.type, domains, messages, runnable)


def _without_presence_tests(expression: str, scope: Scope) -> str:
    """`has(device.driver)` as `true`, in the same number of characters and lines.

    The fields of `device` are variables of their own for the engine, which it can't test for; in
    Kubernetes they are always there.
    """
    names = {name for name, _ in scope.variables if "." in name}

    def replace(match: re.Match[str]) -> str:
        owner, field = match["owner"], match["field"]
        if owner is None or f"{owner}.{field}" not in names:
            return match[0]
        return "true" + re.sub(r"[^\n]", " ", match[0][4:])

    return PRESENCE_TEST.sub(replace, expression)


def refuse_literal(function: str, text: str) -> str | None:
    """Why a constant argument of `duration` or `timestamp` is refused, None where it is not."""
    value = literal_environment().compile(f"{function}(text)").eval(data={"text": text})
    if value.type() == cel.Type.ERROR:
        return _status(value.value())
    return None


def _explain(text: str, expression: str, scope: Scope) -> CompileFailure | Undecided:
    """The first of the engine's issues, in cel-go's words where they differ."""
    issues = sorted(
        (int(line), int(column), message) for line, column, message in re.findall(ISSUE, text)
    )
    if not issues:
        return Undecided(f"the engine gives no position: {text}")
    for _, _, message in issues:
        undeclared = re.match(UNDECLARED, message)
        if undeclared and undeclared[1] in scope.objects:
            return Undecided(f"`{undeclared[1]}` is used as a whole")
    line, column, message = issues[0]
    starts = [0, *(match.end() for match in re.finditer("\n", expression))]
    offset = starts[min(line, len(starts)) - 1] + column - 1
    name = re.match(UNDECLARED, message)
    if name and "." in name[1]:
        owner, _, field = name[1].partition(".")
        if owner in scope.objects:
            message = f"undefined field '{field}'"
        elif path := re.search(PATH_BEFORE, expression[:offset]):
            # cel-go points at the first name of a path that leads nowhere.
            message = message.replace(name[1], owner)
            offset = path.start()
    return place(message, expression, offset)


def _outcome(value: Any) -> Value | EvaluationError | Undecided:
    kind = value.type()
    if kind == cel.Type.ERROR:
        message = _status(value.value())
        if UNDECIDED in message:
            return Undecided(message.partition(UNDECIDED)[2])
        return EvaluationError(message)
    # The binding gives away a reference to None that it does not own, which ends badly before
    # CPython 3.12; so null is never asked for.
    if kind == cel.Type.NULL:
        return None
    try:
        plain: Value = decode(value.plain_value())
    except (AssertionError, TypeError, RuntimeError):
        return Undecided(f"a value of type {kind.name()} can't be taken out of the engine")
    return plain


def _status(text: str) -> str:
    """The message of an error in cel-go's words where they differ, without the engine's status code."""
    match = re.fullmatch(STATUS, text)
    message = match[1] if match else text
    if missing := re.search(MISSING_KEY, message):
        return f"no such key: {missing[1]}"
    return message.replace("No matching overloads found :", "no such overload:")
