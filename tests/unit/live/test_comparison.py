"""What counts as a difference between out/ and a live object, and who made it."""

from __future__ import annotations

from typing import Any

import pytest

from dracfg.live.comparison import differences
from dracfg.live.managers import Manager, engine_managers, managers_of


def thing(kind: str = "ResourceQuota", api_version: str = "v1", **body: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "n"}, **body}


@pytest.mark.parametrize(
    ("wanted", "live"),
    [
        (thing(spec={"hard": {"a": "1Gi"}}), thing(spec={"hard": {"a": "1024Mi"}})),
        (thing(spec={"hard": {"a": "4"}}), thing(spec={"hard": {"a": 4}})),
        (
            thing(spec={"capacity": {"requests": {"memory": "5Gi"}}}),
            thing(spec={"capacity": {"requests": {"memory": "5120Mi"}}}),
        ),
        (thing(spec={"a": {}, "b": []}), thing(spec={})),
        (thing(), thing(status={"hard": {}})),
        (thing("Namespace"), thing("Namespace", spec={"finalizers": ["kubernetes"]})),
        (
            thing("ClusterQueue", "kueue.x-k8s.io/v1beta2", spec={"a": 1}),
            thing("ClusterQueue", "kueue.x-k8s.io/v1beta2", spec={"a": 1, "defaulted": True}),
        ),
        (
            thing(
                "ValidatingWebhookConfiguration", "admissionregistration.k8s.io/v1", webhooks=[{}]
            ),
            thing(
                "ValidatingWebhookConfiguration",
                "admissionregistration.k8s.io/v1",
                webhooks=[{"clientConfig": {"caBundle": "x"}}],
            ),
        ),
    ],
)
def test_no_difference(wanted: dict[str, Any], live: dict[str, Any]) -> None:
    assert differences(wanted, live) == ()


@pytest.mark.parametrize(
    ("wanted", "live", "steps"),
    [
        (
            thing(spec={"hard": {"a": "1Gi"}}),
            thing(spec={"hard": {"a": "1025Mi"}}),
            ("spec", "hard", "a"),
        ),
        # Outside of amounts text is text.
        (thing(spec={"value": "1.0"}), thing(spec={"value": "1"}), ("spec", "value")),
        (thing(spec={"a": True}), thing(spec={"a": 1}), ("spec", "a")),
        (thing(spec={"hard": {}}), thing(spec={"hard": {"b": "9"}}), ("spec", "hard", "b")),
        (thing(spec={"a": 1}), thing(), ("spec",)),
        (thing(spec={"l": [1, 2]}), thing(spec={"l": [1]}), ("spec", "l")),
        (thing(spec={"l": [{"a": 1}]}), thing(spec={"l": [{"a": 2}]}), ("spec", "l", 0, "a")),
        (thing(), thing(data={"x": "y"}), ("data", "x")),
    ],
)
def test_difference(
    wanted: dict[str, Any], live: dict[str, Any], steps: tuple[str | int, ...]
) -> None:
    (found,) = differences(wanted, live)
    assert found.steps == steps


def test_labels_and_annotations() -> None:
    wanted, live = thing(), thing()
    wanted["metadata"] |= {"labels": {"a": "1", "b": "2"}}
    live["metadata"] |= {
        "labels": {"a": "1", "b": "3", "kubernetes.io/metadata.name": "n"},
        "annotations": {
            "classes.dracfg.dev/a100": "count=9",
            "dracfg.dev/state": "active",
            "notdracfg.dev/x": "y",
            "kubectl.kubernetes.io/last-applied-configuration": "{}",
        },
        "uid": "u",
        "generation": 3,
    }
    assert [found.steps for found in differences(wanted, live)] == [
        ("metadata", "labels", "b"),
        ("metadata", "annotations", "classes.dracfg.dev/a100"),
        ("metadata", "annotations", "dracfg.dev/state"),
    ]


LIVE: dict[str, Any] = {
    "metadata": {
        "managedFields": [
            {
                "manager": "kustomize-controller",
                "operation": "Apply",
                "time": "2026-01-01T00:00:00Z",
                "fieldsV1": {
                    "f:spec": {
                        "f:hard": {".": {}, "f:a": {}, "f:b": {}},
                        "f:requests": {'k:{"name":"gpu"}': {".": {}, "f:count": {}}},
                        "f:verbs": {'v:"list"': {}},
                        "f:atomic": {},
                    }
                },
            },
            {
                "manager": "kubectl-edit",
                "operation": "Update",
                "time": "2026-02-01T00:00:00Z",
                "fieldsV1": {"f:spec": {"f:hard": {"f:b": {}}}},
            },
            {
                "manager": "kube-controller-manager",
                "operation": "Update",
                "subresource": "status",
                "fieldsV1": {"f:spec": {"f:hard": {"f:a": {}}}},
            },
            {"manager": "odd", "fieldsV1": 3},
        ]
    },
    "spec": {
        "hard": {"a": "1", "b": "2"},
        "requests": [{"name": "nic"}, {"name": "gpu", "count": 1}],
        "verbs": ["get", "list"],
        "atomic": {"x": {"y": 1}},
    },
}


@pytest.mark.parametrize(
    ("steps", "names"),
    [
        (("spec", "hard", "a"), ["kustomize-controller"]),
        (("spec", "hard", "b"), ["kubectl-edit", "kustomize-controller"]),
        (("spec", "hard", "c"), []),
        (("spec", "requests", 1, "count"), ["kustomize-controller"]),
        (("spec", "requests", 0, "count"), []),
        (("spec", "verbs", 1), ["kustomize-controller"]),
        (("spec", "verbs", 0), []),
        (("spec", "atomic", "x", "y"), ["kustomize-controller"]),
        (("data",), []),
    ],
)
def test_managers(steps: tuple[str | int, ...], names: list[str]) -> None:
    assert [manager.name for manager in managers_of(LIVE, steps)] == names


def test_managers_say_how() -> None:
    assert managers_of(LIVE, ("spec", "hard", "b"))[0] == Manager("kubectl-edit", "Update")
    assert managers_of({"metadata": {}}, ("spec",)) == ()


@pytest.mark.parametrize("engine", ["argocd", "flux", "plain"])
def test_every_engine_applies_under_a_name(engine: str) -> None:
    assert engine_managers(engine)
