"""What files are held against: schemas of tiers, recorded claims and slices, the name of the node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

from dracfg.allocate.inventory import Inventory
from dracfg.audit.dump import read_dump
from dracfg.audit.heldclaims import HeldClaim
from dracfg.dataclass import dataclass
from dracfg.link.catalog import Cluster
from dracfg.link.exposure import exposures
from dracfg.lower.metadataschema import tier_schema
from dracfg.metadata.reader import FACTS
from dracfg.source.records import Record

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Context:
    """`claims` is None where none are recorded, so that a missing one says nothing."""

    schemas: tuple[Schema, ...] = ()
    claims: Mapping[tuple[str, str], HeldClaim] | None = None
    inventory: Inventory | None = None
    node: str | None = None
    foreign: frozenset[str] = field(default_factory=frozenset)

    def schemas_for(self, driver: str, version: str, tier: str | None) -> tuple[Schema, ...]:
        """The schemas that a file may be held against: by driver, version and, if known, tier."""
        fit = [
            one
            for one in self.schemas
            if one.get(FACTS, {}).get("driver") == driver and one[FACTS].get("version") == version
        ]
        of_tier = [one for one in fit if one[FACTS].get("tier") == tier]
        return tuple(of_tier or fit)

    def node_of(self, device: tuple[str, str, str]) -> str | None:
        """The node that publishes a device; None where it is not recorded or not of one node."""
        if self.inventory is None:
            return None
        found = self.inventory.device(*device)
        return found.nodes.node_name if found is not None else None


def recorded_context(
    claims: Sequence[Record] = (),
    slices: Sequence[Record] = (),
    schemas: Iterable[Schema] = (),
    node: str | None = None,
    foreign: Iterable[str] = (),
) -> Context:
    """The context of recorded claims and slices. Where claims are recorded, all of them are."""
    dump, _ = read_dump([*claims, *slices])
    return Context(
        tuple(schemas),
        dump.claims if claims else None,
        dump.inventory if slices else None,
        node,
        frozenset(foreign),
    )


def cluster_schemas(cluster: Cluster) -> tuple[Schema, ...]:
    """The schemas of every tier that the cluster exposes, in every version that is written."""
    return tuple(
        tier_schema(one, version) for one in exposures(cluster) for version in one.versions
    )
