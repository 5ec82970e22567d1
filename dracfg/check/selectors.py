"""SEL: matches on attributes and capacities that a driver doesn't publish, or not like that.

Judges the structured form alone; raw CEL is type-checked elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.check.rule import Rule, suggestion
from dracfg.check.uses import pairs
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.link.catalog import Catalog
from dracfg.link.driver import Driver
from dracfg.link.presetdata import NUMBERED
from dracfg.link.writers import writers
from dracfg.lower.selectors import normalised_version
from dracfg.model import kinds
from dracfg.model.base import at, at_key
from dracfg.model.sharing import Partitioned
from dracfg.model.tier import (
    AttributeMatch,
    AttributeParameter,
    AttributeRange,
    CapacityRange,
    Match,
)

_TYPES = {"string": str, "version": str, "int": int, "bool": bool}
_WORDS = {"string": "text", "version": "a version", "int": "a number", "bool": "true or false"}


@dataclass(frozen=True, slots=True, eq=False)
class _Matching:
    """A match with the driver whose devices it is put to, and where it stands.

    A tier's parameter is the match of any of its values.
    """

    driver: Driver
    match: Match
    document: kinds.HardwareTier | kinds.SharingPolicy
    steps: tuple[str | int, ...]
    is_parameter: bool = False

    def key(self, root: str, name: str) -> Span:
        if self.is_parameter:
            field = "attribute" if root == "attributes" else "capacity"
            return at(self.document, *self.steps, field)
        return at_key(self.document, *self.steps, root, name)

    def value(self, root: str, name: str, *more: str | int) -> Span:
        if self.is_parameter:
            return at(self.document, *self.steps, "values", *more[1:])
        return at(self.document, *self.steps, root, name, *more)


def _matches(catalog: Catalog) -> Iterator[_Matching]:
    """Matches and parameters of tiers, and of partitions on each driver where they are in force."""
    for tier in catalog.tiers.values():
        yield _Matching(tier.driver, tier.document.spec.match, tier.document, ("spec", "match"))
        for name, parameter in tier.document.spec.parameters.items():
            if isinstance(parameter, AttributeParameter):
                offered = AttributeRange.model_validate({"oneOf": parameter.values})
                match = Match(attributes={parameter.attribute: offered})
            else:
                match = Match(capacity={parameter.capacity: CapacityRange()})
            yield _Matching(
                tier.driver, match, tier.document, ("spec", "parameters", name), is_parameter=True
            )
    seen: set[tuple[str, str]] = set()
    for use in pairs(catalog):
        spec, document = use.policy.spec, use.policy.document
        key = (use.policy.name, use.tier.driver.name)
        if isinstance(spec, Partitioned) and document is not None and key not in seen:
            seen.add(key)
            for i, partition in enumerate(spec.partitions):
                steps = ("spec", "partitions", i, "match")
                yield _Matching(use.tier.driver, partition.match, document, steps)


def _texts(wanted: AttributeMatch) -> Iterator[tuple[tuple[str | int, ...], str | int | bool]]:
    """Every value of a condition with the steps that lead to it."""
    if not isinstance(wanted, AttributeRange):
        yield (), wanted
        return
    for word in ("min", "max"):
        bound = getattr(wanted, word)
        if bound is not None:
            yield (word,), bound
    for i, value in enumerate(wanted.one_of or ()):
        yield ("oneOf", i), value


def _type(driver: Driver, name: str) -> str | None:
    """The type of an attribute as the driver publishes it, None where that is not known."""
    known = driver.attributes.get(driver.spelling(name))
    if known is None and driver.preset is not None:
        fact = driver.preset.attribute(name, driver.document.spec.version)
        known = fact.type if fact is not None else None
    return known


def is_no_version(catalog: Catalog) -> Iterator[Diagnostic]:
    """SEL001: versions are compared as semantic versions, bounds of unknown attributes too."""
    for matching in _matches(catalog):
        for name, wanted in matching.match.attributes.items():
            kind = _type(matching.driver, name)
            for steps, value in _texts(wanted):
                compared = kind == "version" or (kind is None and steps[:1] in (("min",), ("max",)))
                if compared and isinstance(value, str) and not _is_version(value):
                    yield diagnose(
                        "SEL001",
                        matching.value("attributes", name, *steps),
                        f"{value} is not a version",
                        found=value,
                        expected="a version such as 550.90.7",
                        help=f"{name} holds versions: write major.minor.patch",
                    )


def _is_version(text: str) -> bool:
    try:
        normalised_version(text)
    except ValueError:
        return False
    return True


def is_not_published(catalog: Catalog) -> Iterator[Diagnostic]:
    """SEL002, and SEL005 for what another release publishes: a guard on it is never true."""
    labels = label_places(catalog)
    for matching in _matches(catalog):
        driver, match = matching.driver, matching.match
        attributes_known = driver.preset is not None or bool(driver.document.spec.attributes)
        for name in match.attributes if attributes_known else ():
            if _type(driver, name) is None and name not in labels:
                known = [_bare(driver, key) for key in driver.attributes]
                yield _unpublished(matching, "attributes", name, known)
        capacity_known = driver.preset is not None or bool(driver.document.spec.capacity)
        for name in match.capacity if capacity_known else ():
            if not _publishes_capacity(driver, name):
                known = [_bare(driver, key) for key in driver.capacities]
                yield _unpublished(matching, "capacity", name, known)


def _publishes_capacity(driver: Driver, name: str) -> bool:
    if driver.spelling(name) in driver.capacities:
        return True
    version = driver.document.spec.version
    return driver.preset is not None and driver.preset.capacity_fact(name, version) is not None


def _bare(driver: Driver, key: str) -> str:
    return key.removeprefix(f"{driver.name}/").removesuffix(NUMBERED)


def _unpublished(matching: _Matching, root: str, name: str, known: list[str]) -> Diagnostic:
    driver, version = matching.driver, matching.driver.document.spec.version
    what = "attribute" if root == "attributes" else "capacity"
    key = driver.spelling(name)
    preset = driver.preset
    fact = None
    if preset is not None and version is not None and preset.release_index(version) is not None:
        facts = preset.attributes if root == "attributes" else preset.capacity
        fact = facts.get(key)
    if fact is not None:
        gone = preset.dropped_at(version).get(key) if preset and version else None
        since = f"{driver.name} publishes {name} no more since {gone}"
        if gone is None:
            since = f"{driver.name} publishes {name} from {fact.since}"
        instead = getattr(fact, "replaced_by", None)
        return diagnose(
            "SEL005",
            matching.key(root, name),
            f"{since}, and version {version} runs here",
            related=[Related(at(driver.document, "spec", "version"), "the version")],
            found=name,
            expected=instead,
            help=f"use {instead} instead" if instead else "take the condition out",
            fix=instead,
        )
    help_, fix = suggestion(name, known)
    return diagnose(
        "SEL002",
        matching.key(root, name),
        f"{driver.name} is not known to publish the {what} {name}",
        related=[Related(at(driver.document, "metadata", "name"), "the driver")],
        found=name,
        help=help_ or f"if it does, add {name} to `{root}` of the driver",
        fix=fix,
    )


def is_of_another_type(catalog: Catalog) -> Iterator[Diagnostic]:
    """SEL003: values of two types are never equal."""
    for matching in _matches(catalog):
        for name, wanted in matching.match.attributes.items():
            kind = _type(matching.driver, name)
            needed = _TYPES.get(kind or "")
            for steps, value in _texts(wanted):
                bound = steps[:1] in (("min",), ("max",))
                if needed is None:
                    continue
                if bound and kind in ("string", "bool"):
                    yield diagnose(
                        "SEL003",
                        matching.value("attributes", name, *steps),
                        f"{name} is {_WORDS[str(kind)]}, which has no order",
                        found=str(value),
                        help="use `oneOf`, or one value",
                    )
                elif type(value) is not needed:
                    yield diagnose(
                        "SEL003",
                        matching.value("attributes", name, *steps),
                        f"{name} is {_WORDS[str(kind)]}, so it never equals {_shown(value)}",
                        found=_shown(value),
                        expected=_WORDS[str(kind)],
                        help=_other(value, str(kind)),
                        fix=f'"{value}"' if needed is str and type(value) is int else None,
                    )


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else f'the text "{value}"'


def _other(value: object, kind: str) -> str:
    if kind in ("string", "version"):
        return f'quote it: "{value}"'
    return f"write {_WORDS[kind]}, without quotes"


def is_a_node_label(catalog: Catalog) -> Iterator[Diagnostic]:
    """SEL004 in what devices are matched by: labels mark pools of nodes, no device carries them."""
    labels = label_places(catalog)
    for matching in _matches(catalog):
        for name in matching.match.attributes:
            if name in labels:
                yield _label(matching.key("attributes", name), name, labels[name])


def is_compared_by_a_node_label(catalog: Catalog) -> Iterator[Diagnostic]:
    """SEL004 in `align` and `distinct` of profiles."""
    tenants = writers(catalog, "align", "distinct")
    labels = label_places(catalog) if tenants else {}
    for tenant in tenants:
        for i, profile in enumerate(tenant.document.spec.profiles):
            named = (
                *((("align", j), align.by) for j, align in enumerate(profile.align)),
                *((("distinct", j), distinct.by) for j, distinct in enumerate(profile.distinct)),
            )
            for steps, by in named:
                if by in labels:
                    place = at(tenant.document, "spec", "profiles", i, *steps, "by")
                    yield _label(place, by, labels[by])


def label_places(catalog: Catalog) -> dict[str, Span]:
    """Every label that pools are selected by, with the first place that names it."""
    labels: dict[str, Span] = {}
    for pool in catalog.pools.values():
        for key in pool.document.spec.node_selector:
            labels.setdefault(key, at_key(pool.document, "spec", "nodeSelector", key))
    return labels


def _label(place: Span, name: str, selector: Span) -> Diagnostic:
    return diagnose(
        "SEL004",
        place,
        f"{name} is a label of nodes, not an attribute of devices",
        related=[Related(selector, "a pool is selected by it")],
        help="use an attribute that the driver publishes; pods choose nodes by nodeSelector",
    )


RULES: tuple[Rule, ...] = (is_no_version, is_not_published, is_of_another_type, is_a_node_label)
TENANT_RULES: tuple[Rule, ...] = (is_compared_by_a_node_label,)
