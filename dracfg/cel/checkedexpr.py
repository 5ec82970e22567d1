"""Read and rewrite the checked expression that the C++ engine hands out.

The engine serialises it as `cel.expr.CheckedExpr` in a `google.protobuf.Any`. Two things that its
Python interface can't express are done by rewriting before evaluation:

- An unknown domain of `device.attributes` and `device.capacity` is an empty map when it is looked
  up, yet `in` and loops don't see it. A look-up with a constant key goes to a second variable with
  the domains filled in, any other to a function.
- A Python function can't return an optional. One that should returns the plain value, and the call
  is wrapped in `optional.ofNonZeroValue`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf import any_pb2

from dracfg.cel.messages import pools
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

__all__ = ["DOMAIN_FUNCTION", "FILLED", "OPTIONAL_RESULTS", "read", "rewrite"]

KINDS = (
    "ident_expr",
    "const_expr",
    "call_expr",
    "select_expr",
    "list_expr",
    "struct_expr",
    "comprehension_expr",
)
PRIMITIVES = {1: "bool", 2: "int", 3: "uint", 4: "double", 5: "string", 6: "bytes"}
WELL_KNOWN = {1: "any", 2: "timestamp", 3: "duration"}
INDEXES = ("_[_]", "_[?_]", "_?._")
FILLED = {"device.attributes": "@attributes", "device.capacity": "@capacity"}
DOMAIN_FUNCTION = "@domain"
OPTIONAL_RESULTS = {"validate": "@validate", "format.named": "@format.named"}


def parse(serialised: bytes) -> Any:
    """The CheckedExpr in what `Expression.serialize` returns."""
    envelope = any_pb2.Any.FromString(serialised)
    return pools().tree("cel.expr.CheckedExpr").FromString(envelope.value)


def read(serialised: bytes) -> Expression:
    """The tree of a serialised checked expression."""
    return _Reader(parse(serialised)).node_of_root()


class _Reader:
    def __init__(self, checked: Any) -> None:
        self._checked = checked
        self._positions: Mapping[int, int] = dict(checked.source_info.positions)
        self._references = checked.reference_map

    def node_of_root(self) -> Expression:
        return self._node(self._checked.expr)

    def _node(self, expr: Any) -> Expression:
        common = (expr.id, self._positions.get(expr.id, 0), self._type(expr.id))
        kind = next(filter(expr.HasField, KINDS), "")
        reference = self._references.get(expr.id)
        match kind:
            case "const_expr":
                return Literal(*common, _constant(expr.const_expr))
            case "ident_expr":
                return Identifier(*common, reference.name if reference else expr.ident_expr.name)
            case "select_expr":
                select = expr.select_expr
                return Select(*common, self._node(select.operand), select.field, select.test_only)
            case "call_expr":
                call = expr.call_expr
                target = self._node(call.target) if call.HasField("target") else None
                overloads = tuple(reference.overload_id) if reference else ()
                arguments = tuple(map(self._node, call.args))
                return Call(*common, call.function, target, arguments, overloads)
            case "list_expr":
                return ListLiteral(*common, tuple(map(self._node, expr.list_expr.elements)))
            case "struct_expr":
                return self._struct(common, expr.struct_expr)
            case "comprehension_expr":
                return self._comprehension(common, expr.comprehension_expr)
        raise ValueError(f"a checked expression has a node of no known kind: {kind!r}")

    def _struct(self, common: tuple[int, int, Type], struct: Any) -> Expression:
        if struct.message_name:
            values = tuple(self._node(entry.value) for entry in struct.entries)
            return MessageLiteral(*common, struct.message_name, values)
        entries = ((self._node(entry.map_key), self._node(entry.value)) for entry in struct.entries)
        return MapLiteral(*common, tuple(entries))

    def _comprehension(self, common: tuple[int, int, Type], loop: Any) -> Comprehension:
        return Comprehension(
            *common,
            variable=loop.iter_var,
            second=loop.iter_var2,
            range=self._node(loop.iter_range),
            accumulator=loop.accu_var,
            initial=self._node(loop.accu_init),
            condition=self._node(loop.loop_condition),
            step=self._node(loop.loop_step),
            result=self._node(loop.result),
        )

    def _type(self, identifier: int) -> Type:
        types = self._checked.type_map
        return _read_type(types[identifier]) if identifier in types else Type("dyn")


def _constant(constant: Any) -> bool | int | float | str | bytes | None:
    kind = constant.WhichOneof("kind")
    return None if kind in (None, "null_value") else getattr(constant, kind)


def _read_type(proto: Any) -> Type:
    kind = proto.WhichOneof("type_kind")
    match kind:
        case "primitive":
            return Type(PRIMITIVES[proto.primitive])
        case "wrapper":
            return Type("wrapper", (Type(PRIMITIVES[proto.wrapper]),))
        case "well_known":
            return Type(WELL_KNOWN[proto.well_known])
        case "list_type":
            return Type("list", (_read_type(proto.list_type.elem_type),))
        case "map_type":
            pair = (_read_type(proto.map_type.key_type), _read_type(proto.map_type.value_type))
            return Type("map", pair)
        case "message_type" | "type_param":
            return Type(getattr(proto, kind))
        case "type":
            return Type("type", (_read_type(proto.type),))
        case "abstract_type":
            abstract = proto.abstract_type
            return Type(abstract.name, tuple(map(_read_type, abstract.parameter_types)))
    return Type("null_type" if kind == "null" else "dyn")


def rewrite(serialised: bytes) -> tuple[bytes, frozenset[str]]:
    """The expression to evaluate, and the constant domains that must be filled in."""
    envelope = any_pb2.Any.FromString(serialised)
    checked = pools().tree("cel.expr.CheckedExpr").FromString(envelope.value)
    writer = _Writer(checked)
    writer.visit(checked.expr)
    envelope.value = checked.SerializeToString(deterministic=True)
    return envelope.SerializeToString(), frozenset(writer.domains)


class _Writer:
    def __init__(self, checked: Any) -> None:
        self._references = checked.reference_map
        self._types = checked.type_map
        self._next_id = max((*self._types, *checked.source_info.positions, 0)) + 1
        self.domains: set[str] = set()

    def visit(self, expr: Any) -> None:
        """Rewrite the node and all below it in place."""
        if expr.HasField("call_expr"):
            self._visit_call(expr)
        elif expr.HasField("select_expr"):
            select = expr.select_expr
            if self._is_device_map(select.operand):
                self.domains.add(select.field)
                self._fill(select.operand)
            self.visit(select.operand)
        elif expr.HasField("list_expr"):
            for element in expr.list_expr.elements:
                self.visit(element)
        elif expr.HasField("struct_expr"):
            for entry in expr.struct_expr.entries:
                if entry.HasField("map_key"):
                    self.visit(entry.map_key)
                self.visit(entry.value)
        elif expr.HasField("comprehension_expr"):
            loop = expr.comprehension_expr
            parts = (
                loop.iter_range,
                loop.accu_init,
                loop.loop_condition,
                loop.loop_step,
                loop.result,
            )
            for part in parts:
                self.visit(part)

    def _visit_call(self, expr: Any) -> None:
        call = expr.call_expr
        if call.function in INDEXES and self._is_device_map(call.args[0]):
            self._index(expr)
        if call.HasField("target"):
            self.visit(call.target)
        for argument in call.args:
            self.visit(argument)
        if call.function in OPTIONAL_RESULTS:
            self._wrap_optional(expr)

    def _is_device_map(self, expr: Any) -> bool:
        return expr.HasField("ident_expr") and self._references[expr.id].name in FILLED

    def _index(self, expr: Any) -> None:
        call = expr.call_expr
        key = call.args[1]
        if key.HasField("const_expr") and key.const_expr.WhichOneof("kind") == "string_value":
            self.domains.add(key.const_expr.string_value)
            self._fill(call.args[0])
        elif call.function == "_[_]":
            call.function = DOMAIN_FUNCTION
            del self._references[expr.id].overload_id[:]
            self._references[expr.id].overload_id.append(DOMAIN_FUNCTION)
        # An optional index with a computed key stays: a domain that is not there is then absent,
        # where Kubernetes has an empty map; `validate` says so.

    def _fill(self, identifier: Any) -> None:
        name = FILLED[self._references[identifier.id].name]
        identifier.ident_expr.name = name
        self._references[identifier.id].name = name

    def _wrap_optional(self, expr: Any) -> None:
        inner = type(expr)()
        inner.CopyFrom(expr)
        inner.id = self._next_id
        self._next_id += 1
        inner.call_expr.function = OPTIONAL_RESULTS[expr.call_expr.function]
        self._references[inner.id].overload_id.append(inner.call_expr.function)
        self._types[inner.id].dyn.SetInParent()
        del self._references[expr.id].overload_id[:]
        self._references[expr.id].overload_id.append("optional_ofNonZeroValue")
        expr.call_expr.Clear()
        expr.call_expr.function = "optional.ofNonZeroValue"
        expr.call_expr.args.add().CopyFrom(inner)
