"""Recorded DeviceClasses from elsewhere: SEL009 and OWN013.

Drivers' charts and people install classes beside those that dracfg emits. Of such a class is judged
whether it tests the driver first, as emitted ones do, and whether it answers to a name that another
class answers to; the rest belongs to somebody else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dracfg.allocate.claimobjects import CLASS, read_class
from dracfg.allocate.claims import DeviceClass
from dracfg.allocate.inventory import Inventory
from dracfg.cel import Program
from dracfg.check.gateview import state_of
from dracfg.check.lints.facts import DriverFacts
from dracfg.check.lints.finding import LintFinding
from dracfg.check.lints.lint import DECIDING_GATES, compile_selector, lint
from dracfg.check.lints.lookups import look_ups
from dracfg.check.places import place
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.link.catalog import Catalog, Cluster
from dracfg.link.classes import device_classes
from dracfg.link.presets import load_preset, preset_names
from dracfg.source.records import Record


def check_classes(
    catalog: Catalog,
    inventories: Mapping[str, Inventory],
    records: Mapping[str, Sequence[Record]],
) -> tuple[Diagnostic, ...]:
    """What is wrong with the classes that are recorded beside the slices of each cluster.

    A class that can't be read is passed over.
    """
    found: dict[Diagnostic, None] = {}
    for name, inventory in inventories.items():
        cluster = catalog.clusters[name]
        classes = tuple(_recorded(cluster, records.get(name, ())))
        for known in classes:
            found.update(dict.fromkeys(_untested(catalog, cluster, inventory, known)))
        found.update(dict.fromkeys(_answer_to_one_name(catalog, cluster, classes)))
    return tuple(found)


def _recorded(cluster: Cluster, records: Sequence[Record]) -> Iterator[DeviceClass]:
    for item in (item for record in records for item in record.objects):
        known = read_class(item, cluster.minor)[0] if item.data["kind"] == CLASS else None
        if known is not None:
            yield known


def _answer_to_one_name(
    catalog: Catalog, cluster: Cluster, classes: Sequence[DeviceClass]
) -> Iterator[Diagnostic]:
    """OWN013: pods that ask by the name get devices of whichever class is newer."""
    emitted = {plan.name: plan for plan in device_classes(catalog, cluster)}
    holders = {
        plan.extended_name: (name, place(plan.tier.document))
        for name, plan in emitted.items()
        if plan.extended_name is not None
    }
    for known in classes:
        name = known.extended_resource_name
        if name is None or known.origin is None or known.name in emitted:
            continue
        span = known.origin.span("spec", "extendedResourceName")
        other, elsewhere = holders.setdefault(name, (known.name, span))
        if other != known.name:
            yield diagnose(
                "OWN013",
                span,
                f"classes {other} and {known.name} on {cluster.name} both answer to {name}",
                related=[Related(elsewhere, other)],
                help="take the name off one of the two, by the chart values of what installs it",
            )


def _untested(
    catalog: Catalog, cluster: Cluster, inventory: Inventory, known: DeviceClass
) -> Iterator[Diagnostic]:
    """SEL009: the first selector of a class is put to the devices of every driver."""
    if not known.selectors or known.origin is None:
        return
    said = cluster.document.spec.feature_gates
    gates = frozenset(
        gate for gate in DECIDING_GATES if said.get(gate, state_of(gate, cluster.minor).default)
    )
    text = known.selectors[0]
    driver = _meant(catalog, inventory, text, compile_selector(text, cluster.minor, gates))
    for one in lint(text, driver=driver, minor=cluster.minor, gates=gates, is_first=True):
        if one.code == "SEL009":
            others = (
                device
                for device in inventory.devices
                if driver is None or device.driver != driver.name
            )
            put_to = next(others, None)
            yield diagnose(
                "SEL009",
                known.origin.span("spec", "selectors", 0, "cel", "expression"),
                f"class {known.name} on {cluster.name}: {one.message}",
                label=one.label,
                related=[]
                if put_to is None
                else [Related(put_to.origin.span(), f"a device of {put_to.driver}")],
                help=one.help,
            )


def _meant(
    catalog: Catalog, inventory: Inventory, text: str, outcome: Program | LintFinding
) -> DriverFacts | None:
    """The driver whose names an expression reads; None where they are of several, or of none."""
    if isinstance(outcome, LintFinding) or outcome.tree is None:
        return None
    read = {look_up.read.domain for look_up in look_ups(outcome.tree, text, None)}
    names = read & {*catalog.drivers, *inventory.drivers, *preset_names()}
    if len(names) != 1:
        return None
    (name,) = names
    if name in catalog.drivers:
        return DriverFacts.of_driver(catalog.drivers[name])
    if name in preset_names():
        return DriverFacts.of_preset(load_preset(name))
    return DriverFacts(name, {}, frozenset())
