"""What dracfg emits lets nobody write what the data of responsibilities says another writes."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from dracfg.kube.responsibilities import Responsibility, Right, actors, responsibilities, stages
from dracfg.lower.access import plural
from dracfg.lower.admission.policies import ADMISSION_GROUP, DATA
from dracfg.lower.roles import APPLIER, driver_role, fixed_roles
from dracfg.lower.sync import treatments
from dracfg.packaged import read_data

ROOT = Path(__file__).parents[2]
WRITES = ("create", "update", "patch", "delete", "deletecollection")
NO_WRITE = ("get", "list", "watch", "bind")
PARTS = [pytest.param(entry, id=f"{entry.kind} {entry.part}") for entry in responsibilities()]
Rules = Iterable[Mapping[str, list[str]]]


def has(rules: Rules, right: Right) -> bool:
    return any(
        right.group in rule["apiGroups"]
        and right.path in rule["resources"]
        and set(right.verbs) & set(rule["verbs"])
        for rule in rules
    )


def can_write(rules: Rules, entry: Responsibility) -> bool:
    """Some right for each resource: roles differ, as one may only add and another only change."""
    return bool(entry.needs) and all(has(rules, right) for right in entry.needs)


def roles() -> Iterator[tuple[str, str, list[dict[str, list[str]]]]]:
    """(name, holder, rules) of every emitted role but the engine's."""
    for role in (*fixed_roles().values(), driver_role("gpu.example.com")):
        yield role.name, role.holder, list(role.rules)


@cache
def applier_rules() -> tuple[dict[str, Any], ...]:
    found = []
    for file in sorted(ROOT.glob("out/gitops/snippets/applier-*.yaml")):
        for thing in yaml.safe_load_all(file.read_text(encoding="utf-8")):
            if thing["kind"] == "ClusterRole" and thing["metadata"]["name"] == APPLIER:
                found += thing["rules"]
    assert found
    return tuple(found)


@cache
def applied() -> frozenset[str]:
    """The resources of which the example's clusters get objects."""
    kinds = re.compile(r"^kind: (\w+)$", re.MULTILINE)
    folders = ("guard*", "platform", "tenants")
    texts = [
        file.read_text(encoding="utf-8")
        for folder in folders
        for file in ROOT.glob(f"out/prod-*/{folder}/**/*.yaml")
    ]
    return frozenset(plural(kind) for text in texts for kind in kinds.findall(text))


@pytest.mark.parametrize("entry", PARTS)
def test_roles_are_equal_to_the_writers(entry: Responsibility) -> None:
    holding = {holder for _, holder, rules in roles() if can_write(rules, entry)}
    assert holding == set(entry.granted) - {"applier"}


@pytest.mark.parametrize("entry", PARTS)
def test_the_engine_writes_what_it_applies_and_else_only_what_it_grants(
    entry: Responsibility,
) -> None:
    """It may hold what the roles that it applies grant: the API server wants that."""
    writes = can_write(applier_rules(), entry)
    if "applier" in entry.granted:
        assert writes == ({right.path for right in entry.needs} <= applied())
    elif writes:
        assert set(entry.granted) == {"tenant"}


@pytest.mark.parametrize("entry", PARTS)
def test_only_writers_are_granted(entry: Responsibility) -> None:
    holders = {actors()[name].holder for name in entry.writers}
    assert set(entry.granted) <= holders


def test_no_role_writes_what_nobody_answers_for() -> None:
    told = {(right.group, right.path) for entry in responsibilities() for right in entry.needs}
    for name, _, rules in [*roles(), (APPLIER, "applier", list(applier_rules()))]:
        for rule in rules:
            assert not set(rule["verbs"]) - set(WRITES) - set(NO_WRITE) or name.startswith(
                "dracfg-driver-"
            )
            if not set(rule["verbs"]) <= set(NO_WRITE):
                here = {(group, path) for group in rule["apiGroups"] for path in rule["resources"]}
                assert here <= told, name


def test_every_kind_that_is_applied_has_a_writer() -> None:
    told = {
        (right.group, right.path)
        for entry in responsibilities()
        if "applier" in entry.granted
        for right in entry.needs
    }
    applied = {(group, plural(kind)) for group, kind in treatments()}
    assert applied - told == {("admissionregistration.k8s.io", "validatingwebhookconfigurations")}


@cache
def judged() -> Mapping[str, frozenset[tuple[str, str, str]]]:
    """Policy -> (operation, group, resource) of what it judges, for every policy that can be emitted."""
    found: dict[str, frozenset[tuple[str, str, str]]] = {}
    for data in DATA:
        document = read_data("dracfg.lower", f"data/admission-{data}.yaml")
        for name, policy in document["policies"].items():
            rules = [
                (operation, entry["group"], resource)
                for entry in policy.get("judges", ())
                for operation in entry["operations"]
                for resource in entry["resources"]
            ]
            if policy.get("ours"):
                rules += [
                    (operation, group, plural(kind))
                    for group, kind in treatments()
                    if group != ADMISSION_GROUP
                    for operation in ("CREATE", "UPDATE", "DELETE")
                ]
            found[name] = frozenset(rules)
    return found


OPERATIONS = {"create": "CREATE", "delete": "DELETE"}


def requests(entry: Responsibility) -> set[tuple[str, str, str]]:
    return {
        (OPERATIONS.get(verb.rpartition(":")[2], "UPDATE"), right.group, right.path)
        for right in entry.needs
        for verb in right.verbs
    }


@pytest.mark.parametrize("entry", PARTS)
def test_policies_are_those_that_judge_it(entry: Responsibility) -> None:
    judging = {name for name, rules in judged().items() if rules & requests(entry)}
    assert judging == set(entry.policies)


def test_every_policy_guards_something() -> None:
    assert {name for entry in responsibilities() for name in entry.policies} == set(judged())


def users(kind: str, part: str) -> set[str]:
    """The user names of all writers of a part that Kubernetes' own programs are."""
    (entry,) = (one for one in responsibilities() if one.kind == kind and one.part.startswith(part))
    return {user for name in entry.writers for user in actors()[name].users}


def test_policies_let_in_the_writers_by_their_names() -> None:
    """The lists that policies compare user names with are those of the writers."""
    named = read_data("dracfg.lower", "data/admission-identities.yaml")["identities"]
    assert set(named["claimWriters"]) == users("ResourceClaim", "spec")
    assert set(named["claimReleasers"]) == users("ResourceClaim", "metadata")
    assert users("ResourceQuota", "status") <= set(named["controllers"])
    known = {user for actor in actors().values() for user in actor.users}
    assert set(named["controllers"]) | set(named["kueue"]) <= known


def test_words_of_the_data_are_known() -> None:
    for entry in responsibilities():
        assert entry.stage in {stage.name for stage in stages()}
        assert {*entry.writers, *entry.readers} <= set(actors())
        assert entry.writers
        assert entry.when
        assert entry.failure
