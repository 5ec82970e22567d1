"""Policy tests against the clusters that the catalog compiles to → the report.

Knows no file and no format of output.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic
from dracfg.diagnostics.render.document import report
from dracfg.link.catalog import Catalog
from dracfg.lower.artifact import K8sObject, Unit
from dracfg.policytest.load import LoadedTest
from dracfg.policytest.rbac import UnknownRole
from dracfg.policytest.requests import Request, authenticated_groups, is_namespaced
from dracfg.policytest.world import Answer, Denial, Verdict, World, world_of

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Result:
    """What a test expected and what came of it.

    `rule` and `message` are those of the denial or warning that the user would see: the expected
    one where it is among them. `file` and `line` are the test's own.
    """

    name: str
    passed: bool
    cluster: str
    expected: Literal["allow", "deny"]
    actual: Answer
    rule: str | None
    message: str
    verdict: Verdict
    file: str = ""
    line: int = 0


def worlds_of(catalog: Catalog, units: Iterable[Unit]) -> Mapping[str, World]:
    """Every cluster of the catalog by name, made when first looked at."""
    return _Worlds(catalog, tuple(units))


class _Worlds(dict[str, World]):
    """Clusters are compiled only where a test asks for them."""

    def __init__(self, catalog: Catalog, units: tuple[Unit, ...]) -> None:
        super().__init__()
        self._catalog, self._units = catalog, units

    def __missing__(self, name: str) -> World:
        made = self[name] = world_of(self._catalog, self._catalog.clusters[name], self._units)
        return made


def run_tests(worlds: Mapping[str, World], tests: Iterable[LoadedTest]) -> tuple[Result, ...]:
    """The results, in the order of the tests. Every test names a cluster of `worlds`."""
    return tuple(run_test(worlds[test.document.spec.cluster], test) for test in tests)


def run_test(world: World, test: LoadedTest) -> Result:
    """One test against its cluster."""
    spec = test.document.spec
    request = request_of(world, test)
    if isinstance(request, str):
        verdict = Verdict("unknown", unknown=(request,))
    else:
        try:
            verdict = world.judge(request, roles=spec.roles, used=spec.used)
        except UnknownRole as role:
            reason = f"there is no ClusterRole {role} among the built-in and the emitted ones"
            verdict = Verdict("unknown", unknown=(reason,))
    said = verdict.denials if verdict.answer == "deny" else verdict.warnings
    fitting = [one for one in said if _fits(one, spec.rule, spec.message)]
    asks = spec.rule is not None or spec.message is not None
    passed = verdict.answer == spec.expect and (
        bool(fitting) if asks or spec.expect == "deny" else True
    )
    shown = (fitting or list(said))[:1]
    span = test.document.read_from.span
    return Result(
        name=test.name,
        passed=passed,
        cluster=world.name,
        expected=spec.expect,
        actual=verdict.answer,
        rule=shown[0].rule if shown else None,
        message=shown[0].message if shown else "; ".join((*verdict.unknown, *verdict.notes)),
        verdict=verdict,
        file=span.path,
        line=span.line,
    )


def request_of(world: World, test: LoadedTest) -> Request | str:
    """The request that a test describes, or why it describes none."""
    spec = test.document.spec
    thing = test.object
    if thing is None:
        return "the test has no object"
    placed = _placed(thing, spec.namespace)
    if isinstance(placed, str):
        return placed
    old = None if test.old is None else _placed(test.old, spec.namespace)
    if isinstance(old, str):
        return old
    if spec.operation == "CREATE" and old is not None:
        return "what is created has no oldObject"
    if spec.operation == "UPDATE" and old is None:
        old = world.standing(placed)
        if old is None:
            return "an update of an object that dracfg does not emit needs oldObject"
    if spec.operation == "DELETE":
        old = old or world.standing(placed) or placed
    namespace = placed["metadata"].get("namespace")
    return Request(
        operation=spec.operation,
        user=spec.user,
        groups=authenticated_groups(spec.user, spec.groups),
        object=None if spec.operation == "DELETE" else placed,
        old=old,
        namespace=None if namespace is None else world.namespace(namespace),
        subresource=spec.subresource or "",
        extra=spec.user_extra,
        options=None if spec.options is None else dict(spec.options),
    )


def report_of(
    results: Iterable[Result],
    findings: Iterable[Diagnostic] = (),
    coverage: list[Document] | None = None,
) -> Document:
    """The document TestReport. A test with a verdict that is unknown makes the whole unknown."""
    listed = tuple(results)
    faults = tuple(findings)
    failed = [one for one in listed if not one.passed]
    verdict = "proven"
    if any(one.actual != "unknown" for one in failed) or any(fault.is_error for fault in faults):
        verdict = "refuted"
    elif failed:
        verdict = "unknown"
    more = {} if coverage is None else {"coverage": coverage}
    return report(
        "TestReport", verdict, faults, results=[_result_document(one) for one in listed], **more
    )


def _placed(thing: K8sObject, namespace: str | None) -> K8sObject | str:
    """The object in the namespace of the request, or what is contradictory about the two."""
    own = thing["metadata"].get("namespace")
    wanted = is_namespaced(thing)
    if wanted is False:
        return thing if own is None else f"a {thing['kind']} lies in no namespace"
    if own is not None and namespace is not None and own != namespace:
        return f"the object lies in namespace {own}, the test in {namespace}"
    found = own or namespace
    if found is None:
        return (
            f"a {thing['kind']} lies in a namespace, and the test names none" if wanted else thing
        )
    return {**thing, "metadata": {**thing["metadata"], "namespace": found}}


def _fits(denial: Denial, rule: str | None, message: str | None) -> bool:
    return (rule is None or denial.rule == rule) and (message is None or message in denial.message)


def _result_document(result: Result) -> Document:
    return {
        "name": result.name,
        "passed": result.passed,
        "cluster": result.cluster,
        "expected": result.expected,
        "actual": result.actual,
        "rule": result.rule,
        "message": result.message,
        "notes": list(result.verdict.notes),
        "file": result.file,
        "line": result.line,
    }
