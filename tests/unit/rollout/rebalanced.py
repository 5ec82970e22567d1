"""A small repository whose sharing policy has new numbers, and recorded clusters with claims of before."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

DRIVER = "shared.example.com"
OLD = "0dd0dd00"
"""The version that claims were made under."""

Object = dict[str, Any]

BASE = Path(__file__).parents[2] / "cases" / "_base" / "rebalance.yaml"


def write_repository(
    root: Path, changes: Mapping[str, str] | None = None, *, only: tuple[str, ...] = ("",)
) -> Path:
    """The repository, each text of `changes` in the place of its key; `only` are beginnings of paths."""
    files: dict[str, str] = yaml.safe_load(BASE.read_text(encoding="utf-8"))["files"]
    files = {path: text for path, text in files.items() if path.startswith(only)}
    for path, text in files.items():
        for old, new in (changes or {}).items():
            text = text.replace(old, new)
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


class Lab:
    """A recorded cluster: one device on node one-1, and one on each of two-1 and two-2."""

    def __init__(self, memory: str = "40Gi") -> None:
        self.objects: list[Object] = []
        self.number = 0
        for node in ("one-1", "two-1", "two-2"):
            self._node(node, memory)

    def _add(self, version: str, kind: str, name: str, **more: Any) -> Object:
        metadata = {"name": name, "creationTimestamp": "2026-11-29T08:00:00Z"}
        made = {
            "apiVersion": version,
            "kind": kind,
            "metadata": metadata | more.pop("metadata", {}),
            **more,
        }
        self.objects.append(made)
        return made

    def _node(self, name: str, memory: str) -> None:
        labels = {"node.example.com/pool": name.partition("-")[0]}
        self._add("v1", "Node", name, metadata={"labels": labels}, spec={}, status={})
        policy = {"default": "4Gi", "validRange": {"min": "4Gi", "max": memory, "step": "2Gi"}}
        device = {
            "name": "cut-0",
            "attributes": {"type": {"string": "cut"}},
            "allowMultipleAllocations": True,
            "capacity": {"memory": {"value": memory, "requestPolicy": policy}},
        }
        pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
        spec = {"driver": DRIVER, "nodeName": name, "pool": pool, "devices": [device]}
        self._add("resource.k8s.io/v1", "ResourceSlice", f"{name}-slice", spec=spec)

    def work(
        self,
        name: str,
        node: str,
        profile: str = "small",
        size: str = "10Gi",
        *,
        namespace: str = "ann",
        kind: str = "Job",
        pods: int = 1,
        first: int = 0,
        version: str = OLD,
        template: str | None = None,
    ) -> None:
        """Pods of one controller on one node, each with a claim for a share of the device there."""
        for number in range(first, first + pods):
            stem = f"{name}-{number}"
            owner = {"kind": kind, "name": name, "controller": True, "uid": f"{kind}-{name}"}
            pod = self._pod(stem, node, namespace, template or profile, owner)
            self._claim(pod, node, profile, size, version)

    def _pod(self, name: str, node: str, namespace: str, template: str, owner: Object) -> Object:
        self.number += 1
        spec = {
            "nodeName": node,
            "containers": [{"name": "main"}],
            "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": template}],
        }
        status = {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True"}],
            "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": f"{name}-gpu"}],
        }
        uid = f"pod-{self.number}"
        metadata = {"namespace": namespace, "uid": uid, "ownerReferences": [owner]}
        return self._add("v1", "Pod", name, metadata=metadata, spec=spec, status=status)

    def _claim(self, pod: Object, node: str, profile: str, size: str, version: str) -> None:
        own, name = pod["metadata"], f"{pod['metadata']['name']}-gpu"
        policy = "slices"
        result = {
            "request": "gpu",
            "driver": DRIVER,
            "pool": node,
            "device": "cut-0",
            "shareID": f"00000000-0000-4000-8000-{self.number:012}",
            "consumedCapacity": {"memory": size},
        }
        asked = {
            "deviceClassName": f"cut-slices-{size.lower()}",
            "allocationMode": "ExactCount",
            "count": 1,
            "capacity": {"requests": {"memory": size}},
        }
        owner = {"kind": "Pod", "name": own["name"], "uid": own["uid"], "controller": True}
        self._add(
            "resource.k8s.io/v1",
            "ResourceClaim",
            name,
            metadata={
                "namespace": own["namespace"],
                "uid": f"claim-{self.number}",
                "labels": {"dracfg.dev/tenant": own["namespace"], "dracfg.dev/profile": profile},
                "annotations": {"dracfg.dev/requests": f"gpu=slice/cut/{policy}/{size}/{version}"},
                "ownerReferences": [owner],
            },
            spec={"devices": {"requests": [{"name": "gpu", "exactly": asked}]}},
            status={
                "allocation": {"devices": {"results": [result]}},
                "reservedFor": [{"resource": "pods", "name": own["name"], "uid": own["uid"]}],
            },
        )

    def write(self, path: Path) -> Path:
        """The record as a file."""
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": self.objects}))
        return path
