"""MET001-MET010, MET015, MET018: what tiers expose, against drivers and clusters (KEP-5304).

The driver's library writes the files: whether and in which versions is a matter of its release.
Nothing here knows what a profile reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dracfg.check.metadatasize import largest_file
from dracfg.check.places import key_place, place
from dracfg.check.rule import Rule, listed, suggestion
from dracfg.check.sensitive import kind_of_name, kind_of_value
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.link.catalog import Catalog, Cluster, Tier
from dracfg.link.driver import Driver
from dracfg.link.exposure import (
    GROUP,
    Exposure,
    attribute_type,
    exposures,
    minor_versions,
    publishes,
    stated_versions,
    written_key,
)
from dracfg.model.base import at
from dracfg.model.devicemetadata import (
    EnvironmentFallback,
    LegacyPathFallback,
    StatusFallback,
)

ALPHA = f"{GROUP}/v1alpha1"


def writes_no_files(catalog: Catalog) -> Iterator[Diagnostic]:
    """MET001: attributes that are exposed by a driver which writes no metadata files as it is set."""
    for tier in _exposing(catalog):
        answer = publishes(tier.driver)
        if answer == "yes":
            continue
        driver, version = tier.driver, tier.driver.document.spec.version
        release = f"release {version} of {driver.name}" if version else driver.name
        fact = driver.preset.device_metadata if driver.preset is not None else None
        if fact is None or fact.publishes in ("gate", "value", "unknown"):
            said, help_ = (
                "is not set to write",
                f"write `deviceMetadata: true` in Driver {driver.name}",
            )
        else:
            said, help_ = (
                "does not write",
                "take `expose` out, or move to a release that writes them",
            )
        yield diagnose(
            "MET001",
            _expose(tier),
            f"tier {tier.name} exposes attributes, and {release} {said} metadata files",
            related=[Related(at(driver.document, "metadata", "name"), "the driver")],
            help=help_,
        )


def minor_before_the_feature(catalog: Catalog) -> Iterator[Diagnostic]:
    """MET002: nothing is written for a cluster whose minor had no driver library that writes files."""
    for cluster, tier in _held(catalog):
        if not minor_versions(cluster.minor) and not stated_versions(tier.driver):
            yield diagnose(
                "MET002",
                _expose(tier),
                f"{cluster.name} runs {cluster.minor}, whose driver library writes no metadata files; "
                f"nothing is promised of {tier.name} there",
                related=[Related(at(cluster.document, "spec", "kubernetes"), "the minor")],
                help=f"state `metadataVersions` in Driver {tier.driver.name} where its release is built "
                "with a library of 1.36 or later: the kubelet's minor does not matter then",
            )


def versions_are_not_known(catalog: Catalog) -> Iterator[Diagnostic]:
    """MET003: nobody states which versions the driver's release writes."""
    seen: set[str] = set()
    for one in _all_exposures(catalog):
        driver = one.tier.driver
        if one.known or driver.name in seen:
            continue
        seen.add(driver.name)
        yield diagnose(
            "MET003",
            place(driver.document, "metadata", "name"),
            f"which versions of metadata files {driver.name} writes is not known; "
            f"{one.cluster.name} counts on any of {listed(one.versions, 'or')}",
            help="look at a file that it wrote, and state `metadataVersions: [v1beta1]` or as it is",
        )


def alpha_without_leave(catalog: Catalog) -> Iterator[Diagnostic]:
    """MET004: the only version that is written is alpha, and the Cluster does not allow it."""
    for cluster in catalog.clusters.values():
        allowed = cluster.document.spec.allow_alpha
        for one in exposures(cluster):
            if not one.only_alpha or ALPHA in allowed or _gate_entry(one.tier.driver) in allowed:
                continue
            yield diagnose(
                "MET004",
                key_place(cluster.document, "spec", "allowAlpha"),
                f"{one.tier.driver.name} writes metadata of {one.tier.name} in alpha versions alone, "
                f"and {cluster.name} does not allow that",
                related=[Related(_expose(one.tier), "exposed here")],
                expected=f"allowAlpha: {{{ALPHA}: <why that is accepted>}}",
                help=f"add `{ALPHA}` to allowAlpha with the reason, or use a release that writes v1beta1",
            )
            break


def alpha_without_fallback(catalog: Catalog) -> Iterator[Diagnostic]:
    """MET005: only alpha versions are written, and nothing says what is done without a file."""
    seen: set[str] = set()
    for one in _all_exposures(catalog):
        if one.only_alpha and one.settings.fallback is None and one.tier.name not in seen:
            seen.add(one.tier.name)
            yield diagnose(
                "MET005",
                _expose(one.tier),
                f"tier {one.tier.name} exposes attributes in alpha versions and declares no fall-back",
                expected="deviceMetadata: {fallback: {to: none}} or another way",
                help="declare under `deviceMetadata.fallback` what applications do without a file: "
                "environment, startupProbe, legacyPath, status or none",
            )


def sensitive_names(catalog: Catalog) -> Iterator[Diagnostic]:
    """MET006: exposed attributes that by their name are a credential, a serial number or an identity."""
    for tier in _exposing(catalog):
        for i, key in enumerate(tier.document.spec.expose):
            kind = kind_of_name(key)
            if kind is None and written_key(tier.driver, key) in _serials(tier.driver):
                kind = "serial number"
            if kind is not None:
                yield diagnose(
                    "MET006",
                    at(tier.document, "spec", "expose", i),
                    f"{key} of {tier.name} looks like {_a(kind)}, and every container with such a "
                    "device would read it",
                    found=key,
                    help="take it out, or waive this with the reason why containers need it",
                )


def sensitive_values(catalog: Catalog) -> Iterator[Diagnostic]:
    """MET007: exposed attributes whose described value looks like one; the value is never shown."""
    exposing = tuple(_exposing(catalog))
    foreign = foreign_names(catalog) if exposing else frozenset()
    for tier in exposing:
        device = tier.document.spec.device
        for key in tier.document.spec.expose:
            for name, value in device.attributes.items():
                same = tier.driver.spelling(name) == tier.driver.spelling(key)
                kind = kind_of_value(value, foreign) if same else None
                if kind is not None:
                    yield diagnose(
                        "MET007",
                        key_place(tier.document, "spec", "device", "attributes", name),
                        f"the described value of {key} of {tier.name} looks like {_a(kind)}, and "
                        "containers would read it",
                        related=[Related(_expose(tier), "exposed here")],
                        help="take the attribute out of `expose`, or waive this with a reason",
                    )


def not_published(catalog: Catalog) -> Iterator[Diagnostic]:
    """MET008: exposed attributes that the driver is not known to publish, so that none has a type."""
    for tier in _exposing(catalog):
        for i, key in enumerate(tier.document.spec.expose):
            if attribute_type(tier.driver, key) == "unknown":
                help_, fix = suggestion(key, tier.driver.attributes)
                yield diagnose(
                    "MET008",
                    at(tier.document, "spec", "expose", i),
                    f"{key} is no attribute that {tier.driver.name} is known to publish: its schema "
                    "would have no type",
                    related=[Related(at(tier.driver.document, "metadata", "name"), "the driver")],
                    found=key,
                    help=help_
                    or "add it to `attributes` of the driver with its type, or take it out",
                    fix=fix,
                )


def fallback_is_not_there(catalog: Catalog) -> Iterator[Diagnostic]:
    """MET009: a legacy path without a device plugin, a variable for what is not exposed."""
    for tier in _exposing(catalog):
        settings = tier.document.spec.device_metadata
        match settings.fallback if settings is not None else None:
            case EnvironmentFallback(variables=variables):
                known = {written_key(tier.driver, key) for key in tier.document.spec.expose}
                for key in variables:
                    if written_key(tier.driver, key) not in known:
                        yield diagnose(
                            "MET009",
                            key_place(
                                tier.document,
                                "spec",
                                "deviceMetadata",
                                "fallback",
                                "variables",
                                key,
                            ),
                            f"the fall-back of {tier.name} gives {key} a variable, and {key} is not "
                            "exposed",
                            related=[Related(_expose(tier), "the list")],
                            found=key,
                            help=f"add {key} to `expose`, or take the variable out",
                        )
            case LegacyPathFallback():
                for cluster in _clusters_of(catalog, tier):
                    if "devicePlugin" not in cluster.owners_of(tier):
                        yield diagnose(
                            "MET009",
                            key_place(tier.document, "spec", "deviceMetadata", "fallback", "path"),
                            f"the fall-back of {tier.name} is the device plugin's path, and no pool of "
                            f"{cluster.name} has that plugin",
                            related=[
                                Related(at(cluster.document, "metadata", "name"), "the cluster")
                            ],
                            help="choose another fall-back; the path is there only where a pool's "
                            f"`owner` of {tier.driver.name} is devicePlugin",
                        )
            case _:
                pass


def needs_permission(catalog: Catalog) -> Iterator[Diagnostic]:
    """MET010: a fall-back that only who may read claims can follow."""
    for tier in _exposing(catalog):
        settings = tier.document.spec.device_metadata
        if settings is not None and isinstance(settings.fallback, StatusFallback):
            yield diagnose(
                "MET010",
                key_place(tier.document, "spec", "deviceMetadata", "fallback", "to"),
                f"the fall-back of {tier.name} reads the status of claims, which needs API permission: "
                "platform controllers have it, workloads never",
                found="status",
                help="choose environment or startupProbe for applications, or waive this with a reason",
            )


def larger_than_its_bound(catalog: Catalog) -> Iterator[Diagnostic]:
    """MET015: profiles ask for more devices than a file of the allowed size can describe."""
    for one in _all_exposures(catalog):
        size = largest_file(catalog, one)
        if size > one.max_bytes:
            steps = ("spec", "deviceMetadata", "maxSize")
            yield diagnose(
                "MET015",
                key_place(one.tier.document, *steps),
                f"a file of {one.tier.name} on {one.cluster.name} can have {size} bytes, and readers take "
                f"{one.max_bytes}",
                found=str(one.max_bytes),
                expected=f"at least {size}",
                help="raise `deviceMetadata.maxSize`, or expose fewer attributes",
            )


def no_effect(catalog: Catalog) -> Iterator[Diagnostic]:
    """MET018: settings of metadata files on a tier that exposes nothing."""
    for tier in catalog.tiers.values():
        spec = tier.document.spec
        if spec.device_metadata is not None and not spec.expose:
            yield diagnose(
                "MET018",
                key_place(tier.document, "spec", "deviceMetadata"),
                f"tier {tier.name} says how its metadata files are read, and exposes nothing",
                help="list attributes under `expose`, or take `deviceMetadata` out",
            )


def foreign_names(catalog: Catalog) -> frozenset[str]:
    """Names of tenants and their namespaces: no container may learn those of others."""
    spaces = {
        place.name
        for tenant in catalog.tenants.values()
        for place in tenant.document.spec.namespaces
    }
    return frozenset(spaces | catalog.tenants.keys())


def _gate_entry(driver: Driver) -> str | None:
    gate = driver.preset.device_metadata.gate if driver.preset is not None else None
    return None if gate is None else f"{driver.name}/{gate}"


def _serials(driver: Driver) -> frozenset[str]:
    """Attributes that name one device for good; an address in its node is what files are for."""
    facts: Mapping[str, object] = driver.preset.attributes if driver.preset is not None else {}
    return frozenset(key for key in facts if kind_of_name(key) == "serial number")


def _a(kind: str) -> str:
    return {"identity": "somebody's identity"}.get(kind, f"a {kind}")


def _expose(tier: Tier) -> Span:
    return key_place(tier.document, "spec", "expose")


def _exposing(catalog: Catalog) -> Iterator[Tier]:
    return (tier for tier in catalog.tiers.values() if tier.document.spec.expose)


def _held(catalog: Catalog) -> Iterator[tuple[Cluster, Tier]]:
    for cluster in catalog.clusters.values():
        for tier in cluster.tiers:
            if tier.document.spec.expose and cluster.has_claims_ever(tier):
                yield cluster, tier


def _all_exposures(catalog: Catalog) -> Iterator[Exposure]:
    for cluster in catalog.clusters.values():
        yield from exposures(cluster)


def _clusters_of(catalog: Catalog, tier: Tier) -> Iterator[Cluster]:
    return (cluster for cluster in catalog.clusters.values() if cluster.pools_of(tier))


RULES: tuple[Rule, ...] = (
    writes_no_files,
    minor_before_the_feature,
    versions_are_not_known,
    alpha_without_leave,
    alpha_without_fallback,
    sensitive_names,
    sensitive_values,
    not_published,
    fallback_is_not_there,
    needs_permission,
    larger_than_its_bound,
    no_effect,
)
