"""CAP088: a claim whose devices must differ in an attribute that has fewer values on any node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dracfg.allocate.inventory import Inventory
from dracfg.allocate.narrowing import Ground
from dracfg.allocate.search import values
from dracfg.allocate.selection import Selection
from dracfg.allocate.structured import Features
from dracfg.allocate.structured.behaviour import behaviour_of
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, diagnose
from dracfg.link.catalog import Catalog
from dracfg.link.claims import Constraint
from dracfg.link.writers import writers
from dracfg.lower.gates import CONSUMABLE
from dracfg.model.base import at
from dracfg.plan.jointplacement import devices_of
from dracfg.plan.jointsite import grounds
from dracfg.plan.promises import Planned, planned


def check_distinct_values(
    catalog: Catalog, inventories: Mapping[str, Inventory]
) -> tuple[Diagnostic, ...]:
    """Every `distinct` of a profile, on each cluster of which devices are recorded."""
    found: dict[Diagnostic, None] = {}
    recorded = [
        cluster
        for name, cluster in catalog.clusters.items()
        if name in inventories and inventories[name].pools
    ]
    tenants = writers(catalog, "distinct")
    for made in planned(catalog, recorded, tenants, lambda profile: bool(profile.distinct)):
        found.update(dict.fromkeys(_judged(made, inventories[made.cluster.name])))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Room:
    """What the fullest node has: devices for the requests, and different values among them."""

    node: str
    devices: int
    values: int


def _judged(made: Planned, inventory: Inventory) -> Iterator[Diagnostic]:
    memory = behaviour_of(Features.of(made.cluster.minor, frozenset({CONSUMABLE}))).distinct
    distinct = [one for one in made.plan.constraints if one.distinct]
    for j, constraint in enumerate(distinct):
        asked = [one for one in made.plan.requests if one.name in constraint.requests]
        needed = sum(min(ask.count for ask in one.asks) for one in asked)
        compared = {"identity": 0, "request": len(asked), "device": needed}[memory]
        rooms = list(_rooms(made, inventory, constraint))
        # With too few devices, or values that some rule of their own is about, this is not the reason.
        if compared < 2 or not any(room.devices >= needed for room in rooms):
            continue
        best = max(rooms, key=lambda room: room.values)
        if best.values >= compared:
            continue
        yield diagnose(
            "CAP088",
            at(made.tenant.document, "spec", "profiles", made.position, "distinct", j, "by"),
            f"{compared} devices of one claim must all differ in {constraint.attribute}, and no node "
            f"of {made.cluster.name} has devices with more than {best.values} different values of it",
            label=f"{best.values} on {best.node}, among {best.devices} devices",
            found=str(compared),
            expected=f"at most {best.values}",
            help="ask for fewer devices in one claim, name fewer requests, or take the constraint out",
        )


def _rooms(made: Planned, inventory: Inventory, constraint: Constraint) -> Iterator[_Room]:
    known = grounds(made.cluster, inventory)
    ground = Ground(
        made.cluster.name, made.cluster.minor, known.inventory, Selection(made.cluster.minor)
    )
    origins = {one.origin for one in made.plan.requests if one.name in constraint.requests}
    for stand in known.site(made.plan).stands:
        found = devices_of(made.plan, ground, stand.node.name)
        able = {
            n for (origin, _), one in found.narrowed.items() if origin in origins for n in one.takes
        }
        different = {
            value for n in able for value in values(found.devices[n], constraint.attribute)
        }
        yield _Room(stand.node.name, len(able), len(different))
