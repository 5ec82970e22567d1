"""The libraries of the Kubernetes CEL environments, their functions and since when they exist.

Reads data/libraries.yaml, and the names of the opaque types from data/messages.yaml. It may not
know an engine, nor how a function is computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.packaged import read_data

__all__ = [
    "Library",
    "Overload",
    "Type",
    "libraries",
    "message_table",
    "minor_number",
    "opaque_types",
]

SIGNATURE = re.compile(
    r"(?:<(?P<receiver>.+?)>\.)?(?P<name>[\w.@<>=]+)\((?P<parameters>.*)\) -> (?P<result>.+)"
)
TYPE = re.compile(r"\s*([\w.]+)\s*(\(?)")


@dataclass(frozen=True, slots=True)
class Type:
    """A CEL type: `int`, `list(string)`, `kubernetes.Quantity`; printed as cel-go prints it."""

    name: str
    parameters: tuple[Type, ...] = ()

    @property
    def is_parameter(self) -> bool:
        """Whether this is a type parameter such as `A`, not a type."""
        return len(self.name) == 1

    @classmethod
    def parse(cls, text: str) -> Type:
        """Read the printed form; raises ValueError."""
        result, rest = _read_type(text)
        if rest.strip():
            raise ValueError(f"{text!r} is not a type")
        return result

    def __str__(self) -> str:
        if not self.parameters:
            return self.name
        return f"{self.name}({', '.join(map(str, self.parameters))})"


@dataclass(frozen=True, slots=True)
class Overload:
    """One signature of a function; a member's receiver is its first parameter."""

    id: str
    name: str
    member: bool
    parameters: tuple[Type, ...]
    result: Type


@dataclass(frozen=True, slots=True)
class Library:
    """A library; `extensions` maps the engine's name of it to its version.

    `environment` is "" for the base environment, `gate` "" where no feature gate guards it.
    `names` are all functions and macros that it brings.
    """

    name: str
    introduced: int
    environment: str
    gate: str
    extensions: Mapping[str, int]
    overloads: tuple[Overload, ...]
    names: frozenset[str]


def minor_number(minor: str) -> int:
    """The 34 of "1.34"; raises ValueError."""
    major, _, number = minor.partition(".")
    if major != "1" or not number.isdigit():
        raise ValueError(f"{minor!r} is not a Kubernetes minor such as 1.36")
    return int(number)


@cache
def libraries() -> tuple[Library, ...]:
    """All libraries in the order of the data file."""
    return tuple(
        _library(entry) for entry in read_data("dracfg.cel", "data/libraries.yaml")["libraries"]
    )


@cache
def opaque_types() -> frozenset[str]:
    """The names of the types whose inside no expression may see."""
    return frozenset(message_table()["opaque"])


@cache
def message_table() -> Mapping[str, Any]:
    """The messages that stand for types of Kubernetes, as data/messages.yaml has them."""
    document: Mapping[str, Any] = read_data("dracfg.cel", "data/messages.yaml")
    return document


def _library(entry: Mapping[str, Any]) -> Library:
    overloads = tuple(_overload(key, text) for key, text in entry.get("overloads", {}).items())
    return Library(
        name=entry["name"],
        introduced=minor_number(entry["introduced"]),
        environment=entry.get("environment", ""),
        gate=entry.get("gate", ""),
        extensions=entry.get("extensions", {}),
        overloads=overloads,
        names=frozenset(entry.get("names", ())) | {overload.name for overload in overloads},
    )


def _overload(identifier: str, text: str) -> Overload:
    match = SIGNATURE.fullmatch(text)
    if match is None:
        raise ValueError(f"{identifier}: {text!r} is not a signature")
    receiver = match["receiver"]
    parameters = ([receiver] if receiver else []) + list(_split(match["parameters"]))
    return Overload(
        identifier,
        match["name"],
        bool(receiver),
        tuple(map(Type.parse, parameters)),
        Type.parse(match["result"]),
    )


def _split(text: str) -> Iterator[str]:
    """The parts between the commas that stand in no parentheses."""
    depth, start = 0, 0
    for index, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            yield text[start:index]
            start = index + 1
    if text[start:].strip():
        yield text[start:]


def _read_type(text: str) -> tuple[Type, str]:
    match = TYPE.match(text)
    if match is None:
        raise ValueError(f"{text!r} is not a type")
    name, rest = match[1], text[match.end() :]
    if not match[2]:
        return Type(name), rest
    parameters = []
    while True:
        parameter, rest = _read_type(rest)
        parameters.append(parameter)
        separator, rest = rest.lstrip()[:1], rest.lstrip()[1:]
        if separator == ")":
            return Type(name, tuple(parameters)), rest
        if separator != ",":
            raise ValueError(f"{text!r} is not a type")
