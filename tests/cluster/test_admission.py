"""What `dracfg test` says of a request is what the API server says: verdict, rule and message.

Requests are sent as dry runs, in the names of their users, to a server on which the tree stands.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

import pytest

from dracfg.policytest.rbac import Rbac
from dracfg.policytest.versions import DRA_GROUP, VERSIONS, is_served
from dracfg.policytest.world import QUOTA, RBAC, Denial
from tests.cluster.controlplane import start
from tests.cluster.emitted import Emitted
from tests.cluster.guarded import Guarded, Said, binding
from tests.cluster.policycases import Case, corpus, generated, in_rounds, world
from tests.cluster.processes import wait_for
from tests.cluster.rights import (
    Holder,
    covers,
    everything,
    group_of,
    holder_of,
    is_allowed,
    place_of,
    probes,
    roles,
    subjects,
)
from tests.cluster.treecases import tree_cases

PATIENCE = 5
"""Seconds for what the server learns of roles and quotas by watching."""
KINDS = ("ResourceClaim", "DeviceTaintRule")
POD_SECURITY = "violates PodSecurity"
"""Of the plugin that speaks before policies do; what it refuses, they may refuse as well."""
ABOUT_OBJECT = re.compile(r"^.*? is invalid: (/\S*: )?")


@pytest.fixture(scope="module")
def guarded(emitted: Emitted, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """Serves every version of the group that the minor has."""
    flags = {name: tuple(given) for name, given in emitted.flags().items()}
    served = ",".join(f"{DRA_GROUP}/{one}=true" for one in _versions(emitted.minor))
    flags["kube-apiserver"] = (*flags.get("kube-apiserver", ()), f"--runtime-config={served}")
    folder = tmp_path_factory.mktemp(f"guarded-{emitted}")
    plane = start(
        emitted.minor, folder, flags, emitted.audit_policy(), ("kube-controller-manager",)
    )
    try:
        yield Guarded(plane, emitted).enter()
    finally:
        plane.stop()


def test_corpus(guarded: Guarded) -> None:
    """The documents of tests/policy/."""
    cases = corpus(guarded.tree)
    if not cases:
        pytest.skip("tests/policy/ is about the clusters of the example")
    differing = _differing(guarded, cases)
    assert not differing, _listed(differing)


def test_generated_cases(guarded: Guarded) -> None:
    """A denial and an allowance of every validation that can get both on this cluster."""
    cases = generated(guarded.tree)
    assert cases
    differing = _differing(guarded, cases)
    assert not differing, _listed(differing)


def test_templates_and_quotas(guarded: Guarded) -> None:
    """What the tree offers its tenants: used as it is meant and as it is not, to the last device."""
    cases = tree_cases(guarded.tree)
    assert {case.verdict.answer for case in cases} == {"allow", "deny"}
    assert any(one.rule == QUOTA for case in cases for one in case.verdict.denials)
    differing = _differing(guarded, cases)
    assert not differing, _listed(differing)


def test_roles(guarded: Guarded) -> None:
    """Who holds a role can do what dracfg says, and nothing else."""
    rbac, admin = world(guarded.tree).rbac, guarded.admin
    for role in roles(rbac):
        admin.apply(binding(group_of(role), role, place_of(role)))
    disputed = []
    for role in roles(rbac):
        holder = holder_of(role)
        asked = list(everything(rbac, holder))
        first = next(one for one in asked if holder.is_given(rbac, one))
        wait_for(partial(is_allowed, admin, holder.user, holder.groups, first), f"{role} is bound")
        disputed += _disputed(guarded, rbac, holder)
        disputed += [
            f"{role}: {one}"
            for one in probes(rbac, holder)
            if is_allowed(admin, holder.user, holder.groups, one) != holder.is_given(rbac, one)
        ]
    assert not disputed, "\n".join(disputed)


def test_subjects(guarded: Guarded) -> None:
    """Who is bound can do what dracfg says where it is bound, and nothing elsewhere."""
    rbac = world(guarded.tree).rbac
    disputed = [text for holder in subjects(rbac) for text in _disputed(guarded, rbac, holder)]
    assert not disputed, "\n".join(disputed)


def _disputed(guarded: Guarded, rbac: Rbac, holder: Holder) -> list[str]:
    """Rights that either dracfg or the server gives and the other does not."""
    rules = holder.rules(guarded.admin)
    return [
        f"{holder}: {one}"
        for one in everything(rbac, holder)
        if covers(rules, one) != holder.is_given(rbac, one)
    ]


def _versions(minor: str) -> list[str]:
    return [
        one for one in VERSIONS if any(is_served(DRA_GROUP, one, kind, minor) for kind in KINDS)
    ]


def _differing(guarded: Guarded, cases: Iterable[Case]) -> Mapping[str, str]:
    """Case → what dracfg and the server say, where they don't say the same."""
    found: dict[str, str] = {}
    listed = list(cases)
    guarded.namespaces(listed)
    for held in in_rounds(listed):
        things = {id(case.standing): case.standing for case in held if case.standing is not None}
        distinct: list[dict[str, object]] = []
        for thing in things.values():
            if thing not in distinct:
                distinct.append(thing)
        with guarded.standing(distinct):
            for case in held:
                with guarded.used(case):
                    why = _tried(guarded, case)
                if why is not None:
                    found[case.name] = why
    return found


def _tried(guarded: Guarded, case: Case) -> str | None:
    deadline = time.monotonic() + PATIENCE
    while True:
        said = guarded.ask(case)
        why = _difference(case, said)
        if why is None or time.monotonic() > deadline:
            return why
        time.sleep(0.2)


def _difference(case: Case, said: Said) -> str | None:
    verdict = case.verdict
    if verdict.answer == "allow" and said.allowed:
        told = {(one.validation.policy, one.message) for one in verdict.warnings if one.validation}
        same = sorted((policy, _words(text)) for policy, text in told) == sorted(
            (policy, _words(text)) for policy, text in said.warnings
        )
        return None if same else f"warns {told}; server: {said}"
    if verdict.answer == "deny" and not said.allowed:
        if any(_is_same(one, said) for one in verdict.denials):
            return None
        return f"denies {verdict.denials}; server: {said}"
    return f"says {verdict.answer} {verdict.denials or verdict.unknown}; server: {said}"


def _is_same(denial: Denial, said: Said) -> bool:
    if denial.validation is not None:
        if POD_SECURITY in said.message:
            return True
        same = _words(said.message) == _words(denial.message)
        return said.policy == denial.validation.policy and same
    if said.policy is not None:
        return False
    if denial.rule in (RBAC, QUOTA):
        return said.code == 403 and said.message.endswith(f"is forbidden: {denial.message}")
    # The server names the field as it pleases, the kind with its group, and not all that is missing.
    words = ABOUT_OBJECT.sub("", denial.message)
    known = words in said.message or (said.message and said.message in denial.message)
    return said.code in (404, 409, 422) and bool(known)


def _words(message: str) -> list[str]:
    """Lists in a message that come from a map have no order; the server gives another each time."""
    return sorted(re.findall(r"[^\s,;]+", message))


def _listed(differing: Mapping[str, str]) -> str:
    return "\n".join(f"{name}: {why}" for name, why in differing.items())
