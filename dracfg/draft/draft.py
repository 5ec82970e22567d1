"""A recording → everything that a draft repository says, before it is written down."""

from __future__ import annotations

from collections.abc import Mapping

from dracfg.dataclass import dataclass
from dracfg.draft.asks import Ask, asked_names, read_asks
from dracfg.draft.cluster import DraftCluster, read_cluster
from dracfg.draft.decisions import Decision
from dracfg.draft.facts import facts
from dracfg.draft.inventory import DraftInventory, read_inventory
from dracfg.draft.joints import Joint, read_joints
from dracfg.draft.needs import Need, place_asks, read_needs
from dracfg.draft.pools import Hardware, read_hardware
from dracfg.draft.recording import Recording
from dracfg.draft.resources import Names, Resource
from dracfg.draft.scalars import label
from dracfg.draft.verdicts import Verdict, read_verdicts
from dracfg.migrate.facts import facts as plugin_facts


@dataclass(frozen=True, slots=True)
class Draft:
    """`resources` are all legacy names by the driver that they belong to. `open` has no line of its own."""

    cluster: DraftCluster
    hardware: Hardware
    resources: Mapping[str, tuple[Resource, ...]]
    asks: tuple[Ask, ...]
    needs: tuple[Need, ...]
    joints: tuple[Joint, ...]
    verdicts: tuple[Verdict, ...]
    open: tuple[Decision, ...]
    inventory: DraftInventory | None

    def by_claims(self, tier: str) -> bool:
        """Whether claims are or become the way to devices of a tier."""
        verdict = self.verdict_of(tier)
        return (verdict is not None and verdict.moves) or any(
            part.owner == "dra"
            for pool in self.hardware.pools_of(tier)
            for part in pool.parts
            if part.tier == tier
        )

    def verdict_of(self, tier: str) -> Verdict | None:
        """What becomes of a tier; None where no plugin serves it."""
        return next((one for one in self.verdicts if one.tier == tier), None)


def draft_of(recording: Recording, name: str, server: str | None = None) -> Draft:
    """The draft of one cluster. `name` is made a DNS label; `server` is the API server's version."""
    names = Names(recording.plugins.sriov, asked_names(recording))
    cluster = read_cluster(label(name, "cluster"), recording, server)
    hardware = read_hardware(recording, names)
    asks = read_asks(recording, names)
    placed = place_asks(asks, hardware, recording)
    needs = read_needs(placed, hardware, recording)
    verdicts = read_verdicts(hardware, placed, needs, names, cluster.recorded)
    return Draft(
        cluster,
        hardware,
        _resources(hardware, asks, names),
        asks,
        needs,
        read_joints(placed),
        verdicts,
        (
            *_platform(asks),
            *_unserved(placed.unserved),
            *_not_taken(recording, hardware),
            *_foreign(recording),
            *_halfway(hardware),
            *_unread(recording),
        ),
        read_inventory(recording, hardware, cluster),
    )


def _resources(
    hardware: Hardware, asks: tuple[Ask, ...], names: Names
) -> dict[str, tuple[Resource, ...]]:
    found: dict[str, dict[str, Resource]] = {}
    listed = [ask.resource for ask in asks]
    for tier in hardware.tiers:
        resource = names.resource(tier.make.resource) if tier.make.resource else None
        listed += [resource] if resource is not None else []
        found.setdefault(tier.make.driver, {})
    for one in listed:
        plain = one.name.removesuffix(plugin_facts().shared_suffix)
        found.setdefault(one.driver, {}).setdefault(plain, one)
    return {
        driver: tuple(known[name] for name in sorted(known))
        for driver, known in sorted(found.items())
    }


def _platform(asks: tuple[Ask, ...]) -> tuple[Decision, ...]:
    """Namespaces that no tenant can have, and whose pods ask for devices."""
    by_namespace: dict[str, list[Ask]] = {}
    for ask in asks:
        if facts().is_platform(ask.namespace) and ask.pods:
            by_namespace.setdefault(ask.namespace, []).append(ask)
    return tuple(
        Decision(
            f"where the work of namespace {namespace} goes",
            f"{len(listed)} of its workloads ask for devices, and no tenant can have that namespace: "
            "move them to one of a tenant's, or list it in `exemptNamespaces` with a reason",
            tuple(ask.place for ask in listed[:3]),
        )
        for namespace, listed in sorted(by_namespace.items())
    )


def _unserved(asks: tuple[Ask, ...]) -> tuple[Decision, ...]:
    by_name: dict[str, list[Ask]] = {}
    for ask in asks:
        by_name.setdefault(ask.resource.name, []).append(ask)
    return tuple(
        Decision(
            f"which nodes serve {name}",
            f"{len(listed)} workloads ask for it and no recorded Node has it: record the nodes, or "
            "write tier and pool by hand; nothing is promised of it until then",
            tuple(ask.place for ask in listed[:3]),
        )
        for name, listed in sorted(by_name.items())
    )


def _not_taken(recording: Recording, hardware: Hardware) -> tuple[Decision, ...]:
    """Configuration that no node shows."""
    shared = {policy.replicas.resource for policy in hardware.policies} | {
        tier.make.resource
        for tier in hardware.tiers
        for pool in hardware.pools_of(tier.name)
        if any(part.tier == tier.name and part.replicas > 1 for part in pool.parts)
    }
    return tuple(
        Decision(
            f"whether {one.resource} is shared by {one.count}",
            "the configuration says so, and no recorded Node that serves it shows replicas: no policy is "
            f"written. It would be mode timeSliced with `replicas: {one.count}`, or where the driver "
            f"counts shares, consumable with `shares: {one.count}`",
            (one.place,),
        )
        for one in recording.plugins.replicas
        if one.resource not in shared
    )


def _foreign(recording: Recording) -> tuple[Decision, ...]:
    """Classes that somebody else made reach the same devices."""
    if not recording.classes:
        return ()
    listed = [str(item.data.get("metadata", {}).get("name", "")) for item in recording.classes]
    return (
        Decision(
            f"what becomes of the {len(listed)} DeviceClasses that exist",
            f"{', '.join(sorted(listed)[:8])}: claims of them reach the same devices as the catalog's "
            "own classes, and the guard policies refuse classes that no tenant is entitled to",
            tuple(str(item.span("metadata", "name")) for item in recording.classes[:3]),
        ),
    )


def _halfway(hardware: Hardware) -> tuple[Decision, ...]:
    """Devices of one kind of which some nodes are on claims already."""
    return tuple(
        Decision(
            f"how {tier.name} and {twin.name} become one tier",
            "they are the same devices, some under a device plugin and some on claims. One tier with both "
            "needs a Rollout that stands where they are, and limits that are split; here they are two",
            (tier.sample.place, twin.sample.place),
        )
        for tier in hardware.tiers
        if (twin := hardware.twin(tier)) is not None
    )


def _unread(recording: Recording) -> tuple[Decision, ...]:
    """Slices with faults: what they publish may be missing from the draft."""
    faults = recording.unread
    if not faults:
        return ()
    return (
        Decision(
            "which devices are published in slices that could not be read",
            f"{faults[0].message}; what a slice says that has such a fault is not in the draft",
            tuple(str(fault.span) for fault in faults[:3] if fault.span is not None),
        ),
    )
