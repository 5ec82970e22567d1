"""Taint rules, rights on Namespaces, and every object that dracfg emits."""

from __future__ import annotations

from typing import Any

import pytest

from dracfg.link.catalog import Catalog

APPLIER = "system:serviceaccount:flux-system:kustomize-controller"
CONTROLLERS = [
    "system:apiserver",
    "system:kube-controller-manager",
    "system:kube-scheduler",
    "system:serviceaccount:kube-system:generic-garbage-collector",
    "system:serviceaccount:kube-system:namespace-controller",
    "system:serviceaccount:kube-system:resource-claim-controller",
    "system:serviceaccount:kube-system:resourcequota-controller",
]
OURS = {"app.kubernetes.io/managed-by": "dracfg"}


@pytest.fixture
def catalog(catalog_of: Any, platform: str) -> Catalog:
    glass = "breakGlass: {groups: [oncall], users: [root]}"
    linked: Catalog = catalog_of(platform.replace("engine: flux\n", f"engine: flux\n    {glass}\n"))
    return linked


@pytest.fixture
def judge(policies_of: Any, catalog: Catalog) -> Any:
    """The codes with which all policies together answer."""

    def denials(made: dict[str, Any] | None, **more: Any) -> list[str]:
        return [message[:6] for message in policies_of(catalog).denials(made, **more)]

    return denials


# -- taint rules -----------------------------------------------------------------------------------


def rule(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "resource.k8s.io/v1beta2",
        "kind": "DeviceTaintRule",
        "metadata": {"name": "all"},
        "spec": {"taint": {"key": "a", "effect": "NoExecute"}, **spec},
    }


@pytest.mark.parametrize("selector", [{"driver": "d"}, {"driver": "d", "pool": "p"}, {"pool": "p"}])
def test_taint_rules_with_a_selector_pass(judge: Any, selector: dict[str, str]) -> None:
    assert judge(rule(deviceSelector=selector)) == []


@pytest.mark.parametrize("spec", [{}, {"deviceSelector": {}}])
def test_taint_rules_for_every_device_are_denied(
    judge: Any, policies_of: Any, catalog: Catalog, spec: dict[str, Any]
) -> None:
    for user in ("ann", APPLIER):
        assert judge(rule(**spec), user=user) == ["TEN035"]
    assert judge(rule(**spec), old=rule(deviceSelector={"driver": "d"})) == ["TEN035"]
    (message,) = policies_of(catalog).denials(rule(**spec))
    assert message == (
        "TEN035: ann taints every device of the cluster by all; a rule selects by driver, pool or device"
    )


# -- rights on Namespaces --------------------------------------------------------------------------


def namespace(labels: dict[str, str] | None = None, **notes: str) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": "here"}
    if labels is not None:
        metadata["labels"] = labels
    if notes:
        metadata["annotations"] = notes
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata, "spec": {}}


GUARDED: list[dict[str, Any]] = [
    {"labels": {"resource.kubernetes.io/admin-access": "true"}},
    {"labels": {"dracfg.dev/tenant": "vision"}},
    {"dracfg.dev/tenant": "vision"},
    {"dracfg.dev/own-claims": "true"},
    {"classes.dracfg.dev/a100": "count=8"},
    {"a.b.dracfg.dev/x": ""},
]


@pytest.mark.parametrize("keys", GUARDED)
@pytest.mark.parametrize("subresource", ["", "status", "finalize"])
def test_rights_are_set_by_the_applier_alone(judge: Any, keys: Any, subresource: str) -> None:
    bare, right = namespace(), namespace(**keys)
    where = {"subresource": subresource}
    assert judge(right, **where) == ["TEN036"]
    assert judge(right, old=bare, **where) == ["TEN036"]
    assert judge(bare, old=right, **where) == ["TEN036"], "taken away"
    assert judge(right, old=right, **where) == [], "kept"
    assert judge(right, user=APPLIER, **where) == []
    assert judge(right, user="root", **where) == []
    assert judge(right, groups=["oncall"], **where) == []
    assert judge(right, groups=["system:masters"], **where) == ["TEN036"]


def test_changed_values_are_denied(judge: Any) -> None:
    old = namespace(labels={"team": "a"}, **{"classes.dracfg.dev/a100": "count=8"})
    new = namespace(labels={"team": "a"}, **{"classes.dracfg.dev/a100": "count=9"})
    assert judge(new, old=old) == ["TEN036"]


@pytest.mark.parametrize(
    "keys",
    [
        {"labels": {"team": "x"}},
        {"dracfg.development/x": "y"},
        {"mydracfg.dev/x": "y"},
        {"labels": {"kubernetes.io/metadata.name": "here"}},
    ],
)
def test_other_keys_pass(judge: Any, keys: Any) -> None:
    assert judge(namespace(**keys)) == []
    assert judge(namespace(**keys), old=namespace()) == []


def test_the_namespace_message_names_the_keys(policies_of: Any, catalog: Catalog) -> None:
    (message,) = policies_of(catalog).denials(namespace(**GUARDED[0]))
    assert message == (
        "TEN036: ann sets or changes resource.kubernetes.io/admin-access of namespace here; rights "
        "of namespaces are set in the catalog"
    )


# -- emitted objects -------------------------------------------------------------------------------


def emitted(api: str, kind: str, labels: dict[str, str] | None = OURS) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": "one"}
    if kind not in ("DeviceClass", "ClusterRole", "Namespace"):
        metadata["namespace"] = "here"
    return {"apiVersion": api, "kind": kind, "metadata": metadata | {"labels": labels}, "spec": {}}


KINDS = [
    ("v1", "ResourceQuota"),
    ("v1", "ConfigMap"),
    ("v1", "Namespace"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    ("resource.k8s.io/v1", "DeviceClass"),
    ("resource.k8s.io/v1", "ResourceClaim"),
    ("resource.k8s.io/v1", "ResourceClaimTemplate"),
]
POLICY = {"policy": "dracfg-managed-objects"}


@pytest.mark.parametrize(("api", "kind"), KINDS)
def test_emitted_objects_are_the_appliers(judge: Any, api: str, kind: str) -> None:
    ours = emitted(api, kind)
    freed = emitted(api, kind, labels={})
    changes: list[dict[str, Any]] = [
        {"made": ours},
        {"made": ours, "old": ours},
        {"made": freed, "old": ours},
        {"made": ours, "old": freed},
        {"made": None, "old": ours},
    ]
    for change in changes:
        assert judge(**change, **POLICY) == ["TEN037"]
        for user in (APPLIER, "root", *CONTROLLERS):
            assert judge(**change, **POLICY, user=user) == []
        assert judge(**change, **POLICY, groups=["oncall"]) == []
    for old in (None, freed):
        assert judge(freed, old=old, **POLICY) == []
    assert judge(None, old=freed, **POLICY) == []


def test_status_is_written_by_whom_it_was_before(judge: Any) -> None:
    claim = emitted("resource.k8s.io/v1", "ResourceClaim")
    assert judge(claim, old=claim, subresource="status", user="driver", **POLICY) == []
    quota = emitted("v1", "ResourceQuota")
    assert judge(quota, old=quota, subresource="status", **POLICY) == ["TEN037"]
    for user in ("system:apiserver", CONTROLLERS[-1]):
        assert judge(quota, old=quota, subresource="status", user=user, **POLICY) == []


def test_the_message_names_the_object(policies_of: Any, catalog: Catalog) -> None:
    quota = emitted("v1", "ResourceQuota")
    (message,) = policies_of(catalog).denials(None, old=quota)
    assert message == (
        "TEN037: ann may not DELETE resourcequotas here/one, which dracfg emits; it is changed in "
        "the catalog"
    )


def test_kueue_and_its_kinds_count_where_it_is_on(
    catalog_of: Any, platform: str, policies_of: Any
) -> None:
    kueue = "system:serviceaccount:kueue-system:kueue-controller-manager"
    flavor = emitted("kueue.x-k8s.io/v1beta2", "ResourceFlavor")
    without = policies_of(catalog_of(platform))
    assert without.denials(flavor) == []
    with_it = policies_of(
        catalog_of(platform.replace("kubeadm\n", 'kubeadm\n  addons: {kueue: "0.17"}\n'))
    )
    assert len(with_it.denials(flavor)) == 1
    assert with_it.denials(flavor, user=kueue) == []
