"""Fields of a DeviceClass → the tier's conditions and the policy's part that they come from."""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.link.catalog import Catalog
from dracfg.link.classes import ClassPlan, device_classes
from dracfg.lower.artifact import Origin, origin_of
from dracfg.model.sharing import Consumable, Partitioned
from dracfg.show.subjects import Emitted

Steps = tuple[str | int, ...]


def class_origins(catalog: Catalog, emitted: Emitted, steps: Steps) -> tuple[Origin, ...]:
    """A selector comes from each condition in it; retired classes have no finer origins."""
    name = emitted.artifact.object["metadata"]["name"]
    plans = () if emitted.cluster is None else device_classes(catalog, emitted.cluster)
    plan = next((plan for plan in plans if plan.name == name), None)
    if plan is None:
        return ()
    tier = plan.tier.document
    match steps:
        case ("metadata", "name"):
            return (origin_of(tier, "metadata", "name"), *part_origins(plan))
        case ("metadata", "labels", "dracfg.dev/tier"):
            return (origin_of(tier, "metadata", "name"),)
        case ("spec", "selectors", 0, *_):
            return tuple(_structured(plan))
        case ("spec", "selectors", int(i), *_):
            return (_raw(plan, i - 1),)
        case ("spec", "config", *_) if plan.policy.document is not None:
            return (origin_of(plan.policy.document, "spec", "config"),)
        case ("spec", "extendedResourceName"):
            return (
                origin_of(tier, "spec", "legacyResource"),
                origin_of(tier, "spec", "takesOverLegacyName"),
            )
        case _:
            return ()


def part_origins(plan: ClassPlan) -> tuple[Origin, ...]:
    """The size or partition that a class hands out; the policy itself where it has no parts."""
    document = plan.policy.document
    if document is None:
        return ()
    position = plan.policy.parts.index(plan.part)
    match plan.policy.spec:
        case Consumable():
            return (origin_of(document, "spec", "sizes", position),)
        case Partitioned():
            return (origin_of(document, "spec", "partitions", position),)
        case _:
            return (origin_of(document, "metadata", "name"),)


def _structured(plan: ClassPlan) -> Iterator[Origin]:
    """The driver, then each condition; a partition's conditions stand in for those of the tier."""
    tier, partition = plan.tier.document, plan.part.partition
    yield origin_of(tier, "spec", "driver")
    if plan.sharing_test is not None and plan.policy.document is not None:
        yield origin_of(plan.policy.document, "spec", "mode")
    match = tier.spec.match
    replaced = partition.match.attributes if partition is not None else {}
    for key in match.attributes:
        if key not in replaced:
            yield origin_of(tier, "spec", "match", "attributes", key)
    for key in match.capacity if partition is None else ():
        yield origin_of(tier, "spec", "match", "capacity", key)
    if partition is not None:
        for origin in part_origins(plan):
            for key in partition.match.attributes:
                yield origin.at("match", "attributes", key)
            for key in partition.match.capacity:
                yield origin.at("match", "capacity", key)


def _raw(plan: ClassPlan, position: int) -> Origin:
    """CEL that was written by hand: the tier's expressions first, then the partition's."""
    own = len(plan.tier.document.spec.match.cel)
    if position < own:
        return origin_of(plan.tier.document, "spec", "match", "cel", position)
    (part,) = part_origins(plan)
    return part.at("match", "cel", position - own)
