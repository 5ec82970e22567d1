"""A field of an emitted object → the parts of documents that it comes from.

Every artifact says what it came from and via; for the families whose fields have finer origins a
function of its own says so, and answers nothing where it knows no better.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dracfg.link.catalog import Catalog, Tenant
from dracfg.lower.artifact import Origin, origin_of
from dracfg.lower.rights import ADMIN_LABEL, CLASSES, STATE, TENANT
from dracfg.show.claimorigins import claim_origins
from dracfg.show.classorigins import class_origins
from dracfg.show.document import entry_index
from dracfg.show.grantorigins import class_grant_origins, quota_origins
from dracfg.show.subjects import Emitted

Steps = tuple[str | int, ...]
Finder = Callable[[Catalog, Emitted, Steps], tuple[Origin, ...]]

_ENGINES = ("argocd.argoproj.io/", "kustomize.toolkit.fluxcd.io/")


def origins(catalog: Catalog, emitted: Emitted, steps: Steps) -> tuple[Origin, ...]:
    """Where the field at `steps` comes from: the nearest places first, each once, never none."""
    artifact = emitted.artifact
    finder = _FINDERS.get(artifact.object.get("kind", ""))
    found = () if finder is None else finder(catalog, emitted, steps)
    found = found or _metadata_origins(catalog, emitted, steps)
    return tuple(dict.fromkeys(found or (artifact.origin, *artifact.via)))


def _metadata_origins(catalog: Catalog, emitted: Emitted, steps: Steps) -> tuple[Origin, ...]:
    """What metadata has in common, whatever the kind."""
    tenant = _tenant(catalog, emitted)
    match steps:
        case ("metadata", "annotations", str(key)) if key.startswith(_ENGINES) and emitted.cluster:
            return (origin_of(emitted.cluster.document, "spec", "gitops", "engine"),)
        case ("metadata", "labels", "dracfg.dev/tenant") if tenant is not None:
            return (origin_of(tenant.document, "metadata", "name"),)
        case ("metadata", "namespace") if tenant is not None:
            name = emitted.artifact.object["metadata"]["namespace"]
            return tuple(
                origin_of(tenant.document, "spec", "namespaces", i, "name")
                for i, namespace in enumerate(tenant.document.spec.namespaces)
                if namespace.name == name
            )
        case _:
            return ()


def _namespace_origins(catalog: Catalog, emitted: Emitted, steps: Steps) -> tuple[Origin, ...]:
    """Name and labels come from the tenant's entry, rights from its grants."""
    tenant, cluster, origin = _tenant(catalog, emitted), emitted.cluster, emitted.artifact.origin
    if tenant is None or cluster is None:
        return ()
    document = tenant.document
    match steps:
        case ("metadata", "name"):
            return (origin.at("name"),)
        case ("metadata", "annotations", str(key)) if key == TENANT:
            return (origin_of(document, "metadata", "name"),)
        case ("metadata", "annotations", str(key)) if key == STATE:
            return (origin_of(document, "spec", "state"),)
        case ("metadata", "annotations", str(key)) if key.startswith(CLASSES):
            return class_grant_origins(catalog, cluster, tenant, key.removeprefix(CLASSES))
        case ("metadata", "labels", str(key)) if key == ADMIN_LABEL:
            name = emitted.artifact.object["metadata"]["name"]
            return tuple(
                origin_of(document, "spec", "adminAccess", i)
                for i, access in enumerate(document.spec.admin_access)
                if access.namespace == name
            )
        case ("metadata", "labels", str(key)):
            position = entry_index(origin)
            own = key in document.spec.namespaces[position].labels
            return (origin.at("labels", key),) if own else ()
        case _:
            return ()


def _binding_origins(_: Catalog, emitted: Emitted, steps: Steps) -> tuple[Origin, ...]:
    """Subjects in the order of the document; the origin is the list they stand in."""
    artifact = emitted.artifact
    match steps:
        case ("subjects", int(i), *_):
            return (artifact.origin.at(i),)
        case ("roleRef", *_) | ("metadata", "name"):
            return tuple(via for via in artifact.via if via.pointer[-1:] == ("ownClaims",))
        case _:
            return ()


def _taint_rule_origins(_: Catalog, emitted: Emitted, steps: Steps) -> tuple[Origin, ...]:
    """A rule stands for every entry of a pool that selects the same devices."""
    artifact = emitted.artifact
    entries = (artifact.origin, *artifact.via)
    match steps:
        case ("spec", "deviceSelector", str(field)):
            return tuple(entry.at(field) for entry in entries)
        case ("spec", "taint", "effect"):
            return tuple(entry.at("evict") for entry in entries)
        case _:
            return ()


def _tenant(catalog: Catalog, emitted: Emitted) -> Tenant | None:
    origin = emitted.artifact.origin
    return catalog.tenants.get(origin.name) if origin.kind == "Tenant" else None


_FINDERS: Mapping[str, Finder] = {
    "DeviceClass": class_origins,
    "DeviceTaintRule": _taint_rule_origins,
    "Namespace": _namespace_origins,
    "ResourceClaim": claim_origins,
    "ResourceClaimTemplate": claim_origins,
    "ResourceQuota": quota_origins,
    "RoleBinding": _binding_origins,
}
