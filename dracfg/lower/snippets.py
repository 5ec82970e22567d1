"""What operators of clusters and of Argo CD have to apply themselves: `gitops/snippets`.

dracfg owns none of it. argocd-cm is the operators' ConfigMap, so its snippets are parts without a
head: with dracfg's labels Argo CD would no longer find it. The applier can't grant itself what it
lacks. Only what the clusters' engines need is there.
Source: argoproj/argo-cd docs/operator-manual/health.md, docs/operator-manual/declarative-setup.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from textwrap import indent
from types import MappingProxyType

from dracfg.link.catalog import Catalog, Cluster
from dracfg.lower.artifact import Artifact, K8sObject, Origin, Unit, origin_of
from dracfg.model.cluster import ArgoCD
from dracfg.packaged import text_of

PATH = "gitops/snippets"

_HEALTH_FILE = "argocd-health.yaml"
_EXCLUSIONS_FILE = "argocd-exclusions.yaml"

_HEALTH = {
    "argoproj.io_Application": "application",
    "admissionregistration.k8s.io_ValidatingAdmissionPolicy": "admission-policy",
    "resource.k8s.io_DeviceClass": "device-class",
    "resource.k8s.io_ResourceClaim": "claim",
    "resource.k8s.io_ResourceClaimTemplate": "claim-template",
}
_KUEUE_HEALTH = {
    "kueue.x-k8s.io_ClusterQueue": "queue",
    "kueue.x-k8s.io_LocalQueue": "queue",
}
"""Scripts in data/health by the `<group>_<Kind>` that they judge."""

_HEALTH_HEAD = """\
# For the ConfigMap argocd-cm: how healthy the kinds are that dracfg emits. Without the rule for
# Application the children of a cluster don't wait for each other.
# kubectl -n argocd patch configmap argocd-cm --patch-file argocd-health.yaml
"""
_EXCLUSIONS = """\
# An entry to add to the list in the key resource.exclusions of the ConfigMap argocd-cm; the entries
# that stand there must stay. Drivers publish slices often, and Argo CD would cache each of them.
- apiGroups:
  - resource.k8s.io
  kinds:
  - ResourceSlice
  clusters:
  - "*"
"""
_README_HEAD = """\
# For the operators

No engine applies this folder. Every compile writes it anew.
"""
_README = {
    _HEALTH_FILE: "Health rules for Argo CD; patch them into `argocd-cm`.",
    _EXCLUSIONS_FILE: "What Argo CD need not watch; add the entry to the list in `argocd-cm`.",
    "applier-": "What the applier must be allowed to do; apply it as a cluster administrator, "
    "before the first sync and whenever it changes.",
    "kueue-": "What Kueue must count each class as; merge it into its Configuration, then restart "
    "Kueue's manager, which reads it at its start only.",
    "namespaces-": "Labels and annotations that the owners of these namespaces must set. A "
    "namespace has no rights until they are there.",
    "roles-": "What DRA drivers, and schedulers beside kube-scheduler, must be allowed to do; "
    "compare it with what their charts bring, and bind what is missing.",
}


def snippets(
    catalog: Catalog,
    *,
    applier: Mapping[str, Sequence[K8sObject]],
    external: Mapping[str, Sequence[K8sObject]],
    third_party: Mapping[str, Sequence[K8sObject]] = MappingProxyType({}),
    kueue: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Unit, ...]:
    """The unit of snippets, or none where nothing is left for operators to do.

    All is by the cluster's name: the roles and bindings of its applier, the tenants' namespaces that
    somebody else manages, the roles of drivers and schedulers, and the text for Kueue.
    """
    artifacts: list[Artifact] = []
    for cluster in catalog.clusters.values():
        file = f"applier-{cluster.name}.yaml"
        origin = origin_of(cluster.document, "spec", "gitops", "applier")
        artifacts += [Artifact(thing, file, origin) for thing in applier.get(cluster.name, ())]
        file = f"namespaces-{cluster.name}.yaml"
        artifacts += [
            Artifact(thing, file, _origin(catalog, cluster, thing))
            for thing in external.get(cluster.name, ())
        ]
        file = f"roles-{cluster.name}.yaml"
        artifacts += [
            Artifact(thing, file, origin_of(cluster.document))
            for thing in third_party.get(cluster.name, ())
        ]
    texts = _argocd_texts(catalog.clusters.values())
    texts |= {f"kueue-{name}.yaml": text for name, text in kueue.items()}
    if not artifacts and not texts:
        return ()
    files = sorted({artifact.file for artifact in artifacts} | texts.keys())
    return (Unit(PATH, tuple(artifacts), {**texts, "README.md": _readme(files)}, synced=False),)


def _origin(catalog: Catalog, cluster: Cluster, namespace: K8sObject) -> Origin:
    """The entry of a tenant that names the namespace."""
    for tenant in catalog.tenants_on(cluster.name):
        for place in tenant.places_on(cluster.name):
            if place.name == namespace["metadata"]["name"]:
                return origin_of(tenant.document, "spec", "namespaces", place.position)
    return origin_of(cluster.document)


def _argocd_texts(clusters: Iterable[Cluster]) -> dict[str, str]:
    served = [one for one in clusters if isinstance(one.document.spec.gitops, ArgoCD)]
    if not served:
        return {}
    rules = dict(_HEALTH)
    if any(cluster.document.spec.addons.kueue is not None for cluster in served):
        rules |= _KUEUE_HEALTH
    return {_HEALTH_FILE: _health(rules), _EXCLUSIONS_FILE: _EXCLUSIONS}


def _health(rules: Mapping[str, str]) -> str:
    entries = [
        f"  resource.customizations.health.{kind}: |\n"
        + indent(text_of("dracfg.lower", f"data/health/{rules[kind]}.lua"), "    ")
        for kind in sorted(rules)
    ]
    return f"{_HEALTH_HEAD}data:\n{''.join(entries)}"


def _readme(files: Iterable[str]) -> str:
    lines = [
        f"- `{file}`: {next(text for start, text in _README.items() if file.startswith(start))}\n"
        for file in files
    ]
    return f"{_README_HEAD}\n{''.join(lines)}"
