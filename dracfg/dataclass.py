"""Dataclasses whose methods are written when they are first called, as most never are in one run.

To write and compile the methods of a class takes Python half a millisecond, which for all of them is
a fourth of what a small repository takes as a whole. Their meaning is that of
`dataclasses.dataclass`, whose `fields`, `replace` and `asdict` take these classes as their own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from functools import partial
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

Maker = Callable[[type], Any]
_ORDER = {"__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}


class _Unwritten:
    """Stands for a method of a class until it is first asked for."""

    __slots__ = ("make", "name", "owner")

    def __init__(self, owner: type, name: str, make: Maker) -> None:
        self.owner, self.name, self.make = owner, name, make

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        method = self.make(self.owner)
        method.__module__ = self.owner.__module__
        method.__qualname__ = f"{self.owner.__qualname__}.{self.name}"
        setattr(self.owner, self.name, method)
        return method if instance is None else method.__get__(instance, owner)


def _dataclass(
    *, frozen: bool = False, slots: bool = False, eq: bool = True, order: bool = False
) -> Callable[[type], type]:
    def decorate(cls: type) -> type:
        own = {name for name, value in vars(cls).items() if value is not None}
        at_once = _at_once(frozen, slots, eq)
        for name in at_once.keys() - own:
            setattr(cls, name, at_once[name])
        if cls.__doc__ is None:
            cls.__doc__ = (
                cls.__name__
            )  # else the standard library would work out a signature for it
        made: type = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
        makers = _makers(frozen, eq, order)
        for name in makers.keys() - own:
            setattr(made, name, _Unwritten(made, name, makers[name]))
        return made

    return decorate


def _at_once(frozen: bool, slots: bool, eq: bool) -> dict[str, Any]:
    """What is the same for every class."""
    found: dict[str, Any] = {"__repr__": _repr}
    if eq and not frozen:
        found["__hash__"] = None
    if frozen:
        found |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
    if frozen and slots:
        found |= {"__getstate__": _state, "__setstate__": _set_state}
    return found


def _makers(frozen: bool, eq: bool, order: bool) -> dict[str, Maker]:
    """Who writes what differs from class to class."""
    found: dict[str, Maker] = {"__init__": partial(_write_init, frozen=frozen)}
    if eq:
        found["__eq__"] = partial(_write_comparison, symbol="==")
    if eq and frozen:
        found["__hash__"] = _write_hash
    if order:
        found |= {name: partial(_write_comparison, symbol=_ORDER[name]) for name in _ORDER}
    return found


def _write_init(cls: type, frozen: bool) -> Any:
    known: dict[str, Any] = {"_set": object.__setattr__, "_MISSING": MISSING}
    parameters, lines = ["self"], []
    for field in fields(cls):
        name = value = field.name
        default = ""
        if field.default_factory is not MISSING:
            known[f"_make_{name}"] = field.default_factory
            value = f"_make_{name}()"
            if field.init:
                default, value = "=_MISSING", f"{value} if {name} is _MISSING else {name}"
        elif field.default is not MISSING:
            known[f"_default_{name}"] = field.default
            default = f"=_default_{name}"
            value = name if field.init else f"_default_{name}"
        elif not field.init:
            continue
        if field.init:
            parameters.append(f"{name}{default}")
        lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    return _written("__init__", ", ".join(parameters), lines or ["pass"], known)


def _write_comparison(cls: type, symbol: str) -> Any:
    compared = [field for field in fields(cls) if field.compare]
    lines = [
        "if other.__class__ is self.__class__:",
        f" return {_values('self', compared)} {symbol} {_values('other', compared)}",
        "return NotImplemented",
    ]
    name = "__eq__" if symbol == "==" else next(n for n, s in _ORDER.items() if s == symbol)
    return _written(name, "self, other", lines, {})


def _write_hash(cls: type) -> Any:
    hashed = [f for f in fields(cls) if (f.compare if f.hash is None else f.hash)]
    return _written("__hash__", "self", [f"return hash({_values('self', hashed)})"], {})


def _values(holder: str, of: list[Field[Any]]) -> str:
    return f"({''.join(f'{holder}.{field.name}, ' for field in of)})"


def _written(name: str, parameters: str, lines: list[str], known: dict[str, Any]) -> Any:
    body = "\n ".join(lines)
    exec(f"def {name}({parameters}):\n {body}", known)
    return known[name]


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse_to_set(self: object, name: str, value: object) -> None:  # noqa: ARG001
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: object, name: str) -> None:  # noqa: ARG001
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _dataclass
