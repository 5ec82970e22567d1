"""What containers may read of their devices → `<cluster>/metadata`: schemas, contract, pages.

None of it is applied by an engine: schemas go into applications, pages to tenants, the contract to
those who upgrade drivers and nodes. The driver's library writes the files themselves (KEP-5304).
Sources: kubernetes/kubernetes staging/src/k8s.io/dynamic-resource-allocation/api/metadata (paths, file).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dracfg.link.catalog import Cluster, Tenant
from dracfg.link.claims import Ask, ClaimPlan
from dracfg.link.exposure import Exposure, exposures, minor_versions
from dracfg.lower.artifact import Artifact, Unit
from dracfg.lower.helmvalues import values_file
from dracfg.lower.metadatapages import contract_page, handout_page
from dracfg.lower.metadataschema import (
    exposure_key,
    fallback_facts,
    retired_schemas,
    schema_file,
    schema_files,
)
from dracfg.lower.tenancy import Tenancy
from dracfg.metadata.reader import SUFFIX
from dracfg.model.tenant import Profile
from dracfg.source.standing import Standing

FOLDER = "metadata"
CONTRACT = "CONTRACT.md"
HANDOUTS = "tenants"


def metadata_units(
    cluster: Cluster, tenancies: Iterable[Tenancy], standing: Standing
) -> tuple[Unit, ...]:
    """The unit of a cluster's metadata; none where no tier of it exposes anything, or did."""
    path = f"{cluster.name}/{FOLDER}"
    exposed = {one.tier.name: one for one in exposures(cluster)}
    texts: dict[str, str] = {}
    for one in exposed.values():
        texts |= schema_files(one)
    retain = cluster.document.spec.gitops.retain_templates
    retired = retired_schemas(standing.texts_of(path), texts, retain)
    texts |= retired
    if not exposed:
        return (Unit(path, texts=texts, synced=False),) if texts else ()
    artifacts: list[Artifact] = []
    reading: list[Mapping[str, Any]] = []
    for tenancy in tenancies:
        values = handout_values(tenancy, exposed)
        if not values["profiles"]:
            continue
        tenant = tenancy.tenant
        texts[f"{HANDOUTS}/{tenant.name}.md"] = handout(cluster, tenant, values)
        artifacts.append(
            Artifact(values, f"{HANDOUTS}/{tenant.name}.yaml", tenancy.origin.at("spec"))
        )
        reading += _readers(tenant, values)
    texts[CONTRACT] = contract(cluster, tuple(exposed.values()), reading, tuple(retired))
    return (Unit(path, tuple(artifacts), texts, synced=False),)


def handout_values(tenancy: Tenancy, exposed: Mapping[str, Exposure]) -> dict[str, Any]:
    """What an application's chart needs to know, by profile and request, as plain data."""
    cluster, tenant = tenancy.cluster, tenancy.tenant
    spec = tenant.document.spec
    profiles = {}
    for plan in tenancy.plans if not tenancy.is_removed else ():
        requests = _requests(plan, exposed) if plan is not None else {}
        if plan is not None and requests and tenancy.places_of(plan.profile):
            profile = plan.profile
            shared = sorted(c.name for c in spec.shared_claims if c.profile == profile.name)
            profiles[profile.name] = {"requests": requests, **_read_facts(profile)} | (
                {"sharedClaims": shared} if shared else {}
            )
    return {"cluster": cluster.name, "tenant": tenant.name, "profiles": profiles}


def handout(cluster: Cluster, tenant: Tenant, values: Mapping[str, Any]) -> str:
    """The page of a tenant, from the same values that stand beside it."""
    return handout_page(cluster.name, tenant.name, f"{tenant.name}.yaml", values["profiles"])


def contract(
    cluster: Cluster,
    exposed: Sequence[Exposure],
    reading: Sequence[Mapping[str, Any]],
    retired: Sequence[str] = (),
) -> str:
    """Which releases, nodes and applications fit together, for those who upgrade one of them."""
    drivers = {one.tier.driver.name: one for one in exposed}
    return contract_page(
        cluster=cluster.name,
        minor=cluster.minor,
        of_minor=minor_versions(cluster.minor),
        drivers=[
            {
                "name": name,
                "release": one.tier.driver.document.spec.version,
                "versions": one.versions,
                "known": one.known,
                "file": values_file(one.tier.driver),
                "pools": sorted(
                    pool.name
                    for pool, devices in cluster.offers()
                    if devices.tier.driver.name == name and pool.owner(one.tier.driver) == "dra"
                ),
            }
            for name, one in sorted(drivers.items())
        ],
        tiers=[
            {
                "name": one.tier.name,
                "driver": one.tier.driver.name,
                "attributes": one.attributes,
                "schemas": [schema_file(one.tier.name, version) for version in one.versions],
                "fallback": fallback_facts(one)["to"],
                "max_bytes": one.max_bytes,
                "network": one.settings.network_data,
            }
            for one in exposed
        ],
        reading=reading,
        retired=retired,
    )


def _requests(plan: ClaimPlan, exposed: Mapping[str, Exposure]) -> dict[str, Any]:
    """The devices with metadata by request of the claim; subrequests stand under their own name."""
    found: dict[str, Any] = {}
    for request in plan.requests:
        asks = [ask for ask in request.asks if ask.grant.tier.name in exposed]
        if asks:
            found[request.name] = {
                f"{request.name}/{ask.name}" if request.has_alternatives else request.name: _ask(
                    request.name, ask, exposed[ask.grant.tier.name]
                )
                for ask in asks
            }
    return found


def _ask(request: str, ask: Ask, exposure: Exposure) -> dict[str, Any]:
    tier = exposure.tier
    return {
        "tier": tier.name,
        "driver": tier.driver.name,
        "file": f"{request}/{tier.driver.name}{SUFFIX}",
        "devices": ask.count,
        "versions": list(exposure.versions),
        "schemas": [schema_file(tier.name, version) for version in exposure.versions],
        "attributes": {k: v for k, v in exposure.attributes.items() if v != "unknown"},
        "networkData": exposure.settings.network_data,
        "maxBytes": exposure.max_bytes,
        "fallback": fallback_facts(exposure),
    }


def _read_facts(profile: Profile) -> dict[str, Any]:
    if not profile.reads:
        return {}
    return {
        "reads": [
            {
                "requests": list(one.requests) or [request.name for request in profile.requests],
                "required": list(one.required),
                "optional": list(one.optional),
                "networkData": one.network_data,
                "versions": list(one.versions),
                "wait": one.wait,
            }
            for one in profile.reads
        ]
    }


def _readers(tenant: Tenant, values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name, profile in values["profiles"].items():
        for reads in profile.get("reads", ()):
            yield {"tenant": tenant.name, "profile": name, **reads}


__all__ = ["CONTRACT", "FOLDER", "contract", "exposure_key", "handout", "metadata_units"]
