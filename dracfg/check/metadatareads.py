"""MET011-MET014: what a profile says that its application reads, against what its devices offer.

Judged on each cluster where the profile is emitted: drivers, versions and tiers differ there.
"""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.check.places import key_place
from dracfg.check.rule import Rule, listed, suggestion
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.link.catalog import Catalog, Cluster, Tenant, Tier
from dracfg.link.exposure import Exposure, exposures, written_key
from dracfg.link.writers import writers
from dracfg.model.base import at
from dracfg.model.devicemetadata import Reads, StartupProbeFallback
from dracfg.model.tenant import Profile
from dracfg.source.times import parse_length


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """A tier that a profile's `reads` is about on a cluster; `exposure` is None where it offers nothing."""

    cluster: Cluster
    tier: Tier
    exposure: Exposure | None
    reads: Reads
    steps: tuple[str | int, ...]
    """Where `reads` stands in the tenant's document."""


def reads_what_is_not_exposed(catalog: Catalog) -> Iterator[Diagnostic]:
    """MET011 for what the application needs, MET012 for what it would use."""
    for tenant, profile, asked in _asked(catalog):
        for word, code in (("required", "MET011"), ("optional", "MET012")):
            keys = asked.reads.required if word == "required" else asked.reads.optional
            for i, key in enumerate(keys):
                known = asked.exposure.attributes if asked.exposure is not None else {}
                if written_key(asked.tier.driver, key) in known:
                    continue
                help_, fix = suggestion(key, known)
                verb = "needs" if word == "required" else "would use"
                yield diagnose(
                    code,
                    at(tenant.document, *asked.steps, word, i),
                    f"profile {profile.name} of {tenant.name} {verb} {key}, and {asked.tier.name} does "
                    f"not expose it on {asked.cluster.name}",
                    related=[Related(_offers(asked), "what is exposed")],
                    found=key,
                    help=help_ or f"add {key} to `expose` of {asked.tier.name}, or do without it",
                    fix=fix,
                )
        if asked.reads.network_data and not (
            asked.exposure is not None and asked.exposure.settings.network_data
        ):
            yield diagnose(
                "MET011",
                key_place(tenant.document, *asked.steps, "networkData"),
                f"profile {profile.name} of {tenant.name} needs network data, and {asked.tier.name} does "
                f"not expose them on {asked.cluster.name}",
                related=[Related(_offers(asked), "what is exposed")],
                help=f"write `deviceMetadata: {{networkData: true}}` in {asked.tier.name} where its driver "
                "fills them, or do without",
            )


def understands_no_version(catalog: Catalog) -> Iterator[Diagnostic]:
    """MET013: the application knows none of the versions that the driver writes."""
    for tenant, profile, asked in _asked(catalog):
        one = asked.exposure
        if one is None or set(one.versions) & set(asked.reads.versions):
            continue
        driver = one.tier.driver
        yield diagnose(
            "MET013",
            key_place(tenant.document, *asked.steps, "versions"),
            f"profile {profile.name} of {tenant.name} understands {listed(asked.reads.versions, 'or')}, "
            f"and {driver.name} writes {listed(one.versions)} on {asked.cluster.name}",
            related=[Related(at(driver.document, "metadata", "name"), "the driver")],
            found=", ".join(asked.reads.versions),
            expected=f"one of {', '.join(one.versions)}",
            help="teach the application the version, or have the driver write an older one as well and "
            "state both in `metadataVersions`",
        )


def gives_up_too_early(catalog: Catalog) -> Iterator[Diagnostic]:
    """MET014: the application's longest wait is shorter than what the tier's startup probe allows."""
    for tenant, profile, asked in _asked(catalog):
        fallback = asked.exposure.settings.fallback if asked.exposure is not None else None
        if not isinstance(fallback, StartupProbeFallback):
            continue
        if parse_length(asked.reads.wait) < parse_length(fallback.within):
            yield diagnose(
                "MET014",
                key_place(tenant.document, *asked.steps, "wait"),
                f"profile {profile.name} of {tenant.name} waits {asked.reads.wait} for a file, and "
                f"{asked.tier.name} may take {fallback.within}",
                related=[
                    Related(
                        key_place(
                            asked.tier.document, "spec", "deviceMetadata", "fallback", "within"
                        ),
                        "the probe's time",
                    )
                ],
                found=asked.reads.wait,
                expected=f"{fallback.within} or more",
                help="wait longer, or shorten `within` where the driver is known to be quicker",
            )


def _offers(asked: _Asked) -> Span:
    return key_place(asked.tier.document, "spec", "expose")


def _asked(catalog: Catalog) -> Iterator[tuple[Tenant, Profile, _Asked]]:
    tenants = writers(catalog, "reads")
    exposed = {
        (cluster.name, one.tier.name): one
        for cluster in catalog.clusters.values()
        for one in (exposures(cluster) if tenants else ())
    }
    for tenant in tenants:
        for i, profile in enumerate(tenant.document.spec.profiles):
            for j, reads in enumerate(profile.reads):
                steps = ("spec", "profiles", i, "reads", j)
                for cluster in catalog.clusters.values():
                    for tier in _tiers(tenant, profile, reads, cluster):
                        one = exposed.get((cluster.name, tier.name))
                        yield tenant, profile, _Asked(cluster, tier, one, reads, steps)


def _tiers(tenant: Tenant, profile: Profile, reads: Reads, cluster: Cluster) -> tuple[Tier, ...]:
    """The tiers behind the requests; where no request is named, those that expose something."""
    found: dict[str, Tier] = {}
    for request in profile.requests:
        if reads.requests and request.name not in reads.requests:
            continue
        for wanted in request.any_of or (request,):
            grant = tenant.grant(cluster.name, wanted.entitlement or "")
            if grant is not None and (reads.requests or grant.tier.document.spec.expose):
                found[grant.tier.name] = grant.tier
    return tuple(found.values())


TENANT_RULES: tuple[Rule, ...] = (
    reads_what_is_not_exposed,
    understands_no_version,
    gives_up_too_early,
)
