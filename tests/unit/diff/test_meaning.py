"""What is the same object though it is written otherwise, and what is not."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from dracfg.diff.meaning import drivers_of, meaning_of

Thing = dict[str, Any]


def template() -> Thing:
    request = {
        "name": "gpu",
        "exactly": {
            "deviceClassName": "slice",
            "allocationMode": "ExactCount",
            "count": 1,
            "capacity": {"requests": {"hami.example.com/memory": "10Gi"}},
        },
    }
    constraint = {"requests": ["gpu"], "matchAttribute": "hami.example.com/numaNode"}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {
            "name": "x1",
            "namespace": "a",
            "annotations": {"dracfg.dev/origin": "tenants/a.yaml#Tenant/a", "note": "1"},
        },
        "spec": {"spec": {"devices": {"requests": [request], "constraints": [constraint]}}},
    }


def role() -> Thing:
    rules = [
        {"apiGroups": [""], "resources": ["pods", "nodes"], "verbs": ["get", "list"]},
        {"apiGroups": ["resource.k8s.io"], "resources": ["deviceclasses"], "verbs": ["get"]},
    ]
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "r"},
        "rules": rules,
    }


def quota() -> Thing:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "a"},
        "spec": {"hard": {"x": "4", "y": "2Gi"}},
    }


def binding() -> Thing:
    subjects = [
        {"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "g"},
        {"kind": "ServiceAccount", "namespace": "n", "name": "s"},
    ]
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "b"},
        "subjects": subjects,
    }


def policy() -> Thing:
    rules = [
        {
            "apiGroups": [""],
            "apiVersions": ["v1"],
            "operations": ["CREATE", "UPDATE"],
            "resources": ["pods"],
            "scope": "*",
        }
    ]
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {
            "matchPolicy": "Equivalent",
            "namespaceSelector": {},
            "resourceRules": rules,
        },
        "validations": [{"expression": "a"}, {"expression": "b"}],
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "p"},
        "spec": spec,
    }


def device_class() -> Thing:
    config = [
        {
            "opaque": {
                "driver": "d",
                "parameters": {"count": "1", "empty": {}, "requests": {"a": "1Gi"}},
            }
        }
    ]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "c"},
        "spec": {"config": config},
    }


def at(thing: Any, *steps: str | int) -> Any:
    for step in steps:
        thing = thing[step]
    return thing


REQUEST = ("spec", "spec", "devices", "requests", 0, "exactly")
CONSTRAINT = ("spec", "spec", "devices", "constraints", 0)
PARAMETERS = ("spec", "config", 0, "opaque", "parameters")
MEMORY = "hami.example.com/memory"
SAME: dict[str, tuple[Callable[[], Thing], Callable[[Thing], Any]]] = {
    "origin": (
        template,
        lambda t: at(t, "metadata", "annotations").update({"dracfg.dev/origin": "b"}),
    ),
    "no origin": (template, lambda t: at(t, "metadata", "annotations").pop("dracfg.dev/origin")),
    "default count": (template, lambda t: at(t, *REQUEST).pop("count")),
    "default mode": (template, lambda t: at(t, *REQUEST).pop("allocationMode")),
    "both defaults": (
        template,
        lambda t: [at(t, *REQUEST).pop(k) for k in ("count", "allocationMode")],
    ),
    "no admin": (template, lambda t: at(t, *REQUEST).update(adminAccess=False)),
    "quantity": (
        template,
        lambda t: at(t, *REQUEST, "capacity")["requests"].update({MEMORY: "10240Mi"}),
    ),
    "bare capacity": (
        template,
        lambda t: at(t, *REQUEST, "capacity").update(requests={"memory": "10Gi"}),
    ),
    "bare attribute": (template, lambda t: at(t, *CONSTRAINT).update(matchAttribute="numaNode")),
    "null": (template, lambda t: at(t, *REQUEST).update(tolerations=None)),
    "empty list": (template, lambda t: at(t, *REQUEST).update(selectors=[])),
    "key order": (
        template,
        lambda t: t.update({"kind": t.pop("kind"), "apiVersion": t.pop("apiVersion")}),
    ),
    "rules": (role, lambda t: t["rules"].reverse()),
    "verbs": (role, lambda t: t["rules"][0]["verbs"].reverse()),
    "subjects": (binding, lambda t: t["subjects"].reverse()),
    "group of subjects": (binding, lambda t: t["subjects"][0].pop("apiGroup")),
    "amounts": (quota, lambda t: t["spec"].update(hard={"y": "2048Mi", "x": 4})),
    "match policy": (policy, lambda t: t["spec"]["matchConstraints"].pop("matchPolicy")),
    "failure policy": (policy, lambda t: t["spec"].pop("failurePolicy")),
    "scope": (policy, lambda t: t["spec"]["matchConstraints"]["resourceRules"][0].pop("scope")),
    "selector of all": (policy, lambda t: t["spec"]["matchConstraints"].pop("namespaceSelector")),
}
OTHER: dict[str, tuple[Callable[[], Thing], Callable[[Thing], Any]]] = {
    "annotation": (template, lambda t: at(t, "metadata", "annotations").update(note="2")),
    "count": (template, lambda t: at(t, *REQUEST).update(count=2)),
    "mode": (template, lambda t: at(t, *REQUEST).update(allocationMode="All")),
    "admin": (template, lambda t: at(t, *REQUEST).update(adminAccess=True)),
    "amount": (template, lambda t: at(t, *REQUEST, "capacity")["requests"].update({MEMORY: "10G"})),
    "foreign attribute": (
        template,
        lambda t: at(t, *CONSTRAINT).update(matchAttribute="other.example.com/numaNode"),
    ),
    "class": (template, lambda t: at(t, *REQUEST).update(deviceClassName="other")),
    "verb": (role, lambda t: t["rules"][0]["verbs"].append("watch")),
    "subject": (binding, lambda t: t["subjects"][0].update(kind="User")),
    "hard": (quota, lambda t: t["spec"]["hard"].update(x="5")),
    "order of validations": (policy, lambda t: t["spec"]["validations"].reverse()),
    "text of numbers in parameters": (device_class, lambda t: at(t, *PARAMETERS).update(count=1)),
    "empty in parameters": (device_class, lambda t: at(t, *PARAMETERS).pop("empty")),
    "amount in parameters": (
        device_class,
        lambda t: at(t, *PARAMETERS).update(requests={"a": "1024Mi"}),
    ),
}
DRIVERS = {"slice": "hami.example.com", "other": "hami.example.com"}


@pytest.mark.parametrize("name", SAME)
def test_equal(name: str) -> None:
    make, edit = SAME[name]
    one, other = make(), make()
    edit(other)
    assert meaning_of(one, DRIVERS) == meaning_of(other, DRIVERS)


@pytest.mark.parametrize("name", OTHER)
def test_different(name: str) -> None:
    make, edit = OTHER[name]
    one, other = make(), make()
    edit(other)
    assert meaning_of(one, DRIVERS) != meaning_of(other, DRIVERS)


def test_a_bare_name_stays_where_the_driver_is_not_known() -> None:
    one, other = template(), template()
    at(other, *REQUEST, "capacity").update(requests={"memory": "10Gi"})
    assert meaning_of(one, {}) != meaning_of(other, {})


def test_nothing_is_changed_in_place() -> None:
    one = template()
    before = copy.deepcopy(one)
    meaning_of(one, DRIVERS)
    assert one == before


def test_drivers_come_from_selectors() -> None:
    def device_class(name: str, *expressions: str) -> Thing:
        selectors = [{"cel": {"expression": text}} for text in expressions]
        return {"metadata": {"name": name}, "spec": {"selectors": selectors}}

    found = drivers_of(
        [
            device_class("a", 'device.driver == "a.example.com" && true'),
            device_class("b", "device.driver=='b.example.com'", 'device.driver == "b.example.com"'),
            device_class("both", 'device.driver == "a.example.com"', "device.driver == 'b'"),
            device_class("none", "true"),
            device_class("empty"),
        ]
    )
    assert found == {"a": "a.example.com", "b": "b.example.com"}
