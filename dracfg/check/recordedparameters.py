"""INV054: opaque parameters of recorded claims, templates and classes, against what drivers read.

Parameters of the catalog are for `opaque`. Of a driver that nothing is known of, nothing is judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from dracfg.allocate.claimobjects import CLAIM, CLASS, TEMPLATE
from dracfg.allocate.shape import GROUP
from dracfg.check.parameters import ParameterFault, UnusableSchema, parameter_faults
from dracfg.check.rule import suggestion
from dracfg.diagnostics import Diagnostic, Span, diagnose
from dracfg.link.catalog import Catalog
from dracfg.link.driver import Driver
from dracfg.link.presets import load_preset, preset_names
from dracfg.lower.classes import plain_map
from dracfg.source.fields import mapping, maps, text
from dracfg.source.records import Record, RecordedObject, Steps

_CONFIG: Mapping[str, tuple[str, ...]] = {
    CLAIM: ("spec", "devices", "config"),
    TEMPLATE: ("spec", "spec", "devices", "config"),
    CLASS: ("spec", "config"),
}


class _Reads(NamedTuple):
    """A kind of parameters that a driver reads; `places` are empty where it reads it anywhere."""

    api_version: str | None
    kind: str | None
    schema: Mapping[str, Any] | None
    places: tuple[str, ...] = ()


def check_parameters(records: Iterable[Record], catalog: Catalog) -> tuple[Diagnostic, ...]:
    """What drivers would refuse of the parameters in dumps or manifests, each once.

    A Driver document says what its driver reads, else the preset of that name.
    """
    found = dict.fromkeys(
        fault
        for record in records
        for item in record.objects
        if item.data["kind"] in _CONFIG and _group(item) == GROUP
        for fault in _faults(item, catalog)
    )
    return tuple(found)


def _group(item: RecordedObject) -> str:
    return str(item.data.get("apiVersion")).rpartition("/")[0]


def _faults(item: RecordedObject, catalog: Catalog) -> Iterator[Diagnostic]:
    kind = item.data["kind"]
    for number, entry in enumerate(maps(item.data, *_CONFIG[kind])):
        driver = text(entry, "opaque", "driver") or ""
        known = _known(driver, catalog)
        if known:
            steps: Steps = (*_CONFIG[kind], number, "opaque", "parameters")
            parameters = mapping(entry, "opaque", "parameters")
            yield from _judge(item, steps, driver, parameters, known)


def _known(name: str, catalog: Catalog) -> tuple[_Reads, ...]:
    """The kinds that the driver of that name reads; empty where that is not known."""
    driver = catalog.drivers.get(name)
    own = () if driver is None else tuple(_own(driver))
    if driver is not None:
        preset = driver.preset
    else:
        preset = load_preset(name) if name in preset_names() else None
    facts = () if preset is None else preset.configs
    return own + tuple(
        _Reads(one.api_version, one.kind, one.schema, one.allowed_in) for one in facts
    )


def _own(driver: Driver) -> Iterator[_Reads]:
    for one in driver.document.spec.configs:
        yield _Reads(
            one.api_version, one.kind, None if one.parameters is None else plain_map(one.parameters)
        )


def _judge(
    item: RecordedObject,
    steps: Steps,
    driver: str,
    parameters: Mapping[str, Any],
    known: tuple[_Reads, ...],
) -> Iterator[Diagnostic]:
    head = parameters.get("apiVersion"), parameters.get("kind")
    reads = next((one for one in known if (one.api_version, one.kind) == head), None)
    name = " ".join(str(part) for part in head if part) or "(no kind)"
    if reads is None:
        help_, fix = suggestion(str(head[1] or ""), [one.kind for one in known if one.kind])
        yield _finding(
            item.span(*steps, *(("kind",) if head[1] else ())),
            item,
            f"{driver} reads no parameters of the kind {name}",
            ParameterFault((), "", found=name, expected=(fix,) if fix else ()),
            help_,
        )
        return
    place = "class" if item.data["kind"] == CLASS else "claim"
    if reads.places and place not in reads.places:
        yield _finding(
            item.span(*steps, "kind"),
            item,
            f"{driver} does not read {name} from a {place}",
            ParameterFault((), "", found=name),
            f"put it into the {'claim' if place == 'class' else 'class'}",
        )
    faults = () if reads.schema is None else parameter_faults(parameters, reads.schema)
    if isinstance(faults, UnusableSchema):
        return
    for fault in faults:
        where = ".".join(str(step) for step in fault.path) or "the parameters"
        near = suggestion(str(fault.found), fault.expected)[0] if fault.expected else None
        yield _finding(
            item.span(*steps, *fault.path, key=fault.at_key),
            item,
            f"{driver} does not take these {head[1] or 'parameters'}: {where} {fault.message}",
            fault,
            near,
        )


def _finding(
    span: Span, item: RecordedObject, message: str, fault: ParameterFault, help_: str | None
) -> Diagnostic:
    return diagnose(
        "INV054",
        span,
        message,
        label=f"in {item.data['kind']} {text(item.data, 'metadata', 'name') or '(no name)'}",
        found=None if fault.found is None else str(fault.found),
        expected=", ".join(fault.expected) or None,
        help=help_ or "correct it: the driver refuses the claim when its pod starts",
    )
