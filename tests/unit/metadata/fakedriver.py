"""A driver that writes metadata files as the driver library does, and can be stopped at any moment.

Follows kubernetes/kubernetes staging/src/k8s.io/dynamic-resource-allocation/kubeletplugin/metadata.go:
a file a request, written in place, mode 0644, a stream of one object a version, newest first; a CDI
spec for each that mounts it read-only; both removed at unprepare.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = "/var/run/kubernetes.io/dra-device-attributes"
GROUP = "metadata.resource.k8s.io"


class Killed(Exception):
    """The driver's process ends while it writes."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim as it is prepared; `pod_claim` stands on claims that were made from a template."""

    name: str
    namespace: str = "vision-train"
    uid: str = "11111111-aaaa"
    pod_claim: str | None = "nic"


@dataclass(slots=True)
class FakeDriver:
    """Writes below `host` (plugin and CDI folders of a node) and mounts below `container`."""

    host: Path
    container: Path
    name: str = "nic.example.com"
    versions: Sequence[str] = ("v1beta1", "v1alpha1")
    killed_after: int | None = None
    """Bytes after which the next write ends with the process."""
    mounted: dict[Path, Path] = field(default_factory=dict)

    @property
    def plugins(self) -> Path:
        return self.host / "plugins" / self.name / "dra-device-metadata"

    @property
    def cdi(self) -> Path:
        return self.host / "cdi"

    def prepare(
        self, claim: Claim, request: str, devices: Sequence[Mapping[str, Any]], generation: int = 1
    ) -> Path:
        """Writes the file and the spec that mounts it, as for NodePrepareResources."""
        path = self.file(claim, request)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._write(path, self.stream(claim, request, devices, generation))
        self._write_spec(claim, request.partition("/")[0], path)
        return path

    def update(self, claim: Claim, request: str, devices: Sequence[Mapping[str, Any]]) -> Path:
        """Writes the file again with the next generation, as UpdateRequestMetadata does."""
        path = self.file(claim, request)
        text = path.read_text(encoding="utf-8")
        old, _ = json.JSONDecoder().raw_decode(text)
        return self.prepare(claim, request, devices, old["metadata"]["generation"] + 1)

    def unprepare(self, claim: Claim) -> None:
        """Removes everything of a claim."""
        shutil.rmtree(self.plugins / f"{claim.namespace}_{claim.name}", ignore_errors=True)
        for spec in self.cdi.glob(f"{self.name}_metadata_{claim.uid}_*.json"):
            spec.unlink()

    def mount(self) -> None:
        """What a runtime does with the specs: each file where containers look for it."""
        shutil.rmtree(self.container, ignore_errors=True)
        for spec in sorted(self.cdi.glob("*.json")):
            for device in json.loads(spec.read_text(encoding="utf-8"))["devices"]:
                for mount in device["containerEdits"]["mounts"]:
                    at = self.container / Path(mount["containerPath"]).relative_to(ROOT)
                    at.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(mount["hostPath"], at)

    def file(self, claim: Claim, request: str) -> Path:
        main = request.partition("/")[0]
        return self.plugins / f"{claim.namespace}_{claim.name}" / main / "metadata.json"

    def stream(
        self, claim: Claim, request: str, devices: Sequence[Mapping[str, Any]], generation: int = 1
    ) -> bytes:
        """The bytes of a file: one object a version."""
        objects = []
        for version in self.versions:
            head: dict[str, Any] = {
                "kind": "DeviceMetadata",
                "apiVersion": f"{GROUP}/{version}",
                "metadata": {
                    "name": claim.name,
                    "namespace": claim.namespace,
                    "uid": claim.uid,
                    "generation": generation,
                },
            }
            if claim.pod_claim is not None:
                head["podClaimName"] = claim.pod_claim
            full = [{"driver": self.name, **device} for device in devices]
            head["requests"] = [{"name": request, "devices": full}]
            objects.append(json.dumps(head))
        return "".join(f"{one}\n" for one in objects).encode()

    def _write(self, path: Path, data: bytes) -> None:
        cut = self.killed_after
        path.write_bytes(data if cut is None else data[:cut])
        path.chmod(0o644)
        if cut is not None:
            raise Killed

    def _write_spec(self, claim: Claim, request: str, path: Path) -> None:
        kind = "resourceclaims" if claim.pod_claim is None else "resourceclaimtemplates"
        at = f"{ROOT}/{kind}/{claim.pod_claim or claim.name}/{request}/{self.name}-metadata.json"
        mount = {"hostPath": str(path), "containerPath": at, "options": ["ro", "bind"]}
        spec = {
            "cdiVersion": "0.5.0",
            "kind": f"{self.name}/metadata",
            "devices": [{"name": f"{claim.uid}_{request}", "containerEdits": {"mounts": [mount]}}],
        }
        self.cdi.mkdir(parents=True, exist_ok=True)
        name = f"{self.name}_metadata_{claim.uid}_{request}.json"
        (self.cdi / name).write_text(json.dumps(spec), encoding="utf-8")
