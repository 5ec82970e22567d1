"""Which findings say that catalog, slices and nodes drifted apart, and which pools and tiers they are of."""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.diagnostics import Diagnostic, Span
from dracfg.link.catalog import Catalog

DRIFT = frozenset(
    {
        "INV040",
        "INV041",
        "INV042",
        "INV043",
        "INV044",
        "INV046",
        "INV049",
        "INV060",
        "INV061",
    }
)


def drifted_objects(catalog: Catalog, finding: Diagnostic) -> tuple[str, ...]:
    """`NodePool/<name>` and `HardwareTier/<name>` of a finding about drift; nothing for any other."""
    if finding.code not in DRIFT:
        return ()
    spans = [*([finding.span] if finding.span is not None else []), *_related(finding)]
    return tuple(
        name
        for name, place in _documents(catalog)
        if any(
            span.path == place.path and place.line <= span.line <= place.end_line for span in spans
        )
    )


def _related(finding: Diagnostic) -> Iterator[Span]:
    return (one.span for one in finding.related)


def _documents(catalog: Catalog) -> Iterator[tuple[str, Span]]:
    for pool in catalog.pools.values():
        yield f"NodePool/{pool.name}", pool.document.read_from.span
    for tier in catalog.tiers.values():
        yield f"HardwareTier/{tier.name}", tier.document.read_from.span
