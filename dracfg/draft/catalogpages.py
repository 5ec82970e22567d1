"""A draft → Cluster, Driver and HardwareTier documents, as lines with the questions that concern them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dracfg.allocate.devices import Attribute, Device
from dracfg.draft.decisions import Decision
from dracfg.draft.draft import Draft
from dracfg.draft.facts import TypeFacts, facts
from dracfg.draft.holdings import spellings
from dracfg.draft.lines import Document, Line, head
from dracfg.draft.pools import DraftTier
from dracfg.draft.resources import Resource
from dracfg.draft.scalars import amount, flow_list, flow_map, scalar
from dracfg.kube.features import feature_matrix
from dracfg.link.presets import load_preset, preset_names


def cluster_documents(draft: Draft) -> Iterator[Document]:
    """The one Cluster. Without an engine nothing writes to the cluster."""
    cluster = draft.cluster
    engine = Decision(
        "how the output reaches the cluster",
        "a record does not tell; with `plain` somebody applies it by hand, and Argo CD or Flux need "
        "their repository and their service account here",
    )
    rights = Decision(
        "what namespaces without a tenant may claim",
        "`warn` refuses nothing while teams are still being named; change it to `deny` (the default) "
        "when they are, since no guarantee is proven before",
    )
    yield [
        *head("Cluster", cluster.name),
        Line(f'  kubernetes: "{cluster.minor}"', decisions=cluster.minor_questions),
        Line(
            f"  distribution: {cluster.distribution}",
            decisions=cluster.distribution_questions,
        ),
        *_gates(draft),
        Line("  gitops: {engine: plain}", decisions=(engine,)),
        Line("  unmanagedNamespaces: warn", decisions=(rights,)),
        *_inventory(draft),
    ]


def _inventory(draft: Draft) -> Iterator[Line]:
    """The record of the devices, where some are published."""
    found = draft.inventory
    if found is not None:
        mark = "# " if found.questions else ""
        note = "as recorded; take it anew when hardware changes" if not mark else ""
        yield Line(f"  {mark}inventory: {found.path}", note=note, decisions=found.questions)


def _gates(draft: Draft) -> Iterator[Line]:
    """Alpha gates that must be on, since the API server kept what is published under them."""
    samples = [tier.sample for tier in draft.hardware.tiers if tier.sample.published is not None]
    shared = [one for one in samples if one.published and one.published.allow_multiple_allocations]
    cut = [one for one in samples if one.published and one.published.consumes_counters]
    needed = {"DRAConsumableCapacity": shared, "DRAPartitionableDevices": cut}
    found = []
    for name, holdings in needed.items():
        gate = feature_matrix().gate(name)
        if holdings and gate is not None and gate.at(draft.cluster.minor).stage == "alpha":
            found.append((name, holdings[0].place))
    if not found:
        return
    question = Decision(
        f"whether alpha gates are accepted: {', '.join(name for name, _ in found)}",
        f"they are alpha in {draft.cluster.minor} and on, as devices are published with what they allow",
        tuple(place for _, place in found),
    )
    reason = scalar("devices are published with what it allows, to be reviewed")
    yield Line(f"  featureGates: {flow_map({name: 'true' for name, _ in found})}")
    yield Line("  allowAlpha:", decisions=(question,))
    yield from (Line(f"    {name}: {reason}") for name, _ in found)


def driver_documents(draft: Draft) -> Iterator[Document]:
    """One for each driver that has hardware or is asked for."""
    for driver, resources in draft.resources.items():
        known = driver in preset_names()
        if not known and not any(tier.make.driver == driver for tier in draft.hardware.tiers):
            continue
        lines = head("Driver", driver)
        if known:
            preset = load_preset(driver)
            lines.append(Line(f"  preset: {scalar(driver)}", note=preset.title))
            if preset.releases:
                release = Decision(
                    f"which release of {driver} is to run",
                    f"no record tells; the newest known one is {preset.releases[-1]}. Without "
                    "`version` its attributes are those of every release",
                )
                lines[-1] = Line(lines[-1].text, lines[-1].note, (release,))
        else:
            lines += _unknown_driver(driver, draft, resources)
        own = [one.name for one in resources if not _is_listed(one)]
        if own:
            names = flow_list(scalar(name) for name in own)
            lines.append(Line(f"  devicePlugin: {{resources: {names}}}"))
        yield lines


def _is_listed(resource: Resource) -> bool:
    """Whether the preset spells the name out."""
    return resource.preset is not None and resource.name in resource.preset.device_plugin.resources


def _unknown_driver(driver: str, draft: Draft, resources: Sequence[Resource]) -> Iterator[Line]:
    """What is published of a driver without a preset; else the plugin stands under its own domain."""
    published = [
        tier.sample.published
        for tier in draft.hardware.tiers
        if tier.make.driver == driver and tier.sample.published is not None
    ]
    if resources:
        yield Line(
            "  # No DRA driver is known for these names. The document is named by their domain.",
            decisions=(
                Decision(
                    f"whether there is a DRA driver for {', '.join(r.name for r in resources)}",
                    "none is known here, so the device plugin goes on to serve them; with a driver, "
                    "name it here and describe what it publishes",
                ),
            ),
        )
    attributes = {
        key: found.type for device in published for key, found in _attributes(device).items()
    }
    if attributes:
        yield Line(f"  attributes: {flow_map({k: attributes[k] for k in sorted(attributes)})}")
    capacities = sorted({key for device in published for key in device.capacity})
    if capacities:
        yield Line(f"  capacity: {flow_list(scalar(key) for key in capacities)}")


def _attributes(device: Device) -> Mapping[str, Attribute]:
    return {
        identifier if domain == device.driver else f"{domain}/{identifier}": found
        for domain, by_id in device.attributes.items()
        for identifier, found in by_id.items()
    }


def tier_documents(draft: Draft) -> Iterator[Document]:
    """One for each make of device."""
    for tier in draft.hardware.tiers:
        lines = [*head("HardwareTier", tier.name), Line(f"  driver: {scalar(tier.make.driver)}")]
        lines += _match(tier)
        if tier.make.resource:
            lines.append(Line(f"  legacyResource: {scalar(tier.make.resource)}"))
        yield lines


def _match(tier: DraftTier) -> Iterator[Line]:
    """What its devices publish, as far as it is known; and one of them as modelled."""
    make, sample = tier.make, tier.sample
    known = facts().types.get(make.driver, TypeFacts())
    attributes = {key: scalar(text) for key, text in _type(known, make.partition).items()}
    named = facts().named.get(make.driver)
    if named and make.resource:
        attributes[named] = scalar(make.resource)
    modelled, questions = dict(attributes), list[Decision]()
    name = facts().node(make.driver).attribute
    if sample.published is not None:
        identity = _identity(sample.published)
        attributes |= identity
        modelled |= identity
    elif name and (possible := spellings(sample.spelled)):
        first = scalar(possible[0])
        modelled[name] = first
        attributes[name] = (
            first
            if len(possible) == 1
            else f"{{oneOf: {flow_list(scalar(one) for one in possible)}}}"
        )
        if len(possible) > 1:
            questions.append(
                Decision(
                    f"how {make.driver} spells the product of {tier.name}",
                    f"the node's label says {sample.spelled}, where a hyphen may stand for a blank; a "
                    "recorded ResourceSlice shows it, and one value is enough then",
                    (sample.place,),
                )
            )
    elif known.whole or name:
        questions.append(
            Decision(
                f"which product {tier.name} is",
                "no label of the nodes names it, so every device of the driver matches",
                (sample.place,),
            )
        )
    capacity, note = _capacity(tier)
    if attributes:
        yield Line(f"  match: {{attributes: {flow_map(attributes)}}}", decisions=tuple(questions))
    if modelled and capacity:
        yield Line("  device:")
        yield Line(f"    attributes: {flow_map(modelled)}")
        yield Line(f"    capacity: {flow_map(capacity)}", note=note)
    elif modelled:
        yield Line(f"  device: {{attributes: {flow_map(modelled)}}}")


def _type(known: TypeFacts, partition: str) -> dict[str, str]:
    if not partition:
        return dict(known.whole)
    return {**known.parts, **({known.partition: partition} if known.partition else {})}


def _identity(device: Device) -> dict[str, str]:
    """Type and product as they are published."""
    found = {}
    for name in ("type", *facts().identities):
        attribute = device.attribute(name)
        if (
            attribute is not None
            and isinstance(attribute.value, str)
            and len(attribute.value) <= 64
        ):
            found[name] = scalar(attribute.value)
            if name != "type":
                break
    return found


def _capacity(tier: DraftTier) -> tuple[dict[str, str], str]:
    """What one device offers; labels tell of memory only."""
    sample = tier.sample
    if sample.published is not None:
        listed = sorted(sample.published.capacity.items())
        return {key: amount(str(fact.value)) for key, fact in listed}, ""
    if sample.memory is not None:
        return {"memory": amount(sample.memory)}, "by the node's label; the driver may publish less"
    return {}, ""
