"""The empty nodes that joint claims are put to: as recorded, else as the catalog describes them.

Nodes in quarantine, and of pools that let nothing new in, are left out. Which of the recorded nodes
are the spare ones is not said, so a proof has to hold whichever of them are missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dracfg.allocate.inventory import Inventory
from dracfg.allocate.modelled import modelled_inventory
from dracfg.allocate.nodes import Node
from dracfg.dataclass import dataclass
from dracfg.link.catalog import Cluster, Pool
from dracfg.link.claims import ClaimPlan
from dracfg.lower.quarantine import quarantined
from dracfg.plan.site import Site, belongs, recorded_site
from dracfg.plan.supply import withheld


@dataclass(frozen=True, slots=True, eq=False)
class Stand:
    """A node, and how many nodes it stands for: `whole` of them as described, `most` at best.

    The two differ where single devices of modelled nodes are in quarantine.
    """

    node: Node
    whole: int = 1
    most: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class JointSite:
    """The nodes for one kind of claim; `spare` of them are promised to nobody."""

    inventory: Inventory
    stands: tuple[Stand, ...]
    spare: int
    modelled: bool


@dataclass(frozen=True, slots=True, eq=False)
class Grounds:
    """What is known of one cluster's devices, for any claim."""

    cluster: Cluster
    recorded: Site | None
    model: Inventory
    counts: Mapping[str, int]

    @property
    def inventory(self) -> Inventory:
        return self.model if self.recorded is None else self.recorded.inventory

    def pool(self, node: str) -> Pool | None:
        """The pool of a node; None where its labels are not recorded."""
        if self.recorded is None:
            return next(pool for pool in self.cluster.pools if pool.name == node)
        known = self.inventory.nodes.get(node)
        if known is None or known.labels is None:
            return None
        return next((pool for pool in self.cluster.pools if belongs(known, pool)), None)

    def serving(self, plan: ClaimPlan) -> tuple[Pool, ...]:
        """The pools that the catalog says hold every device of the claim."""
        return tuple(pool for pool in self.cluster.pools if _serves(pool, plan))

    def site(self, plan: ClaimPlan) -> JointSite:
        """The nodes that may carry the claim."""
        pools = self.serving(plan)
        if self.recorded is not None:
            return _recorded(self.cluster, self.recorded, pools)
        stands = tuple(_modelled(self.cluster, self.model, pools))
        return JointSite(self.model, stands, 0, True)


def grounds(cluster: Cluster, inventory: Inventory | None) -> Grounds:
    """The recorded nodes, or where none are recorded one modelled node for each pool."""
    if inventory is not None and inventory.pools:
        site = recorded_site(cluster, inventory, {})
        return Grounds(cluster, site, site.inventory, {})
    modelled = modelled_inventory(cluster)
    return Grounds(cluster, None, modelled.inventory, modelled.nodes)


def _serves(pool: Pool, plan: ClaimPlan) -> bool:
    """Whether a pool hands out devices for each request of a claim, by one alternative at least."""
    return all(
        any(
            devices.tier is ask.plan.tier
            and pool.owner(devices.tier.driver) == "dra"
            and any(policy is ask.plan.policy for policy in devices.policies)
            for ask in request.asks
            for devices in pool.devices
        )
        for request in plan.requests
    )


def _recorded(cluster: Cluster, site: Site, pools: tuple[Pool, ...]) -> JointSite:
    """Without labels any node may be one of any pool, and a spare one of any."""
    open_ = [node for node in site.nodes if node.name not in site.kept_out]
    known = all(node.labels is not None for node in open_)
    if known:
        open_ = [node for node in open_ if any(belongs(node, pool) for pool in pools)]
    spare = sum(_spare(cluster, pool) for pool in (pools if known else cluster.pools))
    return JointSite(site.inventory, tuple(map(Stand, open_)), spare, False)


def _spare(cluster: Cluster, pool: Pool) -> int:
    return max((withheld(cluster, pool, one.tier).spare for one in pool.devices), default=0)


def _modelled(cluster: Cluster, model: Inventory, pools: tuple[Pool, ...]) -> Iterator[Stand]:
    for pool in pools:
        out = [withheld(cluster, pool, devices.tier) for devices in pool.devices]
        most = pool.document.spec.nodes - max((one.nodes for one in out), default=0)
        touched = sum(quarantined(cluster, pool).devices.values())
        spared = max((one.spare for one in out), default=0)
        whole = most - max(touched - spared, 0)
        if most > 0:
            yield Stand(model.nodes.get(pool.name, Node(pool.name)), max(whole, 0), most)
