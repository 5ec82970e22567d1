"""The CEL environments of device selectors and of admission policies.

Which libraries and variables an expression may use follows from the minor, the feature gates and
whether the expression is new or stored. New expressions compile in the environment of the oldest
compatible minor (the cluster's minus one), stored ones with everything the minor has; what a gate
guards follows the gate for new expressions and is always there for stored ones
(kubernetes/apiserver@24a394e516bf: pkg/cel/environment/environment.go).
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace

from dracfg.cel.cost import COST_LIMIT
from dracfg.cel.engines import preferred_engine
from dracfg.cel.outcomes import CompileFailure, Cost, Undecided, place
from dracfg.cel.program import Program
from dracfg.cel.scope import Engine, Scope
from dracfg.cel.signatures import Library, Type, libraries, minor_number
from dracfg.dataclass import dataclass

__all__ = ["CelEnvironment", "admission_environment", "device_environment"]

# resourceapi.CELSelectorExpressionMaxLength (kubernetes/api@v0.36.3: resource/v1/types.go)
DEVICE_EXPRESSION_BYTES = 10 * 1024
CONSUMABLE_CAPACITY, LIST_ATTRIBUTES = "DRAConsumableCapacity", "DRAListTypeAttributes"
Gates = Mapping[str, bool] | AbstractSet[str]


@dataclass(frozen=True, slots=True)
class CelEnvironment:
    """Compiles expressions of one kind for one cluster.

    `size_limit` counts bytes of UTF-8, `cost_limit` is that of the static estimate; None for no
    limit. `composed` are the variables of a policy in their order.
    """

    minor: str
    new: Scope
    stored: Scope
    engine: Engine
    size_limit: int | None = None
    cost_limit: int | None = None
    composed: tuple[tuple[str, Program], ...] = ()

    def compile(
        self, expression: str, *, stored: bool = False, results: tuple[str, ...] | None = None
    ) -> Program | CompileFailure | Undecided:
        """Compile as the API server does for a new expression, or for one it holds already.

        `results` names the types the expression may have, in place of the environment's. The cost
        is not judged here: see `cost` and `is_too_costly`.
        """
        size = len(expression.encode())
        if self.size_limit is not None and size > self.size_limit and not stored:
            return place(f"Too long: may not be more than {self.size_limit} bytes", expression, 0)
        scope = self.stored if stored else self.new
        if results is not None:
            scope = replace(scope, results=results)
        compiled = self.engine.compile(expression, scope)
        if isinstance(compiled, CompileFailure):
            return self._with_version(compiled, scope)
        if isinstance(compiled, Undecided):
            return compiled
        return Program(expression, compiled, dict(self.composed))

    def cost(self, expression: str, *, stored: bool = False) -> Cost | CompileFailure | Undecided:
        """The static cost estimate of an expression."""
        if self.cost_limit is None:
            return Undecided("this kind of expression is held to a limit at run time only")
        program = self.compile(expression, stored=stored)
        return program.cost if isinstance(program, Program) else program

    def is_too_costly(self, cost: Cost) -> bool:
        """Whether kube-apiserver refuses an expression of this cost."""
        return self.cost_limit is not None and cost.max > self.cost_limit

    def with_variable(
        self, name: str, expression: str
    ) -> CelEnvironment | CompileFailure | Undecided:
        """The environment in which later expressions may use `variables.<name>`."""
        program = self.compile(expression, results=())
        if not isinstance(program, Program):
            return program
        variable = (f"variables.{name}", program.type)
        return replace(
            self,
            new=replace(self.new, variables=(*self.new.variables, variable)),
            stored=replace(self.stored, variables=(*self.stored.variables, variable)),
            composed=(*self.composed, (name, program)),
        )

    def _with_version(self, failure: CompileFailure, scope: Scope) -> CompileFailure:
        """Say so where what is missing is a library that a gate, another minor or kind brings."""
        missing = [library for library in libraries() if library.name not in scope.libraries]
        for library in sorted(missing, key=lambda library: not library.gate):
            quoted = [f"'{name.rpartition('.')[2]}'" for name in library.names]
            if failure.message.startswith("undeclared") and any(
                name in failure.message for name in quoted
            ):
                message = f"{failure.message}: {_availability(library)}"
                return replace(failure, message=message)
        if failure.message == "undefined field 'allowMultipleAllocations'":
            message = f"{failure.message}: needs the gate {CONSUMABLE_CAPACITY}"
            return replace(failure, message=message)
        return failure


def device_environment(minor: str, gates: Gates, engine: Engine | None = None) -> CelEnvironment:
    """The environment of device selectors (`devices.requests[].selectors[].cel`, DeviceClass).

    `gates` are the gates that are on: their names, or all with their state. Raises ValueError for a
    minor before 1.34.
    """
    number = minor_number(minor)
    if number < minor_number("1.34"):
        raise ValueError(f"device selectors are known from Kubernetes 1.34, not for {minor}")
    on = {name for name in gates if not isinstance(gates, Mapping) or gates[name]}
    has_lists = number >= minor_number("1.36")
    return CelEnvironment(
        minor=minor,
        new=_device_scope(
            number, on, CONSUMABLE_CAPACITY in on, has_lists and LIST_ATTRIBUTES in on, stored=False
        ),
        stored=_device_scope(number, on, True, has_lists, stored=True),
        engine=engine or preferred_engine(),
        size_limit=DEVICE_EXPRESSION_BYTES,
        cost_limit=COST_LIMIT,
    )


def admission_environment(
    minor: str,
    *,
    has_params: bool,
    has_authorizer: bool = True,
    engine: Engine | None = None,
) -> CelEnvironment:
    """The environment of admission policies; `with_variable` adds the policy's variables in order.

    Expressions must be bool unless `compile` is given other results: ("string",) for a
    messageExpression, () for a variable. The objects of the request are untyped, as in the API
    server. An authorizer answers from the decisions of its `Authorizer` value. The types and
    functions that only mutations have (`Object{}`, `JSONPatch{}`) are not here.
    """
    number = minor_number(minor)
    variables = [
        ("object", "dyn"),
        ("oldObject", "dyn"),
        ("request", "kubernetes.AdmissionRequest"),
        ("namespaceObject", "kubernetes.Namespace"),
    ]
    if has_params:
        variables.append(("params", "dyn"))
    if has_authorizer:
        variables.append(("authorizer", "kubernetes.authorization.Authorizer"))
        variables.append(("authorizer.requestResource", "kubernetes.authorization.ResourceCheck"))
    typed = tuple((name, Type.parse(text)) for name, text in variables)
    return CelEnvironment(
        minor=minor,
        new=Scope(_select(number - 1, "admission", set()), typed, ("bool",)),
        stored=Scope(_select(number, "admission", set()), typed, ("bool",)),
        engine=engine or preferred_engine(),
    )


def _device_scope(
    number: int, gates: AbstractSet[str], multiple: bool, lists: bool, *, stored: bool
) -> Scope:
    guarded = {LIST_ATTRIBUTES} if lists else set()
    names = _select(
        number if stored else number - 1, "device", guarded | (gates - {LIST_ATTRIBUTES})
    )
    variables = [
        ("device.driver", "string"),
        ("device.attributes", "map(string, map(string, dyn))"),
        ("device.capacity", "map(string, map(string, kubernetes.Quantity))"),
    ]
    if multiple:
        variables.append(("device.allowMultipleAllocations", "bool"))
    typed = tuple((name, Type.parse(text)) for name, text in variables)
    return Scope(names, typed, ("bool", "dyn"), iterable_attributes=lists)


def _select(number: int, environment: str, gates: AbstractSet[str]) -> frozenset[str]:
    chosen = [
        library
        for library in libraries()
        if library.environment in ("", environment)
        and (library.gate in gates if library.gate else library.introduced <= number)
    ]
    # DRA's own `includes` stands in for the one of the list library that came later.
    guarded = frozenset(name for library in chosen if library.gate for name in library.names)
    return frozenset(
        library.name for library in chosen if library.gate or not library.names & guarded
    )


def _availability(library: Library) -> str:
    if library.gate:
        return f"needs the gate {library.gate}"
    if library.environment:
        return f"exists in {library.environment} expressions only"
    return (
        f"the library came in 1.{library.introduced}, so new expressions may use it "
        f"from 1.{library.introduced + 1}"
    )
