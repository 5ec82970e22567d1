"""The static cost estimate of a device selector.

Follows cel-go's checker (google/cel-go@14f6746a286f: checker/cost.go) with the sizes of
`sizeEstimator` in kubernetes/dynamic-resource-allocation@3d036712: cel/compile.go. Those sizes are
those of the newest `device` type, whatever the minor and the gates.

Known differences: the costs of single functions are in callcost.py; where the engine's overloads
have other names than cel-go's, the dearer reading is taken. Loops are never estimated below cel-go.
"""

from __future__ import annotations

from collections.abc import Sequence

from dracfg.cel.callcost import Argument, estimate_call
from dracfg.cel.outcomes import UNBOUNDED, Cost
from dracfg.cel.signatures import Type
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
)
from dracfg.dataclass import dataclass

__all__ = ["COST_LIMIT", "estimate"]

# resourceapi.CELSelectorExpressionMaxCost (kubernetes/api@v0.36.3: resource/v1/types.go)
COST_LIMIT = 1_000_000

Path = tuple[str, ...]
ACCUMULATORS = ("@result", "__result__")
LIST_COST, MAP_COST, MESSAGE_COST = 10, 30, 40
MAP_ENTRIES, DOMAIN_LENGTH, ID_LENGTH, DRIVER_LENGTH, VALUE_LENGTH = 32, 63, 32, 63, 64
SCALARS = frozenset({"bool", "double", "duration", "int", "timestamp", "uint"})
# Path below `device` -> largest size; "*" is any element, "@keys" a loop variable over a map.
DEVICE_SIZES: dict[Path, int] = {
    ("driver",): DRIVER_LENGTH,
    ("allowMultipleAllocations",): 1,
    **{
        (field, *path): size
        for field in ("attributes", "capacity")
        for path, size in (
            ((), MAP_ENTRIES),
            (("@keys",), DOMAIN_LENGTH),
            (("@values",), MAP_ENTRIES),
            (("@values", "@keys"), ID_LENGTH),
        )
    },
    ("attributes", "@values", "*"): VALUE_LENGTH,
    ("capacity", "@values", "@values"): 0,
}


@dataclass(frozen=True, slots=True)
class _Entries:
    """Sizes of the keys and the values of a list or a map that the expression builds."""

    is_list: bool
    key: Cost
    value: Cost

    def __or__(self, other: _Entries) -> _Entries:
        return _Entries(self.is_list, self.key | other.key, self.value | other.value)


@dataclass(frozen=True, slots=True)
class _Local:
    path: Path
    size: Cost | None
    entries: _Entries | None


def estimate(tree: Expression) -> Cost:
    """What evaluating the expression costs at least and at most."""
    return _Estimator().cost(tree)


class _Estimator:
    """One walk; sizes and paths of nodes are kept by node id, as later nodes ask for them."""

    def __init__(self) -> None:
        self._paths: dict[int, Path] = {}
        self._sizes: dict[int, Cost] = {}
        self._entries: dict[int, _Entries] = {}
        self._locals: dict[str, list[_Local]] = {}

    def cost(self, node: Expression) -> Cost:
        match node:
            case Literal():
                return Cost.fixed(0)
            case Identifier():
                return self._identifier(node)
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListLiteral():
                return self._aggregate(node, (), node.elements) + Cost.fixed(LIST_COST)
            case MapLiteral():
                keys = [key for key, _ in node.entries]
                values = [value for _, value in node.entries]
                return self._aggregate(node, keys, values) + Cost.fixed(MAP_COST)
            case MessageLiteral():
                return self._sum(node.values) + Cost.fixed(MESSAGE_COST)
            case Comprehension():
                return self._bind(node) if node.is_bind else self._loop(node)

    def _identifier(self, node: Identifier) -> Cost:
        local = self._local(node.name)
        self._paths[node.id] = local.path if local else tuple(node.name.split("."))
        # `device.driver` is one variable here and a select on an object in Kubernetes.
        return Cost.fixed(1 if local else len(node.name.split(".")))

    def _select(self, node: Select) -> Cost:
        cost = self.cost(node.operand)
        if node.test:
            return cost
        if node.operand.type.name == "map" or "." in node.operand.type.name:
            cost += Cost.fixed(1)
        self._paths[node.id] = (*self._path(node.operand), node.field)
        return cost

    def _aggregate(
        self, node: Expression, keys: Sequence[Expression], values: Sequence[Expression]
    ) -> Cost:
        cost = self._sum((*keys, *values))
        key = self._union(keys) if isinstance(node, MapLiteral) else Cost.fixed(1)
        self._entries[node.id] = _Entries(isinstance(node, ListLiteral), key, self._union(values))
        return cost

    def _call(self, node: Call) -> Cost:
        if node.function == "dyn":
            return self._dyn(node)
        costs = [self.cost(argument) for argument in node.arguments]
        total = self.cost(node.target) if node.target else Cost.fixed(0)
        target = self._argument(node.target) if node.target else None
        arguments = [self._argument(argument) for argument in node.arguments]
        cost, size = estimate_call(node.function, node.overloads, target, arguments, costs)
        if node.function in ("_[_]", "_[?_]"):
            size = self._index(node) or size
        elif node.function in ("_?_:_", "_+_"):
            self._merge_entries(node, node.arguments[-2:])
        if size is None:
            size = self._size(node)
        if size is not None:
            self._sizes[node.id] = size
        return total + cost

    def _dyn(self, node: Call) -> Cost:
        (argument,) = node.arguments
        cost = self.cost(argument) + Cost.fixed(1)
        self._copy(node, argument)
        return cost

    def _index(self, node: Call) -> Cost | None:
        container = node.arguments[0]
        step = {"list": "@items", "map": "@values"}.get(container.type.name)
        if step is not None:
            self._paths[node.id] = (*self._path(container), step)
        entries = self._entries_of(container)
        return entries.value if entries else None

    def _merge_entries(self, node: Call, parts: Sequence[Expression]) -> None:
        left, right = (self._entries_of(part) for part in parts)
        if left and right:
            self._entries[node.id] = left | right

    def _bind(self, node: Comprehension) -> Cost:
        cost = self.cost(node.range) + self.cost(node.initial)
        self._push(node.accumulator, node.initial)
        cost += self.cost(node.result)
        self._copy(node, node.result)
        self._locals[node.accumulator].pop()
        return cost

    def _loop(self, node: Comprehension) -> Cost:
        cost = self.cost(node.range) + self.cost(node.initial)
        self._push(node.accumulator, node.initial)
        names = self._push_loop_variables(node)
        each = self.cost(node.condition) + self.cost(node.step)
        for name in names:
            self._locals[name].pop()
        cost += self.cost(node.result)
        self._locals[node.accumulator].pop()
        count = self._size_or_unknown(node.range)
        if isinstance(node.initial, Literal):
            size = self._size(node.initial)
            if size is not None:
                self._sizes[node.id] = size
        elif isinstance(node.initial, (ListLiteral, MapLiteral)):
            self._sizes[node.id] = count
            if entries := self._entries_of(node.step):
                self._entries[node.id] = entries
        return cost + count * each

    def _push_loop_variables(self, node: Comprehension) -> list[str]:
        entries = self._entries_of(node.range)
        is_list = entries.is_list if entries else node.range.type.name == "list"
        key_step, value_step = ("@indices", "@items") if is_list else ("@keys", "@values")
        path = self._path(node.range)
        key = _Local((*path, key_step), entries.key if entries else None, None)
        value = _Local((*path, value_step), entries.value if entries else None, None)
        if node.second:
            pairs = [(node.variable, key), (node.second, value)]
        else:
            pairs = [(node.variable, value if is_list else key)]
        for name, local in pairs:
            self._locals.setdefault(name, []).append(local)
        return [name for name, _ in pairs]

    def _push(self, name: str, value: Expression) -> None:
        local = _Local(self._path(value), self._size(value), self._entries_of(value))
        self._locals.setdefault(name, []).append(local)

    def _local(self, name: str) -> _Local | None:
        stack = self._locals.get(name)
        return stack[-1] if stack else None

    def _argument(self, node: Expression) -> Argument:
        path = self._path(node)
        known = () if path and path[0] in ACCUMULATORS else path
        element = (
            node.type.parameters[0] if node.type.name == "list" and node.type.parameters else None
        )
        element_size = device_size((*known, "@items")) if known and element else None
        return Argument(node, node.type, self._size(node), element, element_size)

    def _path(self, node: Expression) -> Path:
        if isinstance(node, Identifier) and (local := self._local(node.name)):
            return local.path
        return self._paths.get(node.id, ())

    def _size(self, node: Expression) -> Cost | None:
        if node.id in self._sizes:
            return self._sizes[node.id]
        if (written := _written_size(node)) is not None:
            return written
        if (known := device_size(self._path(node))) is not None:
            self._sizes[node.id] = known
            return known
        if _is_scalar(node.type):
            return Cost.fixed(1)
        local = self._local(node.name) if isinstance(node, Identifier) else None
        return local.size if local else None

    def _size_or_unknown(self, node: Expression) -> Cost:
        size = self._size(node)
        return Cost(0, UNBOUNDED) if size is None else size

    def _entries_of(self, node: Expression) -> _Entries | None:
        if node.id in self._entries:
            return self._entries[node.id]
        local = self._local(node.name) if isinstance(node, Identifier) else None
        return local.entries if local else None

    def _copy(self, node: Expression, source: Expression) -> None:
        if (size := self._size(source)) is not None:
            self._sizes[node.id] = size
        if (entries := self._entries_of(source)) is not None:
            self._entries[node.id] = entries

    def _sum(self, nodes: Sequence[Expression]) -> Cost:
        total = Cost.fixed(0)
        for node in nodes:
            total += self.cost(node)
        return total

    def _union(self, nodes: Sequence[Expression]) -> Cost:
        result = Cost(UNBOUNDED if nodes else 0, 0)
        for node in nodes:
            result |= self._size_or_unknown(node)
        return result


def device_size(path: Path) -> Cost | None:
    """The size of what a path leads to, None where the `device` type does not say."""
    if not path or path[0] != "device":
        return None
    below = path[1:]
    if below not in DEVICE_SIZES and len(below) == 3 and below[2] != "@items":
        below = (*below[:2], "*")
    size = DEVICE_SIZES.get(below)
    return None if size is None else Cost(0, size)


def _written_size(node: Expression) -> Cost | None:
    match node:
        case Literal(value=str() | bytes() as text):
            return Cost.fixed(len(text))
        case Literal():
            return Cost.fixed(1)
        case ListLiteral():
            return Cost.fixed(len(node.elements))
        case MapLiteral():
            return Cost.fixed(len(node.entries))
    return None


def _is_scalar(type_: Type) -> bool:
    if type_.name == "optional_type":
        return _is_scalar(type_.parameters[0])
    return type_.name in SCALARS
