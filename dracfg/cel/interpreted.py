"""The interpreting engine: cel-python, for platforms without a wheel of the checking engine.

It knows no types. A type error is found when the expression is evaluated, or not at all; the cost is
not estimated. Optional syntax, two-variable macros and the extension libraries are not in it: such
an expression is Undecided. Unknown functions and unknown fields of `device` are still refused.
"""

from __future__ import annotations

import datetime
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import celpy
import lark
from celpy import celtypes
from celpy.celparser import CELParseError
from celpy.evaluation import CELEvalError, CELUnsupportedError, base_functions, celstr

from dracfg.cel.devices import DeviceFacts, Read
from dracfg.cel.functions import IMPLEMENTATIONS, Implementation
from dracfg.cel.functions.lists import equal
from dracfg.cel.functions.networks import Block
from dracfg.cel.outcomes import CompileFailure, EvaluationError, Undecided, Unmodelled, place
from dracfg.cel.reads import find_reads
from dracfg.cel.scope import Inputs, Scope, Value
from dracfg.cel.signatures import Type, libraries
from dracfg.cel.syntax import Call, Expression, Identifier, Literal, Select
from dracfg.dataclass import dataclass

__all__ = ["InterpretingEngine"]

# Syntax of CEL that cel-python's grammar lacks.
UNPARSED = re.compile(r"\.\?|\[\s*\?|`")
MACROS = frozenset({"all", "exists", "exists_one", "filter", "has", "map"})
# cel-python's own macros, which have the names of Kubernetes functions.
CAPTURED = frozenset({"min", "reduce"})
DYN = Type("dyn")
NO_COST = Undecided("cel-python does not estimate costs")


class DomainMap(celtypes.MapType):
    """A map of domains in which an unknown domain is empty when it is looked up."""

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(key) if key in self else celtypes.MapType({})

    def get(self, key: Any, default: Any = None) -> Any:
        """The same look-up in its other form."""
        del default
        return self[key]


@dataclass(frozen=True, slots=True)
class InterpretedProgram:
    """A parsed expression."""

    runner: Any
    reads: frozenset[Read]
    variables: frozenset[str] | None = None
    type: Type = DYN
    cost: Undecided = NO_COST
    tree: None = None

    def evaluate(self, inputs: Inputs) -> Value | EvaluationError | Undecided:
        """See `scope.Compiled`."""
        return self._run({name: encode(value) for name, value in _nest(inputs).items()})

    def evaluate_device(self, device: DeviceFacts) -> Value | EvaluationError | Undecided:
        """See `scope.Compiled`."""
        fields = {
            "driver": encode(device.driver),
            "allowMultipleAllocations": encode(device.allow_multiple_allocations),
            "attributes": DomainMap(encode(dict(device.attributes))),
            "capacity": DomainMap(encode(dict(device.capacity))),
        }
        names = {celtypes.StringType(name): value for name, value in fields.items()}
        return self._run({"device": celtypes.MapType(names)})

    def _run(self, activation: dict[str, Any]) -> Value | EvaluationError | Undecided:
        try:
            value = self.runner.evaluate(activation)
        except Unmodelled as error:
            return Undecided(str(error))
        except CELUnsupportedError as error:
            return Undecided(f"cel-python: {error}")
        except CELEvalError as error:
            return EvaluationError(_message(error))
        except (KeyError, TypeError, ValueError) as error:
            return EvaluationError(str(error))
        plain: Value = decode(value)
        return plain


class InterpretingEngine:
    """Parses, and refuses what needs no types to be refused."""

    name = "cel-python"

    def compile(
        self, expression: str, scope: Scope
    ) -> InterpretedProgram | CompileFailure | Undecided:
        """Parse and prepare an expression."""
        environment = celpy.Environment()
        try:
            tree = environment.compile(expression)
        except CELParseError as error:
            if UNPARSED.search(expression):
                return Undecided("cel-python can't parse optional syntax")
            return _syntax_error(error, expression)
        for finding in _findings(tree, expression, scope):
            return finding
        runner = environment.program(tree, functions=dict(_functions()))
        return InterpretedProgram(runner, find_reads(to_syntax(tree)))


def _findings(tree: Any, expression: str, scope: Scope) -> Iterator[CompileFailure | Undecided]:
    fields = {name.partition(".")[2] for name, _ in scope.variables if name.startswith("device.")}
    for node in tree.iter_subtrees_topdown():
        if node.data in ("member_dot_arg", "ident_arg", "dot_ident_arg"):
            finding = _call_finding(node, expression, scope)
            if finding is not None:
                yield finding
        elif node.data == "member_dot":
            owner, field = _identifier(node.children[0]), node.children[1]
            if owner == "device" and fields and field not in fields:
                yield place(
                    f"undefined field '{field}'", expression, node.children[1].start_pos - 1
                )
            if owner == "authorizer":
                yield Undecided("cel-python can't tell `authorizer` from its fields")


def _call_finding(node: Any, expression: str, scope: Scope) -> CompileFailure | Undecided | None:
    position = 1 if node.data == "member_dot_arg" else 0
    token = node.children[position]
    arguments = node.children[position + 1 :]
    count = len(arguments[0].children) if arguments else 0
    owner = _identifier(node.children[0]) if position else ""
    name = str(token)
    qualified = f"{owner}.{name}"
    named = {entry: library for library in libraries() for entry in library.names}
    if qualified in named:
        name = qualified
    library = named.get(name)
    enabled = {entry for brought in scope.enabled() for entry in brought.names}
    if name in MACROS:
        return Undecided("cel-python has no macros of three arguments") if count > 2 else None
    if name in base_functions or name == "dyn":
        return None
    if library is None or name not in enabled:
        return place(
            f"undeclared reference to '{token}' (in container '')", expression, token.start_pos
        )
    if name in CAPTURED or "." in name or name not in dict(_functions()):
        return Undecided(f"cel-python has no function {name}")
    return None


def _identifier(node: Any) -> str:
    """The name where a node is a plain identifier, else ""."""
    while isinstance(node, lark.Tree) and len(node.children) == 1 and node.data != "ident":
        node = node.children[0]
    return str(node.children[0]) if isinstance(node, lark.Tree) and node.data == "ident" else ""


def _functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    yield "dyn", lambda value: value
    for (name, member), implementation in IMPLEMENTATIONS.items():
        if (
            "." not in name
            and (name, not member) not in IMPLEMENTATIONS
            and name not in base_functions
        ):
            yield name, _adapt(implementation)
    for symbol, compare in COMPARISONS.items():
        yield symbol, _adapt(compare)
    for name in ("indexOf", "lastIndexOf"):
        yield name, _adapt(_of_list(IMPLEMENTATIONS[name, True]))
    yield "ip", _adapt(_ip)
    yield "string", _adapt(_string)


def _of_list(implementation: Implementation) -> Implementation:
    def call(target: Any, *arguments: Any) -> Any:
        if isinstance(target, str):
            raise Unmodelled("cel-python has no string extension")
        return implementation(target, *arguments)

    return call


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def call(left: Any, right: Any) -> bool:
        numbers = all(
            isinstance(side, (int, float)) and not isinstance(side, bool) for side in (left, right)
        )
        if not numbers and (type(left) is not type(right) or not isinstance(left, ORDERED)):
            raise ValueError(f"no such overload: {type(left).__name__} and {type(right).__name__}")
        return compare(left, right)

    return call


ORDERED = (bool, str, bytes, datetime.datetime, datetime.timedelta)
# cel-python raises where values of different types are compared.
COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "_==_": equal,
    "_!=_": lambda left, right: not equal(left, right),
    "_<_": _ordered(operator.lt),
    "_<=_": _ordered(operator.le),
    "_>_": _ordered(operator.gt),
    "_>=_": _ordered(operator.ge),
}


def _ip(value: Any) -> Any:
    return IMPLEMENTATIONS["ip", isinstance(value, Block)](value)


def _string(value: Any) -> Any:
    if type(value).__module__.startswith(("ipaddress", "dracfg.")):
        return IMPLEMENTATIONS["string", False](value)
    return celtypes.StringType(encode(value))


def _adapt(implementation: Implementation) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        for argument in arguments:
            if isinstance(argument, CELEvalError):
                return argument
        return encode(implementation(*map(decode, arguments)))

    return call


def encode(value: Any) -> Any:
    """A Python value as one of cel-python's; opaque values go as they are."""
    if isinstance(value, (celtypes.BoolType, celtypes.StringType, celtypes.IntType)):
        return value
    if isinstance(value, dict):
        return celtypes.MapType({encode(key): encode(item) for key, item in value.items()})
    if isinstance(value, list):
        return celtypes.ListType([encode(item) for item in value])
    for kind, wrapper in WRAPPERS:
        if isinstance(value, kind):
            return wrapper(value)
    return value


def decode(value: Any) -> Any:
    """One of cel-python's values as a Python value."""
    if isinstance(value, celtypes.BoolType):
        return bool(value)
    if isinstance(value, dict):
        return {decode(key): decode(item) for key, item in value.items()}
    if isinstance(value, list):
        return [decode(item) for item in value]
    for kind, plain in PLAIN:
        if isinstance(value, kind):
            return plain(value)
    return value


WRAPPERS: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (bool, celtypes.BoolType),
    (int, celtypes.IntType),
    (float, celtypes.DoubleType),
    (str, celtypes.StringType),
    (bytes, celtypes.BytesType),
    (datetime.timedelta, celtypes.DurationType),
)
PLAIN: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (int, int),
    (float, float),
    (str, str),
    (bytes, bytes),
)


def _nest(inputs: Inputs) -> Inputs:
    """`variables.x` as the field of a map `variables`."""
    nested: Inputs = {}
    for name, value in inputs.items():
        owner, dot, field = name.partition(".")
        if not dot:
            nested[name] = value
        elif isinstance(below := nested.setdefault(owner, {}), dict):
            below[field] = value
    return nested


def _syntax_error(error: CELParseError, expression: str) -> CompileFailure:
    line, column = error.line or 1, error.column or 1
    if line < 1 or column < 1:
        return place("Syntax error: unexpected end", expression, len(expression))
    starts = [0, *(match.end() for match in re.finditer("\n", expression))]
    return place("Syntax error", expression, min(starts[line - 1] + column - 1, len(expression)))


def _message(error: CELEvalError) -> str:
    """The reason; cel-python hides what a function raised behind a text of its own."""
    inner = error.args[2] if len(error.args) > 2 else None
    if inner and error.args[0] in ("return error for overflow", "no such overload"):
        return str(inner[0])
    return str(error.args[0])


def to_syntax(node: Any) -> Expression:
    """The tree as far as look-ups go; all else is a call of a function without a name."""
    if not isinstance(node, lark.Tree):
        return Literal(0, 0, DYN, None)
    children: list[Any] = node.children
    match node.data:
        case "member_dot":
            owner = _identifier(children[0])
            if owner == "device":
                return Identifier(0, 0, DYN, f"device.{children[1]}")
            return Select(0, 0, DYN, to_syntax(children[0]), str(children[1]), False)
        case "member_index":
            return Call(0, 0, DYN, "_[_]", None, tuple(map(to_syntax, children)), ())
        case "ident":
            return Identifier(0, 0, DYN, str(children[0]))
        case "literal" if children[0].type in ("STRING_LIT", "MLSTRING_LIT"):
            return Literal(0, 0, DYN, str(celstr(children[0])))
    if len(children) == 1:
        return to_syntax(children[0])
    return Call(0, 0, DYN, "", None, tuple(map(to_syntax, children)), ())
