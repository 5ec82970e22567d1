"""Device metadata that applications count on: what is no longer exposed, file versions, and DIF015.

That `expose` was edited is told by its field. Here stand the profiles that read what goes or comes, and
the versions in which a driver writes its files, which move with a release or with a minor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dracfg.check.places import place
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.diff.change import Change, Impact, change
from dracfg.diff.pair import Pair
from dracfg.diff.words import few
from dracfg.link.catalog import Catalog, Cluster, Tenant
from dracfg.link.exposure import Exposure, exposures, written_key
from dracfg.model.devicemetadata import Reads
from dracfg.model.tenant import Profile


def metadata_changes(pair: Pair) -> Iterator[Change]:
    """Exposed tiers of clusters that both sides know; none where a side is not understood whole."""
    before, after = pair.base.judgement.catalog, pair.head.judgement.catalog
    if before.poisoned or after.poisoned:
        return
    for name, cluster in after.clusters.items():
        if name not in before.clusters:
            continue
        old, new = _by_tier(before.clusters[name]), _by_tier(cluster)
        for tier in sorted(old.keys() | new.keys()):
            was, now = old.get(tier), new.get(tier)
            yield from _attributes(after, cluster, tier, was, now)
            yield from _network(after, cluster, tier, was, now)
            if was is not None and now is not None:
                yield from _versions(after, was, now)


def _by_tier(cluster: Cluster) -> Mapping[str, Exposure]:
    return {one.tier.name: one for one in exposures(cluster)}


def _attributes(
    catalog: Catalog, cluster: Cluster, tier: str, was: Exposure | None, now: Exposure | None
) -> Iterator[Change]:
    """Attributes that some profile says it reads, and that come or go; others concern nobody."""
    old = was.attributes if was is not None else {}
    new = now.attributes if now is not None else {}
    for key in sorted({*old, *new}):
        if old.get(key) == new.get(key):
            continue
        reading = _readers(catalog, cluster, tier, key)
        if not reading:
            continue
        kind = "metadata-withdrawn"
        if key in new:
            kind = "metadata-retyped" if key in old else "metadata-granted"
        one = now or was
        yield change(
            kind,
            f"metadata attribute {key} of {tier}",
            old.get(key),
            new.get(key),
            cluster=cluster.name,
            namespaces=_namespaces(reading, cluster),
            span=place(one.tier.document, "spec", "expose") if one is not None else None,
            details=(f"read by {few(_names(reading))}",),
        )


def _network(
    catalog: Catalog, cluster: Cluster, tier: str, was: Exposure | None, now: Exposure | None
) -> Iterator[Change]:
    """Interface names and addresses that some profile says it reads, and that come or go."""
    old, new = (one is not None and one.settings.network_data for one in (was, now))
    reading = [one for one in _readers(catalog, cluster, tier, None) if one[2].network_data]
    one = now or was
    if old != new and reading and one is not None:
        yield change(
            "metadata-granted" if new else "metadata-withdrawn",
            f"network data of {tier}",
            "readable" if old else None,
            "readable" if new else None,
            cluster=cluster.name,
            namespaces=_namespaces(reading, cluster),
            span=place(one.tier.document, "spec", "deviceMetadata"),
            details=(f"read by {few(_names(reading))}",),
        )


def _versions(catalog: Catalog, was: Exposure, now: Exposure) -> Iterator[Change]:
    """Versions of the files that are written no longer, or as well."""
    if set(was.versions) == set(now.versions):
        return
    gone = [version for version in was.versions if version not in now.versions]
    reading = _readers(catalog, now.cluster, now.tier.name, None)
    lost = [one for one in reading if not set(one[2].versions) & set(now.versions)]
    yield change(
        "metadata-versions",
        f"metadata files of {now.tier.name}",
        few(was.versions),
        few(now.versions),
        impact=None if gone else Impact.ADDITIVE,
        flags=("alpha",) if now.only_alpha and not was.only_alpha else (),
        cluster=now.cluster.name,
        namespaces=_namespaces(reading, now.cluster),
        span=place(now.tier.driver.document, "spec", "version"),
        details=(
            *((f"read by {few(_names(reading))}",) if reading else ()),
            *((f"none of them is understood by {few(_names(lost))}",) if lost else ()),
        ),
    )


def metadata_steps(pair: Pair) -> Iterator[Diagnostic]:
    """DIF015: files in versions of which a reader knows none, where it knew one of those before."""
    before, after = pair.base.judgement.catalog, pair.head.judgement.catalog
    if before.poisoned or after.poisoned:
        return
    for name, cluster in after.clusters.items():
        if name not in before.clusters:
            continue
        old = _by_tier(before.clusters[name])
        for tier, now in _by_tier(cluster).items():
            was = old.get(tier)
            if was is None:
                continue
            served = {
                (tenant.name, profile.name)
                for tenant, profile, reads in _readers(before, was.cluster, tier, None)
                if set(reads.versions) & set(was.versions)
            }
            for tenant, profile, reads in _readers(after, cluster, tier, None):
                known = (tenant.name, profile.name) in served
                if known and not set(reads.versions) & set(now.versions):
                    yield _forgotten(tenant, profile, reads, was, now)


def _forgotten(
    tenant: Tenant, profile: Profile, reads: Reads, was: Exposure, now: Exposure
) -> Diagnostic:
    driver, position = now.tier.driver, tenant.document.spec.profiles.index(profile)
    return diagnose(
        "DIF015",
        place(driver.document, "metadata", "name"),
        f"metadata files of {now.tier.name} on {now.cluster.name} go from {few(was.versions)} to "
        f"{few(now.versions)}, and what {tenant.name}/{profile.name} runs knows {few(reads.versions)} alone",
        related=[
            Related(place(tenant.document, "spec", "profiles", position, "reads"), "the reader")
        ],
        found=f"{few(was.versions)} -> {few(now.versions)}",
        expected=f"files in {' or '.join(reads.versions)} as well",
        help="write both versions until every application reads the new one; then drop the old one",
    )


Reader = tuple[Tenant, Profile, Reads]


def _readers(catalog: Catalog, cluster: Cluster, tier: str, key: str | None) -> list[Reader]:
    """Who reads an attribute of a tier's devices on a cluster; with no key, anything of them."""
    return [
        (tenant, profile, reads)
        for tenant in catalog.tenants_on(cluster.name)
        for profile in tenant.document.spec.profiles
        for reads in profile.reads
        if _is_about(tenant, profile, reads, cluster, tier, key)
    ]


def _is_about(
    tenant: Tenant, profile: Profile, reads: Reads, cluster: Cluster, tier: str, key: str | None
) -> bool:
    for request in profile.requests:
        if reads.requests and request.name not in reads.requests:
            continue
        for wanted in request.any_of or (request,):
            grant = tenant.grant(cluster.name, wanted.entitlement or "")
            if grant is None or grant.tier.name != tier:
                continue
            driver = grant.tier.driver
            named = {written_key(driver, one) for one in (*reads.required, *reads.optional)}
            if key is None or key in named:
                return True
    return False


def _names(reading: list[Reader]) -> Iterator[str]:
    return (f"{tenant.name}/{profile.name}" for tenant, profile, _ in reading)


def _namespaces(reading: list[Reader], cluster: Cluster) -> tuple[str, ...]:
    found = (p.name for tenant, _, _ in reading for p in tenant.places_on(cluster.name))
    return tuple(dict.fromkeys(found))
