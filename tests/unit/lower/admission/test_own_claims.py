"""Claims and templates that are written by hand."""

from __future__ import annotations

import re
from typing import Any

import pytest

from dracfg.link.catalog import Catalog

POLICY = "dracfg-own-claims"
APPLIER = "system:serviceaccount:flux-system:kustomize-controller"
EXTENDED = "resource.kubernetes.io/extended-resource-claim"
SLICE = {"requests": {"gpu.example.org/cores": "20", "memory": "10Gi"}}
SHARE = {
    "apiVersion": "gpu.example.org/v1",
    "kind": "Share",
    "limits": {"soft": 20, "hard": 1.5},
    "modes": ["a", 1, True],
    "note": 'ends in a quote"',
}
CONFIG = (
    "config: {apiVersion: gpu.example.org/v1, kind: Share, values: {limits: {soft: 20, hard: 1.5}, "
    "modes: [a, 1, true], note: 'ends in a quote\"'}}"
)


def claim(*asks: dict[str, Any], **devices: Any) -> dict[str, Any]:
    requests = [{"name": f"r{i}", "exactly": ask} for i, ask in enumerate(asks)]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "mine", "namespace": "here"},
        "spec": {"devices": {"requests": requests, **devices}},
    }


def gpus(count: int = 1, **more: Any) -> dict[str, Any]:
    made = {"deviceClassName": "a100", "allocationMode": "ExactCount", "count": count}
    return made | more


def slices(count: int = 1, **more: Any) -> dict[str, Any]:
    return gpus(count, capacity=SLICE, **more) | {"deviceClassName": "l40s-slices-10gi"}


def template(of: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    spec = {"metadata": metadata, "spec": of["spec"]} if metadata else {"spec": of["spec"]}
    return {**of, "kind": "ResourceClaimTemplate", "spec": spec}


def noted(of: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {**of, "metadata": {**of["metadata"], **metadata}}


def parameters(driver: str, values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"opaque": {"driver": driver, "parameters": values}}]


@pytest.fixture
def platform(platform: str) -> str:
    """With parameters of a sharing policy, and a driver whose identity attributes are known."""
    return platform.replace("  sizedBy: memory\n", f"  sizedBy: memory\n  {CONFIG}\n").replace(
        "spec: {attributes:", "spec: {preset: gpu.example.com, attributes:"
    )


@pytest.fixture
def catalog(catalog_of: Any, platform: str, vision: str) -> Catalog:
    linked: Catalog = catalog_of(
        platform, vision.replace("spec:\n", "spec:\n  ownClaims: true\n", 1)
    )
    return linked


@pytest.fixture
def judge(policies_of: Any, rights_of: Any) -> Any:
    """The codes with which requests in vision's namespace are denied."""

    def denials(catalog: Catalog, thing: dict[str, Any], **more: Any) -> list[str]:
        found = policies_of(catalog).denials(thing, rights_of(catalog), policy=POLICY, **more)
        return [message[:6] for message in found]

    return denials


ALLOWED = {
    "as many as a profile": claim(gpus(8)),
    "several requests": claim(gpus(8), slices(2)),
    "no count": claim({"deviceClassName": "a100"}),
    "of one root": claim(
        gpus(2),
        constraints=[{"requests": ["r0"], "matchAttribute": "resource.kubernetes.io/pcieRoot"}],
    ),
    "all different": claim(slices(2), constraints=[{"distinctAttribute": "gpu.example.org/model"}]),
    "parameters of the policy": claim(slices(), config=parameters("gpu.example.org", SHARE)),
    "no devices": {**claim(), "spec": {}},
    "own label": noted(claim(gpus()), labels={"team": "x", "my.dev/x": "y"}),
    "template": template(claim(gpus()), labels={"team": "x"}, annotations={"a/b": "c"}),
    "empty lists": claim(gpus(selectors=[], tolerations=[])),
}

DENIED = {
    "one more than a profile": (claim(gpus(9)), "TEN021"),
    "one more of a size": (claim(slices(3)), "TEN021"),
    "all": (claim({"deviceClassName": "a100", "allocationMode": "All"}), "TEN021"),
    "all of a class of nobody": (
        claim({"deviceClassName": "h100", "allocationMode": "All"}),
        "TEN021",
    ),
    "second request": (claim(gpus(), slices(3)), "TEN021"),
    "selector": (claim(gpus(selectors=[{"cel": {"expression": "true"}}])), "TEN022"),
    "toleration": (claim(gpus(tolerations=[{"operator": "Exists"}])), "TEN023"),
    "other parameters": (
        claim(slices(), config=parameters("gpu.example.org", {**SHARE, "note": ""})),
        "TEN024",
    ),
    "another value deep inside": (
        claim(
            slices(),
            config=parameters("gpu.example.org", {**SHARE, "limits": {"soft": 21, "hard": 1.5}}),
        ),
        "TEN024",
    ),
    "parameters of another driver": (
        claim(slices(), config=parameters("gpu.example.net", SHARE)),
        "TEN024",
    ),
    "configuration of no form": (claim(slices(), config=[{}]), "TEN024"),
    "as if for extended resources": (
        noted(claim(gpus()), annotations={EXTENDED: "true"}),
        "TEN025",
    ),
    "template for such claims": (template(claim(gpus()), annotations={EXTENDED: "x"}), "TEN025"),
    "label of the platform": (
        noted(claim(gpus()), labels={"dracfg.dev/tenant": "search"}),
        "TEN026",
    ),
    "annotation of a subdomain": (
        noted(claim(gpus()), annotations={"classes.dracfg.dev/a100": ""}),
        "TEN026",
    ),
    "template that labels so": (
        template(claim(gpus()), labels={"dracfg.dev/profile": "train"}),
        "TEN026",
    ),
    "constraint on identity": (
        claim(gpus(), constraints=[{"matchAttribute": "gpu.example.org/uuid"}]),
        "TEN027",
    ),
    "distinct by identity": (
        claim(gpus(), constraints=[{"distinctAttribute": "gpu.example.org/uuid"}]),
        "TEN027",
    ),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_allowed(catalog: Catalog, judge: Any, name: str) -> None:
    assert judge(catalog, ALLOWED[name]) == []


@pytest.mark.parametrize("name", DENIED)
def test_denied(catalog: Catalog, judge: Any, name: str) -> None:
    thing, code = DENIED[name]
    assert judge(catalog, thing) == [code]


@pytest.mark.parametrize("name", DENIED)
@pytest.mark.parametrize(
    "user",
    [
        APPLIER,
        "system:serviceaccount:kube-system:resource-claim-controller",
        "system:kube-scheduler",
    ],
)
def test_the_platform_and_controllers_are_exempt(
    catalog: Catalog, judge: Any, name: str, user: str
) -> None:
    assert judge(catalog, DENIED[name][0], user=user) == []


def test_break_glass_is_not(catalog: Catalog, judge: Any) -> None:
    assert judge(catalog, DENIED["all"][0], groups=["system:masters"]) == ["TEN021"]


def test_break_glass_mends_labels_of_the_platform(catalog: Catalog, judge: Any) -> None:
    """And is held to the shape of a request by hand in the same write."""
    generated = noted(claim(gpus()), labels={"dracfg.dev/tenant": "vision"})
    stripped = noted(generated, labels={})
    assert judge(catalog, generated, old=stripped, groups=["system:masters"]) == []
    assert judge(catalog, generated, old=stripped, groups=["vision-eng"]) == ["TEN026"]
    too_many = noted(DENIED["all"][0], labels={"dracfg.dev/tenant": "vision"})
    assert judge(catalog, too_many, groups=["system:masters"]) == ["TEN021"]


def test_break_glass_is_where_nobody_else_applies(
    catalog_of: Any, platform: str, vision: str, judge: Any
) -> None:
    catalog = catalog_of(re.sub(r"engine: flux\n.*\n", "engine: plain\n", platform), vision)
    emitted = noted(DENIED["all"][0], labels={"dracfg.dev/tenant": "vision"})
    assert judge(catalog, emitted, groups=["system:masters"]) == []
    assert "TEN026" in judge(catalog, emitted, groups=["vision-eng"])


def test_alternatives_are_walked(catalog: Catalog, judge: Any) -> None:
    thing = claim()
    thing["spec"]["devices"]["requests"] = [
        {"name": "r", "firstAvailable": [{"name": "a", **gpus()}, {"name": "b", **slices(3)}]}
    ]
    assert judge(catalog, thing) == ["TEN021"]


def test_without_leave_nothing_is_written_by_hand(
    catalog_of: Any, platform: str, vision: str, judge: Any
) -> None:
    catalog = catalog_of(platform, vision)
    assert judge(catalog, ALLOWED["as many as a profile"]) == ["TEN020"]
    assert judge(catalog, ALLOWED["template"]) == ["TEN020"]
    assert judge(catalog, ALLOWED["as many as a profile"], user=APPLIER) == []


def test_updates_are_judged_by_what_they_change(catalog: Catalog, judge: Any) -> None:
    generated = noted(claim(gpus(9)), labels={"dracfg.dev/tenant": "vision"})
    assert judge(catalog, noted(generated, finalizers=["x/y"]), old=generated) == []
    bare = noted(generated, labels={})
    assert judge(catalog, bare, old=generated) == ["TEN026"], "taken away"
    assert judge(catalog, generated, old=bare) == ["TEN026"], "set"
    other = noted(generated, labels={"dracfg.dev/tenant": "search"})
    assert judge(catalog, other, old=generated) == ["TEN026"], "changed"
    note = noted(claim(gpus()), annotations={"dracfg.dev/requests": "a"})
    for notes in ({"dracfg.dev/requests": "b"}, {}):
        assert judge(catalog, noted(note, annotations=notes), old=note) == ["TEN026"]
    assert judge(catalog, noted(note, labels={"team": "x"}), old=note) == []
    wider = claim(gpus(10))
    assert judge(catalog, wider, old=claim(gpus(9))) == ["TEN021"]


def test_namespaces_without_a_tenant_can_not_pretend_either(
    catalog: Catalog, policies_of: Any
) -> None:
    thing, _ = DENIED["as if for extended resources"]
    (message,) = policies_of(catalog).denials(thing, {}, policy=POLICY)
    assert message.startswith("TEN025: tenant none ")


def test_messages(catalog: Catalog, policies_of: Any, rights_of: Any) -> None:
    def said(name: str) -> str:
        here = rights_of(catalog)
        (message,) = policies_of(catalog).denials(DENIED[name][0], here, policy=POLICY)
        return str(message)

    assert said("one more than a profile") == (
        "TEN021: tenant vision asks for 9 of a100; a request by hand may ask for 1 to 8"
    )
    assert said("all").startswith("TEN021: tenant vision asks for All of a100;")
    assert said("selector") == (
        "TEN022: tenant vision asks for a100 with 1 selectors; a request by hand may have none"
    )
    assert said("other parameters") == (
        "TEN024: tenant vision sets parameters of gpu.example.org; it may repeat those of "
        "gpu.example.org/slices"
    )
    assert said("constraint on identity").startswith(
        "TEN027: tenant vision constrains devices by gpu.example.org/uuid,"
    )
