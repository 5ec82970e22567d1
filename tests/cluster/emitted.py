"""An emitted tree as an operator of its cluster uses it: flags, audit policy, objects in order.

Reads the files under out/ and nothing of dracfg, so that it judges what people get.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.cluster.client import Client, Object

ROOT = Path(__file__).resolve().parents[2]
COMPONENTS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
LAYERS = ("guard", "platform", "tenants")

Flags = Mapping[str, tuple[str, ...]]
"""Component → its command line, such as `--feature-gates=A=true`."""

NOT_SERVED = (
    "argoproj.io/",
    "kueue.x-k8s.io/",
    "kustomize.toolkit.fluxcd.io/",
    "monitoring.coreos.com/",
    "source.toolkit.fluxcd.io/",
)
"""Groups of custom resources, whose controllers and definitions are not part of Kubernetes."""


@dataclass(frozen=True, slots=True)
class Emitted:
    """One cluster of one repository; `minor` is what its Cluster document says."""

    repository: Path
    cluster: str
    minor: str

    def __str__(self) -> str:
        return f"{self.repository.name if self.repository != ROOT else 'example'}-{self.cluster}"

    @property
    def folder(self) -> Path:
        return self.repository / "out" / self.cluster

    def flags(self) -> Flags:
        """What control-plane/ says, in whichever of the four forms it was written."""
        for name, read in READERS.items():
            file = self.folder / "control-plane" / name
            if file.exists():
                return read(_document(file))
        return {}

    def audit_policy(self) -> Path | None:
        file = self.folder / "control-plane" / "audit-policy.yaml"
        return file if file.exists() else None

    def applier(self) -> tuple[str, list[Object]] | None:
        """The user that applies the tree, and the objects of gitops/snippets that give it rights."""
        snippet = self.repository / "out" / "gitops" / "snippets" / f"applier-{self.cluster}.yaml"
        if not snippet.exists():
            return None
        objects = list(_documents(snippet))
        binding = next(one for one in objects if one["kind"] == "ClusterRoleBinding")
        subject = binding["subjects"][0]
        return f"system:serviceaccount:{subject['namespace']}:{subject['name']}", objects

    def entered(self, admin: Client) -> Client:
        """Who applies the tree: the cluster's applier with the rights of the snippet, else the admin.

        Namespaces of others stand then, as their owners were asked to set them up.
        """
        for namespace in self.external_namespaces():
            admin.apply(namespace)
        found = self.applier()
        if found is None:
            return admin
        user, rights = found
        for obj in rights:
            admin.apply(obj)
        return admin.as_user(user)

    def roles(self) -> list[Object]:
        """The roles for drivers, schedulers and queues that operators bind by hand."""
        snippet = self.repository / "out" / "gitops" / "snippets" / f"roles-{self.cluster}.yaml"
        return list(_documents(snippet)) if snippet.exists() else []

    def external_namespaces(self) -> list[Object]:
        """Namespaces that others own, with the metadata that the snippet asks of them."""
        snippet = (
            self.repository / "out" / "gitops" / "snippets" / f"namespaces-{self.cluster}.yaml"
        )
        return list(_documents(snippet)) if snippet.is_file() else []

    def units(self) -> dict[str, list[Object]]:
        """Unit → the objects that its kustomization lists, both in the order of applying."""
        folders = sorted(
            (file.parent for layer in LAYERS for file in self._kustomizations(layer)),
            key=lambda folder: (_layer(folder), _part(folder)),
        )
        return {
            folder.relative_to(self.folder).as_posix(): list(_listed(folder)) for folder in folders
        }

    def objects(self) -> list[Object]:
        """Of all units, without what only custom resource definitions serve."""
        return [one for unit in self.units().values() for one in unit if is_served(one)]

    def _kustomizations(self, layer: str) -> Iterator[Path]:
        depth = "*/" if layer == "tenants" else ""
        yield from self.folder.glob(f"{layer}*/{depth}kustomization.yaml")


def emitted_trees() -> list[Emitted]:
    """Of the example and of every golden repository."""
    repositories = (ROOT, *sorted(path.parent for path in ROOT.glob("tests/golden/*/catalog")))
    return [
        Emitted(repository, document["metadata"]["name"], document["spec"]["kubernetes"])
        for repository in repositories
        for file in sorted((repository / "catalog").rglob("*.yaml"))
        for document in _documents(file)
        if document.get("kind") == "Cluster"
    ]


def is_served(obj: Object) -> bool:
    return not obj["apiVersion"].startswith(NOT_SERVED)


def _layer(folder: Path) -> int:
    holder = folder.parent.name if folder.parent.name == "tenants" else folder.name
    return LAYERS.index(holder.partition(".")[0])


def _part(folder: Path) -> tuple[str, int]:
    """`guard.2` comes after `guard`, and before `guard.10`."""
    name, _, number = folder.name.partition(".")
    return name, int(number or 1)


def _listed(folder: Path) -> Iterator[Object]:
    for name in _document(folder / "kustomization.yaml").get("resources", ()):
        place = folder / name
        yield from _listed(place) if place.is_dir() else _documents(place)


def _documents(file: Path) -> Iterator[Any]:
    with file.open(encoding="utf-8") as text:
        yield from (one for one in yaml.load_all(text, yaml.CSafeLoader) if one)


def _document(file: Path) -> Any:
    return next(_documents(file))


def _kubeadm(document: Any) -> Flags:
    fields = dict(zip(COMPONENTS, ("apiServer", "controllerManager", "scheduler"), strict=True))
    return {
        component: tuple(f"--{one['name']}={one['value']}" for one in part["extraArgs"])
        for component, name in fields.items()
        if (part := document.get(name))
    }


def _k3s(document: Any) -> Flags:
    return {
        component: tuple(f"--{one}" for one in document[f"{component}-arg"])
        for component in COMPONENTS
        if f"{component}-arg" in document
    }


def _kind(document: Any) -> Flags:
    flags = {component: _pairs("feature-gates", document) for component in COMPONENTS}
    flags["kube-apiserver"] += _pairs("runtime-config", document)
    return flags


def _pairs(flag: str, document: Any) -> tuple[str, ...]:
    field = {"feature-gates": "featureGates", "runtime-config": "runtimeConfig"}[flag]
    values = document.get(field, {})
    joined = ",".join(f"{name}={str(value).lower()}" for name, value in values.items())
    return (f"--{flag}={joined}",) if joined else ()


def _generic(document: Any) -> Flags:
    return {name: tuple(document[name]) for name in COMPONENTS if name in document}


READERS = {
    "kubeadm.yaml": _kubeadm,
    "config.yaml": _k3s,
    "kind.yaml": _kind,
    "flags.yaml": _generic,
}
