"""What of a device an expression can read, from the checked expression alone.

Never too little: whatever is not recognised as a look-up with constant keys counts as a read of the
whole map.
"""

from __future__ import annotations

from collections.abc import Mapping

from dracfg.cel.devices import OWN_DOMAIN, Read
from dracfg.cel.syntax import Call, Comprehension, Expression, Identifier, Literal, Select, children

__all__ = ["attribute_values", "find_reads", "read_of"]

INDEXES = ("_[_]", "_[?_]", "_?._")
FIELDS = {
    "device.driver": "driver",
    "device.allowMultipleAllocations": "allowMultipleAllocations",
    "device.attributes": "attributes",
    "device.capacity": "capacity",
}
# device.attributes, a domain, an attribute
ATTRIBUTE_DEPTH = 3
Bindings = Mapping[str, "Read | None"]


def find_reads(root: Expression) -> frozenset[Read]:
    """Everything that the expression may read."""
    found: set[Read] = set()
    _collect(root, {}, found)
    return frozenset(found)


def attribute_values(root: Expression) -> frozenset[int]:
    """The ids of the nodes that are the value of one attribute, looked up with constant keys or not."""
    found: set[int] = set()
    _mark(root, {}, found)
    return frozenset(found)


def _collect(node: Expression, bindings: Bindings, found: set[Read]) -> None:
    read = read_of(node, bindings)
    if read is not None:
        found.add(read)
        if read.domain == OWN_DOMAIN:
            found.add(Read("driver"))
        return
    if isinstance(node, Call) and node.function == "@in":
        key, container = node.arguments
        within = _narrow(read_of(container, bindings), key)
        if within is not None:
            found.add(within)
            return
    if isinstance(node, Comprehension):
        _collect_loop(node, bindings, found)
        return
    for child in children(node):
        _collect(child, bindings, found)


def _collect_loop(node: Comprehension, bindings: Bindings, found: set[Read]) -> None:
    _collect(node.range, bindings, found)
    bound = read_of(node.initial, bindings) if node.is_bind else None
    if bound is None:
        _collect(node.initial, bindings, found)
    inner = {**bindings, node.variable: None, node.second: None, node.accumulator: bound}
    # The loop of `cel.bind` never runs.
    for part in (node.result,) if node.is_bind else (node.condition, node.step, node.result):
        _collect(part, inner, found)


def read_of(node: Expression, bindings: Bindings) -> Read | None:
    """The look-up that a node is, None where it is none or more than one.

    `bindings` are the names that `cel.bind` and loops bring, with the look-up that each stands for.
    """
    match node:
        case Identifier():
            if node.name in bindings:
                return bindings[node.name]
            field = FIELDS.get(node.name)
            return Read(field) if field else None
        case Select():
            return _extend(read_of(node.operand, bindings), node.field)
        case Call() if node.function in INDEXES:
            container, key = node.arguments
            return _narrow(read_of(container, bindings), key)
    return None


def _narrow(read: Read | None, key: Expression) -> Read | None:
    if isinstance(key, Literal) and isinstance(key.value, str):
        return _extend(read, key.value)
    if isinstance(key, Identifier) and key.name == "device.driver" and read and not read.domain:
        return _extend(read, OWN_DOMAIN)
    return None


def _extend(read: Read | None, key: str) -> Read | None:
    if read is None or read.field not in ("attributes", "capacity") or read.id or not key:
        return None
    return Read(read.field, read.domain, key) if read.domain else Read(read.field, key)


def _mark(node: Expression, bindings: Mapping[str, int], found: set[int]) -> int:
    """Mark attribute values; returns how deep in `device.attributes` a node is, 0 for outside."""
    if isinstance(node, Comprehension):
        return _mark_loop(node, bindings, found)
    depths = [_mark(child, bindings, found) for child in children(node)]
    depth = 0
    match node:
        case Identifier():
            depth = bindings.get(node.name, 1 if node.name == "device.attributes" else 0)
        case Select(test=False) | Call(function="_[_]"):
            depth = depths[0] + 1 if 0 < depths[0] < ATTRIBUTE_DEPTH else 0
    if depth == ATTRIBUTE_DEPTH:
        found.add(node.id)
    return depth


def _mark_loop(node: Comprehension, bindings: Mapping[str, int], found: set[int]) -> int:
    _mark(node.range, bindings, found)
    depth = _mark(node.initial, bindings, found)
    inner = {**bindings, node.variable: 0, node.second: 0}
    inner[node.accumulator] = depth if node.is_bind else 0
    for part in (node.condition, node.step):
        _mark(part, inner, found)
    result = _mark(node.result, inner, found)
    return result if node.is_bind else 0
