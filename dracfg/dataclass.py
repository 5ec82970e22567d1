"""Dataclasses whose methods are written when they are first called, as most never are in one run.

To list the fields of a class, to write its methods and to compile them takes Python half a
millisecond, which for all classes is a fourth of what a small repository takes as a whole. Their
meaning is that of `dataclasses.dataclass`, whose `fields`, `replace` and `asdict` take these classes
as their own. They have no `InitVar` and no arguments by keyword alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from functools import cache, partial
from inspect import get_annotations
from reprlib import recursive_repr
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

_ORDER = {"__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}
_OF_LIBRARY = ("__dataclass_fields__", "__dataclass_params__", "__match_args__")
"""What the standard library leaves on a class for its functions and for `match`."""
_GIVEN = "__dracfg_fields__"
"""Where the fields of a class alone stand with their defaults, by their names."""
_OF_INSTANCES = ("__dict__", "__weakref__")
_Make = Callable[[type], Any]


class _Later:
    """Stands for an attribute of classes until it is first asked for; then that is made for one."""

    __slots__ = ("make", "name")

    def __init__(self, name: str, make: _Make) -> None:
        self.name, self.make = name, make

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        asked = type(instance) if owner is None else owner
        holders = (base for base in asked.__mro__ if vars(base).get(self.name) is self)
        if holder := next(holders, None):  # else another thread has just made it
            setattr(holder, self.name, self.make(holder))
        return getattr(asked if instance is None else instance, self.name)


def _dataclass(
    *, frozen: bool = False, slots: bool = False, eq: bool = True, order: bool = False
) -> Callable[[type], type]:
    def decorate(cls: type) -> type:
        held = {name: value for name, value in vars(cls).items() if name not in _OF_INSTANCES}
        own = {name for name, value in held.items() if value is not None}
        added = {n: value for n, value in _at_once(frozen, slots, eq).items() if n not in own}
        added |= {n: value for n, value in _later(frozen, eq, order).items() if n not in own}
        names = [n for n, type_ in get_annotations(cls).items() if "ClassVar" not in str(type_)]
        added[_GIVEN] = {name: held.get(name, MISSING) for name in names}
        if slots:
            return _slotted(cls, names, held | added)
        for name, value in added.items():
            setattr(cls, name, value)
        return cls

    return decorate


def _slotted(cls: type, names: Iterable[str], held: dict[str, Any]) -> type:
    """The class anew, as slots can't be added to one that is there."""
    there = {name for base in cls.__mro__[1:-1] for name in vars(base).get("__slots__", ())}
    for name in names:
        held.pop(name, None)
    slots = tuple(name for name in names if name not in there)
    head = {"__slots__": slots, "__qualname__": cls.__qualname__}
    return type(cls)(cls.__name__, cls.__bases__, held | head)


def _listed(cls: type) -> list[tuple[str, Field[Any]]]:
    """The fields of a class and their names, without what the standard library finds out of them."""
    given = {
        name: value
        for base in reversed(cls.__mro__)
        for name, value in vars(base).get(_GIVEN, {}).items()
    }
    return [
        (name, value if isinstance(value, Field) else dataclasses.field(default=value))
        for name, value in given.items()
    ]


def _as_library(cls: type, name: str) -> Any:
    """What the standard library would leave on a class under this name."""
    held = {given: value for given, value in vars(cls)[_GIVEN].items() if value is not MISSING}
    held |= {
        "__annotations__": get_annotations(cls),
        "__module__": cls.__module__,
        "__doc__": cls.__doc__ or "",
    }
    bases = tuple(base for base in cls.__bases__ if dataclasses.is_dataclass(base))
    bare = type(cls.__name__, bases, held)
    return getattr(dataclasses.dataclass(init=False, repr=False, eq=False)(bare), name)


@cache
def _at_once(frozen: bool, slots: bool, eq: bool) -> Mapping[str, Any]:
    """Methods that are the same for every class."""
    found: dict[str, Any] = {"__repr__": _repr}
    if eq and not frozen:
        found["__hash__"] = None
    if frozen:
        found |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
    if frozen and slots:
        found |= {"__getstate__": _state, "__setstate__": _set_state}
    return found


@cache
def _later(frozen: bool, eq: bool, order: bool) -> Mapping[str, _Later]:
    """What stands for the methods that differ from class to class, the same for all of them."""
    found: dict[str, _Make] = {name: partial(_as_library, name=name) for name in _OF_LIBRARY}
    found["__init__"] = partial(_write_init, frozen=frozen)
    if eq:
        found["__eq__"] = partial(_write_comparison, symbol="==")
    if eq and frozen:
        found["__hash__"] = _write_hash
    if order:
        found |= {name: partial(_write_comparison, symbol=_ORDER[name]) for name in _ORDER}
    return {name: _Later(name, make) for name, make in found.items()}


def _write_init(cls: type, frozen: bool) -> Any:
    known: dict[str, Any] = {"_set": object.__setattr__, "_MISSING": MISSING}
    listed, defaults = _listed(cls), dict[str, Any]()
    names = _stand_ins(name for name, _ in listed)
    taken, lines = ["self"], []
    for stands, (_, field) in zip(names, listed, strict=True):
        value = stands
        if field.default_factory is not MISSING:
            known[f"_make{stands}"] = field.default_factory
            value = f"_make{stands}()"
            if field.init:
                defaults[stands] = MISSING
                value = f"{value} if {stands} is _MISSING else {stands}"
        elif field.default is not MISSING:
            if field.init:
                defaults[stands] = field.default
            else:
                known[f"_default{stands}"] = field.default
                value = f"_default{stands}"
        elif not field.init:
            continue
        if field.init:
            if defaults and stands not in defaults:
                raise TypeError(f"non-default argument {names[stands]!r} follows default argument")
            taken.append(stands)
        lines.append(f"_set(self, {stands!r}, {value})" if frozen else f"self.{stands} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    head = f"__init__({', '.join(taken)})"
    return _written(cls, head, lines or ["pass"], names, known, tuple(defaults.values()))


def _write_comparison(cls: type, symbol: str) -> Any:
    names = _stand_ins(name for name, field in _listed(cls) if field.compare)
    lines = [
        "if other.__class__ is self.__class__:",
        f" return {_values('self', names)} {symbol} {_values('other', names)}",
        "return NotImplemented",
    ]
    name = "__eq__" if symbol == "==" else next(n for n, s in _ORDER.items() if s == symbol)
    return _written(cls, f"{name}(self, other)", lines, names, {})


def _write_hash(cls: type) -> Any:
    names = _stand_ins(n for n, f in _listed(cls) if (f.compare if f.hash is None else f.hash))
    return _written(cls, "__hash__(self)", [f"return hash({_values('self', names)})"], names, {})


def _values(holder: str, names: Iterable[str]) -> str:
    return f"({''.join(f'{holder}.{name}, ' for name in names)})"


def _stand_ins(names: Iterable[str]) -> dict[str, str]:
    """What stands for the names of fields in the text of a method, the same for all classes."""
    return {f"_{number}": name for number, name in enumerate(names)}


def _written(
    cls: type,
    head: str,
    lines: Iterable[str],
    names: Mapping[str, str],
    known: dict[str, Any],
    defaults: tuple[Any, ...] = (),
) -> Any:
    """A method of this text, with the `names` of fields in place of what stands for them.

    `known` are its globals, `defaults` those of its last arguments.
    """
    code = _compiled(f"def {head}:\n " + "\n ".join(lines))
    named = code.replace(
        co_varnames=tuple(names.get(name, name) for name in code.co_varnames),
        co_names=tuple(names.get(name, name) for name in code.co_names),
        co_consts=tuple(names.get(value, value) for value in code.co_consts),
        co_qualname=f"{cls.__qualname__}.{code.co_name}",
    )
    made = FunctionType(named, known, None, defaults)
    made.__module__ = cls.__module__
    return made


@cache
def _compiled(text: str) -> CodeType:
    """The code of one function. To compile takes most of the time, and few texts differ."""
    whole = compile(text, "<string>", "exec")
    return next(value for value in whole.co_consts if isinstance(value, CodeType))


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse_to_set(self: object, name: str, value: object) -> None:  # noqa: ARG001
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: object, name: str) -> None:  # noqa: ARG001
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, one.name) for one in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for one, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)


if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _dataclass
