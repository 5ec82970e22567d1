"""What kube-apiserver checks on an expression after the engine's type check, or more strictly.

cel-go in Kubernetes refuses lists and maps of mixed types, and bad constants for patterns, durations
and timestamps (cel.HomogeneousAggregateLiterals, cel.ASTValidators); the C++ engine does not. The
opaque types are messages here, whose fields no expression may see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dracfg.cel.checkedexpr import FILLED
from dracfg.cel.functions.regexes import compile_pattern
from dracfg.cel.outcomes import CompileFailure, Undecided, Unmodelled, place
from dracfg.cel.reads import attribute_values
from dracfg.cel.scope import Scope
from dracfg.cel.signatures import Type, opaque_types
from dracfg.cel.syntax import (
    Call,
    Comprehension,
    Expression,
    Identifier,
    ListLiteral,
    Literal,
    MapLiteral,
    MessageLiteral,
    Select,
    children,
    walk,
)

__all__ = ["validate"]

RefuseLiteral = Callable[[str, str], "str | None"]


def validate(
    tree: Expression, expression: str, scope: Scope, refuse_literal: RefuseLiteral
) -> CompileFailure | Undecided | None:
    """The first finding in the order of the expression, None where all is well."""
    failures = [
        place(message, expression, offset)
        for node in walk(tree)
        for offset, message in _findings(node, refuse_literal)
    ]
    if not scope.iterable_attributes:
        failures += _loops_over_attributes(tree, expression)
    if scope.results and tree.type.name not in scope.results:
        failures.append(place(_wrong_result(tree.type, scope.results), expression, 0))
    if failures:
        return min(failures, key=lambda failure: failure.offset)
    return next((Undecided(reason) for node in walk(tree) for reason in _doubts(node)), None)


def _wrong_result(found: Type, results: tuple[str, ...]) -> str:
    if results == ("bool", "dyn"):
        return f"must evaluate to bool or the unknown type, not {found}"
    return f"must evaluate to {' or '.join(results)} but got {found}"


def _findings(node: Expression, refuse_literal: RefuseLiteral) -> Iterable[tuple[int, str]]:
    match node:
        case ListLiteral():
            yield from _mixed(node.elements)
        case MapLiteral():
            yield from _mixed([key for key, _ in node.entries])
            yield from _mixed([value for _, value in node.entries])
        case Select() if node.operand.type.name in opaque_types():
            yield node.offset, f"type '{node.operand.type}' does not support field selection"
        case MessageLiteral() if node.name in opaque_types():
            yield node.offset, f"'{node.name}' is not a message type"
        case Call() if node.arguments:
            yield from _literals(node, refuse_literal)


def _literals(node: Call, refuse_literal: RefuseLiteral) -> Iterable[tuple[int, str]]:
    argument = node.arguments[0]
    if not isinstance(argument, Literal) or not isinstance(argument.value, str):
        return
    if node.function in ("duration", "timestamp"):
        reason = refuse_literal(node.function, argument.value)
        if reason:
            yield argument.offset, f"invalid {node.function} argument: {reason}"
    elif node.function in ("matches", "find", "findAll"):
        try:
            compile_pattern(argument.value)
        except Unmodelled:
            return
        except ValueError as error:
            yield argument.offset, str(error)


def _mixed(parts: Iterable[Expression]) -> Iterable[tuple[int, str]]:
    wanted: Type | None = None
    for part in parts:
        if wanted is None:
            wanted = part.type
        elif not _compatible(wanted, part.type):
            yield part.offset, f"expected type '{wanted}' but found '{part.type}'"
            return


def _compatible(left: Type, right: Type) -> bool:
    if "dyn" in (left.name, right.name) or left.is_parameter or right.is_parameter:
        return True
    if left.name == "wrapper":
        return _compatible(left.parameters[0], right)
    return left.name == right.name and all(map(_compatible, left.parameters, right.parameters))


def _loops_over_attributes(tree: Expression, expression: str) -> list[CompileFailure]:
    values = attribute_values(tree)
    message = "expression of type 'any' cannot be range of a comprehension (must be list, map, or dynamic)"
    return [
        place(message, expression, node.range.offset)
        for node in walk(tree)
        if isinstance(node, Comprehension) and node.range.id in values
    ]


def _doubts(node: Expression) -> Iterable[str]:
    """What the rewriting of checkedexpr.py does not reach, or nothing here models."""
    if isinstance(node, MessageLiteral):
        yield f"a message of type {node.name} is built"
    for child in children(node):
        if isinstance(child, Identifier) and child.name in FILLED and not _is_followed(node, child):
            yield f"`{child.name}` is handed on as a value"


def _is_followed(parent: Expression, device_map: Identifier) -> bool:
    """Whether an unknown domain is looked up there as in Kubernetes, or no domain at all."""
    match parent:
        case Select():
            return True
        case Comprehension():
            return parent.range is device_map
        case Call(function="_[_]"):
            return parent.arguments[0] is device_map
        case Call(function="_[?_]" | "_?._"):
            return parent.arguments[0] is device_map and isinstance(parent.arguments[1], Literal)
        case Call():
            return parent.function in ("@in", "size", "_==_", "_!=_")
    return False
