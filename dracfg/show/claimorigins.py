"""Fields of claims and templates → the profile's requests, alignments and the entitlements behind them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dracfg.check.places import profile_of, request_origin
from dracfg.link.catalog import Catalog
from dracfg.link.claims import alternative_name
from dracfg.link.classes import admin_class_name, device_classes
from dracfg.lower.artifact import Origin, origin_of
from dracfg.model.tenant import Align, Alternative, Distinct, Profile, Request
from dracfg.show.classorigins import part_origins
from dracfg.show.document import entry_index
from dracfg.show.grantorigins import grant_origins
from dracfg.show.subjects import Emitted

Steps = tuple[str | int, ...]


def claim_origins(catalog: Catalog, emitted: Emitted, steps: Steps) -> tuple[Origin, ...]:
    """Requests, constraints and parameters each from their own entry of the profile."""
    artifact = emitted.artifact
    found = profile_of(catalog, artifact.origin)
    inside = steps[2:] if steps[:2] == ("spec", "spec") else steps[1:]
    if found is None:
        return _admin_origins(catalog, emitted, inside)
    origin, profile = found
    match steps:
        case ("metadata", "name") if artifact.origin == origin:
            return (origin.at("name"), origin.at("revision"))
        case ("metadata", "name"):
            return (artifact.origin.at("name"),)
        case ("metadata", "labels", "dracfg.dev/profile"):
            return (origin.at("name"),)
        case ("metadata", "annotations", "dracfg.dev/requests"):
            return (origin.at("requests"),)
        case ("metadata", "annotations", "dracfg.dev/pods"):
            return (artifact.origin.at("pods"),)
        case ("metadata", *_):
            return ()
    devices = _devices(artifact.object)
    match inside:
        case ("devices", "requests", int(i), *below):
            request = devices["requests"][i]
            return tuple(_request_origins(catalog, emitted, found, request, tuple(below)))
        case ("devices", "constraints", int(i), *_):
            return tuple(_constraint_origins(origin, profile, devices["constraints"][i]))
        case ("devices", "config", int(i), *_):
            return (origin.at("config", i),)
        case _:
            return ()


def _devices(thing: dict[str, Any]) -> dict[str, Any]:
    spec = thing["spec"]
    devices: dict[str, Any] = spec.get("spec", spec)["devices"]
    return devices


def _request_origins(
    catalog: Catalog,
    emitted: Emitted,
    found: tuple[Origin, Profile],
    request: dict[str, Any],
    below: Steps,
) -> Iterator[Origin]:
    origin, profile = found
    at = request_origin(origin, profile, request["name"])
    if at == origin:
        return
    position = entry_index(at)
    written: Request | Alternative = profile.requests[position]
    field = below[1:]
    if below[:1] == ("firstAvailable",) and len(below) > 1:
        alternatives = profile.requests[position].any_of or ()
        named = request["firstAvailable"][below[1]]["name"]
        for k, alternative in enumerate(alternatives):
            if alternative_name(alternative, k) == named:
                at, written = at.at("anyOf", k), alternative
        field = below[2:]
    elif below == ("name",):
        field = below
    match field:
        case ("name",) | ("count",):
            yield at.at(*field)
        case ("deviceClassName",):
            yield at.at("entitlement")
            yield from _grant_and_part(catalog, emitted, at, written)
        case ("capacity", *_):
            yield at.at("entitlement") if written.size is None else at.at("size")
            yield from _grant_and_part(catalog, emitted, at, written)
        case ("tolerations", *rest):
            yield request_origin(origin, profile, request["name"]).at("tolerations", *rest)
        case _:
            yield at


def _grant_and_part(
    catalog: Catalog, emitted: Emitted, at: Origin, written: Request | Alternative
) -> Iterator[Origin]:
    """The entitlement that a request names, its tier, and the size or partition meant."""
    tenant, cluster = catalog.tenants[at.name], emitted.cluster
    grant = None if cluster is None else tenant.grant(cluster.name, written.entitlement or "")
    if grant is None or cluster is None:
        return
    if written.size is not None:
        yield at.at("size")
    yield from grant_origins(tenant, grant)
    yield origin_of(grant.tier.document, "metadata", "name")
    part = grant.policy.part(written.size)
    for plan in device_classes(catalog, cluster):
        if not plan.admin and plan.tier is grant.tier and plan.part is part:
            yield from part_origins(plan)


def _constraint_origins(
    origin: Origin, profile: Profile, constraint: dict[str, Any]
) -> Iterator[Origin]:
    """The alignment or distinction over the same requests by the same attribute."""
    stems = {
        profile.requests[entry_index(at)].name
        for name in constraint["requests"]
        if (at := request_origin(origin, profile, name)) != origin
    }
    distinct = "distinctAttribute" in constraint
    attribute = constraint["distinctAttribute" if distinct else "matchAttribute"]
    entries: Sequence[Align | Distinct] = profile.distinct if distinct else profile.align
    for i, entry in enumerate(entries):
        if entry.by == attribute and stems == set(entry.requests):
            yield origin.at("distinct" if distinct else "align", i)


def _admin_origins(catalog: Catalog, emitted: Emitted, inside: Steps) -> tuple[Origin, ...]:
    """Templates of admin access: the entry's tier is the class, everything else is the entry."""
    origin = emitted.artifact.origin
    tenant = catalog.tenants.get(origin.name)
    if tenant is None or origin.pointer[:2] != ("spec", "adminAccess"):
        return ()
    match inside:
        case ("devices", "requests", 0, "exactly", "deviceClassName"):
            name = _devices(emitted.artifact.object)["requests"][0]["exactly"]["deviceClassName"]
            position = entry_index(origin)
            tiers = tenant.document.spec.admin_access[position].tiers
            return tuple(
                origin.at("tiers", j)
                for j, tier in enumerate(tiers)
                if admin_class_name(tier) == name
            )
        case ("devices", *_):
            return (origin,)
        case _:
            return ()
