"""Generated objects of tenants, judged alike by the policies and by each rule in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dracfg.kube.quantity import Quantity

Json = dict[str, Any]

APPLIER = "system:serviceaccount:flux-system:kustomize-controller"
CONTROLLER = "system:serviceaccount:kube-system:resource-claim-controller"
PLATFORM_USERS = (APPLIER, CONTROLLER, "system:kube-scheduler")
EXTENDED = "resource.kubernetes.io/extended-resource-claim"
IMPLICIT = "deviceclass.resource.kubernetes.io/"
LEGACY = "example.org/gpu"
CONFIG = {"kind": "Share", "limit": 3}
IDENTITY = "gpu.example.org/uuid"

CLASS_TEXTS = {
    "whole": "size=whole;count=4;version=-;state=open;extended=example.org/gpu",
    "closed": "size=whole;count=2;version=-;state=closed",
    "sized": "size=10Gi;count=1;version=1;state=open;capacity.cores=20;capacity.memory=10Gi",
    "watch": "size=whole;count=1;version=-;state=open;admin=true",
}


# -- what a namespace may do, read from its annotations --------------------------------------------


class Rights:
    """The annotations that the platform writes, as data."""

    def __init__(self, noted: Mapping[str, str]) -> None:
        self.tenant = noted.get("dracfg.dev/tenant", "")
        self.is_active = noted.get("dracfg.dev/state") == "active"
        self.writes_claims = noted.get("dracfg.dev/own-claims") == "true"
        self.claims, self.configs, self.legacy = (
            noted[key].split(",") if key in noted else []
            for key in ("dracfg.dev/claims", "dracfg.dev/configs", "dracfg.dev/legacy-resources")
        )
        self.classes = {
            key.removeprefix("classes.dracfg.dev/"): dict(
                field.split("=", 1) for field in text.split(";")
            )
            for key, text in noted.items()
            if key.startswith("classes.dracfg.dev/")
        }

    def capacity(self, name: str) -> dict[str, Quantity]:
        fields = self.classes[name].items()
        return {
            key.removeprefix("capacity."): Quantity.parse(text)
            for key, text in fields
            if key.startswith("capacity.")
        }


# -- the rules for claims --------------------------------------------------------------------------


def claim_codes(thing: Json, rights: Rights, user: str) -> Iterator[str]:
    """The codes for a new claim or template."""
    is_template = thing["kind"] == "ResourceClaimTemplate"
    spec = thing["spec"]["spec"] if is_template else thing["spec"]
    devices = spec["devices"]
    asks = [
        ask
        for request in devices["requests"]
        for ask in ([request["exactly"]] if "exactly" in request else request["firstAvailable"])
    ]
    if not rights.tenant:
        yield "TEN006"
    else:
        yield from _for_everybody(asks, rights, template_of_applier=is_template and user == APPLIER)
    if user not in PLATFORM_USERS:
        keys = list(_keys(thing["metadata"]))
        if is_template:
            keys += _keys(thing["spec"].get("metadata", {}))
        if EXTENDED in keys:
            yield "TEN025"
        if any(_is_reserved(key) for key in keys):
            yield "TEN026"
        if rights.tenant:
            yield from _by_hand(asks, devices, rights)


def _for_everybody(asks: list[Json], rights: Rights, *, template_of_applier: bool) -> Iterator[str]:
    known = [ask for ask in asks if ask["deviceClassName"] in rights.classes]
    if not template_of_applier:
        if not rights.is_active:
            yield "TEN007"
        if any(rights.classes[ask["deviceClassName"]]["state"] == "closed" for ask in known):
            yield "TEN007"
    if len(known) < len(asks):
        yield "TEN003"
    if any(
        ask.get("adminAccess", False) != ("admin" in rights.classes[ask["deviceClassName"]])
        for ask in known
    ):
        yield "TEN005"
    if any(_amounts(ask) != rights.capacity(ask["deviceClassName"]) for ask in known):
        yield "TEN004"


def _by_hand(asks: list[Json], devices: Json, rights: Rights) -> Iterator[str]:
    if not rights.writes_claims:
        yield "TEN020"
    if any(_is_too_many(ask, rights) for ask in asks):
        yield "TEN021"
    if any(ask.get("selectors") for ask in asks):
        yield "TEN022"
    if any(ask.get("tolerations") for ask in asks):
        yield "TEN023"
    allowed = [("gpu.example.org", CONFIG)] if "gpu.example.org/slices" in rights.configs else []
    given = [config.get("opaque") for config in devices.get("config", ())]
    if any(one is None or (one["driver"], one["parameters"]) not in allowed for one in given):
        yield "TEN024"
    constraints = devices.get("constraints", ())
    if any(IDENTITY in constraint.values() for constraint in constraints):
        yield "TEN027"


def _is_too_many(ask: Json, rights: Rights) -> bool:
    if ask.get("allocationMode", "ExactCount") != "ExactCount":
        return True
    text = rights.classes.get(ask["deviceClassName"])
    return text is not None and ask.get("count", 1) > int(text["count"])


def _amounts(ask: Json) -> dict[str, Quantity]:
    written = ask.get("capacity", {}).get("requests", {})
    return {key: Quantity.parse(text) for key, text in written.items()}


def _keys(metadata: Json) -> Iterator[str]:
    yield from metadata.get("labels", {})
    yield from metadata.get("annotations", {})


def _is_reserved(key: str) -> bool:
    domain = key.split("/")[0]
    return domain == "dracfg.dev" or domain.endswith(".dracfg.dev")


# -- the rules for pods ----------------------------------------------------------------------------


def pod_codes(spec: Json, rights: Rights) -> Iterator[str]:
    """The codes for a new pod."""
    asks = [
        (name, amount)
        for container in (*spec.get("containers", ()), *spec.get("initContainers", ()))
        for amounts in container.get("resources", {}).values()
        for name, amount in amounts.items()
        if name.startswith(IMPLICIT) or name == LEGACY
    ]
    if not rights.tenant:
        if asks:
            yield "TEN006"
        return
    entitled = [name for name, _ in asks if _may_ask(name, rights)]
    if len(entitled) < len(asks):
        yield "TEN030"
    if any(_needs_a_claim(name, rights) for name in entitled):
        yield "TEN031"
    if not all(_is_whole(amount) for _, amount in asks):
        yield "TEN032"
    if any(not rights.is_active or _is_closed(name, rights) for name in entitled):
        yield "TEN007"
    named = {
        f"{kind}/{claim[key]}"
        for claim in spec.get("resourceClaims", ())
        for key, kind in (
            ("resourceClaimName", "claim"),
            ("resourceClaimTemplateName", "template"),
        )
        if key in claim
    }
    if not rights.writes_claims and named - set(rights.claims):
        yield "TEN033"
    watches = any("admin" in text for text in rights.classes.values())
    if not watches and any(_tolerates_fences(one) for one in spec.get("tolerations", ())):
        yield "TEN034"


def _may_ask(name: str, rights: Rights) -> bool:
    if name.startswith(IMPLICIT):
        return name.removeprefix(IMPLICIT) in rights.classes
    return name in rights.legacy or any(
        text.get("extended") == name for text in rights.classes.values()
    )


def _needs_a_claim(name: str, rights: Rights) -> bool:
    if not name.startswith(IMPLICIT):
        return False
    text = rights.classes[name.removeprefix(IMPLICIT)]
    return any(field == "admin" or field.startswith("capacity.") for field in text)


def _is_closed(name: str, rights: Rights) -> bool:
    if name.startswith(IMPLICIT):
        return rights.classes[name.removeprefix(IMPLICIT)]["state"] == "closed"
    return name not in rights.legacy and any(
        text.get("extended") == name and text["state"] == "closed"
        for text in rights.classes.values()
    )


def _is_whole(amount: str) -> bool:
    return Quantity.parse(amount).nano % 10**9 == 0


def _tolerates_fences(toleration: Json) -> bool:
    key = toleration.get("key", "")
    return key.startswith("dracfg.dev/") if key else toleration.get("operator") == "Exists"


# -- the corpus ------------------------------------------------------------------------------------

some = st.booleans()


def optional(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    return st.fixed_dictionaries({}, optional=fields)


@st.composite
def namespaces(draw: st.DrawFn) -> dict[str, str]:
    if draw(st.integers(0, 5)) == 0:
        return {}
    names = draw(st.sets(st.sampled_from(sorted(CLASS_TEXTS))))
    noted = {f"classes.dracfg.dev/{name}": CLASS_TEXTS[name] for name in names}
    noted["dracfg.dev/tenant"] = "vision"
    noted |= draw(
        optional(
            **{
                "dracfg.dev/state": st.sampled_from(["active", "active", "frozen", "removed"]),
                "dracfg.dev/own-claims": st.sampled_from(["true", "true", "false"]),
                "dracfg.dev/claims": st.sampled_from(["claim/a", "claim/a,template/b"]),
                "dracfg.dev/configs": st.sampled_from(["gpu.example.org/slices", "x/y"]),
                "dracfg.dev/legacy-resources": st.sampled_from(["example.org/gpu", "other.org/x"]),
            }
        )
    )
    return noted


amounts = st.sampled_from(
    [
        {"cores": "20", "memory": "10Gi"},
        {"cores": "20", "memory": "10240Mi"},
        {"cores": "20"},
        {"cores": "30", "memory": "10Gi"},
        {"cores": "20", "memory": "10Gi", "bandwidth": "1"},
        {},
    ]
)
asks = st.builds(
    lambda name, more, capacity: (
        {"deviceClassName": name, **more}
        | ({"capacity": {"requests": capacity}} if capacity else {})
    ),
    st.sampled_from([*CLASS_TEXTS, "foreign"]),
    optional(
        allocationMode=st.sampled_from(["ExactCount", "All"]),
        count=st.integers(1, 5),
        adminAccess=some,
        selectors=st.sampled_from([[], [{"cel": {"expression": "true"}}]]),
        tolerations=st.sampled_from([[], [{"operator": "Exists"}]]),
    ),
    amounts,
)
requests = st.one_of(
    st.builds(lambda ask: {"exactly": ask}, asks),
    st.builds(lambda listed: {"firstAvailable": listed}, st.lists(asks, min_size=1, max_size=3)),
)
parameters = st.sampled_from([CONFIG, {"kind": "Share", "limit": 4}, {}])
configs = st.one_of(
    st.just({}),
    st.builds(
        lambda driver, values: {"opaque": {"driver": driver, "parameters": values}},
        st.sampled_from(["gpu.example.org", "net.example.org"]),
        parameters,
    ),
)
constraints = st.builds(
    lambda field, attribute: {field: attribute},
    st.sampled_from(["matchAttribute", "distinctAttribute"]),
    st.sampled_from([IDENTITY, "gpu.example.org/model"]),
)
keys = st.sampled_from(
    ["team", "dracfg.dev/tenant", "x.dracfg.dev/y", "dracfg.development/z", EXTENDED]
)
metadata = optional(
    labels=st.dictionaries(keys, st.just("v"), max_size=2),
    annotations=st.dictionaries(keys, st.just("v"), max_size=2),
)


@st.composite
def claims(draw: st.DrawFn) -> Json:
    devices = {"requests": draw(st.lists(requests, max_size=2))}
    devices |= draw(
        optional(
            config=st.lists(configs, max_size=2), constraints=st.lists(constraints, max_size=2)
        )
    )
    spec: Json = {"devices": devices}
    kind = "ResourceClaim"
    if draw(some):
        kind = "ResourceClaimTemplate"
        spec = {"spec": spec}
        if draw(some):
            spec["metadata"] = draw(metadata)
    named = {"name": "mine", "namespace": "here", **draw(metadata)}
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": named, "spec": spec}


resources = st.dictionaries(
    st.sampled_from(["cpu", LEGACY, "other.org/x", *(IMPLICIT + name for name in CLASS_TEXTS)]),
    st.sampled_from(["1", "2", "2", "500m", "1k"]),
    max_size=2,
)
containers = st.lists(
    optional(resources=optional(requests=resources, limits=resources)), max_size=2
)
pods = optional(
    containers=containers,
    initContainers=containers,
    resourceClaims=st.lists(
        st.sampled_from(
            [
                {"name": "c", "resourceClaimName": "a"},
                {"name": "c", "resourceClaimName": "b"},
                {"name": "c", "resourceClaimTemplateName": "b"},
                {"name": "c"},
            ]
        ),
        max_size=2,
    ),
    tolerations=st.lists(
        optional(
            key=st.sampled_from(["", "dracfg.dev/pool", "gpu"]),
            operator=st.sampled_from(["Exists", "Equal"]),
        ),
        max_size=2,
    ),
)
often = settings(
    max_examples=80,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture
def policies(catalog_of: Any, policies_of: Any, platform: str) -> Any:
    more = platform.replace(
        "  sizedBy: memory\n", "  sizedBy: memory\n  config: {kind: Share, values: {limit: 3}}\n"
    ).replace(
        "spec: {attributes: {model: string}",
        f"spec: {{preset: gpu.example.com, devicePlugin: {{resources: [{LEGACY}]}}, "
        "attributes: {model: string}",
    )
    return policies_of(catalog_of(more))


def codes(messages: list[str]) -> Counter[str]:
    return Counter(message[:6] for message in messages)


@often
@given(thing=claims(), noted=namespaces(), user=st.sampled_from(["ann", "ann", *PLATFORM_USERS]))
def test_claims(policies: Any, thing: Json, noted: dict[str, str], user: str) -> None:
    found = codes(policies.denials(thing, noted, user=user))
    assert found == Counter(claim_codes(thing, Rights(noted), user))


@often
@given(spec=pods, noted=namespaces())
def test_pods(policies: Any, spec: Json, noted: dict[str, str]) -> None:
    bare = {"apiVersion": "v1", "metadata": {"name": "p", "namespace": "here"}}
    expected = Counter(pod_codes(spec, Rights(noted)))
    assert codes(policies.denials({**bare, "kind": "Pod", "spec": spec}, noted)) == expected
    template = {"template": {"spec": spec}}
    deployment = {**bare, "apiVersion": "apps/v1", "kind": "Deployment", "spec": template}
    assert codes(policies.denials(deployment, noted)) == expected
