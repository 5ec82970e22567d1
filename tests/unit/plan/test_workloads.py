"""Pods are found by the shape of their templates and counted by the numbers on the way."""

from typing import Any

import pytest
import yaml

from dracfg.plan.workloads import (
    Container,
    PodClaim,
    PodGroup,
    UncountedName,
    counted,
    pod_groups,
)
from dracfg.source.records import parse_record

Object = dict[str, Any]
POD = {"spec": {"containers": [{"name": "a"}], "resourceClaims": []}}


def groups(*objects: Object, namespace: str = "default") -> tuple[PodGroup, ...]:
    record, faults = parse_record("file.yaml", yaml.safe_dump_all(objects))
    assert not faults
    return pod_groups(record, namespace)


def workload(kind: str, spec: Object, name: str = "work", namespace: str | None = "team") -> Object:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": "example.org/v1", "kind": kind, "metadata": metadata, "spec": spec}


@pytest.mark.parametrize(
    ("kind", "spec", "expected"),
    [
        ("Pod", POD["spec"], [("work", 1)]),
        ("Deployment", {"replicas": 3, "template": POD}, [("work", 3)]),
        ("Deployment", {"template": POD}, [("work", 1)]),
        ("Deployment", {"replicas": 0, "template": POD}, [("work", 0)]),
        ("Deployment", {"replicas": "3", "template": POD}, [("work", 1)]),
        ("DaemonSet", {"template": POD}, [("work", None)]),
        ("Job", {"template": POD}, [("work", 1)]),
        ("Job", {"parallelism": 4, "template": POD}, [("work", 4)]),
        ("Job", {"parallelism": 4, "completions": 2, "template": POD}, [("work", 2)]),
        ("Job", {"completions": 5, "template": POD}, [("work", 1)]),
        ("CronJob", {"jobTemplate": {"spec": {"parallelism": 2, "template": POD}}}, [("work", 2)]),
        (
            "JobSet",
            {
                "replicatedJobs": [
                    {"name": "driver", "template": {"spec": {"template": POD}}},
                    {
                        "name": "workers",
                        "replicas": 2,
                        "template": {"spec": {"parallelism": 3, "template": POD}},
                    },
                ]
            },
            [("work-driver", 1), ("work-workers", 6)],
        ),
        (
            "PyTorchJob",
            {
                "pytorchReplicaSpecs": {
                    "Master": {"replicas": 1, "template": POD},
                    "Worker": {"replicas": 7, "template": POD},
                }
            },
            [("work-master", 1), ("work-worker", 7)],
        ),
        (
            "LeaderWorkerSet",
            {
                "replicas": 2,
                "leaderWorkerTemplate": {"size": 4, "leaderTemplate": POD, "workerTemplate": POD},
            },
            [("work-leadertemplate", 2), ("work-workertemplate", 6)],
        ),
        (
            "LeaderWorkerSet",
            {"replicas": 2, "leaderWorkerTemplate": {"size": 4, "workerTemplate": POD}},
            [("work", 8)],
        ),
        ("ConfigMap", {"data": {"a": "b"}}, []),
    ],
)
def test_pods_of_a_kind(kind: str, spec: Object, expected: list[tuple[str, int | None]]) -> None:
    found = groups(workload(kind, spec))
    assert [(group.stem, group.count) for group in found] == expected
    assert {(group.kind, group.namespace) for group in found} <= {(kind, "team")}


def test_what_a_pod_spec_says() -> None:
    spec = {
        "nodeName": "node-a",
        "nodeSelector": {"pool": "a"},
        "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}],
        "resourceClaims": [
            {"name": "own", "resourceClaimName": "shared"},
            {"name": "gpu", "resourceClaimTemplateName": "train"},
        ],
        "initContainers": [
            {"name": "a", "resources": {"limits": {"x.org/gpu": 1}}},
            {"name": "b", "restartPolicy": "Always"},
        ],
        "containers": [
            {
                "name": "c",
                "resources": {
                    "limits": {"x.org/gpu": 4, "cpu": "1"},
                    "requests": {"x.org/gpu": "2", "cpu": "500m", "broken": "x"},
                },
            }
        ],
    }
    (group,) = groups(workload("Pod", spec, namespace=None), namespace="team")
    assert group.claims == (PodClaim("own", "shared"), PodClaim("gpu", template="train"))
    assert group.containers == (
        Container(0, True, {"x.org/gpu": 1}),
        Container(1, False, {}),
        Container(2, False, {"cpu": 0, "x.org/gpu": 2}),
    )
    assert (group.namespace, group.node, group.node_selector) == ("team", "node-a", {"pool": "a"})
    assert [(one.key, one.operator, one.effect) for one in group.tolerations] == [
        ("k", "Exists", "NoSchedule")
    ]


def claim(kind: str, name: str, namespace: str = "team") -> Object:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {},
    }


def test_claims_that_no_pod_uses_are_pods_of_their_own() -> None:
    user = workload(
        "Pod",
        {
            "containers": [{"name": "a"}],
            "resourceClaims": [
                {"name": "a", "resourceClaimName": "used"},
                {"name": "b", "resourceClaimTemplateName": "used"},
            ],
        },
    )
    found = groups(
        claim("ResourceClaim", "used"),
        claim("ResourceClaim", "alone"),
        user,
        claim("ResourceClaimTemplate", "used"),
        claim("ResourceClaimTemplate", "used", namespace="other"),
        claim("DeviceClass", "gpu"),
    )
    assert [(group.kind, group.namespace, group.name) for group in found] == [
        ("ResourceClaim", "team", "alone"),
        ("Pod", "team", "work"),
        ("ResourceClaimTemplate", "other", "used"),
    ]
    assert found[0].claims == (PodClaim("alone", claim="alone"),)
    assert found[2].claims == (PodClaim("used", template="used"),)


def test_other_numbers() -> None:
    made = groups(
        workload("Deployment", {"replicas": 3, "template": POD}),
        claim("ResourceClaimTemplate", "train"),
        workload("Pod", POD["spec"], "one"),
    )
    assert [group.count for group in counted(made, {"train": 12, "work": 0})] == [0, 12, 1]
    for name in ("trian", "one"):
        with pytest.raises(UncountedName) as raised:
            counted(made, {name: 2})
        assert raised.value.known == ("work", "train")
    twice = groups(workload("Deployment", {"template": POD}), workload("Job", {"template": POD}))
    with pytest.raises(UncountedName):
        counted(twice, {"work": 2})


@pytest.mark.parametrize(
    "spec",
    [
        {"containers": "a"},
        {"template": []},
        {"template": {"spec": {"containers": [1]}}},
        {"containers": [{"resources": []}], "resourceClaims": [1, {}], "tolerations": {}},
    ],
)
def test_broken_shapes_raise_nothing(spec: Object) -> None:
    groups(workload("Pod", spec))
