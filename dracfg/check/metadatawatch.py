"""MET021: metadata files that no alert tells of, as the Driver names no metric for what can go wrong."""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.check.places import key_place, place
from dracfg.check.rule import Rule, listed
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.link.catalog import Catalog
from dracfg.link.exposure import Exposure, exposures
from dracfg.model.devicemetadata import MetadataMetrics

_WATCHED = {
    "generation_failures": "files that are not written",
    "generation_seconds": "files that come late",
    "validation_failures": "files that are refused",
}


def not_watched(catalog: Catalog) -> Iterator[Diagnostic]:
    """MET021, once for each driver whose files containers read."""
    first: dict[str, Exposure] = {}
    for cluster in catalog.clusters.values():
        for one in exposures(cluster):
            first.setdefault(one.tier.driver.name, one)
    for name, one in first.items():
        document = one.tier.driver.document
        metrics = document.spec.metadata_metrics or MetadataMetrics()
        missing = [text for field, text in _WATCHED.items() if getattr(metrics, field) is None]
        if missing:
            yield diagnose(
                "MET021",
                place(document, "spec", "metadataMetrics"),
                f"no alert tells of {listed(missing)} of {name}: no metric of it is named",
                related=[Related(key_place(one.tier.document, "spec", "expose"), "exposed here")],
                help="name what the driver exports under `metadataMetrics`; what the kubelet counts of "
                "its calls is watched in any case",
            )


RULES: tuple[Rule, ...] = (not_watched,)
