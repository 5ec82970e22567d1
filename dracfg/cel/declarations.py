"""Make the C++ engine's environments out of the libraries and variables of a scope.

Two for each scope. The compiling one declares overloads that the run-time registry can't tell apart
(it dispatches on kinds, and all messages are of one kind). The evaluating one has one Python
function for each name and number of arguments, whatever the types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from cel_expr_python import cel

from dracfg.cel.checkedexpr import DOMAIN_FUNCTION, OPTIONAL_RESULTS
from dracfg.cel.functions import IMPLEMENTATIONS, Implementation
from dracfg.cel.messages import decode, encode, pools
from dracfg.cel.outcomes import Unmodelled
from dracfg.cel.scope import Scope
from dracfg.cel.signatures import Overload, Type

__all__ = ["UNDECIDED", "compiler", "evaluator", "literal_environment"]

# Marks the text of an error that is no error of the expression.
UNDECIDED = "undecided: "
# Their implementations are the engine's own.
OPERATORS = ("_<_", "_<=_", "_>_", "_>=_")
SIMPLE = {
    "bool": cel.Type.BOOL,
    "bytes": cel.Type.BYTES,
    "double": cel.Type.DOUBLE,
    "duration": cel.Type.DURATION,
    "dyn": cel.Type.DYN,
    "int": cel.Type.INT,
    "string": cel.Type.STRING,
    "timestamp": cel.Type.TIMESTAMP,
    "uint": cel.Type.UINT,
}
# An extension written in Python can't declare type parameters; these stand in for `A`.
CONCRETE = tuple(
    map(Type.parse, (*sorted(SIMPLE.keys() - {"dyn"}), "kubernetes.Quantity", "kubernetes.Semver"))
)


@cache
def literal_environment() -> Any:
    """The environment in which constants are tried out; its one variable is `text`."""
    return cel.NewEnv(pools().values, variables={"text": cel.Type.STRING})


@cache
def compiler(scope: Scope) -> Any:
    """The environment that parses and checks; never evaluates."""
    by_name: dict[str, list[Any]] = {}
    for library in scope.enabled():
        for overload in library.overloads:
            by_name.setdefault(overload.name, []).extend(_declared(overload))
    declarations = [cel.FunctionDecl(name, declared) for name, declared in by_name.items()]
    extension = cel.CelExtension("kubernetes", declarations)
    variables = {name: _engine_type(type_) for name, type_ in scope.variables}
    environment = cel.NewEnv(
        pools().values, config=_config(scope), extensions=[extension], variables=variables
    )
    # The engine builds its checker now, so that a bad declaration is no finding on an expression.
    environment.compile("true")
    return environment


@cache
def evaluator(names: frozenset[str]) -> Any:
    """The environment that evaluates what `compiler` has checked, for these libraries."""
    scope = Scope(names, ())
    by_call: dict[tuple[str, bool, int], list[Overload]] = {}
    for library in scope.enabled():
        for overload in library.overloads:
            if overload.name not in OPERATORS:
                key = (overload.name, overload.member, len(overload.parameters))
                by_call.setdefault(key, []).append(overload)
    declarations = [
        cel.FunctionDecl(OPTIONAL_RESULTS.get(name, name), [_run_time_overload(overloads)])
        for (name, _, _), overloads in by_call.items()
    ]
    declarations += _internal_functions()
    extension = cel.CelExtension("kubernetes", declarations)
    return cel.NewEnv(pools().values, config=_config(scope), extensions=[extension])


def _internal_functions() -> list[Any]:
    """What rewritten expressions call, and what the engine's own macros need and it does not bring."""
    dyn = cel.Type.DYN
    domain = cel.Overload(
        DOMAIN_FUNCTION,
        dyn,
        [cel.Type.MAP, cel.Type.STRING],
        impl=lambda domains, key: domains.get(key, {}),
    )
    entry = cel.Overload("map_insert_entry", dyn, [cel.Type.MAP, dyn, dyn], impl=_insert_entry)
    merge = cel.Overload("map_insert_map", dyn, [cel.Type.MAP, cel.Type.MAP], impl=_insert_map)
    return [
        cel.FunctionDecl(DOMAIN_FUNCTION, [domain]),
        cel.FunctionDecl("cel.@mapInsert", [entry, merge]),
    ]


def _insert_entry(target: dict[Any, Any], key: Any, value: Any) -> dict[Any, Any]:
    return _insert_map(target, {key: value})


def _insert_map(target: dict[Any, Any], entries: dict[Any, Any]) -> dict[Any, Any]:
    if target.keys() & entries.keys():
        raise ValueError(f"insert failed: key {min(target.keys() & entries.keys())} already exists")
    return {**target, **entries}


def _config(scope: Scope) -> Any:
    extensions = {
        name: number for library in scope.enabled() for name, number in library.extensions.items()
    }
    lines = [f"- {{name: {name}, version: {version}}}\n" for name, version in extensions.items()]
    return cel.NewEnvConfigFromYaml("name: kubernetes\nextensions:\n" + "".join(lines))


@cache
def _declared(overload: Overload) -> tuple[Any, ...]:
    """An overload as all environments that have it declare it."""
    return tuple(
        cel.Overload(
            one.id, _engine_type(one.result), list(map(_engine_type, one.parameters)), one.member
        )
        for one in _expand(overload)
    )


def _expand(overload: Overload) -> Iterable[Overload]:
    if "A" not in {
        str(inner) for outer in overload.parameters for inner in (outer, *outer.parameters)
    }:
        return [overload]
    return [
        Overload(
            f"{overload.id}_{concrete.name}",
            overload.name,
            overload.member,
            tuple(_substitute(parameter, concrete) for parameter in overload.parameters),
            overload.result,
        )
        for concrete in CONCRETE
    ]


def _substitute(type_: Type, concrete: Type) -> Type:
    if type_.is_parameter:
        return concrete
    return Type(type_.name, tuple(_substitute(inner, concrete) for inner in type_.parameters))


def _run_time_overload(overloads: list[Overload]) -> Any:
    """One run-time function for overloads that differ in the types of their arguments only."""
    first = overloads[0]
    columns = zip(*(overload.parameters for overload in overloads), strict=True)
    identifier = OPTIONAL_RESULTS.get(first.name, first.id)
    implementation = _adapt(IMPLEMENTATIONS[first.name, first.member], first.result)
    parameters = [_common_kind(column) for column in columns]
    return cel.Overload(identifier, cel.Type.DYN, parameters, first.member, implementation)


def _common_kind(types: Iterable[Type]) -> Any:
    """The engine type by whose kind the run time dispatches."""
    names = {type_.name for type_ in types}
    if names == {"list"}:
        return cel.Type.LIST
    if all("." in name for name in names):
        return cel.Type(min(names))
    return SIMPLE.get(names.pop(), cel.Type.DYN) if len(names) == 1 else cel.Type.DYN


def _adapt(implementation: Implementation, result: Type) -> Callable[..., Any]:
    wanted = result.name if result.name in AUTHORIZER_TYPES else ""

    def call(*arguments: Any) -> Any:
        try:
            return encode(implementation(*map(decode, arguments)), wanted)
        except Unmodelled as error:
            # The engine keeps the text of an exception, not its class.
            raise RuntimeError(f"{UNDECIDED}{error}") from error

    return call


AUTHORIZER_TYPES = tuple(
    f"kubernetes.authorization.{name}"
    for name in ("Authorizer", "PathCheck", "GroupCheck", "ResourceCheck")
)


def _engine_type(type_: Type) -> Any:
    if type_.name in SIMPLE:
        return SIMPLE[type_.name]
    parameters = list(map(_engine_type, type_.parameters))
    if type_.name == "list":
        return cel.Type.List(*parameters)
    if type_.name == "map":
        return cel.Type.Map(*parameters)
    if type_.name == "optional_type":
        return cel.Type.AbstractType("optional_type", parameters)
    return cel.Type(type_.name) if "." in type_.name else cel.Type.DYN
