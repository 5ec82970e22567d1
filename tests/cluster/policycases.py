"""What `dracfg test` says of requests: its corpus and its generated cases, as they are to be sent.

The requests are dracfg's own, and so are the verdicts; who sends them is not known here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from dracfg.kube.objects import ObjectKey, object_key
from dracfg.pipeline import judge
from dracfg.policytest.generated import generated_cases
from dracfg.policytest.load import load_tests
from dracfg.policytest.requests import Request
from dracfg.policytest.run import request_of, worlds_of
from dracfg.policytest.world import Verdict, World
from tests.cluster.client import Object
from tests.cluster.emitted import ROOT, Emitted

EVERYTHING = ("cluster-admin",)


@dataclass(frozen=True)
class Case:
    """A request, what the user and the namespace hold beside the tree, and dracfg's verdict.

    `standing` is what must be there before and is no part of the tree.
    """

    name: str
    request: Request
    verdict: Verdict
    roles: tuple[str, ...] = ()
    used: Mapping[str, int] = field(default_factory=dict)
    standing: Object | None = None


def world(tree: Emitted) -> World:
    """The cluster as dracfg knows it."""
    return _worlds(tree.repository)[tree.cluster]


def corpus(tree: Emitted) -> list[Case]:
    """The tests of tests/policy/ that are about a cluster of the example."""
    if tree.repository != ROOT:
        return []
    here = world(tree)
    cases = []
    for test in load_tests(ROOT).tests:
        spec = test.document.spec
        if spec.cluster != tree.cluster:
            continue
        request = request_of(here, test)
        assert isinstance(request, Request), f"{test.name}: {request}"
        cases.append(case_of(here, test.name, request, spec.roles, spec.used))
    return cases


def generated(tree: Emitted) -> list[Case]:
    """A denial and an allowance of every validation that requests of this cluster can get.

    Made-up things get names of their own, and every user may do everything: what is refused is refused
    by policies.
    """
    here = world(tree)
    names: dict[str, str] = {}
    cases = []
    for made in generated_cases(here):
        if made.request is None:
            continue
        request = _renamed(made.request, names)
        cases.append(case_of(here, made.name, request, EVERYTHING, {}))
    return cases


def in_rounds(cases: Iterable[Case]) -> list[list[Case]]:
    """Cases that can be sent one after the other: nothing stands that one of them is to create."""
    rounds: list[tuple[dict[ObjectKey, Object | None], list[Case]]] = []
    for case in cases:
        key = object_key(case.request.subject)._replace(api_version=case.request.group)
        for taken, held in rounds:
            if taken.setdefault(key, case.standing) == case.standing:
                held.append(case)
                break
        else:
            rounds.append(({key: case.standing}, [case]))
    return [held for _, held in rounds]


@cache
def _worlds(repository: Path) -> Mapping[str, World]:
    judged = judge(repository)
    return worlds_of(judged.catalog, judged.units)


def case_of(
    here: World, name: str, request: Request, roles: tuple[str, ...], used: Mapping[str, int]
) -> Case:
    old = None if request.operation == "CREATE" else request.old
    stands = old is None or here.standing(old) is not None
    verdict = here.judge(request, roles=roles, used=used)
    return Case(name, request, verdict, roles, used, None if stands else old)


def _renamed(request: Request, names: dict[str, str]) -> Request:
    """The same request on things of its own: names stand for all that a thing says."""
    made = request
    if request.namespace is not None:
        name = _name(request.namespace, names)
        labels = request.namespace["metadata"].get("labels", {})
        label = {"kubernetes.io/metadata.name": name}
        namespace = _named(request.namespace, name=name, labels={**labels, **label})
        made = replace(_on_both(request, namespace=name), namespace=namespace)
    if made.operation != "CREATE" and made.old is not None:
        made = _on_both(made, name=_name(made.old, names))
    return made


def _on_both(request: Request, **metadata: str) -> Request:
    return replace(
        request,
        object=None if request.object is None else _named(request.object, **metadata),
        old=None if request.old is None else _named(request.old, **metadata),
    )


def _name(thing: Object, names: dict[str, str]) -> str:
    return names.setdefault(str(thing), f"{thing['metadata']['name']}-{len(names) + 1}")


def _named(thing: Object, **metadata: object) -> Object:
    return {**thing, "metadata": {**thing["metadata"], **metadata}}
