"""OWN015, OWN016: who installs a driver: known to its preset, and whole on the cluster's distribution."""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.check.places import place
from dracfg.check.rule import Rule, listed, suggestion
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.link.catalog import Catalog
from dracfg.model.base import at


def is_no_installer(catalog: Catalog) -> Iterator[Diagnostic]:
    """OWN015: what the preset does not know can't be held to anything."""
    for driver in catalog.drivers.values():
        said = driver.document.spec.installer
        if said is None or driver.installer is not None:
            continue
        known = [one.name for one in driver.preset.installers] if driver.preset else []
        help_, fix = suggestion(said, known)
        whose = (
            f"the preset of {driver.name}"
            if driver.preset
            else f"{driver.name} has no preset, which"
        )
        yield diagnose(
            "OWN015",
            at(driver.document, "spec", "installer"),
            f"{whose} knows no installer {said}",
            found=said,
            expected=listed(known, "or") or None,
            help=help_ or "leave it out: the driver's own chart is meant then",
            fix=fix,
        )


def leaves_objects_out(catalog: Catalog) -> Iterator[Diagnostic]:
    """OWN016: what the driver needs and this installer does not make on this distribution."""
    for cluster in catalog.clusters.values():
        for driver in cluster.drivers:
            installer = driver.installer
            for omission in installer.omits if installer is not None else ():
                if omission.distribution != cluster.document.spec.distribution or installer is None:
                    continue
                yield diagnose(
                    "OWN016",
                    at(driver.document, "spec", "installer"),
                    f"{installer.name} on {omission.distribution} makes no "
                    f"{listed(omission.objects, 'and no')}, which {driver.name} needs on {cluster.name}",
                    related=[
                        Related(place(cluster.document, "spec", "distribution"), "the cluster")
                    ],
                    help="make them beside it, or install the driver by its own chart",
                )


RULES: tuple[Rule, ...] = (is_no_installer, leaves_objects_out)
