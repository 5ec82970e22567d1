"""Devices that an object asks for where there is no pod spec, so that no claim can be named.

Known by shape: limits or requests with an extended name, under a key that holds such amounts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dracfg.diagnostics import Diagnostic, diagnose
from dracfg.link.catalog import Catalog
from dracfg.migrate.demand import SECTIONS, items
from dracfg.migrate.facts import facts
from dracfg.migrate.manifest import Manifest, PodSite
from dracfg.migrate.names import tiers_meant
from dracfg.source.fields import mapping, maps, text, texts
from dracfg.source.records import RecordedObject, Steps

_KEYS = ("resources", "resourcesPerNode")


def outside_pods(manifest: Manifest, catalog: Catalog) -> Iterator[Diagnostic]:
    """ROL058 for amounts that stand outside of containers, ROL053 for networks without an amount."""
    inside = {container.steps for site in manifest.sites for container in site.containers}
    for thing in manifest.record.objects:
        yield from _amounts(thing, thing.data, (), inside, catalog)
    for site in manifest.sites:
        yield from _bare_networks(site)


def _amounts(
    thing: RecordedObject, data: Any, steps: Steps, inside: set[Steps], catalog: Catalog
) -> Iterator[Diagnostic]:
    if isinstance(data, list):
        for number, inner in enumerate(data):
            yield from _amounts(thing, inner, (*steps, number), inside, catalog)
    if not isinstance(data, Mapping) or steps in inside:
        return
    for key, inner in data.items():
        if key in _KEYS and isinstance(inner, Mapping):
            for item in items({"resources": inner}):
                if any(tiers_meant(catalog, item)):
                    section = next(one for one in SECTIONS if item.name in mapping(inner, one))
                    name = text(thing.data, "metadata", "name")
                    yield diagnose(
                        "ROL058",
                        thing.span(*steps, key, section, item.name, key=True),
                        f"{thing.data['kind']}/{name} asks for {item.name} outside of a pod spec, "
                        "where no claim can be named",
                        help="name the claim in the pod template that this object leads to, such as "
                        "that of its runtime, and leave the amount out",
                    )
        elif key not in ("metadata", "status"):
            yield from _amounts(thing, inner, (*steps, key), inside, catalog)


def _bare_networks(site: PodSite) -> Iterator[Diagnostic]:
    """Networks of a pod that asks for no device: a webhook adds the amount when it is created."""
    key = facts().networks
    asks = any(items(container.data) for container in site.containers)
    claims = maps(site.spec, "resourceClaims")
    if site.has_pod_spec and not asks and not claims and key in texts(site.metadata, "annotations"):
        yield diagnose(
            "ROL053",
            site.thing.span(*site.steps[:-1], "metadata", "annotations", key, key=True),
            f"{site.name} has networks and asks for no device: a webhook may add the amount when "
            "the pod is created, by the resource that the network names",
            help="where it does, name a claim here and take the resource from the network",
        )
