"""SEL015: `x` and `<driver>/x` are one name; written both ways they are read as two by people.

In one map the one condition even replaces the other without a word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dracfg.check.rule import Rule
from dracfg.check.uses import pairs
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.link.catalog import Catalog
from dracfg.link.driver import Driver
from dracfg.model import kinds
from dracfg.model.base import at_key
from dracfg.model.sharing import Partitioned


@dataclass(frozen=True, slots=True)
class _Name:
    """A name as it is written, and the map that it is a key of."""

    text: str
    place: Span
    map: tuple[str | int, ...]


def is_spelled_twice(catalog: Catalog) -> Iterator[Diagnostic]:
    """Each spelling that differs from the first one of its name, once for each document."""
    first: dict[tuple[str, str, str], _Name] = {}
    told: set[tuple[str, str]] = set()
    for driver, kind, name in _names(catalog):
        other = first.setdefault((driver.name, kind, driver.spelling(name.text)), name)
        if other.text == name.text or (name.place.path, name.text) in told:
            continue
        told.add((name.place.path, name.text))
        lost = name.map == other.map and name.place.path == other.place.path
        yield diagnose(
            "SEL015",
            name.place,
            f"{name.text} and {other.text} are one name of {driver.name}"
            + (", so one of the two conditions is lost" if lost else ""),
            related=[Related(other.place, f"written {other.text} here")],
            found=name.text,
            expected=other.text,
            help="keep one of the two" if lost else f"write {other.text} in both places",
            fix=None if lost else other.text,
        )


def _names(catalog: Catalog) -> Iterator[tuple[Driver, str, _Name]]:
    for tier in catalog.tiers.values():
        spec, document = tier.document.spec, tier.document
        maps: tuple[tuple[str, str, Mapping[str, object]], ...] = (
            ("match", "attributes", spec.match.attributes),
            ("match", "capacity", spec.match.capacity),
            ("device", "attributes", spec.device.attributes),
            ("device", "capacity", spec.device.capacity),
        )
        for above, kind, conditions in maps:
            for name in _keys(document, ("spec", above, kind), conditions):
                yield tier.driver, kind, name
    for use in pairs(catalog):
        policy = use.policy
        if policy.document is None or not isinstance(policy.spec, Partitioned):
            continue
        for i, partition in enumerate(policy.spec.partitions):
            steps = ("spec", "partitions", i, "match")
            for kind, found in (
                ("attributes", partition.match.attributes),
                ("capacity", partition.match.capacity),
            ):
                for name in _keys(policy.document, (*steps, kind), found):
                    yield use.tier.driver, kind, name


def _keys(
    document: kinds.HardwareTier | kinds.SharingPolicy,
    steps: tuple[str | int, ...],
    conditions: Mapping[str, object],
) -> Iterator[_Name]:
    above = (document.kind, document.metadata.name, *steps)
    for key in conditions:
        yield _Name(key, at_key(document, *steps, key), above)


RULES: tuple[Rule, ...] = (is_spelled_twice,)
