"""MET016, MET017, MET019: recorded slices and bindings, against what tiers expose.

A driver may fill its files from what it publishes, so published values show what containers would
read. No finding holds a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dracfg.allocate.inventory import Inventory
from dracfg.check.metadata import foreign_names
from dracfg.check.recordedaccess import access_objects, readers
from dracfg.check.sensitive import kind_of_value
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.link.catalog import Catalog
from dracfg.link.exposure import exposures
from dracfg.model.base import at
from dracfg.source.records import Record


def check_recorded_metadata(
    catalog: Catalog,
    inventories: Mapping[str, Inventory],
    records: Mapping[str, Sequence[Record]],
) -> tuple[Diagnostic, ...]:
    """Everything that the records of each cluster say against its metadata files."""
    found: list[Diagnostic] = []
    for name, inventory in inventories.items():
        found += _values(catalog, name, inventory)
        found += _access(catalog, name, records.get(name, ()))
    return tuple(found)


def _values(catalog: Catalog, name: str, inventory: Inventory) -> Iterator[Diagnostic]:
    """MET016 for values that no container should read, MET017 for another type; once an attribute."""
    cluster = catalog.clusters[name]
    foreign = foreign_names(catalog)
    for one in exposures(cluster):
        tier, said = one.tier, set()
        spec = tier.document.spec
        for device in inventory.devices:
            if device.driver != tier.driver.name:
                continue
            for i, key in enumerate(spec.expose):
                published = device.attribute(key)
                if published is None:
                    continue
                wanted = dict(zip(spec.expose, one.attributes.values(), strict=True))[key]
                kind = kind_of_value(published.value, foreign)
                place = at(tier.document, "spec", "expose", i)
                on = f"{device.pool}/{device.name}"
                if kind is not None and (key, "MET016") not in said:
                    said.add((key, "MET016"))
                    looks = "somebody's identity" if kind == "identity" else f"a {kind}"
                    yield diagnose(
                        "MET016",
                        place,
                        f"what {tier.driver.name} publishes as {key} on {on} of {name} looks like "
                        f"{looks}, and containers may read it",
                        found=f"a {published.type} that is not shown",
                        help=f"take {key} out of `expose`, or waive this with the reason why containers "
                        "need it",
                    )
                if wanted not in ("unknown", published.type) and (key, "MET017") not in said:
                    said.add((key, "MET017"))
                    yield diagnose(
                        "MET017",
                        place,
                        f"{tier.driver.name} publishes {key} as {published.type} on {on} of {name}, and "
                        f"the schema of {tier.name} takes {wanted}",
                        related=[
                            Related(at(tier.driver.document, "metadata", "name"), "the driver")
                        ],
                        found=published.type,
                        expected=wanted,
                        help=f"state `attributes: {{{key}: {published.type}}}` in the driver, or its release",
                    )


def _access(catalog: Catalog, name: str, records: Sequence[Record]) -> Iterator[Diagnostic]:
    """MET019: recorded bindings by which what runs in a tenant's namespace reads claims or slices."""
    owners = {
        place.name: tenant
        for tenant in catalog.tenants_on(name)
        for place in tenant.places_on(name)
    }
    for reader in readers(access_objects(records), frozenset(owners)):
        tenant = owners[reader.namespace]
        watching = {one.namespace for one in tenant.document.spec.admin_access}
        if not reader.resources or (reader.namespace in watching and reader.is_ours):
            continue
        yield diagnose(
            "MET019",
            at(tenant.document, "metadata", "name"),
            f"{reader} on {name}",
            found=reader.subject,
            help=f"take {reader.subject} out of {reader.binding}; containers read their devices from "
            "files, and need no token for it",
        )
