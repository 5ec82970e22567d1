"""Rules on opaque parameters: whether the driver reads them, and with what it has been switched on.

The API server takes any JSON; a driver refuses what it does not know only when a pod starts. So
parameters are held against the driver's own schema here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, Literal

from dracfg.check.gatesettings import Setting, gate_entry, gate_settings
from dracfg.check.parameters import ParameterFault, UnusableSchema, parameter_faults
from dracfg.check.places import key_place, place
from dracfg.check.rule import listed, suggestion
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.link.catalog import Catalog, Pool, Tenant
from dracfg.link.driver import Driver
from dracfg.link.presetdata import MAIN, ConfigFact
from dracfg.link.writers import writers
from dracfg.lower.classes import plain_map
from dracfg.model.driver import OpaqueConfig
from dracfg.model.sharing import Parameters
from dracfg.model.tenant import Profile, ProfileConfig

HEAD = {"apiVersion": "api_version", "kind": "kind"}


@dataclass(frozen=True, eq=False)
class _Config:
    """Parameters as somebody wrote them for a driver, in a policy (class) or a profile (claim).

    `pools` are those with devices for which the driver reads them.
    """

    driver: Driver
    written: Parameters | ProfileConfig
    stands_in: Literal["class", "claim"]
    pools: tuple[Pool, ...]

    @property
    def name(self) -> str:
        return " ".join(filter(None, (self.written.api_version, self.written.kind))) or "(no kind)"

    @property
    def parameters(self) -> dict[str, Any]:
        """What the driver gets to read."""
        head = {key: getattr(self.written, field) for key, field in HEAD.items()}
        values: dict[str, Any] = plain_map(self.written.values)
        return {key: value for key, value in head.items() if value is not None} | values

    def at(self, *steps: str | int) -> Span:
        """The place of a value inside the parameters."""
        return place(self.written, *_written(steps))

    def at_key(self, *steps: str | int) -> Span:
        return key_place(self.written, *_written(steps))


def check_opaque(catalog: Catalog) -> tuple[Diagnostic, ...]:
    """Findings on the parameters of policies and profiles: OBJ013, 014, 017-019, 022 and VER010."""
    found: dict[Diagnostic, None] = {}
    for driver in catalog.drivers.values():
        found.update(dict.fromkeys(_own_schemas(driver)))
    for config in _configs(catalog):
        found.update(dict.fromkeys(_judge(config)))
    return tuple(found)


def _configs(catalog: Catalog) -> Iterator[_Config]:
    """Every config with each driver that it reaches; a policy's may reach several."""
    reached: dict[tuple[str, str], tuple[Driver, Parameters, list[Pool]]] = {}
    for pool in catalog.pools.values():
        for devices in pool.devices:
            driver = devices.tier.driver
            for policy in devices.policies:
                config = policy.spec.config
                if config is not None and pool.owner(driver) == "dra":
                    name = policy.name, driver.name
                    reached.setdefault(name, (driver, config, []))[2].append(pool)
    for _, (driver, config, pools) in sorted(reached.items()):
        yield _Config(driver, config, "class", tuple(pools))
    for tenant in writers(catalog, "config"):
        for profile in tenant.document.spec.profiles:
            for written in profile.config:
                known = catalog.drivers.get(written.driver)
                if known is not None:
                    here = _claimed_pools(tenant, profile, written, known)
                    yield _Config(known, written, "claim", tuple(here))


def _claimed_pools(
    tenant: Tenant, profile: Profile, written: ProfileConfig, driver: Driver
) -> Iterator[Pool]:
    """The pools with devices of the driver that the requests of a config may be given."""
    wanted = {
        name
        for request in profile.requests
        if not written.requests or request.name in written.requests
        for name in (request.entitlement, *(way.entitlement for way in request.any_of or ()))
    }
    for grant in tenant.grants:
        if grant.name in wanted and grant.tier.driver is driver:
            pools = grant.cluster.pools_of(grant.tier)
            yield from (pool for pool in pools if pool.owner(driver) == "dra")


def _judge(config: _Config) -> Iterator[Diagnostic]:
    yield from _unwritable(config, plain_map(config.written.values), ())
    own = _own_config(config)
    fact = _preset_config(config)
    if own is None and fact is None:
        yield _unknown(config)
        return
    if fact is not None:
        yield from _read_here(config, fact)
        yield from _driver_gates(config, fact)
        yield from _looked_up(config, fact)
    schema: Mapping[str, Any] | None = fact.schema if fact is not None else None
    if own is not None and own.parameters is not None:
        schema = plain_map(own.parameters)
    faults = () if schema is None else parameter_faults(config.parameters, schema)
    if not isinstance(faults, UnusableSchema):
        yield from (_misfit(config, fault) for fault in faults)


def _misfit(config: _Config, fault: ParameterFault) -> Diagnostic:
    """OBJ013."""
    where = ".".join(str(step) for step in fault.path) or "the parameters"
    _, fix = suggestion(str(fault.found), fault.expected) if fault.expected else (None, None)
    near = f"did you mean {fix}?" if fix else None
    return diagnose(
        "OBJ013",
        config.at_key(*fault.path) if fault.at_key else config.at(*fault.path),
        f"{config.driver.name} does not take these {config.written.kind or 'parameters'}: "
        f"{where} {fault.message}",
        found=None if fault.found is None else str(fault.found),
        expected=", ".join(fault.expected) or None,
        help=near,
        fix=fix,
    )


def _unknown(config: _Config) -> Diagnostic:
    """OBJ014, or OBJ017 where nothing says what the driver reads."""
    driver, written = config.driver, config.written
    kinds = dict.fromkeys((c.api_version, c.kind) for c in _known(driver))
    span = config.at("kind") if written.kind is not None else config.at()
    if driver.preset is None and not kinds:
        return diagnose(
            "OBJ017",
            span,
            f"nothing says what parameters {driver.name} reads, so these are not checked",
            help=f"describe them in Driver {driver.name} under spec.configs",
        )
    message = f"{driver.name} reads no parameters of the kind {config.name}"
    versions = [version for version, kind in kinds if kind == written.kind and version is not None]
    if written.kind is not None and versions:
        return diagnose(
            "OBJ014",
            config.at("apiVersion") if written.api_version is not None else span,
            message,
            found=written.api_version,
            expected=listed(versions, "or"),
            help=f"{written.kind} is of apiVersion {listed(versions, 'or')}",
            fix=versions[0] if written.api_version is not None and len(versions) == 1 else None,
        )
    names = [kind for _, kind in kinds if kind is not None]
    help_, fix = suggestion(written.kind or "", names)
    if written.kind is not None and any(kind is None for _, kind in kinds):
        help_ = "its parameters carry no kind: leave it out"
    if not kinds:
        help_ = "it reads none; where your release does, describe it in the Driver's spec.configs"
    return diagnose("OBJ014", span, message, found=written.kind, help=help_, fix=fix)


def _read_here(config: _Config, fact: ConfigFact) -> Iterator[Diagnostic]:
    """OBJ014: a kind that the driver reads, but not in this place or not in this release."""
    span = config.at("kind") if config.written.kind is not None else config.at()
    if fact.allowed_in and config.stands_in not in fact.allowed_in:
        where = "the config of a policy" if config.stands_in == "class" else "a profile"
        yield diagnose(
            "OBJ014",
            span,
            f"{config.driver.name} does not read {config.name} from {where}",
            help="put it into the profiles"
            if config.stands_in == "class"
            else "put it into the config of a sharing policy",
        )
    version, preset = config.driver.document.spec.version, config.driver.preset
    if fact.since is None or version is None or preset is None:
        return
    here = preset.release_index(version)
    since = None if fact.since == MAIN else preset.release_index(fact.since)
    if here is not None and (since is None or since > here):
        yield diagnose(
            "OBJ014",
            span,
            f"{config.driver.name} reads {config.name} since {fact.since}; {version} runs here",
            found=version,
            expected=f"at least {fact.since}",
            related=[Related(place(config.driver.document, "spec", "version"), "the release")],
        )


def _driver_gates(config: _Config, fact: ConfigFact) -> Iterator[Diagnostic]:
    """VER010: parameters that the driver refuses until a gate of its own is on, once for a gate.

    A release that does not have the gate does not ask for it.
    """
    for gate in dict.fromkeys(fact.gates_for(config.parameters)):
        settings = [gate_settings(pool, config.driver).get(gate) for pool in config.pools]
        known = (one for one in settings if one is not None and one.stage != "absent")
        off = next((one for one in known if not one.on), None)
        if off is not None:
            yield _needs_gate(config, fact, gate, off)


def _needs_gate(config: _Config, fact: ConfigFact, gate: str, off: Setting) -> Diagnostic:
    """VER010."""
    driver = config.driver
    return diagnose(
        "VER010",
        config.at(*_gate_steps(fact, gate, config.parameters)),
        f"{driver.name} refuses this until its gate {gate} is on, which is "
        f"{'off by default' if off.is_default else 'off in the Driver'}",
        related=[Related(off.span, "the driver" if off.is_default else "off here")],
        help=f"set {gate_entry(driver, gate)} in Driver {driver.name}",
    )


def _gate_steps(fact: ConfigFact, gate: str, parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """The value that makes the gate needed; the kind where any parameters do."""
    for need in fact.needs_gates:
        alone = replace(fact, needs_gates=(need,))
        if need.at is not None and gate in alone.gates_for(parameters):
            return tuple(need.at.split("."))
    return ("kind",)


def _looked_up(config: _Config, fact: ConfigFact) -> Iterator[Diagnostic]:
    """OBJ022: a class serves claims of many namespaces, and not each holds the object."""
    for name, namespace in fact.lookups.items():
        found = config.parameters.get(name)
        if config.stands_in == "class" and found and not config.parameters.get(namespace):
            yield diagnose(
                "OBJ022",
                config.at(name),
                f"each claim looks up {name} {found} in its own namespace, and a policy serves "
                "claims of many",
                found=str(found),
                help=f"add {namespace}, or make sure that every such namespace holds it",
            )


def _own_schemas(driver: Driver) -> Iterator[Diagnostic]:
    """OBJ018: schemas in Driver documents that can't be used."""
    for i, config in enumerate(driver.document.spec.configs):
        if config.parameters is None:
            continue
        faults = parameter_faults({}, plain_map(config.parameters))
        if isinstance(faults, UnusableSchema):
            yield diagnose(
                "OBJ018",
                place(driver.document, "spec", "configs", i, "parameters", *faults.path),
                f"the schema of {config.kind or 'the parameters'} can't be used: {faults.message}",
                help="it must be a JSON Schema of draft-07 that refers to nothing outside itself",
            )


def _unwritable(config: _Config, value: Any, steps: tuple[str | int, ...]) -> Iterator[Diagnostic]:
    """OBJ019: values that manifests don't carry."""
    match value:
        case dict():
            for key, inner in value.items():
                yield from _unwritable(config, inner, (*steps, key))
        case list():
            for i, inner in enumerate(value):
                yield from _unwritable(config, inner, (*steps, i))
        case Decimal():
            yield diagnose(
                "OBJ019",
                config.at(*steps),
                f"{value} has a fraction, and readers of manifests differ on such numbers",
                found=str(value),
                help="quote it, if the driver takes text",
            )


def _known(driver: Driver) -> Iterable[OpaqueConfig | ConfigFact]:
    yield from driver.document.spec.configs
    if driver.preset is not None:
        yield from driver.preset.configs


def _own_config(config: _Config) -> OpaqueConfig | None:
    wanted = (config.written.api_version, config.written.kind)
    own = config.driver.document.spec.configs
    return next((c for c in own if (c.api_version, c.kind) == wanted), None)


def _preset_config(config: _Config) -> ConfigFact | None:
    preset = config.driver.preset
    if preset is None:
        return None
    return preset.config(config.written.api_version, config.written.kind)


def _written(steps: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Where a value of the parameters stands: the head beside `values`, all else in it."""
    return steps if not steps or steps[0] in HEAD else ("values", *steps)
