"""A tenant's rights in one namespace → the annotations and labels that admission reads.

Admission policies see nothing but the request and the Namespace, so what a namespace may claim
stands in its annotations as flat text. Knows nothing of the policies that read them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from dracfg.dataclass import dataclass
from dracfg.link.catalog import WHOLE, Catalog, Cluster, Grant, Place, Policy, Tenant, Tier
from dracfg.link.classes import ClassPlan, admin_class_name, class_name, classes_by_name
from dracfg.link.memo import per_catalog
from dracfg.link.moves import has_tenant, of_ownership, position
from dracfg.lower.artifact import K8sObject, in_order
from dracfg.lower.quotas import grants_by_class
from dracfg.lower.tenancy import Tenancy
from dracfg.model.kinds import Rollout
from dracfg.model.tenant import AdminAccess

TENANT = "dracfg.dev/tenant"
STATE = "dracfg.dev/state"
CLASSES = "classes.dracfg.dev/"
OWN_CLAIMS = "dracfg.dev/own-claims"
CLAIMS = "dracfg.dev/claims"
CONFIGS = "dracfg.dev/configs"
LEGACY = "dracfg.dev/legacy-resources"
LATER = "later.dracfg.dev/"
MOVED = "dracfg.dev/moved-resources"
ADMIN_LABEL = "resource.kubernetes.io/admin-access"
"""The label without which the API server refuses adminAccess (KEP-5018, resource/v1/types.go)."""
POD_SECURITY = "pod-security.kubernetes.io/enforce"
BASELINE = "baseline"
"""Pod security standards (KEP-2579): what the API server refuses in pods of the namespace."""

NOTHING = "-"


def rights(
    tenancy: Tenancy, claims: Mapping[str, Sequence[str]]
) -> Mapping[str, Mapping[str, str]]:
    """Annotations of each Namespace by its name: tenant, state, what its pods and claims may name.

    `classes.dracfg.dev/<class>` is there for each class. Its text is `key=value;…`: entitlement
    (several joined with `+`), sharing, size (the part's name or `whole`), count (devices; the most
    that one request of the tenant's profiles asks for, at least 1), version (of the policy's numbers,
    or `-`), state (`open` or `closed`), `extended=<name>` where pods may ask for the class by that
    name, then `capacity.<key>=<quantity>` for each amount that every request of the class writes,
    and `admin=true` for classes of admin access.

    Lists joined with `,`, each left out where it is empty: `dracfg.dev/claims` holds the namespace's
    `claims`, the `claim/<name>` and `template/<name>` that pods may name; `dracfg.dev/configs` ids of opaque
    parameters (see `config_id`); `dracfg.dev/legacy-resources` what device plugins serve.
    `later.dracfg.dev/<class>` ends the refusal of a class that a rollout has not brought to the tenant,
    or has taken back; `dracfg.dev/moved-resources` lists what device plugins served before.
    `dracfg.dev/own-claims` is `true` where the tenant writes claims by hand. A removed tenant has
    nothing but tenant and state.

    Keys stay valid since class names have at most 63 characters, the most for the name part of an
    annotation key (kubernetes/apimachinery pkg/api/validation/objectmeta.go).
    """
    spec = tenancy.tenant.document.spec
    noted = {TENANT: tenancy.tenant.name, STATE: spec.state}
    if tenancy.is_removed:
        return {place.name: noted for place in tenancy.places}
    noted |= _of_tenant(tenancy)
    found: dict[str, Mapping[str, str]] = {}
    # Most namespaces watch nothing, and have the same claims as the tenant's others.
    alike: dict[tuple[str, ...], Mapping[str, str]] = {}
    for place in tenancy.places:
        named = tuple(claims.get(place.name, ()))
        if watching := _watching(tenancy.tenant, place):
            found[place.name] = in_order(noted | _claims(named) | _watched(tenancy, watching))
            continue
        if named not in alike:
            alike[named] = in_order(noted | _claims(named))
        found[place.name] = alike[named]
    return found


def _of_tenant(tenancy: Tenancy) -> dict[str, str]:
    """What is the same in all of a tenant's namespaces on a cluster."""
    cluster, tenant = tenancy.cluster, tenancy.tenant
    texts = _fixed_texts(tenancy.catalog, cluster)
    counts = _largest_counts(tenancy)
    noted = {
        texts[name].key: _text(texts[name], grants, counts.get(name, 1))
        for name, grants in grants_by_class(cluster, tenant).items()
        if name in texts
    }
    rollouts = _rollouts(tenancy.catalog, cluster)
    noted |= {
        LATER + name: text for name, text in _later(cluster, tenant, rollouts) if name in texts
    }
    lists = {
        CONFIGS: _configs(cluster, tenant),
        LEGACY: _legacy_resources(cluster, tenant),
        MOVED: _moved_resources(cluster, tenant, rollouts),
    }
    noted |= {key: _list(found) for key, names in lists.items() if (found := set(names))}
    if tenant.document.spec.own_claims:
        noted[OWN_CLAIMS] = "true"
    return noted


def _claims(names: Sequence[str]) -> dict[str, str]:
    """The claims that stand in a namespace."""
    return {CLAIMS: _list(set(names))} if names else {}


def _watched(tenancy: Tenancy, watching: Iterable[AdminAccess]) -> dict[str, str]:
    """What a namespace may watch."""
    watched = {admin_class_name(tier) for access in watching for tier in access.tiers}
    texts = _fixed_texts(tenancy.catalog, tenancy.cluster)
    return {texts[name].key: _text(texts[name], (), 1) for name in watched & texts.keys()}


def _list(names: Iterable[str]) -> str:
    return ",".join(sorted(names))


def claims_by_namespace(objects: Iterable[K8sObject]) -> Mapping[str, tuple[str, ...]]:
    """Namespace → the `claim/<name>` and `template/<name>` among objects, in their order."""
    kinds = {"ResourceClaim": "claim", "ResourceClaimTemplate": "template"}
    found: dict[str, list[str]] = {}
    for thing in objects:
        kind = kinds.get(thing["kind"])
        if kind is not None:
            metadata = thing["metadata"]
            found.setdefault(metadata["namespace"], []).append(f"{kind}/{metadata['name']}")
    return {namespace: tuple(names) for namespace, names in found.items()}


def config_id(tier: Tier, policy: Policy) -> str:
    """The id of a sharing policy's opaque parameters: they are for one driver."""
    return f"{tier.driver.name}/{policy.name}"


def namespace_labels(cluster: Cluster, tenant: Tenant, place: Place) -> dict[str, str]:
    """Labels of the Namespace: the tenant's own, its name, and admin access where it is granted.

    Pods are held to the pod security standard `baseline` unless the tenant's own labels say more: it
    denies host paths, below which the metadata files of every claim of a node lie (KEP-5304).
    Without the label `resource.kubernetes.io/admin-access: "true"` the API server refuses
    adminAccess in claims and templates (KEP-5018). It stands only where the cluster has a class of
    admin access for the namespace.
    """
    labels = {POD_SECURITY: BASELINE, **place.namespace.labels, TENANT: tenant.name}
    watching = _watching(tenant, place)
    if watching and tenant.document.spec.state != "removed":
        held = {tier.name for tier in cluster.tiers if "dra" in cluster.owners_of(tier)}
        if any(held.intersection(access.tiers) for access in watching):
            labels[ADMIN_LABEL] = "true"
    return in_order(labels)


def _watching(tenant: Tenant, place: Place) -> tuple[AdminAccess, ...]:
    granted = tenant.document.spec.admin_access
    return tuple([access for access in granted if access.namespace == place.name])


def _configs(cluster: Cluster, tenant: Tenant) -> Iterator[str]:
    for grant in tenant.grants_on(cluster.name):
        if grant.uses_claims and grant.policy.spec.config is not None:
            yield config_id(grant.tier, grant.policy)


def _legacy_resources(cluster: Cluster, tenant: Tenant) -> Iterator[str]:
    for grant in tenant.grants_on(cluster.name):
        if "devicePlugin" in grant.owners and grant.tier.legacy_resource is not None:
            yield grant.tier.legacy_resource


def _later(
    cluster: Cluster, tenant: Tenant, rollouts: Mapping[str, Rollout]
) -> Iterator[tuple[str, str]]:
    """(class, what a refusal of it says) for what a rollout keeps from a tenant."""
    for grant in tenant.grants_on(cluster.name):
        rollout = None if grant.uses_claims else rollouts.get(grant.tier.name)
        if rollout is None:
            continue
        meanwhile = grant.tier.legacy_resource or "its device plugin's resource"
        spec = rollout.spec
        ahead = spec.stages[position(spec) + 1 :]
        stage = next((stage.name for stage in ahead if has_tenant(stage, tenant.name)), None)
        if spec.direction == "rollback":
            when = f"is taken back by rollout {rollout.name}"
        elif stage is not None:
            when = f"comes with stage {stage} of rollout {rollout.name}"
        else:
            when = f"comes with no stage of rollout {rollout.name}"
        for part in grant.policy.parts:
            if part.name in grant.numbers:
                name = class_name(grant.tier.name, grant.policy, part)
                yield name, f"{when}, ask for {meanwhile} meanwhile"


def _moved_resources(
    cluster: Cluster, tenant: Tenant, rollouts: Mapping[str, Rollout]
) -> Iterator[str]:
    for grant in tenant.grants_on(cluster.name):
        name = grant.tier.legacy_resource
        if name is None or "devicePlugin" in grant.owners:
            continue
        if grant.tier.name in rollouts:
            yield name


@per_catalog
def _rollouts(_catalog: Catalog, cluster: Cluster) -> Mapping[str, Rollout]:
    """The rollout that hands devices of a tier from owner to owner on a cluster, by the tier's name."""
    found: dict[str, Rollout] = {}
    for tier in cluster.tiers:
        moves = (move for pool in cluster.pools_of(tier) for move in pool.moves)
        for move in of_ownership(moves, {tier.name}):
            found.setdefault(tier.name, move.rollout)
    return found


def _largest_counts(tenancy: Tenancy) -> dict[str, int]:
    """The most devices of each class that one request of a profile asks for.

    A request that was split into pairs counts with all its pairs, as it stands in the profile.
    """
    counts: dict[str, int] = {}
    for plan in tenancy.plans:
        if plan is None:
            continue
        origins = [request.origin for request in plan.requests]
        for request in plan.requests:
            pairs = origins.count(request.origin)
            for ask in request.asks:
                count = ask.count * pairs
                counts[ask.plan.name] = max(count, counts.get(ask.plan.name, 1))
    return counts


def _text(fixed: _Fixed, grants: Iterable[Grant], count: int) -> str:
    entitlement = "+".join([grant.name for grant in grants]) or NOTHING
    return f"entitlement={entitlement};{fixed.head};count={count};{fixed.tail}"


@dataclass(frozen=True, slots=True)
class _Fixed:
    """The key of a class's annotation, and what its text says to everybody: before the count, and after."""

    key: str
    head: str
    tail: str


@per_catalog
def _fixed_texts(catalog: Catalog, cluster: Cluster) -> Mapping[str, _Fixed]:
    """By the name of the class."""
    return {
        name: _Fixed(
            CLASSES + name,
            f"sharing={plan.policy.name};size={plan.part.name or WHOLE}",
            _behind_count(plan),
        )
        for name, plan in classes_by_name(catalog, cluster).items()
    }


def _behind_count(plan: ClassPlan) -> str:
    fields = {
        "version": plan.policy.version or NOTHING,
        "state": "closed" if plan.closed else "open",
    }
    if plan.extended_name is not None and not plan.capacity:
        fields["extended"] = plan.extended_name
    fields |= {f"capacity.{key}": str(amount) for key, amount in sorted(plan.capacity.items())}
    if plan.admin:
        fields["admin"] = "true"
    return ";".join(f"{key}={value}" for key, value in fields.items())
