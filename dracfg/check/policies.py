"""OBJ025 and OBJ026: every expression of the emitted admission policies compiles on its cluster.

Judges policies as objects and knows nothing of what their expressions test. The API server holds a
policy to no static estimate: a call may cost 1,000,000 and all calls of a policy 10,000,000 when they
run (kubernetes/apiserver pkg/apis/cel/config.go). What a request holds has no bound in the estimate,
so cost is judged only where the estimate does not hang on it.

Expressions that stand in the package compile in every minor that dracfg knows, with lists of plain
text in their gaps too, or what most clusters have there, which the tests prove; here all others are
compiled, each once for an environment.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field
from functools import cache, lru_cache
from string import Template
from typing import TYPE_CHECKING

from dracfg.check.places import distinct_spans, key_place, span_of
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.link.catalog import Catalog, Cluster
from dracfg.lower.admission.literals import literal
from dracfg.lower.admission.podspecs import pod_specs
from dracfg.lower.admission.policies import packaged_expressions
from dracfg.lower.artifact import Artifact, K8sObject, Unit

if TYPE_CHECKING:
    from dracfg.cel import CelEnvironment, CompileFailure, Program, Undecided

    Outcome = Program | CompileFailure | Undecided

POLICY = "ValidatingAdmissionPolicy"
MAX_CONDITIONS = 64
"""Of one policy. Source: kubernetes/api@v0.36.3 admissionregistration/v1/types.go."""

MAX_MESSAGE_BYTES = 5 * 1024
"""Of what a messageExpression gives. One that is longer itself is taken to give more; the API server
would show `message` in its place."""

MAX_CODE_POINTS = 100_000
"""Of one expression: the default of cel-go's parser, which the API server keeps."""

COST_OF_A_CALL = 1_000_000

NO_BOUND = 2**32
"""Estimates above hang on a length without a bound, which counts as 2**64 - 1 times small factors."""

MOST_PLACES = 4
_SHOWN = 100
_VARIABLE = re.compile(r"\bvariables\.(\w+)")
_GAP = re.compile(r"\$\{(\w+)\}")
_TEXTS = re.compile(r"""(?<![\w)\]])\["[^"\\\n]*"(?:, "[^"\\\n]*")*\]""")
"""A literal list of plain text, which is of one type whatever it holds."""

_NAMES = re.compile(r'"\^\((?:[A-Za-z0-9_/|-]|\[\.\]|\.\*)+\)\$"')
"""A regular expression for one of several names, in which nothing can be wrong."""

_TEXT = r'"[^"\\\n]*"'
_SELECTOR = rf"\{{{_TEXT}: {_TEXT}(?:, {_TEXT}: {_TEXT})*\}}"
_POOL = rf'dyn\(\{{"fencing": dyn\({_TEXT}\), "selector": dyn\({_SELECTOR}\)\}}\)'
_POOLS = re.compile(rf"\[{_POOL}(?:, {_POOL})*\]")
"""Node selectors of pools: a list of dyn, however many they are."""

_LISTS = ("[]", '[""]')
_USUAL: Mapping[str, tuple[str, ...]] = {
    "podSpecs": (pod_specs("object", ()),),
    "oldPodSpecs": (pod_specs("oldObject", ()),),
    "configs": ("{}",),
    "extendedNames": (literal("^(a)$"),),
    "heldPools": (literal([{"fencing": "a", "selector": {"a": "a"}}]),),
}
"""What stands in gaps that take no list of text, where a catalog writes nothing of its own."""

Variables = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class PolicyFault:
    """What is wrong with one expression, or with the policy where `place` is empty.

    `place` is a path such as `spec.validations[0].expression`, `shown` the line with a caret.
    """

    code: str
    place: str
    message: str
    expression: str = ""
    shown: str | None = None
    expected: str | None = None


@dataclass(frozen=True, slots=True)
class _Expression:
    """`results` are the types that it may have, None for those of the environment."""

    place: str
    text: str
    variables: Variables
    results: tuple[str, ...] | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class PolicyCompiler:
    """Compiles each text once for each environment: a minor and the variables that it reads."""

    minor: str
    _environments: dict[tuple[bool, Variables], CelEnvironment | CompileFailure | Undecided] = (
        field(default_factory=dict)
    )
    _outcomes: dict[tuple[bool, Variables, str, tuple[str, ...] | None], Outcome] = field(
        default_factory=dict
    )

    def environment(
        self, has_params: bool, variables: Variables
    ) -> CelEnvironment | CompileFailure | Undecided:
        """The environment with these variables; of the first one that can't be, what it came to."""
        from dracfg.cel import CelEnvironment, admission_environment

        key = (has_params, variables)
        if key not in self._environments:
            if not variables:
                self._environments[key] = admission_environment(self.minor, has_params=has_params)
            else:
                before = self.environment(has_params, variables[:-1])
                self._environments[key] = (
                    before.with_variable(*variables[-1])
                    if isinstance(before, CelEnvironment)
                    else before
                )
        return self._environments[key]

    def compile(self, has_params: bool, judged: _Expression) -> Outcome | None:
        """What an expression comes to; None where a variable that it reads came to nothing."""
        from dracfg.cel import CelEnvironment

        read = _read(judged.text, judged.variables)
        environment = self.environment(has_params, read)
        if not isinstance(environment, CelEnvironment):
            return None
        if judged.name is not None:
            found = self.environment(has_params, (*read, (judged.name, judged.text)))
            return found.composed[-1][1] if isinstance(found, CelEnvironment) else found
        key = (has_params, read, judged.text, judged.results)
        if key not in self._outcomes:
            self._outcomes[key] = environment.compile(judged.text, results=judged.results)
        return self._outcomes[key]


def check_policies(catalog: Catalog, units: Sequence[Unit]) -> tuple[Diagnostic, ...]:
    """Findings on every ValidatingAdmissionPolicy of all units, in its cluster's minor."""
    found: dict[Diagnostic, None] = {}
    known = packaged_shapes()
    for unit in units:
        cluster = catalog.clusters.get(unit.path.partition("/")[0])
        if cluster is None:
            continue
        policies = [one for one in unit.artifacts if one.object.get("kind") == POLICY]
        for artifact in policies:
            for fault in policy_faults(artifact.object, _compiler(cluster.minor), known):
                found[_diagnostic(catalog, cluster, artifact, fault)] = None
    return tuple(found)


@lru_cache(maxsize=8)
def _compiler(minor: str) -> PolicyCompiler:
    """One for all clusters of a minor: what a text comes to hangs on nothing else."""
    return PolicyCompiler(minor)


@cache
def packaged_shapes() -> frozenset[str]:
    """The package's expressions with what is usual in their gaps, as `shape` gives them."""
    found = set()
    for text in packaged_expressions():
        gaps = sorted(set(_GAP.findall(text)))
        for texts in itertools.product(*(_USUAL.get(gap, _LISTS) for gap in gaps)):
            filled = Template(text).substitute(dict(zip(gaps, texts, strict=True)))
            found.add(shape(filled))
    return frozenset(found)


def shape(text: str) -> str:
    """An expression with all lists of plain text alike, all names and all pools: equal shapes compile
    alike."""
    text = _POOLS.sub("[dyn({})]", _NAMES.sub('"^()$"', text))
    return _TEXTS.sub('[""]', text)


def policy_faults(
    policy: K8sObject, compiler: PolicyCompiler, known: AbstractSet[str] = frozenset()
) -> Iterator[PolicyFault]:
    """Every fault of a policy (admissionregistration.k8s.io/v1).

    Expressions whose shape is `known` are taken to compile; without any, all of them are compiled.
    """
    spec = policy["spec"]
    conditions = len(spec.get("matchConditions", ()))
    if conditions > MAX_CONDITIONS:
        yield PolicyFault(
            "OBJ025",
            "spec.matchConditions",
            f"has {conditions} conditions",
            expected=f"at most {MAX_CONDITIONS}",
        )
    has_params = "paramKind" in spec
    for judged in _expressions(spec):
        long = _too_long(judged)
        if long is not None:
            yield long
        elif not _is_known(judged, known, compiler, has_params):
            yield from _judge(judged, compiler.compile(has_params, judged))


def _expressions(spec: Mapping[str, Sequence[Mapping[str, str]]]) -> Iterator[_Expression]:
    """All expressions, in the order in which the API server compiles them."""
    for i, condition in enumerate(spec.get("matchConditions", ())):
        yield _Expression(f"spec.matchConditions[{i}].expression", condition["expression"], ())
    variables: Variables = ()
    for i, variable in enumerate(spec.get("variables", ())):
        name, text = variable["name"], variable["expression"]
        yield _Expression(f"spec.variables[{i}].expression", text, variables, (), name)
        variables = (*variables, (name, text))
    for i, rule in enumerate(spec.get("validations", ())):
        place = f"spec.validations[{i}]"
        yield _Expression(f"{place}.expression", rule["expression"], variables)
        if "messageExpression" in rule:
            text = rule["messageExpression"]
            yield _Expression(f"{place}.messageExpression", text, variables, ("string",))


def _read(text: str, variables: Variables) -> Variables:
    """Those of the variables that a text reads, through others as well, in their order."""
    wanted = set(_VARIABLE.findall(text))
    read = []
    for name, expression in reversed(variables):
        if name in wanted:
            wanted |= set(_VARIABLE.findall(expression))
            read.append((name, expression))
    return tuple(reversed(read))


def _is_known(
    judged: _Expression, known: AbstractSet[str], compiler: PolicyCompiler, has_params: bool
) -> bool:
    """Whether a text compiles as its shape is known, or that of a message but for text at its end."""
    if shape(judged.text) in known:
        return True
    before, joint, ending = judged.text.rpartition(" + ")
    if judged.results != ("string",) or not joint or shape(before) not in known:
        return False
    if re.fullmatch(_TEXT, ending):
        return True
    from dracfg.cel import Program

    alone = _Expression(judged.place, ending, (), ("string",))
    return isinstance(compiler.compile(has_params, alone), Program)


def _too_long(judged: _Expression) -> PolicyFault | None:
    size = len(judged.text.encode())
    if judged.results == ("string",) and size > MAX_MESSAGE_BYTES:
        found, most, unit = size, MAX_MESSAGE_BYTES, "bytes"
    else:
        found, most, unit = len(judged.text), MAX_CODE_POINTS, "characters"
    if found <= most:
        return None
    return PolicyFault(
        "OBJ025",
        judged.place,
        f"has {found:,} {unit}",
        judged.text,
        expected=f"at most {most:,}",
    )


def _judge(judged: _Expression, outcome: Outcome | None) -> Iterator[PolicyFault]:
    from dracfg.cel import CompileFailure, Cost, Undecided

    place, text = judged.place, judged.text
    if isinstance(outcome, CompileFailure):
        message = f"does not compile: {outcome.message}"
        yield PolicyFault("OBJ025", place, message, text, _shown(text, outcome))
    elif isinstance(outcome, Undecided):
        yield PolicyFault("OBJ026", place, f"can't be judged: {outcome.reason}", text)
    elif outcome is not None:
        cost = outcome.cost
        if isinstance(cost, Cost) and COST_OF_A_CALL < cost.max < NO_BOUND:
            yield PolicyFault(
                "OBJ025",
                place,
                f"may cost {cost.max:,} when it runs",
                text,
                expected=f"at most {COST_OF_A_CALL:,}",
            )


def _shown(text: str, failure: CompileFailure) -> str:
    """The line and the caret; of a long line the part around the caret."""
    line = text.split("\n")[failure.line - 1]
    if len(line) <= _SHOWN:
        return failure.caret(text)
    start = max(0, failure.column - 1 - _SHOWN // 2)
    return f"{line[start : start + _SHOWN]}\n{'.' * (failure.column - 1 - start)}^"


def _diagnostic(
    catalog: Catalog, cluster: Cluster, artifact: Artifact, fault: PolicyFault
) -> Diagnostic:
    span, label = _cause(catalog, cluster, artifact, fault)
    others = (origin for origin in artifact.via if span_of(catalog, origin) != span)
    name = artifact.object["metadata"]["name"]
    return diagnose(
        fault.code,
        span,
        f"Kubernetes {cluster.minor}: {fault.place} of the policy {name} {fault.message}",
        label=label,
        related=[
            Related(place, "its names are in policies too")
            for _, place in distinct_spans(catalog, others, MOST_PLACES)
        ],
        found=fault.shown,
        expected=fault.expected,
        help="change what the marked place puts into the policy, or report it as a fault of dracfg",
    )


def _cause(
    catalog: Catalog, cluster: Cluster, artifact: Artifact, fault: PolicyFault
) -> tuple[Span, str]:
    """The part of the Cluster that the text has something of: a path, the contact, else its names."""
    spec = cluster.document.spec
    for i, kind in enumerate(spec.pod_template_kinds):
        group, resource = literal(kind.api_group), literal(kind.resource)
        if group in fault.expression and resource in fault.expression:
            place = key_place(cluster.document, "spec", "podTemplateKinds", i, "podSpecs")
            return place, "the expression looks for pod specs here"
    if fault.place.endswith(".messageExpression") and spec.contact is not None:
        return key_place(cluster.document, "spec", "contact"), "the message ends with this"
    return span_of(catalog, artifact.origin), "the expression may hold names of this cluster"
