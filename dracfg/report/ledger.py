"""The ledger of an audit → devices by node pool, each with who holds it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from dracfg.audit.ledger import Entry, Ledger, Share
from dracfg.dataclass import dataclass
from dracfg.link.catalog import Cluster
from dracfg.report.document import CapacityUse, DeviceUse, Holder, PoolLedger
from dracfg.source.records import Record
from dracfg.source.times import format_time


@dataclass(frozen=True, slots=True, eq=False)
class PoolEntries:
    """Entries of a ledger whose devices stand in one node pool and are of one tier."""

    cluster: str
    pool: str | None
    tier: str | None
    entries: tuple[Entry, ...]

    @property
    def name(self) -> str:
        """For people: `a100-east on prod-east, a100-40g`."""
        tier = f", {self.tier}" if self.tier is not None else ""
        return f"{self.pool or 'nodes of no pool'} on {self.cluster}{tier}"


def by_pool(cluster: Cluster, ledger: Ledger, records: Iterable[Record]) -> Iterator[PoolEntries]:
    """The ledger of a cluster pool by pool and tier by tier; what no pool has stands last."""
    labels = dict(_labels(records))
    found: dict[tuple[str | None, str | None], list[Entry]] = {}
    for entry in ledger.entries:
        found.setdefault((_pool(cluster, entry, labels), entry.tier), []).append(entry)
    for pool, tier in sorted(found, key=_last_where_unknown):
        listed = sorted(found[pool, tier], key=lambda entry: (entry.node or "", entry.id))
        yield PoolEntries(cluster.name, pool, tier, tuple(listed))


def pool_ledger(found: PoolEntries, at: datetime | None) -> PoolLedger:
    """The devices of a pool; `at` is the moment that they were judged at."""
    moment = None if at is None else format_time(at)
    return PoolLedger(
        found.cluster, found.pool, found.tier, moment, tuple(map(_device, found.entries))
    )


def _last_where_unknown(place: tuple[str | None, str | None]) -> tuple[bool, str, bool, str]:
    pool, tier = place
    return pool is None, pool or "", tier is None, tier or ""


def _labels(records: Iterable[Record]) -> Iterator[tuple[str, Mapping[str, str]]]:
    for record in records:
        for thing in record.objects:
            if thing.data.get("kind") == "Node":
                metadata = thing.data["metadata"]
                yield metadata["name"], metadata.get("labels") or {}


def _pool(cluster: Cluster, entry: Entry, labels: Mapping[str, Mapping[str, str]]) -> str | None:
    """The node's pool by its recorded labels; else the only one that holds the tier."""
    known = labels.get(entry.node or "")
    if known is not None:
        pool = cluster.pool_of(known)
        return None if pool is None else pool.name
    holding = {pool.name for pool, held in cluster.offers() if held.tier.name == entry.tier}
    return holding.pop() if len(holding) == 1 else None


def _device(entry: Entry) -> DeviceUse:
    driver, slices, device = entry.id
    return DeviceUse(
        node=entry.node,
        slices=slices,
        device=device,
        driver=driver,
        tier=entry.tier,
        state=entry.state,
        reason=entry.reason,
        capacity=tuple(
            CapacityUse(key, str(one.total), str(one.used), str(one.free), str(one.fragmented))
            for key, one in entry.capacity.items()
        ),
        holders=tuple(map(_holder, entry.shares)),
    )


def _holder(share: Share) -> Holder:
    consumed = {key: str(amount) for key, amount in share.consumed.items()}
    return Holder(share.claim, share.tenant, share.device_class, consumed)
