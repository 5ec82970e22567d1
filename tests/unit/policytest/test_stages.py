"""The stages around policies: defaults and gates, versions, roles, quota, and their order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from dracfg.policytest.admission import policies_of
from dracfg.policytest.defaults import defaulted, prepared, written_out
from dracfg.policytest.quota import Quotas
from dracfg.policytest.rbac import Attributes, Rbac, UnknownRole
from dracfg.policytest.requests import Request, authenticated_groups, named_namespace
from dracfg.policytest.strategy import refusal
from dracfg.policytest.versions import converted, equivalents
from dracfg.policytest.world import World

Json = dict[str, Any]
DEVICES = ".deviceclass.resource.k8s.io/devices"


def claim(*requests: Json, version: str = "v1", **spec: Any) -> Json:
    return {
        "apiVersion": f"resource.k8s.io/{version}",
        "kind": "ResourceClaim",
        "metadata": {"name": "c", "namespace": "here"},
        "spec": {"devices": {"requests": list(requests), **spec}},
    }


def exactly(name: str = "gpu", **fields: Any) -> Json:
    return {"name": "r", "exactly": {"deviceClassName": name, **fields}}


def on(*gates: str) -> Any:
    return lambda gate: gate in gates


# -- defaults and gates


def test_defaults_of_claims() -> None:
    ask = defaulted(claim(exactly()))["spec"]["devices"]["requests"][0]["exactly"]
    assert ask == {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}
    every = defaulted(claim(exactly(allocationMode="All")))
    assert "count" not in every["spec"]["devices"]["requests"][0]["exactly"]
    old = defaulted(claim({"name": "r", "deviceClassName": "gpu"}, version="v1beta1"))
    assert old["spec"]["devices"]["requests"][0]["count"] == 1


@pytest.mark.parametrize(
    ("fields", "gate", "kept"),
    [
        ({"capacity": {"requests": {"memory": "1Gi"}}}, "DRAConsumableCapacity", "capacity"),
        ({"adminAccess": True}, "DRAAdminAccess", "adminAccess"),
    ],
)
def test_fields_of_gates_that_are_off_are_dropped(fields: Json, gate: str, kept: str) -> None:
    thing = claim(exactly(**fields))
    gone = prepared(thing, None, "1.34", on())
    assert kept not in gone.object["spec"]["devices"]["requests"][0]["exactly"]
    assert [use.gate for use in gone.dropped] == [gate]
    there = prepared(thing, None, "1.34", on(gate))
    assert kept in there.object["spec"]["devices"]["requests"][0]["exactly"]
    stored = prepared(thing, thing, "1.34", on())
    assert kept in stored.object["spec"]["devices"]["requests"][0]["exactly"]


@pytest.mark.parametrize(("minor", "kept"), [("1.34", True), ("1.35", False)])
def test_tolerations_stay_on_1_34(minor: str, kept: bool) -> None:
    thing = claim(exactly(tolerations=[{"operator": "Exists"}]))
    stored = prepared(thing, None, minor, on())
    assert ("tolerations" in stored.object["spec"]["devices"]["requests"][0]["exactly"]) is kept


def test_what_is_incomplete_without_the_field_is_refused() -> None:
    either = claim({"name": "r", "firstAvailable": [{"name": "a", "deviceClassName": "gpu"}]})
    assert prepared(either, None, "1.34", on()).refusal is not None
    assert prepared(either, None, "1.34", on("DRAPrioritizedList")).refusal is None


def test_limits_of_extended_resources_are_requests() -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "resources": {"limits": {"x.com/y": 2}}}]},
    }
    resources = defaulted(pod)["spec"]["containers"][0]["resources"]
    assert resources["requests"] == {"x.com/y": 2}


# -- versions


def test_requests_of_v1beta1_become_exact_ones_and_back() -> None:
    flat = claim({"name": "r", "deviceClassName": "gpu", "count": 2}, version="v1beta1")
    deep = converted(flat, "v1")
    assert deep["spec"]["devices"]["requests"] == [exactly(count=2)]
    assert converted(deep, "v1beta1") == flat
    either = {"name": "r", "firstAvailable": [{"name": "a", "deviceClassName": "gpu"}]}
    assert converted(claim(either, version="v1beta1"), "v1") == claim(either)


def test_versions_that_the_server_may_serve() -> None:
    assert equivalents("resource.k8s.io", "v1", "ResourceClaim", "1.34") == ("v1beta2", "v1beta1")
    assert equivalents("apps", "v1", "Deployment", "1.34") == ()


# -- what the API server refuses by itself


@pytest.mark.parametrize(
    ("labels", "fields", "refused"),
    [
        ({}, {"adminAccess": True}, True),
        ({"resource.kubernetes.io/admin-access": "True"}, {"adminAccess": True}, True),
        ({"resource.kubernetes.io/admin-access": "true"}, {"adminAccess": True}, False),
        ({}, {"adminAccess": False}, False),
        ({}, {}, False),
    ],
)
@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_admin_access_needs_the_label(
    labels: dict[str, str], fields: Json, refused: bool, version: str
) -> None:
    namespace = named_namespace("here", {"metadata": {"name": "here", "labels": labels}})
    thing = converted(claim(exactly(**fields)), version)
    asked = Request("CREATE", "ann", (), thing, None, namespace)
    assert bool(refusal(asked)) is refused


def test_fields_that_cannot_be_changed() -> None:
    old, new = claim(exactly()), claim(exactly(count=2))
    asked = Request("UPDATE", "ann", (), new, old, named_namespace("here"))
    assert refusal(asked) == "ResourceClaim is invalid: /spec: field is immutable"
    assert refusal(replace(asked, subresource="status")) is None
    assert refusal(replace(asked, object=converted(old, "v1beta1"))) is None


# -- roles

ROLES: list[Json] = [
    {
        "kind": "ClusterRole",
        "metadata": {"name": "use"},
        "rules": [
            {"verbs": ["create"], "apiGroups": [""], "resources": ["pods"]},
            {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["web"]},
        ],
    },
    {
        "kind": "RoleBinding",
        "metadata": {"name": "use", "namespace": "here"},
        "subjects": [
            {"kind": "Group", "name": "eng"},
            {"kind": "ServiceAccount", "name": "hub", "namespace": "there"},
        ],
        "roleRef": {"kind": "ClusterRole", "name": "use"},
    },
]


@pytest.mark.parametrize(
    ("user", "groups", "asked", "held", "allowed"),
    [
        ("ann", ["eng"], Attributes("create", "", "pods", "here"), [], True),
        ("ann", ["eng"], Attributes("create", "", "pods", "there"), [], False),
        ("ann", ["eng"], Attributes("delete", "", "pods", "here"), [], False),
        ("ann", ["eng"], Attributes("create", "", "pods/status", "here"), [], False),
        ("ann", ["eng"], Attributes("get", "", "pods", "here", "web"), [], True),
        ("ann", ["eng"], Attributes("get", "", "pods", "here", "db"), [], False),
        ("bob", [], Attributes("create", "", "pods", "here"), [], False),
        ("bob", [], Attributes("create", "", "pods", "here"), ["edit"], True),
        ("bob", [], Attributes("create", "", "namespaces"), ["edit"], False),
        ("bob", [], Attributes("create", "", "namespaces"), ["cluster-admin"], True),
        ("bob", [], Attributes("create", "", "pods", "here"), ["view"], False),
        ("bob", ["system:masters"], Attributes("delete", "x", "y"), [], True),
        ("system:serviceaccount:there:hub", [], Attributes("create", "", "pods", "here"), [], True),
        ("system:serviceaccount:here:hub", [], Attributes("create", "", "pods", "here"), [], False),
        ("system:kube-scheduler", [], Attributes("update", "", "pods", "here"), [], True),
    ],
)
def test_roles(
    user: str, groups: list[str], asked: Attributes, held: list[str], allowed: bool
) -> None:
    assert Rbac.of(ROLES).allows(user, groups, asked, held) is allowed


def test_a_role_that_nobody_knows() -> None:
    with pytest.raises(UnknownRole):
        Rbac.of(ROLES).allows("bob", [], Attributes("create", "", "pods", "here"), ["edti"])


def test_groups_that_authentication_adds() -> None:
    account = "system:serviceaccount:here:hub"
    added = ("system:serviceaccounts", "system:serviceaccounts:here", "system:authenticated")
    assert authenticated_groups(account, ("a",)) == ("a", *added)
    assert authenticated_groups("system:anonymous", ()) == ("system:unauthenticated",)


# -- quota


def quotas(hard: Mapping[str, str], *, minor: str = "1.36", extended: bool = False) -> Quotas:
    quota = {
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "here"},
        "spec": {"hard": dict(hard)},
    }
    return Quotas((quota,), {"gpu": "x.com/gpu"}, minor, extended)


def created(thing: Json) -> Request:
    return Request("CREATE", "ann", (), thing, None, named_namespace("here"))


EITHER = {
    "name": "r",
    "firstAvailable": [
        {"name": "a", "deviceClassName": "gpu", "count": 2},
        {"name": "b", "deviceClassName": "gpu", "count": 3},
        {"name": "c", "deviceClassName": "nic", "count": 1},
    ],
}


@pytest.mark.parametrize(
    ("requests", "charges"),
    [
        ([exactly()], {"gpu": 1}),
        ([exactly(count=4), exactly(count=2)], {"gpu": 6}),
        ([exactly(allocationMode="All")], {"gpu": 32}),
        ([EITHER], {"gpu": 3, "nic": 1}),
        ([EITHER, exactly(adminAccess=True)], {"gpu": 4, "nic": 1}),
    ],
)
def test_what_a_claim_is_charged(requests: list[Json], charges: dict[str, int]) -> None:
    found = quotas({}).charges(claim(*requests))
    assert found == {"count/resourceclaims.resource.k8s.io": 1} | {
        name + DEVICES: number for name, number in charges.items()
    }


@pytest.mark.parametrize(("minor", "by_name"), [("1.34", False), ("1.35", True)])
def test_a_claim_is_charged_under_every_name_of_its_class(minor: str, by_name: bool) -> None:
    """1.34 charges claims under no name of an extended resource, pods under none that is implicit."""
    implicit = "deviceclass.resource.kubernetes.io/gpu"
    account = quotas({}, minor=minor, extended=True)
    found = account.charges(claim(exactly(count=2)))
    assert found["gpu" + DEVICES] == 2
    assert found.get("requests.x.com/gpu") == (2 if by_name else None)
    assert found.get(f"requests.{implicit}") == (2 if by_name else None)
    container = {"name": "c", "resources": {"requests": {implicit: 2, "x.com/gpu": 1}}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {}, "spec": {"containers": [container]}}
    assert account.charges(pod)["requests.x.com/gpu"] == 1
    assert (f"requests.{implicit}" in account.charges(pod)) is by_name


def test_a_claim_for_a_pod_that_asks_by_name_is_not_charged_twice() -> None:
    container = {"name": "c", "resources": {"requests": {"x.com/gpu": 2}}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {}, "spec": {"containers": [container]}}
    found = quotas({}, minor="1.36", extended=True).charges(claim(exactly(count=2)), pod)
    assert "requests.x.com/gpu" not in found
    assert found["requests.deviceclass.resource.kubernetes.io/gpu"] == 2
    assert found["gpu" + DEVICES] == 2


def test_policies_read_no_requests_as_null() -> None:
    """As the API server writes claims and templates without requests (kubernetes/api resource/v1)."""
    empty = {"devices": {"requests": None}}
    assert written_out({"kind": "ResourceClaim", "spec": {}})["spec"] == empty
    template = written_out({"kind": "ResourceClaimTemplate", "spec": {"spec": {}}})
    assert template["spec"]["spec"] == empty


@pytest.mark.parametrize(
    ("limit", "used", "fits"), [("2", 0, True), ("2", 1, False), ("1", 0, False), ("0", 0, False)]
)
def test_what_does_not_fit_is_named(limit: str, used: int, fits: bool) -> None:
    key = "gpu" + DEVICES
    said = quotas({key: limit}).refusal(created(claim(exactly(count=2))), {key: used})
    expected = f"exceeded quota: q, requested: {key}=2, used: {key}={used}, limited: {key}={limit}"
    assert said == (None if fits else expected)


def test_pods_are_charged_by_what_runs_together_and_what_starts_first() -> None:
    def container(amount: int, **more: Any) -> Json:
        return {"name": "c", "resources": {"requests": {"x.com/y": amount}}, **more}

    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "here"},
        "spec": {
            "initContainers": [container(5), container(1, restartPolicy="Always")],
            "containers": [container(1), container(2)],
        },
    }
    assert quotas({}).charges(pod)["requests.x.com/y"] == 5
    del pod["spec"]["initContainers"][0]
    assert quotas({}).charges(pod)["requests.x.com/y"] == 4


@pytest.mark.parametrize(("priority", "counted"), [("high", True), ("low", False), (None, False)])
def test_quotas_of_a_priority(priority: str | None, counted: bool) -> None:
    limits = quotas({"pods": "0"})
    scope = {"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}
    spec = limits.objects[0]["spec"] | {"scopeSelector": {"matchExpressions": [scope]}}
    scoped = replace(limits, objects=({**limits.objects[0], "spec": spec},))
    pod: Json = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "here"},
        "spec": {"containers": []} | ({"priorityClassName": priority} if priority else {}),
    }
    assert bool(scoped.refusal(created(pod), {})) is counted


# -- the order of the stages


def test_the_first_stage_that_refuses_decides(worlds: Mapping[str, World]) -> None:
    world = worlds["prod-east"]
    thing = claim(exactly("nothing"))
    thing["metadata"]["namespace"] = "vision-train"
    asked = Request("CREATE", "ann", (), thing, None, world.namespace("vision-train"))
    assert [d.rule for d in world.judge(asked).denials] == ["RBAC"]
    assert world.judge(asked, roles=["edit"]).denials[0].rule == "TEN003"
    broken = replace(asked, object={**thing, "spec": {"devcies": {}}})
    said = world.judge(broken, roles=["edit"])
    assert said.denials[0].rule is None
    assert "/spec/devcies" in said.denials[0].message


MAY = 'authorizer.group("{}").resource("{}").namespace("{}").check("create").allowed()'


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        ('authorizer.requestResource.check("create").allowed()', "allow"),
        ('authorizer.requestResource.check("patch").allowed()', "allow"),
        (MAY.format("", "pods", "vision-train"), "allow"),
        (MAY.format("", "pods", "notebooks"), "unknown"),
        (MAY.format("resource.k8s.io", "deviceclasses", ""), "deny"),
    ],
)
def test_policies_may_ask_what_the_user_may_do(
    worlds: Mapping[str, World],
    build_policy: Any,
    build_pod: Any,
    expression: str,
    answer: str,
) -> None:
    world = worlds["prod-east"]
    asking = policies_of(build_policy({"expression": expression}), world.minor)
    asked = Request(
        "CREATE",
        "ann",
        ("vision-eng", "system:authenticated"),
        build_pod(namespace="vision-train"),
        None,
        world.namespace("vision-train"),
    )
    assert replace(world, policies=asking).judge(asked).answer == answer
