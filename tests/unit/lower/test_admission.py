"""Every expression of the admission policies, evaluated over requests that pass and that don't."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pytest

from dracfg.kube.objects import schema_faults
from dracfg.kube.quantity import Quantity
from dracfg.link.catalog import Catalog
from dracfg.link.classes import device_classes
from dracfg.lower.admission import CLAIMS, FILE, UNMANAGED, admission
from dracfg.lower.rights import CLASSES, STATE, TENANT, rights
from dracfg.lower.templates import Context, template_artifacts

cel = pytest.importorskip("cel_expr_python.cel", reason="cel-expr-python has no wheel here")
ext_strings = pytest.importorskip("cel_expr_python.ext.ext_strings")

APPLIER = "system:serviceaccount:flux-system:kustomize-controller"
CLAIM_CONTROLLER = "system:serviceaccount:kube-system:resource-claim-controller"
SCHEDULER = "system:kube-scheduler"
SLICE = {"gpu.example.org/cores": "20", "memory": "10Gi"}


# -- an evaluator of one policy --------------------------------------------------------------------


def _difference(one: str, other: str) -> int:
    return (int(one) > int(other)) - (int(one) < int(other))


@cache
def _environment() -> cel.Env:
    """CEL with what the policies use of the Kubernetes libraries; quantities are billionths as text."""
    text, dyn = cel.Type.STRING, cel.Type.DYN
    quantity = cel.Overload(
        "quantity_string",
        return_type=text,
        parameters=[text],
        impl=lambda amount: str(Quantity.parse(amount).nano),
    )
    compare = cel.Overload(
        "quantity_compare",
        return_type=cel.Type.INT,
        parameters=[text, text],
        is_member=True,
        impl=_difference,
    )
    names = ("object", "oldObject", "request", "namespaceObject", "variables")
    return cel.NewEnv(
        variables=dict.fromkeys(names, dyn),
        extensions=[ext_strings.ExtStrings()],
        functions=[
            cel.FunctionDecl("quantity", [quantity]),
            cel.FunctionDecl("compareTo", [compare]),
        ],
    )


@cache
def _compiled(expression: str) -> cel.Expression:
    return _environment().compile(expression)


class EvaluationError(Exception):
    """The expression could not be evaluated, which failurePolicy Fail answers with a denial."""


@dataclass(frozen=True)
class Request:
    """An admission request in the form in which expressions see it."""

    object: dict[str, Any]
    annotations: dict[str, str] | None
    user: str = "ann"
    old: dict[str, Any] | None = None


class Policy:
    """One ValidatingAdmissionPolicy over one request."""

    def __init__(self, policy: dict[str, Any], request: Request) -> None:
        metadata: dict[str, Any] = {"name": "here"}
        if request.annotations is not None:
            metadata["annotations"] = request.annotations
        self.spec = policy["spec"]
        self.variables = {v["name"]: v["expression"] for v in self.spec["variables"]}
        self.known: dict[str, Any] = {}
        self.data: dict[str, Any] = {
            "object": request.object,
            "oldObject": request.old,
            "request": {
                "operation": "CREATE" if request.old is None else "UPDATE",
                "userInfo": {"username": request.user},
            },
            "namespaceObject": {"metadata": metadata},
        }

    def value(self, expression: str) -> Any:
        for name in re.findall(r"\bvariables\.(\w+)", expression):
            if name not in self.known:
                self.known[name] = self.value(self.variables[name])
        result = _compiled(expression).eval(data={**self.data, "variables": self.known})
        if result.type() == cel.Type.ERROR:
            raise EvaluationError(f"{expression}: {result.value()}")
        return result.plain_value()

    def denials(self) -> list[str]:
        """The messages of all validations that don't hold."""
        if not all(self.value(c["expression"]) for c in self.spec["matchConditions"]):
            return []
        return [
            self.value(rule["messageExpression"])
            for rule in self.spec["validations"]
            if not self.value(rule["expression"])
        ]


# -- requests --------------------------------------------------------------------------------------


def ask(name: str, capacity: dict[str, str] | None = None, **fields: Any) -> dict[str, Any]:
    made = {"deviceClassName": name, "allocationMode": "ExactCount", "count": 1, **fields}
    return made if capacity is None else {**made, "capacity": {"requests": capacity}}


def claim(*asks: dict[str, Any] | list[dict[str, Any]]) -> dict[str, Any]:
    """A claim with a request for each ask; a list of asks makes alternatives."""
    requests = [
        {"name": f"r{i}", "firstAvailable": [{"name": f"s{j}", **a} for j, a in enumerate(asked)]}
        if isinstance(asked, list)
        else {"name": f"r{i}", "exactly": asked}
        for i, asked in enumerate(asks)
    ]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "mine", "namespace": "here"},
        "spec": {"devices": {"requests": requests} if requests else {}},
    }


def template(of: dict[str, Any]) -> dict[str, Any]:
    return {**of, "kind": "ResourceClaimTemplate", "spec": {"spec": of["spec"]}}


@pytest.fixture
def catalog(catalog_of: Any, platform: str, vision: str) -> Catalog:
    linked: Catalog = catalog_of(platform, vision)
    return linked


def rights_of(catalog: Catalog, namespace: str = "vision-train") -> dict[str, str]:
    places = catalog.tenants["vision"].places
    place = next(place for place in places if place.name == namespace)
    cluster = catalog.clusters["east"]
    classes = {plan.name: plan for plan in device_classes(catalog, cluster)}
    return rights(cluster, catalog.tenants["vision"], place, classes)


def denials(catalog: Catalog, request: Request, name: str = CLAIMS) -> list[str]:
    """What the emitted policy of that name answers."""
    objects = [artifact.object for artifact in admission(catalog.clusters["east"])]
    policy = next(
        thing
        for thing in objects
        if thing["kind"] == "ValidatingAdmissionPolicy" and thing["metadata"]["name"] == name
    )
    return Policy(policy, request).denials()


# -- the rules -------------------------------------------------------------------------------------

WHOLE = {"gpu.example.org/cores": "100", "memory": "40Gi"}
"""What a request of the whole class would write, were its devices shareable."""

ALLOWED = {
    "whole": claim(ask("a100", count=8)),
    "size": claim(ask("l40s-slices-10gi", SLICE)),
    "size in another unit": claim(ask("l40s-slices-10gi", {**SLICE, "memory": "10240Mi"})),
    "alternatives": claim([ask("a100"), ask("l40s-slices-10gi", SLICE)]),
    "several requests": claim(ask("a100"), [ask("l40s-slices-10gi", SLICE)]),
    "no request": claim(),
    "adminAccess false": claim(ask("a100", adminAccess=False)),
    "empty capacity": claim(ask("a100", capacity={})),
}

DENIED = {
    "class without a right": (claim(ask("l40s-slices-20gi", SLICE)), "TEN003"),
    "class of nobody": (claim(ask("gpu.vendor.example")), "TEN003"),
    "second request": (claim(ask("a100"), ask("h100")), "TEN003"),
    "second alternative": (claim([ask("a100"), ask("h100")]), "TEN003"),
    "admin class elsewhere": (claim(ask("a100-admin", adminAccess=True)), "TEN003"),
    "greater size": (claim(ask("l40s-slices-10gi", {**SLICE, "memory": "20Gi"})), "TEN004"),
    "lesser size": (claim(ask("l40s-slices-10gi", {**SLICE, "memory": "5Gi"})), "TEN004"),
    "key left out": (claim(ask("l40s-slices-10gi", {"memory": "10Gi"})), "TEN004"),
    "capacity left out": (claim(ask("l40s-slices-10gi")), "TEN004"),
    "other spelling": (
        claim(
            ask(
                "l40s-slices-10gi",
                {"gpu.example.org/cores": "20", "gpu.example.org/memory": "10Gi"},
            )
        ),
        "TEN004",
    ),
    "key too many": (claim(ask("l40s-slices-10gi", {**SLICE, "bandwidth": "1"})), "TEN004"),
    "capacity of whole": (claim(ask("a100", WHOLE)), "TEN004"),
    "size in an alternative": (claim([ask("a100"), ask("l40s-slices-10gi")]), "TEN004"),
    "admin access to a class": (claim(ask("a100", adminAccess=True)), "TEN005"),
}


@pytest.mark.parametrize("wrap", [dict, template], ids=["claim", "template"])
@pytest.mark.parametrize("name", ALLOWED)
def test_allowed(catalog: Catalog, name: str, wrap: Any) -> None:
    request = Request(wrap(ALLOWED[name]), rights_of(catalog))
    assert denials(catalog, request) == []
    assert denials(catalog, request, UNMANAGED) == []


@pytest.mark.parametrize("wrap", [dict, template], ids=["claim", "template"])
@pytest.mark.parametrize("user", ["ann", APPLIER, CLAIM_CONTROLLER, SCHEDULER])
@pytest.mark.parametrize("name", DENIED)
def test_denied_whoever_asks(catalog: Catalog, name: str, user: str, wrap: Any) -> None:
    made, code = DENIED[name]
    found = denials(catalog, Request(wrap(made), rights_of(catalog), user))
    assert [message[:6] for message in found] == [code]


def test_messages_name_tenant_what_was_asked_and_what_is_allowed(catalog: Catalog) -> None:
    def said(name: str) -> str:
        (message,) = denials(catalog, Request(DENIED[name][0], rights_of(catalog)))
        return message

    def words(text: str) -> list[str]:
        """CEL reads maps in no order, so lists that come from one are compared sorted."""
        return sorted(re.split("[ ,;]+", text))

    assert words(said("second alternative")) == words(
        "TEN003: tenant vision is not entitled to h100; it may use a100, l40s-slices-10gi"
    )
    assert words(said("greater size")) == words(
        "TEN004: tenant vision asks for l40s-slices-10gi with capacity gpu.example.org/cores=20, "
        "memory=20Gi; every request of the class writes gpu.example.org/cores=20, memory=10Gi"
    )
    assert said("capacity left out") == (
        "TEN004: tenant vision asks for l40s-slices-10gi with capacity left out; every request of "
        "the class writes gpu.example.org/cores=20, memory=10Gi"
    )
    assert said("capacity of whole").endswith("every request of the class writes none")
    assert said("admin access to a class") == (
        "TEN005: tenant vision asks for a100 with adminAccess, which only classes for admin access "
        "allow"
    )


@pytest.mark.parametrize("wrap", [dict, template], ids=["claim", "template"])
def test_admin_access_goes_through_the_admin_class(catalog: Catalog, wrap: Any) -> None:
    here = rights_of(catalog, "vision-monitor")
    watching = wrap(claim(ask("a100-admin", adminAccess=True, allocationMode="All")))
    assert denials(catalog, Request(watching, here)) == []
    for taking in (claim(ask("a100-admin")), claim([ask("a100-admin")])):
        assert denials(catalog, Request(wrap(taking), here)) == [
            (
                "TEN005: tenant vision asks for a100-admin without adminAccess, which classes for "
                "admin access need"
            )
        ]


@pytest.mark.parametrize("state", ["frozen", "draining"])
@pytest.mark.parametrize("user", ["ann", CLAIM_CONTROLLER, SCHEDULER])
def test_only_active_tenants_make_claims(
    catalog_of: Any, platform: str, vision: str, state: str, user: str
) -> None:
    catalog = catalog_of(platform, vision.replace("spec:\n", f"spec:\n  state: {state}\n", 1))
    for made in (ALLOWED["whole"], template(ALLOWED["whole"])):
        assert denials(catalog, Request(made, rights_of(catalog), user)) == [
            f"TEN007: tenant vision is {state}; it asks for a100, only active tenants make new claims"
        ]


def test_the_applier_writes_templates_of_a_frozen_tenant(
    catalog_of: Any, platform: str, vision: str
) -> None:
    catalog = catalog_of(platform, vision.replace("spec:\n", "spec:\n  state: frozen\n", 1))
    here = rights_of(catalog)
    made = ALLOWED["whole"]
    assert denials(catalog, Request(template(made), here, APPLIER)) == []
    assert len(denials(catalog, Request(made, here, APPLIER))) == 1
    foreign = Request(template(claim(ask("h100"))), here, APPLIER)
    assert [message[:6] for message in denials(catalog, foreign)] == ["TEN003"]


def test_without_an_applier_nobody_is_let_through(
    catalog_of: Any, platform: str, vision: str
) -> None:
    plain = re.sub(r"engine: flux\n.*\n", "engine: plain\n", platform)
    catalog = catalog_of(plain, vision.replace("spec:\n", "spec:\n  state: frozen\n", 1))
    request = Request(template(ALLOWED["whole"]), rights_of(catalog), APPLIER)
    assert len(denials(catalog, request)) == 1


def test_a_removed_tenant_may_claim_nothing(catalog_of: Any, platform: str, vision: str) -> None:
    catalog = catalog_of(platform, vision.replace("spec:\n", "spec:\n  state: removed\n", 1))
    found = denials(catalog, Request(ALLOWED["whole"], rights_of(catalog)))
    assert [message[:6] for message in found] == ["TEN007", "TEN003"]
    assert found[1].endswith("it may use no class")


def test_closed_classes_let_nothing_in(catalog_of: Any, platform: str, vision: str) -> None:
    frozen = platform.replace(
        "nodeSelector: {pool: notebooks}", "nodeSelector: {p: n}\n  state: frozen"
    )
    catalog = catalog_of(frozen, vision)
    here = rights_of(catalog)
    for made in (ALLOWED["size"], ALLOWED["alternatives"], template(ALLOWED["size"])):
        assert denials(catalog, Request(made, here)) == [
            (
                "TEN007: tenant vision asks for l40s-slices-10gi, which is closed; only claims "
                "that exist may go on"
            )
        ]
    assert denials(catalog, Request(ALLOWED["whole"], here)) == []
    assert denials(catalog, Request(template(ALLOWED["size"]), here, APPLIER)) == []


@pytest.mark.parametrize("noted", [None, {}, {"team": "x", CLASSES + "a100": "state=open"}])
@pytest.mark.parametrize("wrap", [dict, template], ids=["claim", "template"])
def test_namespaces_of_no_tenant(catalog: Catalog, noted: dict[str, str] | None, wrap: Any) -> None:
    request = Request(wrap(ALLOWED["alternatives"]), noted)
    assert denials(catalog, request, UNMANAGED) == [
        (
            "TEN006: namespace here belongs to no tenant; it asks for a100 or l40s-slices-10gi, it "
            "may claim nothing"
        )
    ]
    assert denials(catalog, request) == [], "the other policy leaves these namespaces alone"


def test_a_namespace_without_a_state_is_not_active(catalog: Catalog) -> None:
    here = {key: value for key, value in rights_of(catalog).items() if key != STATE}
    (message,) = denials(catalog, Request(ALLOWED["whole"], here))
    assert message.startswith("TEN007: tenant vision is without a state")


@pytest.mark.parametrize("policy", [CLAIMS, UNMANAGED])
@pytest.mark.parametrize("wrap", [dict, template], ids=["claim", "template"])
def test_updates_that_leave_the_spec_alone_pass(catalog: Catalog, policy: str, wrap: Any) -> None:
    old = wrap(DENIED["class of nobody"][0])
    new = {**old, "metadata": {**old["metadata"], "finalizers": ["x/y"]}}
    other = wrap(DENIED["greater size"][0])
    here = rights_of(catalog) if policy == CLAIMS else None
    update = Request(new, here, old=old)
    assert denials(catalog, update, policy) == []
    assert len(denials(catalog, replace(update, object=other), policy)) == 1


def test_a_request_of_an_unknown_form_is_refused(catalog: Catalog) -> None:
    made = claim(ask("a100"))
    made["spec"]["devices"]["requests"].append({"name": "new", "someday": {}})
    with pytest.raises(EvaluationError):
        denials(catalog, Request(made, rights_of(catalog)))


def test_what_is_emitted_is_let_in(catalog: Catalog) -> None:
    cluster = catalog.clusters["east"]
    plans = {plan.name: plan for plan in device_classes(catalog, cluster)}
    emitted = template_artifacts(Context(cluster, catalog.tenants["vision"], plans))
    assert len(emitted) == 5
    for artifact in emitted:
        made = artifact.object
        here = rights_of(catalog, made["metadata"]["namespace"])
        assert denials(catalog, Request(made, here, APPLIER)) == []
        generated = {**made, "kind": "ResourceClaim", "spec": made["spec"]["spec"]}
        assert denials(catalog, Request(generated, here, CLAIM_CONTROLLER)) == []


# -- the objects -----------------------------------------------------------------------------------


def objects(catalog: Catalog) -> list[dict[str, Any]]:
    return [artifact.object for artifact in admission(catalog.clusters["east"])]


@pytest.mark.parametrize("minor", ["1.34", "1.35", "1.36", "1.37"])
def test_objects_fit_the_schema(catalog: Catalog, minor: str) -> None:
    for thing in objects(catalog):
        assert schema_faults(thing, minor) == ()


def test_defaults_are_written_out(catalog: Catalog) -> None:
    policies = objects(catalog)[::2]
    assert [policy["metadata"]["name"] for policy in policies] == [UNMANAGED, CLAIMS]
    for policy in policies:
        assert policy["spec"]["failurePolicy"] == "Fail"
        assert policy["spec"]["matchConstraints"] == {
            "namespaceSelector": {},
            "objectSelector": {},
            "resourceRules": [
                {
                    "operations": ["CREATE", "UPDATE"],
                    "apiGroups": ["resource.k8s.io"],
                    "apiVersions": ["v1"],
                    "resources": ["resourceclaims", "resourceclaimtemplates"],
                    "scope": "*",
                }
            ],
            "matchPolicy": "Equivalent",
        }


def test_every_validation_is_forbidden_and_none_speaks_of_immutable_fields(
    catalog: Catalog,
) -> None:
    rules = [rule for policy in objects(catalog)[::2] for rule in policy["spec"]["validations"]]
    assert len(rules) == 6
    for rule in rules:
        assert rule["reason"] == "Forbidden"
        assert re.match(r"TEN00[3-7]: ", rule["message"])
        assert f'"{rule["message"][:7]}' in rule["messageExpression"]
        assert "immutable" not in rule["message"] + rule["messageExpression"]
        assert "\n" not in rule["message"]


def test_expressions_read_the_keys_that_rights_writes(catalog: Catalog) -> None:
    text = json.dumps(objects(catalog))
    for key in (TENANT, STATE, CLASSES):
        assert f'\\"{key}\\"' in text
    assert f"substring({len(CLASSES)})" in text


def test_the_number_of_objects_does_not_grow_with_tenants(
    catalog_of: Any, platform: str, vision: str
) -> None:
    more = [vision.replace("vision", f"team{i}") for i in range(3)]
    assert objects(catalog_of(platform, *more)) == objects(catalog_of(platform))


def actions(catalog: Catalog) -> dict[str, list[str]]:
    bindings = objects(catalog)[1::2]
    for binding in bindings:
        assert binding["kind"] == "ValidatingAdmissionPolicyBinding"
        assert binding["metadata"]["name"] == binding["spec"]["policyName"]
    return {b["metadata"]["name"]: b["spec"]["validationActions"] for b in bindings}


def test_unmanaged_namespaces_are_denied_or_warned(catalog_of: Any, platform: str) -> None:
    assert actions(catalog_of(platform)) == {UNMANAGED: ["Deny"], CLAIMS: ["Deny"]}
    warned = platform.replace("kubeadm\n", "kubeadm\n  unmanagedNamespaces: warn\n")
    assert actions(catalog_of(warned)) == {UNMANAGED: ["Warn"], CLAIMS: ["Deny"]}


def test_exempt_namespaces_are_left_out_by_name(catalog_of: Any, platform: str) -> None:
    exempt = "exemptNamespaces: [{name: z, reason: tests, devices: 0}, {name: a, reason: tests, devices: 1}]"
    catalog = catalog_of(platform.replace("kubeadm\n", f"kubeadm\n  {exempt}\n"))
    for artifact in admission(catalog.clusters["east"])[::2]:
        assert artifact.object["spec"]["matchConstraints"]["namespaceSelector"] == {
            "matchExpressions": [
                {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["a", "z"]}
            ]
        }
        assert artifact.file == FILE
        assert str(artifact.origin) == "all.yaml#Cluster/east"
        assert [str(origin) for origin in artifact.via] == [
            "all.yaml#Cluster/east/spec/gitops/applier",
            "all.yaml#Cluster/east/spec/exemptNamespaces",
        ]
