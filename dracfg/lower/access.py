"""Who may do what: roles and bindings of tenants, and the role of the engine that applies all of it.

The roles are a fixed list in data; who holds them comes from the Tenant documents. Knows nothing of
devices.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import chain

from dracfg.link.catalog import Catalog, Cluster, Tenant
from dracfg.lower.artifact import (
    Artifact,
    K8sObject,
    Origin,
    Shared,
    in_namespaces,
    make,
    origin_of,
)
from dracfg.lower.rights import TENANT
from dracfg.lower.roles import (
    APPLIER,
    CLASS_READER,
    MONITORING,
    OWN_CLAIMS,
    PR_BOT,
    PR_BOT_RECORDS,
    RBAC_API,
    RBAC_GROUP,
    RUN,
    SLICE_READER,
    USE,
    VIEW,
    Rule,
    applier_verbs,
    fixed_roles,
)
from dracfg.lower.sync import make_synced
from dracfg.model.tenant import GroupSubject, ServiceAccountSubject, Subject, UserSubject

ROLES_FILE = "roles.yaml"
BINDINGS_FILE = "role-bindings.yaml"
_ROLES = {(RBAC_API, "ClusterRole"), (RBAC_API, "Role")}
_READERS = {"classes": CLASS_READER, "slices": SLICE_READER}
"""`access.visibility` -> the role that shows it."""


def cluster_roles(catalog: Catalog, cluster: Cluster) -> tuple[Artifact, ...]:
    """The ClusterRoles of a cluster (rbac.authorization.k8s.io/v1), in the order of the data.

    Those of people and of the PR bot are always there, the others where some tenant of the cluster
    holds them. Whose the bot is stands in no document; operators bind its roles.
    """
    origin = origin_of(cluster.document)
    reasons: dict[str, list[Origin]] = {role: [] for role in (USE, VIEW, PR_BOT, PR_BOT_RECORDS)}
    for tenant in catalog.tenants_on(cluster.name):
        for role, why in _wanted(tenant, cluster):
            reasons.setdefault(role, []).append(why)
    return tuple(
        Artifact(
            make_synced(
                cluster, RBAC_API, "ClusterRole", role.name, origin, {"rules": list(role.rules)}
            ),
            ROLES_FILE,
            origin,
            tuple(reasons[role.name]),
        )
        for role in fixed_roles().values()
        if role.name in reasons
    )


def role_bindings(cluster: Cluster, tenant: Tenant) -> tuple[Artifact, ...]:
    """One RoleBinding for each role in each of the tenant's namespaces, in the documents' order.

    Service accounts of those namespaces are what workloads run under: they may run more, and read no
    claim (KEP-5304 gives a container its own devices in files, without a token).
    None where nobody would be bound, and none for a removed tenant. A binding has the name of its
    role: roleRef can't be changed, so another role must be another object (kubernetes
    pkg/apis/rbac/validation/validation.go).
    """
    spec = tenant.document.spec
    if spec.state == "removed":
        return ()
    outside, workloads = _parted(tenant, spec.access.use)
    held = [
        (USE, outside, "use"),
        (RUN, workloads, "use"),
        (VIEW, _parted(tenant, spec.access.view)[0], "view"),
    ]
    if spec.own_claims:
        held.append((OWN_CLAIMS, spec.access.use, "use"))
    document = origin_of(tenant.document)
    bindings = [_binding(cluster, tenant, document, *one) for one in held if one[1]]
    places = [
        (place.name, document.at("spec", "namespaces", place.position))
        for place in tenant.places_on(cluster.name)
    ]
    of_roles = [
        in_namespaces(
            made, BINDINGS_FILE, origin, [(name, (entry, *via)) for name, entry in places]
        )
        for made, origin, via in bindings
    ]
    return tuple(chain.from_iterable(zip(*of_roles, strict=True)))


def cluster_role_bindings(cluster: Cluster, tenant: Tenant) -> tuple[Artifact, ...]:
    """What a tenant's people and exporters may read of the whole cluster.

    Visibility holds for all subjects of the tenant. Exporters are its service accounts: who looks at
    metrics needs no access to what they are made of. A binding is named after role and tenant, since
    its roleRef can't be changed. They belong to the platform's unit, so that a tenant's needs no kind
    of cluster scope.
    """
    access = tenant.document.spec.access
    found = []
    for role, why in _wanted(tenant, cluster):
        if role in (RUN, OWN_CLAIMS):
            continue
        people, _ = _parted(tenant, (*access.use, *access.view))
        subjects = _exporters(tenant) if role == MONITORING else people
        made = make_synced(
            cluster,
            RBAC_API,
            "ClusterRoleBinding",
            f"{role}-{tenant.name}",
            why,
            {
                "subjects": [_subject(subject) for subject in dict.fromkeys(subjects)],
                "roleRef": _role_ref(role),
            },
            labels={TENANT: tenant.name},
        )
        found.append(Artifact(made, BINDINGS_FILE, why))
    return tuple(found)


def applier_role(cluster: Cluster, objects: Iterable[K8sObject]) -> tuple[K8sObject, ...]:
    """The ClusterRole of the engine's applier and its ClusterRoleBinding; none without an applier.

    It reads and writes exactly the kinds of `objects`, holds the union of what their roles grant
    (the API server lets nobody grant more than he has), and may bind the ClusterRoles among them by
    name. It never has `escalate`. Source: kubernetes pkg/registry/rbac/escalation_check.go and
    clusterrole/policybased/storage.go.
    """
    applier = cluster.document.spec.gitops.applier
    if applier is None:
        return ()
    kinds: set[tuple[str, str]] = set()
    roles: list[K8sObject] = []
    for thing in objects:
        kind = thing["apiVersion"], thing["kind"]
        kinds.add(kind)
        if kind in _ROLES:
            roles.append(thing)
    granted = [rule for role in roles for rule in role["rules"]]
    written = [
        _rule(applier_verbs(), group, [resource])
        for group, resource in sorted({_resource(*kind) for kind in kinds})
    ]
    rules = [*_merged([*written, *granted]), *_bind_rules(roles)]
    origin = origin_of(cluster.document, "spec", "gitops", "applier")
    account = applier.service_account
    subject = {"kind": "ServiceAccount", "name": account.name, "namespace": account.namespace}
    return (
        make(RBAC_API, "ClusterRole", APPLIER, origin, {"rules": rules}),
        make(
            RBAC_API,
            "ClusterRoleBinding",
            APPLIER,
            origin,
            {"subjects": [subject], "roleRef": _role_ref(APPLIER)},
        ),
    )


def _wanted(tenant: Tenant, cluster: Cluster) -> list[tuple[str, Origin]]:
    """Roles beyond use and view that the tenant holds on the cluster, each with what asks for it."""
    spec = tenant.document.spec
    if spec.state == "removed":
        return []
    wanted = []
    if spec.own_claims and spec.access.use:
        wanted.append((OWN_CLAIMS, origin_of(tenant.document, "spec", "ownClaims")))
    people, workloads = _parted(tenant, spec.access.use)
    if workloads:
        wanted.append((RUN, origin_of(tenant.document, "spec", "access", "use")))
    reader = _READERS.get(spec.access.visibility)
    if reader is not None and (people or _parted(tenant, spec.access.view)[0]):
        wanted.append((reader, origin_of(tenant.document, "spec", "access", "visibility")))
    if spec.admin_access and _exporters(tenant):
        here = {place.name for place in tenant.places_on(cluster.name)}
        if any(access.namespace in here for access in spec.admin_access):
            wanted.append((MONITORING, origin_of(tenant.document, "spec", "adminAccess")))
    return wanted


def _parted(
    tenant: Tenant, subjects: Iterable[Subject]
) -> tuple[tuple[Subject, ...], tuple[Subject, ...]]:
    """The subjects that no pod of the tenant can run under, and its namespaces' service accounts."""
    every = tuple(subjects)
    accounts = [subject for subject in every if isinstance(subject, ServiceAccountSubject)]
    if not accounts:
        return every, ()
    spaces = {space.name for space in tenant.document.spec.namespaces}
    own = tuple(one for one in accounts if one.service_account.namespace in spaces)
    return tuple(subject for subject in every if subject not in own), own


def _exporters(tenant: Tenant) -> tuple[Subject, ...]:
    use = tenant.document.spec.access.use
    return tuple(subject for subject in use if isinstance(subject, ServiceAccountSubject))


def _binding(
    cluster: Cluster,
    tenant: Tenant,
    document: Origin,
    role: str,
    subjects: tuple[Subject, ...],
    access: str,
) -> tuple[K8sObject, Origin, tuple[Origin, ...]]:
    """A role's binding in any namespace, what it comes from, and what else asks for it."""
    origin = document.at("spec", "access", access)
    made = make_synced(
        cluster,
        RBAC_API,
        "RoleBinding",
        role,
        origin,
        {"subjects": [_subject(subject) for subject in subjects], "roleRef": _role_ref(role)},
        labels={TENANT: tenant.name},
    )
    asked = (document.at("spec", "ownClaims"),) if role == OWN_CLAIMS else ()
    return made, origin, asked


def _subject(subject: Subject) -> dict[str, str]:
    """A subject as the API server would return it: service accounts have no apiGroup."""
    if isinstance(subject, GroupSubject):
        return {"kind": "Group", "apiGroup": RBAC_GROUP, "name": subject.group}
    if isinstance(subject, UserSubject):
        return {"kind": "User", "apiGroup": RBAC_GROUP, "name": subject.user}
    account = subject.service_account
    return {"kind": "ServiceAccount", "name": account.name, "namespace": account.namespace}


@cache
def _role_ref(role: str) -> dict[str, str]:
    """The same object in all bindings of a role."""
    return Shared({"apiGroup": RBAC_GROUP, "kind": "ClusterRole", "name": role})


def _bind_rules(roles: Iterable[K8sObject]) -> list[Rule]:
    names = sorted(role["metadata"]["name"] for role in roles if role["kind"] == "ClusterRole")
    return (
        [_rule(["bind"], RBAC_GROUP, ["clusterroles"]) | {"resourceNames": names}] if names else []
    )


def _merged(rules: Iterable[Rule]) -> list[Rule]:
    """The union of rules, a resource once each, resources of a group with equal verbs together.

    Rules for named objects or URLs stay as they are, behind the others.
    """
    verbs: dict[tuple[str, str], dict[str, None]] = {}
    special: list[Rule] = []
    for rule in rules:
        if "resourceNames" in rule or "nonResourceURLs" in rule:
            special += [rule] if rule not in special else []
            continue
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                verbs.setdefault((group, resource), {}).update(dict.fromkeys(rule["verbs"]))
    together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (group, resource), held in sorted(verbs.items()):
        together.setdefault((group, _ordered(held)), []).append(resource)
    return [_rule(held, group, names) for (group, held), names in together.items()] + special


def _ordered(verbs: Iterable[str]) -> tuple[str, ...]:
    """Verbs in the data's order, further ones behind by name."""
    known = applier_verbs()
    held = set(verbs)
    return (*(verb for verb in known if verb in held), *sorted(held.difference(known)))


def _rule(verbs: Iterable[str], group: str, resources: Iterable[str]) -> Rule:
    return {"verbs": list(verbs), "apiGroups": [group], "resources": list(resources)}


def _resource(api_version: str, kind: str) -> tuple[str, str]:
    """(API group, plural) of a kind."""
    return api_version.rpartition("/")[0], plural(kind)


def plural(kind: str) -> str:
    """The resource that serves a kind, by the rule that Kubernetes' own kinds follow.

    Source: UnsafeGuessKindToResource in kubernetes/apimachinery pkg/api/meta/restmapper.go.
    """
    name = kind.lower()
    if name.endswith("s"):
        return f"{name}es"
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
