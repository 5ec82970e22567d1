"""The look-ups of an expression: what of a device is read where, with the words that name it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from dracfg.cel import Read
from dracfg.cel.devices import OWN_DOMAIN
from dracfg.cel.reads import read_of
from dracfg.cel.syntax import (
    Call,
    Comprehension,
    Expression,
    Identifier,
    Literal,
    Select,
    children,
)
from dracfg.check.lints.text import Token, bracket_after, member_at, token_at
from dracfg.dataclass import dataclass

OPTIONAL = ("_?._", "_[?_]")
INDEXES = ("_[_]", *OPTIONAL)
MAPS = ("attributes", "capacity")

Bindings = Mapping[str, "Read | None"]


@dataclass(frozen=True, slots=True)
class LookUp:
    """One attribute or capacity, looked up at a node of the tree.

    The domain of `read` is written out where the driver is known. `tests` where it can't raise:
    `has`, `in` and optional access. A word is None where it stands elsewhere, behind `cel.bind`.
    """

    read: Read
    node: Expression
    tests: bool
    root: Token | None
    domain: Token | None
    name: Token | None

    @property
    def key(self) -> str:
        """`<domain>/<id>`."""
        return f"{self.read.domain}/{self.read.id}"

    @property
    def place(self) -> int:
        """Where it is written."""
        return self.name.start if self.name is not None else self.node.offset


def look_ups(tree: Expression, text: str, driver: str | None) -> tuple[LookUp, ...]:
    """Every look-up with a constant domain and name, in the order of the text."""
    found = (
        replace(look_up, read=named(look_up.read, driver)) for look_up in _walk(tree, text, {})
    )
    return tuple(sorted(found, key=lambda look_up: (look_up.place, look_up.node.id)))


def named(read: Read, driver: str | None) -> Read:
    """The read with the driver's name in place of `device.driver` as the domain."""
    if read.domain == OWN_DOMAIN and driver is not None:
        return Read(read.field, driver, read.id)
    return read


def read_at(node: Expression, bindings: Bindings) -> tuple[Read, bool] | None:
    """(what a node looks up, whether it only tests); None for anything but a whole look-up."""
    if isinstance(node, Call) and node.function == "@in":
        key, container = node.arguments
        within = read_of(container, bindings)
        if within is None or not within.domain or within.id:
            return None
        if not isinstance(key, Literal) or not isinstance(key.value, str):
            return None
        return Read(within.field, within.domain, key.value), True
    read = read_of(node, bindings)
    if read is None or read.field not in MAPS or not read.id or isinstance(node, Identifier):
        return None
    tests = node.test if isinstance(node, Select) else _function(node) in OPTIONAL
    return read, tests


def bound(node: Comprehension, bindings: Bindings) -> Bindings:
    """The names as they are inside of a loop or of `cel.bind`."""
    value = read_of(node.initial, bindings) if node.is_bind else None
    return {**bindings, node.variable: None, node.second: None, node.accumulator: value}


def _walk(node: Expression, text: str, bindings: Bindings) -> Iterator[LookUp]:
    found = read_at(node, bindings)
    if found is not None:
        yield _look_up(node, text, *found)
    if isinstance(node, Comprehension):
        inner = bound(node, bindings)
        for part in (node.range, node.initial):
            yield from _walk(part, text, bindings)
        for part in (node.condition, node.step, node.result):
            yield from _walk(part, text, inner)
        return
    for child in children(node):
        yield from _walk(child, text, bindings)


def _look_up(node: Expression, text: str, read: Read, tests: bool) -> LookUp:
    holder, name = _parts(node, text)
    root, domain = _holder(holder, text)
    return LookUp(read, node, tests, root, domain, name)


def _parts(node: Expression, text: str) -> tuple[Expression, Token | None]:
    """(the map of a domain, the word that names the entry)."""
    if isinstance(node, Select) and node.test:
        return node.operand, _tested(node.operand, text)
    if isinstance(node, Select):
        return node.operand, member_at(text, node.offset)
    if isinstance(node, Call) and node.function == "@in":
        return node.arguments[1], token_at(text, node.arguments[0].offset)
    if isinstance(node, Call) and node.function == "_?._":
        return node.arguments[0], member_at(text, node.offset)
    if isinstance(node, Call):
        return node.arguments[0], token_at(text, node.arguments[1].offset)
    return node, None


def _tested(holder: Expression, text: str) -> Token | None:
    """The name in `has(…)`, whose own place is that of the macro: it stands behind the holder."""
    last: Token | None
    if isinstance(holder, Call) and holder.function in INDEXES:
        key = holder.arguments[-1]
        is_path = isinstance(key, Identifier) and "." in key.name
        last = member_at(text, key.offset) if is_path else token_at(text, key.offset)
        end = None if last is None else bracket_after(text, last.end)
    else:
        end = token_at(text, holder.offset).end
    return None if end is None else member_at(text, end)


def _holder(node: Expression, text: str) -> tuple[Token | None, Token | None]:
    """The words `attributes` or `capacity`, and of the domain."""
    if not isinstance(node, Call) or node.function not in INDEXES:
        return None, None
    container, key = node.arguments
    is_root = isinstance(container, Identifier) and container.name.startswith("device.")
    root = member_at(text, container.offset) if is_root else None
    is_text = isinstance(key, Literal) and node.function != "_?._"
    return root, token_at(text, key.offset) if is_text else None


def _function(node: Expression) -> str:
    return node.function if isinstance(node, Call) else ""
