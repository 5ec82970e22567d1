"""Drivers in linked form: what a release publishes, enforces and needs, and where that is known from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from decimal import Decimal

from dracfg.link.driver import Driver
from dracfg.link.exposure import stated_versions
from dracfg.link.presetdata import Answer, AttributeFact, ModeFact, RequestPolicyFact
from dracfg.link.presets import Preset
from dracfg.link.published import chart_values
from dracfg.show.document import Document, linked, plain, present


def driver_document(driver: Driver) -> Document:
    """`kind: LinkedDriver`: preset and catalog put together, for the release in use.

    `source` is `preset` or `catalog`. For a release that the preset does not list everything
    stands that was never dropped, and `releaseKnown` is false.
    """
    spec, preset = driver.document.spec, driver.preset
    return linked(
        "LinkedDriver",
        driver.document,
        title=preset.title if preset is not None else None,
        preset=preset.driver if preset is not None else None,
        version=spec.version,
        releaseKnown=_release_known(driver),
        draDriver=driver.has_dra_driver,
        attributes=[*_attributes(driver)],
        capacity=[*_capacities(driver)],
        dropped=[*_dropped(driver)],
        shareable={
            "devices": driver.shareable,
            "source": "catalog" if spec.shareable is not None or preset is None else "preset",
            **_mode(preset.shareable if preset is not None else None),
        },
        counters=_mode(preset.counters if preset is not None else None),
        gates=[*_gates(driver)],
        kubernetes=_kubernetes(preset),
        configs=[*_configs(driver)],
        devicePlugin=[*_plugin_resources(driver)],
        webhook=None if spec.webhook is None else plain(spec.webhook),
        deviceMetadata=spec.device_metadata,
        metadataVersions=list(stated_versions(driver)),
        values=_chart_values(driver),
        facts=[*_facts(preset)],
        presetSource=None
        if preset is None
        else f"{preset.source.repository}@{preset.source.commit}",
        notes=None if preset is None else list(preset.notes),
    )


def _release_known(driver: Driver) -> bool:
    version, preset = driver.document.spec.version, driver.preset
    return version is not None and preset is not None and preset.release_index(version) is not None


def _attributes(driver: Driver) -> Iterator[Document]:
    version, preset = driver.document.spec.version, driver.preset
    facts = {} if preset is None else preset.attributes_at(version)
    own = {driver.spelling(key) for key in driver.document.spec.attributes}
    for name, kind in driver.attributes.items():
        fact = facts.get(name)
        said = {"name": name, "type": kind, "source": "catalog" if name in own else "preset"}
        yield {**said, **({} if fact is None else _attribute_facts(fact))}


def _attribute_facts(fact: AttributeFact) -> Document:
    return present(
        since=fact.since,
        deviceTypes=list(fact.device_types) or None,
        gate=fact.gate,
        kubernetesGates=list(fact.kubernetes_gates) or None,
        identity=fact.identity or None,
        optional=fact.optional or None,
        values=list(fact.values) or None,
        note=fact.note,
    )


def _capacities(driver: Driver) -> Iterator[Document]:
    version, preset = driver.document.spec.version, driver.preset
    facts = {} if preset is None else preset.capacities_at(version)
    for name in driver.capacities:
        fact = facts.get(name)
        yield present(
            name=name,
            unit=driver.unit(name) or "unknown",
            enforces=driver.enforcement(name),
            source="catalog" if fact is None else "preset",
            since=None if fact is None else fact.since,
            deviceTypes=None if fact is None else list(fact.device_types) or None,
            gate=None if fact is None else fact.gate,
            requestPolicies=None
            if fact is None
            else [_stated(policy) for policy in fact.request_policies] or None,
            note=None if fact is None else fact.note,
        )


def _dropped(driver: Driver) -> Iterator[Document]:
    version, preset = driver.document.spec.version, driver.preset
    if version is None or preset is None:
        return
    replaced = {name: fact.replaced_by for name, fact in preset.attributes.items()}
    for name, release in preset.dropped_at(version).items():
        yield present(name=name, since=release, replacedBy=replaced.get(name))


def _mode(fact: ModeFact | None) -> Document:
    return {"when": "unknown"} if fact is None else _stated(fact)


def _gates(driver: Driver) -> Iterator[Document]:
    """The driver's own gates: those that its release has, and those that the catalog names."""
    version, preset = driver.document.spec.version, driver.preset
    said = driver.document.spec.feature_gates
    stages = {} if preset is None else preset.gates_at(version)
    for name in dict.fromkeys((*stages, *said)):
        fact = None if preset is None else preset.driver_gates.get(name)
        yield present(
            name=name,
            stage=stages.get(name, "unknown"),
            enabled=said.get(name, fact is not None and fact.default),
            source="catalog" if name in said else "preset",
            excludes=None if fact is None else list(fact.excludes) or None,
            requires=None if fact is None else list(fact.requires) or None,
            note=None if fact is None else fact.note,
        )


def _kubernetes(preset: Preset | None) -> Document | None:
    if preset is None:
        return None
    fact = preset.kubernetes
    gates = {use: list(names) for use, names in fact.gates.items()}
    return present(min=fact.min, api=fact.api, gates=gates or None, note=fact.note)


def _configs(driver: Driver) -> Iterator[Document]:
    for config in driver.document.spec.configs:
        yield present(apiVersion=config.api_version, kind=config.kind, source="catalog")
    for known in driver.preset.configs if driver.preset is not None else ():
        yield present(
            apiVersion=known.api_version,
            kind=known.kind,
            source="preset",
            since=known.since,
            deviceTypes=list(known.device_types) or None,
            allowedIn=list(known.allowed_in) or None,
        )


def _plugin_resources(driver: Driver) -> Iterator[str]:
    own = driver.document.spec.device_plugin
    if own is not None:
        yield from own.resources
    elif driver.preset is not None:
        yield from (*driver.preset.device_plugin.resources, *driver.preset.device_plugin.patterns)


def _chart_values(driver: Driver) -> Document:
    """Chart values by dotted path, numbers with a fraction as text; those without a default left out."""
    found = {path: value for path, value in chart_values(driver).items() if value is not None}
    return {
        path: str(value) if isinstance(value, Decimal | float) else value
        for path, value in found.items()
    }


def _facts(preset: Preset | None) -> Iterator[Document]:
    for name, fact in preset.facts.items() if preset is not None else ():
        yield {"name": name, **_stated(fact)}


def _stated(fact: Answer | ModeFact | RequestPolicyFact) -> Document:
    """A fact of a preset under the preset's own keys, without what it leaves open."""
    found: Document = {}
    for known in fields(fact):
        value = getattr(fact, known.name)
        if value is not None and value != () and value != {}:
            found[_camel(known.name)] = list(value) if isinstance(value, tuple) else value
    return found


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.title, rest))
