"""Where in a pair of documents a comparison stands, and who is concerned there.

Knows both states of one document and the catalogs around them; nothing of what is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Span
from dracfg.diff.change import Change, Flag, Impact, change
from dracfg.link.catalog import Catalog, Pool, PoolDevices
from dracfg.link.driver import Driver as LinkedDriver
from dracfg.model.base import Spec, at
from dracfg.model.kinds import (
    AnyDocument,
    Cluster,
    Driver,
    HardwareTier,
    NodePool,
    Rollout,
    SharingPolicy,
    Tenant,
)
from dracfg.model.rollout import START, Stage
from dracfg.model.tenant import TenantNamespace

Step = str | int


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One state of the document, None where it does not exist, in its catalog."""

    document: AnyDocument | None
    catalog: Catalog
    drivers: frozenset[str]
    """Drivers whose own domain attribute and capacity names of the document may leave out."""

    @property
    def linked_drivers(self) -> Iterator[LinkedDriver]:
        """Those of the drivers that are described."""
        for name in sorted(self.drivers & self.catalog.drivers.keys()):
            yield self.catalog.drivers[name]

    def attribute_type(self, name: str) -> str | None:
        """The type of an attribute without domain, where a driver is known to publish it."""
        types = (driver.attributes.get(driver.spelling(name)) for driver in self.linked_drivers)
        return next(filter(None, types), None)


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A field or entry on both sides.

    `path` leads to its row (`Tenant.spec.entitlements`), `thing` names it for people, `before` and
    `after` are its steps below the documents. `spaces` are the tenant's namespaces concerned,
    None where it is about no tenant.
    """

    base: Side
    head: Side
    path: str
    thing: tuple[str, ...]
    clusters: frozenset[str]
    before: tuple[Step, ...] = ()
    after: tuple[Step, ...] = ()
    spaces: tuple[TenantNamespace, ...] | None = None
    is_later: bool = False
    """Whether it is about a stage of a rollout that has not been reached: nothing moves yet."""

    @property
    def document(self) -> AnyDocument:
        """The document as it is, or as it was where it is gone."""
        found = self.head.document or self.base.document
        assert found is not None
        return found

    def field(self, name: str) -> Place:
        """A field of what stands here."""
        return replace(
            self,
            path=f"{self.path}.{name}",
            thing=self.thing if name in ("spec", "metadata") else (*self.thing, name),
            before=(*self.before, name),
            after=(*self.after, name),
        )

    def entry(self, label: str, before: Step | None, after: Step | None) -> Place:
        """An entry of the map that stands here; a side without it keeps the map's place."""
        return replace(
            self,
            thing=(*self.thing, label),
            before=self.before if before is None else (*self.before, before),
            after=self.after if after is None else (*self.after, after),
        )

    def item(self, label: str, before: int | None, after: int | None, found: Spec) -> Place:
        """An item of the list that stands here, called by its own name rather than the list's."""
        here = self.entry(label, before, after)
        return replace(here, thing=(*self.thing[:-1], label))._narrowed(found)

    def as_before(self) -> Place:
        """The same in all namespaces and clusters that the tenant had, of what is gone."""
        base, head = self.base.document, self.head.document
        if not isinstance(base, Tenant) or not isinstance(head, Tenant):
            return self
        if self.spaces != head.spec.namespaces:
            return self
        spaces = base.spec.namespaces
        return replace(self, spaces=spaces, clusters=frozenset(_clusters(base, self.base.catalog)))

    def on(self, cluster: str) -> Place:
        """The same about one cluster only."""
        return replace(self, clusters=frozenset({cluster}))

    def tell(
        self,
        kind: str,
        before: str,
        after: str,
        *,
        gone: bool = False,
        details: Iterable[str] = (),
        flags: Iterable[Flag] = (),
    ) -> Change:
        """A change of what stands here; an empty text stands for nothing."""
        return change(
            kind,
            " / ".join(self.thing),
            before or None,
            after or None,
            cluster=next(iter(self.clusters)) if len(self.clusters) == 1 else None,
            tenant=self.document.name if self.spaces is not None else None,
            namespaces=sorted(space.name for space in self.spaces or ()),
            span=self._span(gone),
            gone=gone,
            details=(*details, "felt when the stage is reached") if self.is_later else details,
            flags=flags,
            impact=Impact.NONE if self.is_later else None,
        )

    def _span(self, gone: bool) -> Span:
        side = self.base if gone else self.head
        assert side.document is not None
        return at(side.document, *(self.before if gone else self.after))

    def _is_later(self, stage: str) -> bool:
        """Whether a stage is reached on neither side."""
        rollouts = (side.document for side in (self.base, self.head))
        return all(
            _stage(rollout, stage) > _stage(rollout, rollout.spec.stage)
            for rollout in rollouts
            if isinstance(rollout, Rollout)
        )

    def _narrowed(self, found: Spec) -> Place:
        """The namespaces and clusters that an entry of a tenant names, those of all otherwise."""
        if isinstance(found, Stage):
            return replace(self, is_later=self._is_later(found.name))
        if self.spaces is None:
            return self
        if isinstance(found, TenantNamespace):
            spaces: tuple[TenantNamespace, ...] = (found,)
        else:
            one, several = getattr(found, "namespace", None), getattr(found, "namespaces", None)
            wanted = several if several is not None else (one,) if one is not None else None
            if wanted is None:
                return self
            spaces = tuple(space for space in self.spaces if space.name in wanted)
        clusters = frozenset(name for space in spaces for name in space.clusters)
        return replace(self, spaces=spaces, clusters=clusters)


def _stage(rollout: Rollout, name: str) -> int:
    """The position of a stage, -1 for the start; one that is not there is past all others."""
    names = [stage.name for stage in rollout.spec.stages]
    return names.index(name) if name in names else -1 if name == START else len(names)


def place_of(
    base: AnyDocument | None, head: AnyDocument | None, catalogs: tuple[Catalog, Catalog]
) -> Place:
    """The place of a whole document; one that is on both sides, or on one of them."""
    found = head or base
    assert found is not None
    sides = [
        Side(document, catalog, frozenset(_drivers(document, catalog)))
        for document, catalog in zip((base, head), catalogs, strict=True)
    ]
    spaces = found.spec.namespaces if isinstance(found, Tenant) else None
    # What a tenant says is shown with its name beside it; other documents are named here.
    is_named = spaces is None or base is None or head is None
    thing = (f"{found.kind} {found.name}",) if is_named else ()
    catalog = catalogs[0] if head is None else catalogs[1]
    clusters = frozenset(_clusters(found, catalog))
    return Place(sides[0], sides[1], found.kind, thing, clusters, spaces=spaces)


def _drivers(document: AnyDocument | None, catalog: Catalog) -> Iterator[str]:
    match document:
        case Driver():
            yield document.name
        case HardwareTier():
            yield document.spec.driver
        case SharingPolicy():
            # A policy that no pool lists may come to any driver.
            used = {devices.tier.driver.name for _, devices in _uses(catalog, document.name)}
            yield from used or catalog.drivers


def _clusters(document: AnyDocument, catalog: Catalog) -> Iterator[str]:
    """The clusters that a document is about."""
    match document:
        case Cluster():
            yield document.name
        case Tenant():
            yield from (cluster for space in document.spec.namespaces for cluster in space.clusters)
        case NodePool():
            yield document.spec.cluster
        case SharingPolicy():
            yield from (pool.cluster for pool, _ in _uses(catalog, document.name))
        case Driver():
            for pool, devices in _uses(catalog):
                if devices.tier.driver.name == document.name:
                    yield pool.cluster
        case HardwareTier() | Rollout():
            tier = document.name if isinstance(document, HardwareTier) else document.spec.tier
            for pool, devices in _uses(catalog):
                if devices.tier.name == tier:
                    yield pool.cluster


def _uses(catalog: Catalog, policy: str | None = None) -> Iterator[tuple[Pool, PoolDevices]]:
    """Every (pool, devices) of the catalog, or those that a policy is in force for."""
    for pool in catalog.pools.values():
        for devices in pool.devices:
            if policy is None or any(one.name == policy for one in devices.policies):
                yield pool, devices
