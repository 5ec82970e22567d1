"""REF001, REF008, OBJ020, OBJ021: which parameters reach a request, from its class and its claim.

Entries of the class come before those of the claim (KEP-4381); what a driver makes of several is
a fact of its preset. Whether the parameters themselves fit is judged elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from dracfg.check.places import key_place, place
from dracfg.check.rule import Rule, listed, suggestion
from dracfg.check.uses import entitled
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.link.catalog import Catalog, Policy, Tier
from dracfg.link.driver import Driver
from dracfg.link.writers import writers
from dracfg.lower.classes import plain_map
from dracfg.model import kinds
from dracfg.model.base import at
from dracfg.model.sharing import Parameters
from dracfg.model.tenant import Profile, ProfileConfig, Request

Behind = Mapping[str, tuple[Tier, Policy]]


@dataclass(frozen=True, eq=False)
class _Entry:
    """Parameters for one request: of a policy, so in the class, or of the profile's `position`."""

    written: Parameters | ProfileConfig
    policy: Policy | None = None
    position: int = -1

    @property
    def source(self) -> str:
        return "this profile" if self.policy is None else f"policy {self.policy.name}"

    @property
    def head(self) -> tuple[str | None, str | None]:
        return self.written.api_version, self.written.kind

    @property
    def fields(self) -> dict[tuple[str, ...], Any]:
        """Every value by its path; lists are values."""
        return dict(_leaves(plain_map(self.written.values), ()))

    def at(self, *steps: str) -> Span:
        if steps:
            return place(self.written, "values", *steps)
        head = "kind" if self.written.kind is not None else "values"
        return key_place(self.written, head)


def names_no_driver_of_its_requests(catalog: Catalog) -> Iterator[Diagnostic]:
    """REF001 and REF008: parameters that no driver would read."""
    for document, i, profile, behind in _profiles(catalog):
        for j, config in enumerate(profile.config):
            span = at(document, "spec", "profiles", i, "config", j, "driver")
            if config.driver not in catalog.drivers:
                if ("Driver", config.driver) not in catalog.poisoned:
                    yield _no_driver(catalog, config, span)
                continue
            drivers = _drivers(profile, config, behind)
            if drivers is not None and config.driver not in drivers:
                which = listed(config.requests) if config.requests else "no request"
                help_, fix = suggestion(config.driver, drivers)
                yield diagnose(
                    "REF008",
                    span,
                    f"{which} of profile {profile.name} "
                    f"{'asks' if len(config.requests) < 2 else 'ask'} for devices of "
                    f"{listed(sorted(drivers), 'or')}, not of {config.driver}"
                    if config.requests
                    else f"no request of profile {profile.name} asks for devices of "
                    f"{config.driver}",
                    found=config.driver,
                    expected=", ".join(sorted(drivers)),
                    help=help_ or "remove the entry",
                    fix=fix,
                )


def _no_driver(catalog: Catalog, config: ProfileConfig, span: Span) -> Diagnostic:
    help_, fix = suggestion(config.driver, catalog.drivers)
    return diagnose(
        "REF001",
        span,
        f"no Driver is named {config.driver!r}",
        found=config.driver,
        help=help_ or "remove the entry",
        fix=fix,
    )


def give_way(catalog: Catalog) -> Iterator[Diagnostic]:
    """OBJ020 and OBJ021: several parameters for one request, of the class and of the claim."""
    seen: set[tuple[Span, Span]] = set()
    for _, _, profile, behind in _profiles(catalog):
        for request in profile.requests if profile.config else ():
            for tier, policy in (behind[name] for name in _wanted(request) if name in behind):
                chain = _chain(profile, request.name, tier.driver, policy)
                for earlier, later in pairwise(chain):
                    pair = (earlier.at(), later.at())
                    if pair not in seen:
                        seen.add(pair)
                        yield from _meet(tier.driver, request.name, earlier, later)


def _chain(profile: Profile, request: str, driver: Driver, policy: Policy) -> list[_Entry]:
    """What reaches a request under a policy, in the order in which the driver gets it."""
    config = policy.spec.config
    chain = [] if config is None else [_Entry(config, policy)]
    chain += [
        _Entry(written, position=j)
        for j, written in enumerate(profile.config)
        if written.driver == driver.name and (not written.requests or request in written.requests)
    ]
    return chain


def _meet(driver: Driver, request: str, earlier: _Entry, later: _Entry) -> Iterator[Diagnostic]:
    preset = driver.preset
    fact = preset.config_precedence if preset is not None else None
    takes = fact.takes if fact is not None else "unknown"
    related = [Related(earlier.at(), f"the parameters of {earlier.source}")]
    if takes == "one":
        yield diagnose(
            "OBJ021",
            later.at(),
            f"{driver.name} takes one set of parameters for a request, and {request} gets another "
            f"from {earlier.source}",
            related=related,
            help="keep one of the two",
        )
    elif takes == "first":
        yield diagnose(
            "OBJ020",
            later.at(),
            f"{driver.name} reads the first parameters of a request alone, and {request} gets "
            f"others from {earlier.source} before these",
            related=related,
            help="keep one of the two",
        )
    elif earlier.head == later.head:
        yield from _differ(driver, request, earlier, later, reads_last=takes == "last")


def _differ(
    driver: Driver, request: str, earlier: _Entry, later: _Entry, *, reads_last: bool
) -> Iterator[Diagnostic]:
    before, after = earlier.fields, later.fields
    changed = [path for path in after if path in before and before[path] != after[path]]
    lost = [path for path in before if path not in after] if reads_last else []
    if not changed and not lost:
        return
    words = []
    if changed:
        words.append(f"sets {_named(changed)} otherwise")
    if lost:
        words.append(f"leaves out {_named(lost)}")
    whole = ", and only the last parameters of a request count" if reads_last else ""
    there = (changed or lost)[0]
    yield diagnose(
        "OBJ020",
        later.at(*changed[0]) if changed else later.at(),
        f"for {request} this {' and '.join(words)} than {earlier.source}"
        if not lost
        else f"for {request} this {' and '.join(words)}, which {earlier.source} sets{whole}",
        related=[Related(earlier.at(*there), f"the parameters of {earlier.source}")],
        help=f"repeat here what {earlier.source} sets, or keep one of the two; the later of the "
        f"class and the claim is the one that {driver.name} gets last",
    )


def _named(paths: list[tuple[str, ...]]) -> str:
    return listed(".".join(path) for path in paths)


def _profiles(catalog: Catalog) -> Iterator[tuple[kinds.Tenant, int, Profile, Behind]]:
    for tenant in writers(catalog, "config"):
        behind = entitled(catalog, tenant)
        for i, profile in enumerate(tenant.document.spec.profiles):
            yield tenant.document, i, profile, behind


def _drivers(profile: Profile, config: ProfileConfig, behind: Behind) -> set[str] | None:
    """The drivers of the requests that a config is for; None where one leads nowhere."""
    names = {request.name for request in profile.requests}
    if not names.issuperset(config.requests):
        return None
    wanted = [
        name
        for request in profile.requests
        if not config.requests or request.name in config.requests
        for name in _wanted(request)
    ]
    if any(name not in behind for name in wanted):
        return None
    return {behind[name][0].driver.name for name in wanted}


def _wanted(request: Request) -> list[str]:
    """The entitlements that a request names."""
    names = (request.entitlement, *(a.entitlement for a in request.any_of or ()))
    return [name for name in names if name is not None]


def _leaves(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    elif path:
        yield path, value


TENANT_RULES: tuple[Rule, ...] = (names_no_driver_of_its_requests, give_way)
