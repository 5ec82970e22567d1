"""Claims and templates, whoever writes them: classes, capacity, admin access and states."""

from __future__ import annotations

import re
from typing import Any

import pytest

from dracfg.link.catalog import Catalog
from dracfg.lower.rights import CLASSES, STATE
from dracfg.lower.templates import template_artifacts
from dracfg.lower.tenancy import Tenancy

CLAIMS = "dracfg-claims"
UNMANAGED = "dracfg-unmanaged-namespaces"
APPLIER = "system:serviceaccount:flux-system:kustomize-controller"
CLAIM_CONTROLLER = "system:serviceaccount:kube-system:resource-claim-controller"
SCHEDULER = "system:kube-scheduler"
SLICE = {"gpu.example.org/cores": "20", "memory": "10Gi"}


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


@pytest.fixture
def denials(policies_of: Any) -> Any:
    """What one of the cluster's policies answers to a request."""

    def judge(catalog: Catalog, *request: Any, policy: str = CLAIMS, **more: Any) -> list[str]:
        found: list[str] = policies_of(catalog).denials(*request, policy=policy, **more)
        return found

    return judge


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
def test_allowed(catalog: Catalog, name: str, wrap: Any, denials: Any, rights_of: Any) -> None:
    request = (wrap(ALLOWED[name]), rights_of(catalog))
    assert denials(catalog, *request) == []
    assert denials(catalog, *request, policy=UNMANAGED) == []


@pytest.mark.parametrize("wrap", [dict, template], ids=["claim", "template"])
@pytest.mark.parametrize("user", ["ann", APPLIER, CLAIM_CONTROLLER, SCHEDULER])
@pytest.mark.parametrize("name", DENIED)
def test_denied_whoever_asks(
    catalog: Catalog, name: str, user: str, wrap: Any, denials: Any, rights_of: Any
) -> None:
    made, code = DENIED[name]
    found = denials(catalog, wrap(made), rights_of(catalog), user=user)
    assert [message[:6] for message in found] == [code]


def test_messages_name_tenant_what_was_asked_and_what_is_allowed(
    catalog: Catalog, denials: Any, rights_of: Any
) -> None:
    def said(name: str) -> str:
        (message,) = denials(catalog, DENIED[name][0], rights_of(catalog))
        return str(message)

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
def test_admin_access_goes_through_the_admin_class(
    catalog: Catalog, wrap: Any, denials: Any, rights_of: Any
) -> None:
    here = rights_of(catalog, "vision-monitor")
    watching = wrap(claim(ask("a100-admin", adminAccess=True, allocationMode="All")))
    assert denials(catalog, watching, here) == []
    for taking in (claim(ask("a100-admin")), claim([ask("a100-admin")])):
        assert denials(catalog, wrap(taking), here) == [
            (
                "TEN005: tenant vision asks for a100-admin without adminAccess, which classes for "
                "admin access need"
            )
        ]


@pytest.mark.parametrize("state", ["frozen", "draining"])
@pytest.mark.parametrize("user", ["ann", CLAIM_CONTROLLER, SCHEDULER])
def test_only_active_tenants_make_claims(
    catalog_of: Any, platform: str, vision: str, state: str, user: str, denials: Any, rights_of: Any
) -> None:
    catalog = catalog_of(platform, vision.replace("spec:\n", f"spec:\n  state: {state}\n", 1))
    for made in (ALLOWED["whole"], template(ALLOWED["whole"])):
        assert denials(catalog, made, rights_of(catalog), user=user) == [
            f"TEN007: tenant vision is {state}; it asks for a100, only active tenants make new claims"
        ]


def test_the_applier_writes_templates_of_a_frozen_tenant(
    catalog_of: Any, platform: str, vision: str, denials: Any, rights_of: Any
) -> None:
    catalog = catalog_of(platform, vision.replace("spec:\n", "spec:\n  state: frozen\n", 1))
    here = rights_of(catalog)
    made = ALLOWED["whole"]
    assert denials(catalog, template(made), here, user=APPLIER) == []
    assert len(denials(catalog, made, here, user=APPLIER)) == 1
    foreign = denials(catalog, template(claim(ask("h100"))), here, user=APPLIER)
    assert [message[:6] for message in foreign] == ["TEN003"]


@pytest.mark.parametrize(
    ("user", "groups", "passes"),
    [
        (APPLIER, (), False),
        ("ann", ("vision-eng",), False),
        ("ann", ("platform-oncall",), True),
        ("root", (), True),
    ],
)
def test_without_an_applier_those_who_break_the_glass_apply(
    catalog_of: Any,
    platform: str,
    vision: str,
    user: str,
    groups: tuple[str, ...],
    passes: bool,
    denials: Any,
    rights_of: Any,
) -> None:
    breaks = "breakGlass: {groups: [platform-oncall], users: [root]}"
    plain = re.sub(r"engine: flux\n.*\n", f"engine: plain\n    {breaks}\n", platform)
    catalog = catalog_of(plain, vision.replace("spec:\n", "spec:\n  state: frozen\n", 1))
    here = rights_of(catalog)
    made = ALLOWED["whole"]
    found = denials(catalog, template(made), here, user=user, groups=groups)
    assert (found == []) is passes
    assert len(denials(catalog, made, here, user=user, groups=groups)) == 1, "never from state"


def test_beside_an_applier_nobody_applies(
    catalog_of: Any, platform: str, vision: str, denials: Any, rights_of: Any
) -> None:
    catalog = catalog_of(platform, vision.replace("spec:\n", "spec:\n  state: frozen\n", 1))
    made = template(ALLOWED["whole"])
    found = denials(catalog, made, rights_of(catalog), groups=("system:masters",))
    assert len(found) == 1


def test_a_removed_tenant_may_claim_nothing(
    catalog_of: Any, platform: str, vision: str, denials: Any, rights_of: Any
) -> None:
    catalog = catalog_of(platform, vision.replace("spec:\n", "spec:\n  state: removed\n", 1))
    found = denials(catalog, ALLOWED["whole"], rights_of(catalog))
    assert [message[:6] for message in found] == ["TEN007", "TEN003"]
    assert found[1].endswith("it may use no class")


def test_closed_classes_let_nothing_in(
    catalog_of: Any, platform: str, vision: str, denials: Any, rights_of: Any
) -> None:
    frozen = platform.replace(
        "nodeSelector: {pool: notebooks}", "nodeSelector: {p: n}\n  state: frozen"
    )
    catalog = catalog_of(frozen, vision)
    here = rights_of(catalog)
    for made in (ALLOWED["size"], ALLOWED["alternatives"], template(ALLOWED["size"])):
        assert denials(catalog, made, here) == [
            (
                "TEN007: tenant vision asks for l40s-slices-10gi, which is closed; only claims "
                "that exist may go on"
            )
        ]
    assert denials(catalog, ALLOWED["whole"], here) == []
    assert denials(catalog, template(ALLOWED["size"]), here, user=APPLIER) == []


@pytest.mark.parametrize("noted", [None, {}, {"team": "x", CLASSES + "a100": "state=open"}])
@pytest.mark.parametrize("wrap", [dict, template], ids=["claim", "template"])
def test_namespaces_of_no_tenant(
    catalog: Catalog, noted: dict[str, str] | None, wrap: Any, denials: Any
) -> None:
    request = (wrap(ALLOWED["alternatives"]), noted)
    assert denials(catalog, *request, policy=UNMANAGED) == [
        (
            "TEN006: namespace here belongs to no tenant; it asks for a100 or l40s-slices-10gi, it "
            "may claim nothing"
        )
    ]
    assert denials(catalog, *request) == [], "the other policy leaves these namespaces alone"


def test_a_namespace_without_a_state_is_not_active(
    catalog: Catalog, denials: Any, rights_of: Any
) -> None:
    here = {key: value for key, value in rights_of(catalog).items() if key != STATE}
    (message,) = denials(catalog, ALLOWED["whole"], here)
    assert message.startswith("TEN007: tenant vision is without a state")


@pytest.mark.parametrize("policy", [CLAIMS, UNMANAGED])
@pytest.mark.parametrize("wrap", [dict, template], ids=["claim", "template"])
def test_updates_that_leave_the_spec_alone_pass(
    catalog: Catalog, policy: str, wrap: Any, denials: Any, rights_of: Any
) -> None:
    old = wrap(DENIED["class of nobody"][0])
    new = {**old, "metadata": {**old["metadata"], "finalizers": ["x/y"]}}
    other = wrap(DENIED["greater size"][0])
    here = rights_of(catalog) if policy == CLAIMS else None
    assert denials(catalog, new, here, old=old, policy=policy) == []
    assert len(denials(catalog, other, here, old=old, policy=policy)) == 1


def test_a_request_of_an_unknown_form_is_refused(
    catalog: Catalog, denials: Any, rights_of: Any, unevaluated: Any
) -> None:
    made = claim(ask("a100"))
    made["spec"]["devices"]["requests"].append({"name": "new", "someday": {}})
    with pytest.raises(unevaluated):
        denials(catalog, made, rights_of(catalog))


def test_what_is_emitted_is_let_in(catalog: Catalog, denials: Any, rights_of: Any) -> None:
    cluster = catalog.clusters["east"]
    emitted = template_artifacts(Tenancy(catalog, cluster, catalog.tenants["vision"]))
    assert len(emitted) == 5
    for artifact in emitted:
        made = artifact.object
        here = rights_of(catalog, made["metadata"]["namespace"])
        assert denials(catalog, made, here, user=APPLIER) == []
        generated = {**made, "kind": "ResourceClaim", "spec": made["spec"]["spec"]}
        assert denials(catalog, generated, here, user=CLAIM_CONTROLLER) == []
