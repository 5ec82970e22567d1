"""Manifests that somebody means to apply: what the API server would not take of their pods' claims.

The API server drops fields that it does not know before it validates, so a pod in an old shape is
refused for what is missing, in words that do not name the old field.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dracfg.allocate.claimobjects import CLASS, KINDS
from dracfg.allocate.devices import Origin
from dracfg.allocate.shape import GROUP, VERSIONS
from dracfg.check.rule import suggestion
from dracfg.diagnostics import Diagnostic, diagnose
from dracfg.kube.quota import IMPLICIT_RESOURCE_PREFIX
from dracfg.link.catalog import Catalog
from dracfg.link.classes import device_classes
from dracfg.plan.workloads import PodGroup, pod_groups
from dracfg.source.fields import mapping, maps, text
from dracfg.source.records import Record, RecordedObject, Steps

SERVED = "v1"
"""The version of resource.k8s.io that API servers serve without flags, in every minor since 1.34."""

_WAYS = ("resourceClaimName", "resourceClaimTemplateName")


def check_manifest(record: Record, catalog: Catalog) -> tuple[Diagnostic, ...]:
    """INV052 and INV053 for each pod spec, INV055 for objects without an apiVersion, VER050."""
    found = dict.fromkeys(fault for item in record.objects for fault in _versions(item))
    classes = dict(_extended(record, catalog))
    for group in pod_groups(record):
        if group.kind not in KINDS and group.origin is not None:
            found.update(dict.fromkeys(_pod(group.origin)))
            found.update(dict.fromkeys(_two_names(group, group.origin, classes)))
    return tuple(found)


def _extended(record: Record, catalog: Catalog) -> Iterator[tuple[str, str]]:
    """(extended resource, class) as far as the catalog and the manifests say."""
    for cluster in catalog.clusters.values():
        for plan in device_classes(catalog, cluster):
            if plan.extended_name is not None:
                yield plan.extended_name, plan.name
    for item in record.objects:
        explicit = text(item.data, "spec", "extendedResourceName")
        if item.data["kind"] == CLASS and explicit is not None:
            yield explicit, text(item.data, "metadata", "name") or ""


def _two_names(group: PodGroup, origin: Origin, classes: Mapping[str, str]) -> Iterator[Diagnostic]:
    """INV053: a pod asks for one class by its implicit and by its explicit name."""
    asked = {name for one in group.containers for name, amount in one.amounts.items() if amount}
    for explicit in sorted(asked & classes.keys()):
        implicit = IMPLICIT_RESOURCE_PREFIX + classes[explicit]
        if implicit in asked:
            yield diagnose(
                "INV053",
                origin.span("containers"),
                f"the pod asks for class {classes[explicit]} by two names, {explicit} and {implicit}",
                help="add the two numbers up under one of the names",
            )


def _versions(item: RecordedObject) -> Iterator[Diagnostic]:
    version, kind = item.data.get("apiVersion"), item.data["kind"]
    if not isinstance(version, str) or not version:
        written = _near(item.data, "apiVersion")
        yield diagnose(
            "INV055",
            item.span(written or "kind", key=True),
            f"a {kind} without apiVersion",
            found=written,
            expected="apiVersion",
            help="keys are read letter by letter" if written else "write its apiVersion",
        )
    group, _, number = str(version).rpartition("/")
    if group == GROUP and kind in KINDS and number in VERSIONS and number != SERVED:
        yield diagnose(
            "VER050",
            item.span("apiVersion"),
            f"{version} is served only where the API server was told to",
            found=version,
            expected=f"{GROUP}/{SERVED}",
            help=f"write it for {GROUP}/{SERVED}, or start the API server with "
            f"--runtime-config={version}=true",
        )


def _pod(origin: Origin) -> Iterator[Diagnostic]:
    """INV052 on one pod spec."""
    spec = _follow(origin.object.data, origin.steps)
    names: list[str] = []
    for number, entry in enumerate(maps(spec, "resourceClaims")):
        name = text(entry, "name") or ""
        yield from _claim(origin, ("resourceClaims", number), entry, name, name in names)
        names.append(name)
    written = _near(spec, "resourceClaims")
    for key in ("initContainers", "containers"):
        for place, container in enumerate(maps(spec, key)):
            for number, used in enumerate(maps(container, "resources", "claims")):
                name = text(used, "name") or ""
                if name not in names:
                    near, fix = suggestion(name, names)
                    yield diagnose(
                        "INV052",
                        origin.span(key, place, "resources", "claims", number, "name"),
                        f"the container uses claim {name}, which its pod does not have",
                        found=name,
                        expected=fix,
                        help=f"write resourceClaims instead of {written}" if written else near,
                    )


def _claim(
    origin: Origin, steps: Steps, entry: Mapping[str, Any], name: str, twice: bool
) -> Iterator[Diagnostic]:
    if not name or twice:
        yield diagnose(
            "INV052",
            origin.span(*steps, *(("name",) if name else ())),
            f"two claims of the pod are named {name}" if name else "a claim of the pod has no name",
            help="give each claim of a pod a name of its own",
        )
    said = [way for way in _WAYS if way in entry]
    if len(said) == 1:
        return
    inner = mapping(entry, "source")
    old = [way for way in _WAYS if way in inner]
    written = next((_near(entry, way) for way in _WAYS if _near(entry, way)), None)
    help_ = f"name it by {' or by '.join(_WAYS)}"
    if old and not said:
        help_ = f"there is no `source` any more: write `{old[0]}: {inner[old[0]]}` beside the name"
    elif written:
        help_ = f"keys are read letter by letter, and {written} is none"
    elif said:
        help_ = "keep one of the two"
    one, other = _WAYS
    has = f"both {one} and {other}" if said else f"neither {one} nor {other}"
    yield diagnose(
        "INV052",
        origin.span(*steps, "source", key=True) if old else origin.span(*steps),
        f"claim {name} of the pod has {has}",
        help=help_,
    )


def _near(data: Mapping[str, Any], key: str) -> str | None:
    """A key that differs from the wanted one in its case alone."""
    if key in data:
        return None
    return next((one for one in data if one.lower() == key.lower()), None)


def _follow(data: Any, steps: Steps) -> Mapping[str, Any]:
    for step in steps:
        data = data[step]
    return data if isinstance(data, Mapping) else {}
