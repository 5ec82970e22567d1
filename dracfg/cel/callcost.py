"""What one call costs, by function.

The numbers are those of google/cel-go@14f6746a286f: checker/cost.go (functionCost), ext/sets.go,
ext/lists.go (version 3), and of kubernetes/apiserver@24a394e516bf: pkg/cel/library/cost.go, with
DRA's `includes`. A function that none of them knows costs 1, as in cel-go.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from dracfg.cel.outcomes import UNBOUNDED, Cost
from dracfg.cel.signatures import Type, opaque_types
from dracfg.cel.syntax import Expression, Literal
from dracfg.dataclass import dataclass

__all__ = ["Argument", "estimate_call"]

TRAVERSAL, PATTERN = 0.1, 0.25
LIST_COST = 10
ADDRESS_BYTES = Cost(4, 16)
# apiservercel.MaxNameFormatRegexSize, MaxFormatSize
FORMAT_PATTERN, FORMAT_SIZE = 128, 64
INCLUDES_VALUES = 48
Estimate = tuple[Cost, "Cost | None"]


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument or a receiver; `element` and `element_size` belong to lists."""

    node: Expression
    type: Type
    known_size: Cost | None
    element: Type | None
    element_size: Cost | None

    @property
    def size(self) -> Cost:
        """The size, from 0 to unbounded where it is not known."""
        return Cost(0, UNBOUNDED) if self.known_size is None else self.known_size

    def integer(self, otherwise: int) -> int:
        """A constant argument; 0 for a negative one."""
        value = self.node.value if isinstance(self.node, Literal) else None
        return (
            max(value, 0) if isinstance(value, int) and not isinstance(value, bool) else otherwise
        )


def estimate_call(
    function: str,
    overloads: Sequence[str],
    target: Argument | None,
    arguments: Sequence[Argument],
    costs: Sequence[Cost],
) -> Estimate:
    """The cost with the arguments' and without the receiver's, and the size of the result."""
    if function in ("_&&_", "_||_"):
        left, right = costs
        return Cost(left.min, (left + right).max), None
    if function == "_?_:_":
        condition, positive, negative = costs
        return condition + (positive | negative), arguments[1].size | arguments[2].size
    given = Cost.fixed(0)
    for cost in costs:
        given += cost
    operands = ((target,) if target else ()) + tuple(arguments)
    rule = RULES.get(function)
    if rule is None or (function == "ip" and "cidr_ip" in overloads):
        return given + Cost.fixed(1), None
    own, size = rule(operands)
    return own + given, size


def _traversal(operands: Sequence[Argument]) -> Estimate:
    return operands[0].size.scaled(TRAVERSAL), None


def _same_size(operands: Sequence[Argument]) -> Estimate:
    return operands[0].size.scaled(TRAVERSAL), operands[0].size


def _twice(operands: Sequence[Argument]) -> Estimate:
    return operands[0].size.scaled(2 * TRAVERSAL), None


def _second(operands: Sequence[Argument]) -> Estimate:
    return operands[1].size.scaled(TRAVERSAL), None


def _in(operands: Sequence[Argument]) -> Estimate:
    # Looking up a key costs 1; a container of unknown type may be a list.
    container = operands[1]
    if container.type.name == "map":
        return Cost.fixed(1), None
    if container.type.name == "list":
        return container.size, None
    return container.size | Cost.fixed(1), None


def _matches(operands: Sequence[Argument]) -> Estimate:
    text = (operands[0].size + Cost.fixed(1)).scaled(TRAVERSAL)
    return text * operands[1].size.scaled(PATTERN), None


def _find(operands: Sequence[Argument]) -> Estimate:
    return _matches(operands)[0], Cost(0, operands[0].size.max)


def _contains(operands: Sequence[Argument]) -> Estimate:
    return operands[0].size.scaled(TRAVERSAL) * operands[1].size.scaled(TRAVERSAL), None


def _equals(operands: Sequence[Argument]) -> Estimate:
    left, right = operands
    if left.type == right.type and left.type.name in opaque_types():
        if left.type.name == "kubernetes.NamedFormat":
            return Cost(1, FORMAT_SIZE).scaled(TRAVERSAL), None
        return Cost.fixed(1), None
    return _compare(operands)


def _compare(operands: Sequence[Argument]) -> Estimate:
    smallest = min(operand.size.max for operand in operands)
    return Cost(1 if smallest else 0, smallest).scaled(TRAVERSAL), None


def _order(operands: Sequence[Argument]) -> Estimate:
    names = {operand.type.name for operand in operands}
    if names <= {"string", "bytes"}:
        return _compare(operands)
    # With an operand of unknown type cel-go counts both readings.
    if "dyn" in names and names <= {"string", "bytes", "dyn"}:
        return _compare(operands)[0] | Cost.fixed(1), None
    return Cost.fixed(1), None


def _add(operands: Sequence[Argument]) -> Estimate:
    names = {operand.type.name for operand in operands}
    size = operands[0].size + operands[1].size
    if "list" in names:
        return Cost.fixed(1), size
    if names & {"string", "bytes"}:
        return size.scaled(TRAVERSAL), size
    if names == {"dyn"}:
        return size.scaled(TRAVERSAL) | Cost.fixed(1), size
    return Cost.fixed(1), None


def _list_walk(operands: Sequence[Argument]) -> Estimate:
    target = operands[0]
    if target.element is None:
        return target.size.scaled(TRAVERSAL), None
    each = Cost.fixed(1)
    if target.element.name in ("string", "bytes"):
        element = target.element_size or Cost(0, UNBOUNDED)
        each += element.scaled(TRAVERSAL)
    return target.size * each, None


def _includes(operands: Sequence[Argument]) -> Estimate:
    del operands
    return Cost(0, INCLUDES_VALUES), None


def _replace(operands: Sequence[Argument]) -> Estimate:
    text, old, new = (operand.size for operand in operands[:3])
    count, kept = Cost.fixed(0), Cost.fixed(0)
    if old.min == 0:
        longest, longest_kept = min(text.max + 1, UNBOUNDED), text.max
    elif new.max <= old.min:
        longest, longest_kept = 0, text.max
    else:
        longest, longest_kept = math.ceil(text.max / old.min), 0
    if old.max == 0:
        shortest, shortest_kept = text.min + 1, text.min
    elif old.max <= new.min:
        shortest, shortest_kept = 0, text.min
    else:
        shortest, shortest_kept = math.ceil(text.min / old.max), 0
    count, kept = Cost(shortest, longest), Cost(shortest_kept, longest_kept)
    return text.scaled(2 * TRAVERSAL), count * new + kept


def _split(operands: Sequence[Argument]) -> Estimate:
    text = operands[0].size
    most = operands[2].integer(text.max) if len(operands) > 2 else text.max
    return text.scaled(2 * TRAVERSAL), Cost(0, most)


def _join(operands: Sequence[Argument]) -> Estimate:
    count = operands[0].size
    size = Cost.fixed(0)
    if operands[0].element is not None:
        size = count * (operands[0].element_size or Cost(0, UNBOUNDED))
    if len(operands) > 1:
        size += operands[1].size * Cost(max(count.min - 1, 0), max(count.max - 1, 0))
    return size.scaled(TRAVERSAL), size


def _to_bytes(operands: Sequence[Argument]) -> Estimate:
    size = operands[0].size
    if operands[0].type.name not in ("string", "dyn"):
        return Cost.fixed(1), None
    return size.scaled(TRAVERSAL), Cost(size.min, min(size.max * 4, UNBOUNDED))


def _to_string(operands: Sequence[Argument]) -> Estimate:
    size = operands[0].size
    if operands[0].type.name == "bytes":
        return size.scaled(TRAVERSAL), Cost(size.min // 4, size.max)
    if operands[0].type.name == "dyn":
        return size.scaled(TRAVERSAL) | Cost.fixed(1), Cost(0, size.max)
    return Cost.fixed(1), None


def _quote(operands: Sequence[Argument]) -> Estimate:
    size = operands[0].size
    return size.scaled(TRAVERSAL), size + size + Cost.fixed(2)


def _validate(operands: Sequence[Argument]) -> Estimate:
    return operands[1].size.scaled(TRAVERSAL).scaled(FORMAT_PATTERN * PATTERN), None


def _contains_ip(operands: Sequence[Argument]) -> Estimate:
    cost = (ADDRESS_BYTES + ADDRESS_BYTES).scaled(TRAVERSAL)
    if operands[1].type.name != "net.IP":
        cost += operands[1].size.scaled(TRAVERSAL)
    return cost, None


def _contains_cidr(operands: Sequence[Argument]) -> Estimate:
    cost = (ADDRESS_BYTES + ADDRESS_BYTES).scaled(TRAVERSAL)
    cost += ADDRESS_BYTES.scaled(TRAVERSAL) + Cost.fixed(1)
    if operands[1].type.name != "net.CIDR":
        cost += operands[1].size.scaled(TRAVERSAL)
    return cost, None


def _sets(factor: float) -> Callable[[Sequence[Argument]], Estimate]:
    def rule(operands: Sequence[Argument]) -> Estimate:
        product = operands[0].size * operands[1].size
        return product.scaled(factor) + Cost.fixed(1), None

    return rule


def _list_call(factor: float, size: Cost) -> Estimate:
    return size.scaled(factor) + Cost.fixed(1 + LIST_COST), size


def _slice(operands: Sequence[Argument]) -> Estimate:
    start, end = operands[1].integer(0), operands[2].integer(operands[0].size.max)
    return _list_call(1, Cost.fixed(max(end - start, 0)))


def _flatten(operands: Sequence[Argument]) -> Estimate:
    depth = operands[1].integer(UNBOUNDED) if len(operands) > 1 else 1
    return _list_call(depth, operands[0].size)


def _sort(operands: Sequence[Argument]) -> Estimate:
    keys = operands[-1]
    text = keys.element is not None and keys.element.name in ("string", "bytes", "dyn")
    return _list_call(2 + TRAVERSAL if text else 2, keys.size * keys.size)


def _distinct(operands: Sequence[Argument]) -> Estimate:
    return _list_call(2, operands[0].size * operands[0].size)


RULES: Mapping[str, Callable[[Sequence[Argument]], Estimate]] = {
    "_==_": _equals,
    "_!=_": _compare,
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), _order),
    "_+_": _add,
    "@in": _in,
    "startsWith": _second,
    "endsWith": _second,
    "contains": _contains,
    "matches": _matches,
    "find": _find,
    "findAll": _find,
    "bytes": _to_bytes,
    "string": _to_string,
    "strings.quote": _quote,
    "format": _traversal,
    **dict.fromkeys(("url", "lowerAscii", "upperAscii", "substring", "trim"), _same_size),
    "replace": _replace,
    "split": _split,
    "join": _join,
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _list_walk),
    "includes": _includes,
    **dict.fromkeys(("quantity", "isQuantity", "semver", "isSemver"), _traversal),
    **dict.fromkeys(("ip", "isIP", "cidr", "isCIDR"), _traversal),
    "ip.isCanonical": _twice,
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "validate": _validate,
    "sets.contains": _sets(1),
    "sets.intersects": _sets(1),
    "sets.equivalent": _sets(2),
    "slice": _slice,
    "flatten": _flatten,
    "lists.range": lambda operands: _list_call(1, Cost.fixed(operands[0].integer(UNBOUNDED))),
    "reverse": lambda operands: _list_call(1, operands[0].size),
    "distinct": _distinct,
    "sort": _sort,
    "@sortByAssociatedKeys": _sort,
}
